package local_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, nil))
	mustAppend(t, s, testRecord(1))
	mustClose(t, s)
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "FORMAT"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open := map[string]func() error{
		"Open":       func() error { _, err := local.Open(dir, testOptions(t, nil)); return err },
		"OpenReader": func() error { _, err := local.OpenReader(dir, testOptions(t, nil)); return err },
	}
	for name, open := range open {
		for version, then := range map[int]string{
			4: "use a newer release",
			2: "move it away and start with a new directory, as no release reads it",
			1: "move it away and start with a new directory, as no release reads it",
		} {
			write(fmt.Sprintf(`{"format": %d, "later": "stuff"}`, version))
			err := open()
			want := fmt.Sprintf("data directory %s has format %d, this program reads format 3: %s", dir, version, then)
			if e, ok := errors.AsType[*local.FormatError](err); !ok || e.Version != version || err.Error() != want {
				t.Errorf("%s: got %v, want %q", name, err, want)
			}
		}
		for _, bad := range []string{"", "{}", "rubbish", `{"format": -1}`} {
			write(bad)
			if err := open(); err == nil || !strings.Contains(err.Error(), "FORMAT") {
				t.Errorf("%s with FORMAT %q: got %v, want an error about it", name, bad, err)
			}
		}
		if err := os.Remove(filepath.Join(dir, "FORMAT")); err != nil {
			t.Fatal(err)
		}
		if err := open(); err == nil {
			t.Errorf("%s of partitions without a FORMAT: got no error", name)
		}
	}
	if _, err := local.OpenReader(t.TempDir(), testOptions(t, nil)); err == nil {
		t.Error("an empty directory opens for reading")
	}
	write(`{"format": 3}`) // all those attempts have harmed nothing
	s = mustOpen(t, dir, testOptions(t, nil))
	wantAll(t, s, store.Query{}, 1, 2)
}
