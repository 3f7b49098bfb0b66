package store_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
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
		"Open":       func() error { _, err := store.Open(dir, testOptions(t, nil)); return err },
		"OpenReader": func() error { _, err := store.OpenReader(dir, testOptions(t, nil)); return err },
	}
	for name, open := range open {
		write(`{"format": 4, "later": "stuff"}`)
		err := open()
		want := fmt.Sprintf("data directory %s has format 4, this program reads up to 3: use a newer release", dir)
		if e, ok := errors.AsType[*store.FormatError](err); !ok || e.Version != 4 || err.Error() != want {
			t.Errorf("%s: got %v, want %q", name, err, want)
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
	if _, err := store.OpenReader(t.TempDir(), testOptions(t, nil)); err == nil {
		t.Error("an empty directory opens for reading")
	}
	write(`{"format": 1}`) // all those attempts have harmed nothing
	s = mustOpen(t, dir, testOptions(t, nil))
	wantAll(t, s, store.Query{}, 1, 2)
}

// The traces in testdata/format1, see the README there.
var (
	format1First  = []string{"backbone", "jquery", "lit-complex", "vue"}
	format1Second = []string{"svelte-complex", "preact-complex", "react-redux", "editors-codemirror"}
)

// unpack unpacks a gzipped tar of testdata into a new directory, with holes for zeros.
func unpack(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		out, err := os.Create(path)
		if err == nil {
			err = errors.Join(copySparse(out, in, h.Size), out.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// mergedFiles is what the traces with the given names are, as a text.
func mergedFiles(t testing.TB, names []string) (text string, pages []string) {
	t.Helper()
	m := trie.NewMerger()
	for _, name := range names {
		f, err := os.Open(filepath.Join("..", "testdata", "traces", name+".json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		tr, err := encode.DecodeTraceJSON(b, encode.FileLimits())
		if err != nil {
			t.Fatal(err)
		}
		encode.Repair(tr)
		pages = append(pages, tr.Context.Page)
		m.NextView()
		m.AddTrace(tr, func(trie.Slice) int { return m.Group(trie.MakeLabels("release", "")) })
	}
	return profileText(m.Profile()), pages
}

// A directory of format 1 is upgraded in place, also after a crash, by whoever opens it
// first: a reader as well.
func TestFormat1(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 20, 51, 30, 0, time.UTC)
	for _, name := range []string{"clean", "killed"} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, "format1/"+name+".tar.gz")
			c := newClock(now)
			o := testOptions(t, c)
			o.RollEvery, o.RollTraces, o.Partition = time.Nanosecond, 1, time.Minute
			var log bytes.Buffer
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			r, err := store.OpenReader(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			check := func(when string, r *store.Reader) {
				t.Helper()
				for _, q := range [][]string{format1First, format1Second} {
					all, pages := mergedFiles(t, q)
					query := store.Query{Since: now.Add(-time.Hour), Until: now.Truncate(time.Minute)}
					if &q[0] == &format1Second[0] {
						query = store.Query{Since: now.Truncate(time.Minute)}
					}
					for _, none := range []bool{false, true} {
						if got, stats := answer(t, r, query, none); got != all || !stats.Complete() {
							t.Errorf("%s, none %v:\n%s\n%+v", when, none, differences(got, all), stats)
						}
					}
					for i, page := range pages {
						want, _ := mergedFiles(t, q[i:i+1])
						if got, stats := answer(t, r, store.Query{Page: page}, false); got != want || !stats.Complete() {
							t.Errorf("%s, page %s:\n%s\n%+v", when, page, differences(got, want), stats)
						}
					}
				}
			}
			check("by a reader", r)
			mustClose(t, r)
			if v := formatOf(t, dir); v != store.FormatVersion {
				t.Errorf("a reader leaves format %d", v)
			}
			s := mustOpen(t, dir, o)
			if v := formatOf(t, dir); v != store.FormatVersion {
				t.Errorf("the store leaves format %d", v)
			}
			if want := fmt.Sprintf("from=1 to=%d", store.FormatVersion); strings.Count(log.String(), "upgraded") != 1 || !strings.Contains(log.String(), want) {
				t.Errorf("the log:\n%s", log.String())
			}
			check("by a store", s.Reader)
			mustRoll(t, s)
			check("rolled up", s.Reader)
			c.Add(26 * time.Hour)
			if err := s.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
			mustRoll(t, s)
			mustClose(t, s)
			s = mustOpen(t, dir, o)
			check("rolled up to days", s.Reader)
			if _, stats := answer(t, s.Reader, store.Query{}, false); stats.Days != 1 || stats.Partitions != 0 {
				t.Errorf("not all is read from a day: %+v", stats)
			}
			if n := strings.Count(log.String(), "upgraded"); n != 1 {
				t.Errorf("upgraded %d times", n)
			}
		})
	}
}

// A partition of a whole day, as format 1 had them, is rolled up and read like others.
func TestFormat1WidePartition(t *testing.T) {
	t.Parallel()
	dir := unpack(t, "format1/clean.tar.gz")
	for from, to := range map[string]string{"20261121T2050": "20261120T00", "20261121T2051": "20261121T00"} {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	c := newClock(time.Date(2026, 11, 21, 20, 52, 0, 0, time.UTC))
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	s := mustOpen(t, dir, o)
	want, _ := mergedFiles(t, append(append([]string{}, format1First...), format1Second...))
	for _, when := range []string{"at first", "the next day", "after two days"} {
		mustRoll(t, s)
		got, stats := answer(t, s.Reader, store.Query{}, false)
		if got != want || !stats.Complete() {
			t.Errorf("%s:\n%s\n%+v", when, differences(got, want), stats)
		}
		c.Add(24 * time.Hour)
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, stats := answer(t, s.Reader, store.Query{}, false); stats.Days != 2 {
		t.Errorf("not rolled up to days: %+v", stats)
	}
}

// formatOf returns the version of a data directory.
func formatOf(t testing.TB, dir string) int {
	t.Helper()
	var f struct{ Format int }
	b, err := os.ReadFile(filepath.Join(dir, "FORMAT"))
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.Format
}

// copySparse writes r to an empty file, with holes for zeros.
func copySparse(f *os.File, r io.Reader, size int64) error {
	buf, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); at < size; {
		n, err := io.ReadFull(r, buf[:min(int64(len(buf)), size-at)])
		if err == nil && !bytes.Equal(buf[:n], zeros[:n]) {
			_, err = f.WriteAt(buf[:n], at)
		}
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return f.Truncate(size)
}
