package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// A directory of objects of format 1 answers as it did, is whole, and takes traces. Its file is never made anew: a release that can not
// read it can not read what earlier ones wrote.
func TestObjects1(t *testing.T) {
	dir, g := unpack(t, "objects1"), readGolden(t, "closed")
	if needed, err := Needed(dir); needed || err != nil {
		t.Fatalf("it is to be upgraded, %v", err)
	}
	if diff := differ(g.answers(t, dir), lines(g.text), empty); diff != "" {
		t.Errorf("it answers otherwise:\n%s", diff)
	}
	if v, err := g.open(t, dir).Verify(t.Context(), func(int, int, uint64) {}); err != nil || len(v.Findings) > 0 || v.Objects == 0 {
		t.Errorf("verified: %+v, %v", v, err)
	}
	l := &life{T: t, dir: dir, now: g.now.Add(time.Minute)}
	n := l.node(shared.Options{})
	before := l.traces(n)
	fresh := before[0]
	fresh.ID.View[0]++
	if _, err := n.Append(t.Context(), []store.Record{fresh}); err != nil {
		t.Fatal(err)
	}
	n.RollUp(t.Context())
	if got := l.traces(n); len(got) != len(before)+1 {
		t.Errorf("%d traces after one was added to %d", len(got), len(before))
	}
	l.close(n)

	// As a release sees it that is older than the one that wrote it: it is refused, and stays as it is.
	format := filepath.Join(dir, "FORMAT")
	text, err := os.ReadFile(format)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(text), `"format":1`, `"format":2`, 1)
	if newer == string(text) {
		t.Fatalf("FORMAT is %s", text)
	}
	if err := os.WriteFile(format, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := treeOf(t, dir)
	place, err := shared.OpenPlace(t.Context(), dir, shared.PlaceOptions{Program: "test", Now: func() time.Time { return l.now }})
	if err == nil {
		_, err = shared.Open(t.Context(), place, shared.Options{})
	}
	if err == nil || !strings.Contains(err.Error(), "a newer release wrote it, use that one") {
		t.Errorf("got %v", err)
	}
	if diff := differ(treeOf(t, dir), tree, func(string) bool { return false }); diff != "" {
		t.Errorf("the older release has changed:\n%s", diff)
	}
}
