package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the packagers
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

const description = `JavaScript profiles from real users
Browsers run the JS Self-Profiling API; the daemon "fieldtrie ingest" stores their
traces, "fieldtrie aggregate" merges them into profiles, "fieldtrie upload" sends
the names of the functions.`

// homepage is where the project is, which its module is named after.
const homepage = "https://github.com/fieldtrie/fieldtrie"

// writePackages writes a package for Debian and one for Red Hat, and those that are like them.
func (r *release) writePackages(p platform, all []file) error {
	links := file{path: "/usr/share/fieldtrie/links", mode: 0o755, source: filepath.Join(r.source, "deploy", "package",
		"links.sh")}
	contents, err := r.contents(p, append(all, links))
	if err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		if err := r.writePackage(p, kind, contents); err != nil {
			return fmt.Errorf("%s for %s: %w", kind, p, err)
		}
	}
	return nil
}

// contents lists the files for packagers, which read them from a disk.
func (r *release) contents(p platform, all []file) (files.Contents, error) {
	var contents files.Contents
	for _, f := range all {
		data, err := f.content()
		if err != nil {
			return nil, err
		}
		staged := filepath.Join(r.work, "stage-"+p.arch, f.path)
		if err := os.MkdirAll(filepath.Dir(staged), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(staged, data, 0o600); err != nil {
			return nil, err
		}
		c := &files.Content{Source: staged, Destination: f.path, Type: files.TypeFile,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: os.FileMode(f.mode), MTime: r.date}}
		if f.config {
			c.Type = files.TypeConfigNoReplace
		}
		contents = append(contents, c)
	}
	return contents, nil
}

func (r *release) writePackage(p platform, kind string, contents files.Contents) (err error) {
	script := func(name string) string { return filepath.Join(r.source, "deploy", "package", name) }
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "fieldtrie", Arch: p.arch, Platform: "linux", Version: r.version, Section: "web", Priority: "optional",
		Maintainer: r.maintainer, Homepage: homepage, Description: description,
		License: "Apache-2.0", MTime: r.date, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: contents,
			Scripts: nfpm.Scripts{PostInstall: script("postinstall.sh"), PreRemove: script("preremove.sh"),
				PostRemove: script("postremove.sh")},
			RPM: nfpm.RPM{BuildHost: "fieldtrie", Summary: "JavaScript profiles from real users"},
		},
	})
	if err := nfpm.PrepareForPackager(info, kind); err != nil {
		return err
	}
	packager, err := nfpm.Get(kind)
	if err != nil {
		return err
	}
	out, err := os.Create(r.name("linux_" + p.arch + "." + kind))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return packager.Package(info, out)
}
