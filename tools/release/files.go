package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// file is a file of a system on which it is installed.
type file struct {
	path   string // on Linux, from the root
	mode   uint32
	source string // where its content is; empty if data has it
	data   []byte
	config bool // who changes it keeps the change
}

// doc is the folder of the documentation.
const doc = "/usr/share/doc/fieldtrie/"

// own is the folder of completions that shells do not load by default, because the names of their
// programs are common words.
const own = "/usr/share/fieldtrie/completions/"

// places are path prefixes for a program, its manual page and its completions. All programs except
// fieldtrie have common words as names, which other packages may use; deploy/package/links.sh
// creates links for unused names.
type places struct{ program, man, bash, zsh, fish string }

// files returns what is installed on a platform.
func (r *release) files(p platform, said manual, licences []byte) []file {
	var files []file
	for _, name := range p.programs {
		at := places{"/usr/lib/fieldtrie/", "/usr/share/man/man1/fieldtrie-", own + name + ".bash", own, own}
		if name == programs[0] {
			at = places{"/usr/bin/", "/usr/share/man/man1/", "/usr/share/bash-completion/completions/" + name,
				"/usr/share/zsh/site-functions/", "/usr/share/fish/vendor_completions.d/"}
		}
		files = append(files,
			file{path: at.program + filepath.Base(r.program(p, name)), mode: 0o755, source: r.program(p, name)},
			file{path: at.man + name + ".1.gz", mode: 0o644, data: r.gzipped(said[name]["--man"])},
			file{path: at.bash, mode: 0o644, data: said[name]["--completion=bash"]},
			file{path: at.zsh + "_" + name, mode: 0o644, data: said[name]["--completion=zsh"]},
			file{path: at.fish + name + ".fish", mode: 0o644, data: said[name]["--completion=fish"]})
	}
	files = append(files, file{path: doc + "THIRD-PARTY-LICENSES", mode: 0o644, data: licences},
		file{path: doc + "sbom.spdx.json", mode: 0o644, source: r.name("sbom.spdx.json")})
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"} {
		files = append(files, file{path: doc + name, mode: 0o644, source: filepath.Join(r.source, name)})
	}
	for _, name := range r.documents {
		files = append(files, file{path: doc + name, mode: 0o644, source: filepath.Join(r.source,
			filepath.FromSlash(name))})
	}
	if p.os == "linux" {
		files = append(files,
			file{path: "/usr/lib/systemd/system/fieldtrie.service", mode: 0o644, source: filepath.Join(r.source,
				"deploy", "systemd", "fieldtrie.service")},
			file{path: "/etc/fieldtrie/ingest.yaml", mode: 0o644, source: filepath.Join(r.source, "deploy", "package",
				"ingest.yaml"), config: true})
	}
	return files
}

// gzipped compresses what is read compressed. No time is in it.
func (r *release) gzipped(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil { // memory does not fail
		panic(fmt.Sprint("compress: ", err))
	}
	return b.Bytes()
}

// inArchive returns where a file is in an archive, which has no directories of a system.
func inArchive(f file) string {
	if name, ok := strings.CutPrefix(f.path, doc); ok {
		return name
	}
	switch dir := path.Dir(f.path); dir {
	case "/usr/share/man/man1":
		return "man/" + path.Base(f.path)
	case "/usr/share/bash-completion/completions":
		return "completions/" + path.Base(f.path) + ".bash"
	case "/usr/share/zsh/site-functions", "/usr/share/fish/vendor_completions.d", path.Clean(own):
		return "completions/" + path.Base(f.path)
	default:
		return path.Base(f.path)
	}
}
