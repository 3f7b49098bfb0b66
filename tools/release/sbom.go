package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// component is what others made and is in the programs.
type component struct {
	name, version string
	purl          string // as package-url.org has it
	dir           string // with its licence
	spdx          string // what its package says its licence is, as SPDX has it; empty for what says none
}

// components returns what is in the programs: Go, the modules that the programs say they are
// made of, and the packages of which the dashboard is bundled.
func (r *release) components(ctx context.Context, platforms []platform) ([]component, error) {
	found := map[string]component{}
	for _, p := range platforms {
		for _, name := range p.programs {
			info, err := buildinfo.ReadFile(r.program(p, name))
			if err != nil {
				return nil, err
			}
			for _, m := range info.Deps {
				if m.Replace != nil {
					return nil, fmt.Errorf("module %s is replaced: a release is made of published ones", m.Path)
				}
				found[m.Path] = component{name: m.Path, version: m.Version, purl: "pkg:golang/" + m.Path +
					"@" + m.Version}
			}
		}
	}
	dirs, err := r.moduleDirs(ctx)
	if err != nil {
		return nil, err
	}
	var all []component
	for path, c := range found {
		c.dir = dirs[path]
		all = append(all, c)
	}
	root, version, err := r.goRoot(ctx)
	if err != nil {
		return nil, err
	}
	all = append(all, component{name: "go", version: version, purl: "pkg:generic/go@" + version, dir: root})
	bundled, err := r.bundled()
	if err != nil {
		return nil, err
	}
	all = append(all, bundled...)
	slices.SortFunc(all, func(a, b component) int { return cmp.Compare(a.purl, b.purl) })
	return all, nil
}

// moduleDirs returns where the sources of modules are.
func (r *release) moduleDirs(ctx context.Context) (map[string]string, error) {
	out, err := r.goCommand(ctx, "list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all")
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for line := range strings.Lines(out) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[path] = dir
	}
	return dirs, nil
}

func (r *release) goRoot(ctx context.Context) (root, version string, err error) {
	out, err := r.goCommand(ctx, "env", "GOROOT", "GOVERSION")
	root, version, _ = strings.Cut(strings.TrimSpace(out), "\n")
	return root, strings.TrimPrefix(version, "go"), err
}

func (r *release) goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = r.source, r.stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// bundled returns the packages that the dashboard is bundled of.
func (r *release) bundled() ([]component, error) {
	read := func(to any, names ...string) error {
		data, err := os.ReadFile(filepath.Join(append([]string{r.source, "web"}, names...)...))
		if err != nil {
			return err
		}
		return json.Unmarshal(data, to)
	}
	var wants struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := read(&wants, "package.json"); err != nil {
		return nil, err
	}
	var all []component
	for name := range wants.Dependencies {
		var has struct {
			Version string `json:"version"`
			License string `json:"license"`
		}
		if err := read(&has, "node_modules", name, "package.json"); err != nil {
			return nil, err
		}
		purl := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + has.Version
		all = append(all, component{name: name, version: has.Version, purl: purl, spdx: has.License,
			dir: filepath.Join(r.source, "web", "node_modules", name)})
	}
	return all, nil
}

func (c *component) licence() (text []byte, err error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !licenceFile.MatchString(e.Name()) || e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(c.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		text = append(text, bytes.TrimSpace(data)...)
		text = append(text, '\n')
	}
	if text == nil {
		return nil, fmt.Errorf("%s: no licence in %s", c.name, c.dir)
	}
	return text, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice)`)

// licences returns the texts of all licences, which have to come with the programs.
func licences(all []component) ([]byte, error) {
	var b bytes.Buffer
	for _, c := range all {
		text, err := c.licence()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "== %s %s\n\n%s\n", c.name, c.version, text)
	}
	return b.Bytes(), nil
}

// writeSBOM writes what is in the programs, as SPDX 2.3.
func (r *release) writeSBOM(all []component) (err error) {
	const self = "Package-fieldtrie"
	doc := spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName:      "fieldtrie-" + r.version,
		DocumentNamespace: "https://spdx.org/spdxdocs/fieldtrie-" + r.version + "-" + r.revision,
		CreationInfo: &spdx.CreationInfo{Created: r.date.Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "fieldtrie-release"}}},
		Packages: []*spdx.Package{{PackageName: "fieldtrie", PackageSPDXIdentifier: self, PackageVersion: r.version,
			PackageDownloadLocation: "NOASSERTION",
			PackageLicenseConcluded: "Apache-2.0", PackageLicenseDeclared: "Apache-2.0",
			PackageCopyrightText: "NOASSERTION", PrimaryPackagePurpose: "APPLICATION"}},
		Relationships: []*spdx.Relationship{{RefA: common.MakeDocElementID("", "DOCUMENT"),
			RefB: common.MakeDocElementID("", self), Relationship: "DESCRIBES"}},
	}
	for i, c := range all {
		id := common.ElementID(fmt.Sprintf("Package-%d", i+1))
		doc.Packages = append(doc.Packages, &spdx.Package{PackageName: c.name, PackageSPDXIdentifier: id,
			PackageVersion: c.version, PackageDownloadLocation: "NOASSERTION",
			PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: cmp.Or(c.spdx, "NOASSERTION"),
			PackageCopyrightText: "NOASSERTION",
			PackageExternalReferences: []*spdx.PackageExternalReference{{Category: "PACKAGE-MANAGER", RefType: "purl",
				Locator: c.purl}}})
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{RefA: common.MakeDocElementID("", self),
			RefB: common.MakeDocElementID("", string(id)), Relationship: "DEPENDS_ON"})
	}
	out, err := os.Create(r.name("sbom.spdx.json"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return spdxjson.Write(&doc, out, spdxjson.Indent("  "))
}
