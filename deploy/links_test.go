package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLinks checks that the scripts of the package create links only for unused names, and remove
// only their own.
func TestLinks(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"usr/bin", "usr/lib/fieldtrie", "usr/share/fieldtrie/completions",
		"usr/share/bash-completion/completions", "usr/share/zsh/site-functions"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("package/links.sh")
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"usr/share/fieldtrie/links": string(script), "usr/bin/upload": "of another program",
		"usr/lib/fieldtrie/ingest":                       "ours",
		"usr/share/fieldtrie/completions/aggregate.bash": "ours",
	} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command("sh", append([]string{name}, args...)...)
		cmd.Env = append(os.Environ(), "DPKG_ROOT="+root)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	has := func(path, want string) {
		t.Helper()
		if got, _ := os.ReadFile(filepath.Join(root, path)); string(got) != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	for range 2 { // an update installs again
		run("package/postinstall.sh", "configure", "")
		has("usr/bin/ingest", "ours")
		has("usr/share/bash-completion/completions/aggregate", "ours")
		has("usr/bin/upload", "of another program")
	}
	run("package/preremove.sh", "upgrade")
	has("usr/bin/ingest", "ours")
	run("package/preremove.sh", "remove")
	has("usr/bin/upload", "of another program")
	has("usr/lib/fieldtrie/ingest", "ours")
	left := 0
	_ = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type()&os.ModeSymlink != 0 {
			left++
		}
		return err
	})
	if left > 0 {
		t.Errorf("%d links are left", left)
	}
}
