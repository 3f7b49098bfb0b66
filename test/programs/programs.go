// Package programs provides the programs for end-to-end tests: those in the folder $PROGRAMS, built
// like a release, or otherwise programs built for the test.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const variable = "PROGRAMS"

// Dir returns a folder with programs of this module, such as "ingest", and a function to call when
// they are no longer needed.
func Dir(names ...string) (dir string, done func(), err error) {
	if dir = os.Getenv(variable); dir != "" {
		for _, name := range names {
			// The go command tracks inspected files, so cached test results of other programs are
			// not used for these.
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				return "", nil, fmt.Errorf("$%s: %w; run make build", variable, err)
			}
		}
		return dir, func() {}, nil
	}
	if dir, err = os.MkdirTemp("", "fieldtrie-programs-"); err != nil {
		return "", nil, err
	}
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "github.com/fieldtrie/fieldtrie/cmd/"+name)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, fmt.Errorf("build %v: %w\n%s", names, err, out)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// Path returns the path of a program. It exists until the test ends.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir, done, err := Dir(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return filepath.Join(dir, name)
}

// Commands returns the script commands that are not in $PROGRAMS, and adds $PROGRAMS to the path of
// scripts.
func Commands(of map[string]func()) map[string]func() {
	dir := os.Getenv(variable)
	if dir == "" {
		return of
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		panic(err) // the name is valid
	}
	for name := range of {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			delete(of, name)
		}
	}
	return of
}
