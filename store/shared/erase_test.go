package shared

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/trie"
)

// planted returns a trace of a page. Its function, script, feature, label, release and page have
// names that begin with word.
func planted(t *testing.T, n byte, page, word string) store.Record {
	t.Helper()
	x := &trie.Trace{Trie: *trie.New()}
	id := store.ID{View: [16]byte{n}}
	c := &x.Context
	c.Page, c.ViewID, c.Interval, c.Release = page, string(id.View[:]), 10_000, word+"release"
	c.Labels = trie.MakeLabels("tier", word+"label")
	c.Spans = []trie.Span{{Kind: trie.SpanFeature, Name: word + "feature", Start: 0, Length: 50_000}}
	node := x.Insert(trie.Frame{Name: word + "function", Resource: "https://x.example/" + word + ".js", Line: 1})
	x.Samples = []trie.Sample{{Time: 0, Node: node}, {Time: 100_000, Node: trie.Root}}
	payload, err := encode.EncodeTrace(x)
	if err != nil {
		t.Fatal(err)
	}
	tags := []store.Tag{{Key: "release", Value: c.Release}, {Key: "tier", Value: word + "label"}}
	return store.Record{ID: id, Pages: x.Pages(), Tags: tags, Payload: payload}
}

// filesWith returns the files below a directory that contain a text, either plain or in a zstd
// frame.
func filesWith(t *testing.T, dir, text string) (out []string) {
	t.Helper()
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	has := func(content []byte) bool {
		for {
			if bytes.Contains(content, []byte(text)) {
				return true
			}
			at := bytes.Index(content, magic)
			if at < 0 {
				return false
			}
			content = content[at:]
			if err := dec.Reset(bytes.NewReader(content)); err == nil {
				if plain, _ := io.ReadAll(dec); bytes.Contains(plain, []byte(text)) { // up to the end of the frame
					return true
				}
			}
			content = content[len(magic):]
		}
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // Badger removes files in the background
		}
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if has(content) {
			out = append(out, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// Within two minutes after a deletion no file contains the deleted names, even if no more traces
// arrive. Names of other traces are kept.
func TestDeletedNamesLeaveTheDisk(t *testing.T) {
	now := time.Date(2026, 11, 20, 20, 10, 0, 0, time.UTC)
	dir := t.TempDir()
	d, err := directory.Open(dir, directory.Options{MinFree: -1, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(t.Context(), d, Options{Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close(t.Context()) }()
	views := planted(t, 2, "/shared", "zqview")
	recs := []store.Record{planted(t, 1, "/zqpage", "zqpage"), views, planted(t, 3, "/shared", "zqstays")}
	if _, err := n.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
	n.round(t.Context(), roll.Work{Close: true})
	for _, word := range []string{"zqpage", "zqview", "zqstays"} {
		if len(filesWith(t, dir, word)) == 0 {
			t.Fatalf("the test does not find %s", word)
		}
	}
	for _, s := range []deletion.Selection{{Page: "/zqpage"}, {Views: []string{hex.EncodeToString(views.ID.View[:])}}} {
		if _, err := n.Delete(t.Context(), s, "test", false); err != nil {
			t.Fatal(err)
		}
	}
	n.round(t.Context(), roll.Work{Close: true})
	now = now.Add(2*time.Minute + time.Second)
	n.round(t.Context(), roll.Work{Close: true})
	left := func() (out []string) {
		for _, word := range []string{"zqpagefunction", "zqpagerelease", "zqpagelabel", "zqpagefeature", "zqpage.js",
			"zqview"} {
			for _, path := range filesWith(t, dir, word) {
				out = append(out, word+" in "+path)
			}
		}
		return out
	}
	if !soon(func() bool { return len(left()) == 0 }) {
		t.Errorf("deleted names are left in %q", left())
	}
	for _, path := range filesWith(t, dir, "zqpage") {
		if !strings.HasPrefix(path, "/deletions/") {
			t.Errorf("%s has the name of the deleted page", path)
		}
	}
	if len(filesWith(t, dir, "zqstays")) == 0 {
		t.Error("names of another trace are gone")
	}
}
