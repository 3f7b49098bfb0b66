package sdk

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The licence of the package equals the licence of the repository.
func TestLicence(t *testing.T) {
	own, err := os.ReadFile("../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := packaged.ReadFile("LICENSE")
	if err != nil || !bytes.Equal(own, packed) {
		t.Errorf("sdk/LICENSE is not ../LICENSE: copy it; %v", err)
	}
}

func TestNpmVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3", "v0.0.0-20261125224300-b6cff0412345+dirty": "0.0.0-20261125224300-b6cff0412345+dirty",
		"v1.2.3-rc.1": "1.2.3-rc.1",
		"(devel)":     "0.0.0-devel", "(unknown)": "0.0.0-devel", "": "0.0.0-devel", "v1": "0.0.0-devel",
		`v1.2.3"`: "0.0.0-devel",
	} {
		if got := npmVersion(version); got != want {
			t.Errorf("%q: got %q, want %q", version, got, want)
		}
	}
}

// consumer is an app that uses all entry points of the package.
var consumer = map[string]string{
	"package.json": `{"name": "shop", "private": true, "type": "module"}`,
	"all.ts": `import { start, feature } from 'fieldtrie';
start({ url: 'https://profiles.example.com', sampleRate: 1, page: (path) => path.toUpperCase() });
const done: unknown = feature('search');
console.log(done);
`,
	"small.js": `import { start } from 'fieldtrie/loader'; start({ url: 'https://profiles.example.com', ` +
		`sampleRate: 1 });`,
	"core.js": `import { start } from 'fieldtrie/core'; start({ url: 'https://profiles.example.com', ` +
		`sampleRate: 1 });`,
	"wrong.ts": `import { start } from 'fieldtrie'; start({ url: 1 });`,
	"tsconfig.json": `{"compilerOptions": {"strict": true, "noEmit": true, "module": "esnext", "moduleResolution": ` +
		`"bundler", "target": "es2022", "types": []}, "files": ["all.ts", "wrong.ts"]}`,
}

// TestInstall installs the package by its URL, checks its types and bundles it.
func TestInstall(t *testing.T) {
	bin := func(name string) string {
		path, err := filepath.Abs("node_modules/.bin/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, program := range []string{"npm", bin("esbuild"), bin("tsc")} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v; make setup sdk/node_modules installs it", err)
		}
	}
	server := httptest.NewServer(Package("v1.2.3"))
	defer server.Close()
	dir := t.TempDir()
	for name, text := range consumer {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(program string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "npm_config_cache="+filepath.Join(dir, ".npm"),
			"npm_config_update_notifier=false")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("npm", "install", "--no-audit", "--no-fund", server.URL+"/sdk.tgz"); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	var installed struct{ Version string }
	text, err := os.ReadFile(filepath.Join(dir, "node_modules/fieldtrie/package.json"))
	if err != nil || json.Unmarshal(text, &installed) != nil || installed.Version != "1.2.3" {
		t.Errorf("the installed version is %q, want 1.2.3; %v", installed.Version, err)
	}
	for _, name := range []string{"README.md", "LICENSE", "dist/loader.mjs", "dist/rest.mjs"} {
		if _, err := os.Stat(filepath.Join(dir, "node_modules/fieldtrie", name)); err != nil {
			t.Error(err)
		}
	}
	out, err := run(bin("tsc"))
	if err == nil || strings.Count(out, "error TS") != 1 || !strings.Contains(out, "wrong.ts(1,") {
		t.Errorf("types: %v\n%s\nwant one error, in wrong.ts", err, out)
	}
	if out, err := run(bin("esbuild"), "all.ts", "small.js", "core.js", "--bundle", "--minify", "--splitting",
		"--format=esm", "--outdir=out"); err != nil {
		t.Fatalf("esbuild: %v\n%s", err, out)
	}
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(dir, "out", name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if small, all := size("small.js"), size("all.js"); small == 0 || small > all/3 {
		t.Errorf("the app with the loader has %d bytes, the app with everything %d", small, all)
	}
}

// Two builds of the same sources have identical packages.
func TestPackageIsReproducible(t *testing.T) {
	one, err := pack(packaged, "1.2.3")
	two, again := pack(packaged, "1.2.3")
	if err != nil || again != nil || !bytes.Equal(one, two) {
		t.Errorf("%d and %d bytes; %v, %v", len(one), len(two), err, again)
	}
	other, err := pack(packaged, "1.2.4")
	if err != nil || bytes.Equal(one, other) {
		t.Errorf("a package of another version is identical; %v", err)
	}
}
