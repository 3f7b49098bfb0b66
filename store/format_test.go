package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
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
	"github.com/fieldtrie/fieldtrie/trie"
)

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

// A directory of format 1 is upgraded in place, also after a crash, and read as it is by
// those who only read.
func TestFormat1(t *testing.T) {
	now := time.Date(2026, 11, 21, 20, 51, 30, 0, time.UTC)
	for _, name := range []string{"clean", "killed"} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, "format1/"+name+".tar.gz")
			c := newClock(now)
			o := testOptions(t, c)
			o.RollEvery, o.RollTraces, o.Partition = time.Nanosecond, 1, time.Minute
			r, err := OpenReader(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			check := func(when string, r *Reader) {
				t.Helper()
				for _, q := range [][]string{format1First, format1Second} {
					all, pages := mergedFiles(t, q)
					query := Query{Since: now.Add(-time.Hour), Until: now.Truncate(time.Minute)}
					if &q[0] == &format1Second[0] {
						query = Query{Since: now.Truncate(time.Minute)}
					}
					for _, none := range []bool{false, true} {
						if got, stats := answer(t, r, query, none); got != all || !stats.Complete() {
							t.Errorf("%s, none %v:\n%s\n%+v", when, none, differences(got, all), stats)
						}
					}
					for i, page := range pages {
						want, _ := mergedFiles(t, q[i:i+1])
						if got, stats := answer(t, r, Query{Page: page}, false); got != want || !stats.Complete() {
							t.Errorf("%s, page %s:\n%s\n%+v", when, page, differences(got, want), stats)
						}
					}
				}
			}
			check("by a reader", r)
			mustClose(t, r)
			if v, err := readFormat(dir); err != nil || v != 1 {
				t.Errorf("a reader leaves format %d, %v", v, err)
			}
			var log bytes.Buffer
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			s := mustOpen(t, dir, o)
			if v, err := readFormat(dir); err != nil || v != FormatVersion {
				t.Errorf("the store leaves format %d, %v", v, err)
			}
			if want := fmt.Sprintf("from=1 to=%d", FormatVersion); strings.Count(log.String(), "upgraded") != 1 || !strings.Contains(log.String(), want) {
				t.Errorf("the log:\n%s", log.String())
			}
			check("upgraded", s.Reader)
			rollUp(t, s)
			check("rolled up", s.Reader)
			c.Add(26 * time.Hour)
			if err := s.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
			rollUp(t, s)
			mustClose(t, s)
			s = mustOpen(t, dir, o)
			check("rolled up to days", s.Reader)
			if _, stats := answer(t, s.Reader, Query{}, false); stats.Days != 1 || stats.Partitions != 0 {
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
		rollUp(t, s)
		got, stats := answer(t, s.Reader, Query{}, false)
		if got != want || !stats.Complete() {
			t.Errorf("%s:\n%s\n%+v", when, differences(got, want), stats)
		}
		c.Add(24 * time.Hour)
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, stats := answer(t, s.Reader, Query{}, false); stats.Days != 2 {
		t.Errorf("not rolled up to days: %+v", stats)
	}
}
