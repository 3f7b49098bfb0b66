package shared

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/shared/move"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// filled is a bucket that an aged directory was imported into, and that got more since.
func filled(t testing.TB, seed uint64) (a *aged, s *fakebucket.Server, n *Node) {
	t.Helper()
	a = newAged(t, seed)
	s = fakebucket.New(1)
	s.Now = func() time.Time { return a.now }
	n = nodeOn(t, s.Client(), s.Now)
	if _, err := n.Import(t.Context(), a.open(), quietly); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a.now = a.now.Add(50 * time.Minute)
		if _, err := n.Append(t.Context(), a.records(20)); err != nil {
			t.Fatal(err)
		}
		n.CountViews("/about", "unsampled", 7)
		n.round(t.Context(), roll.Work{Close: true})
	}
	if _, err := n.Append(t.Context(), a.records(5)); err != nil { // which nobody rolls up
		t.Fatal(err)
	}
	return a, s, n
}

// exported opens a directory that was exported.
func exported(t testing.TB, a *aged, path string) *local.Reader {
	t.Helper()
	r, err := local.OpenReader(path, local.Options{Now: func() time.Time { return a.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func export(t testing.TB, n *Node, path string) (move.Stats, error) {
	t.Helper()
	to, err := local.OpenLoader(path, "the bucket", local.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.Close() }()
	stats, err := n.Export(t.Context(), to, quietly)
	if err == nil {
		err = to.Finish()
	}
	return stats, err
}

// TestExport moves a bucket into a directory, asks both the same, and has a store go on there.
func TestExport(t *testing.T) {
	a, _, n := filled(t, 11)
	path := t.TempDir()
	stats, err := export(t, n, path)
	if err != nil || stats.Traces == 0 || stats.Days != 1 || stats.Hours < 5 || len(stats.Left) > 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	r := exported(t, a, path)
	b := &both{t: t, now: a.now, dir: &local.Store{Reader: r}, node: n, coarse: time.Microsecond}
	b.same("exported")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := local.OpenLoader(path, "the bucket", local.Options{MinFree: -1}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("into a directory that is there: %v", err)
	}
	s, err := local.Open(path, local.Options{Now: func() time.Time { return a.now }, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	recs := a.records(9)
	if _, err := s.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a.now = a.now.Add(20 * time.Hour)
		a.settle(s)
		n.round(t.Context(), roll.Work{Close: true})
		n.round(t.Context(), roll.Work{Close: true})
		b = &both{t: t, now: a.now, dir: s, node: n, coarse: time.Minute}
		b.same("exported, and gone on with")
	}
}

// TestExportCut cuts an export off at many points, and goes on.
func TestExportCut(t *testing.T) {
	a, s, whole := filled(t, 13)
	whole.round(t.Context(), roll.Work{})
	want := ""
	for cut := 1000; cut > 0; {
		path := t.TempDir()
		c := s.Client()
		n := nodeOn(t, c, s.Now)
		before := total(s)
		c.CutAfter(cut)
		_, err := export(t, n, path)
		took := total(s) - before
		if err != nil {
			if _, err := local.Open(path, local.Options{MinFree: -1}); err == nil {
				t.Fatal("a directory is opened that was not exported to its end")
			}
			if _, err := export(t, nodeOn(t, s.Client(), s.Now), path); err != nil {
				t.Fatalf("cut after %d requests: %v", cut, err)
			}
		} else if want != "" {
			t.Fatalf("it was not cut after %d requests", cut)
		}
		r := exported(t, a, path)
		b := &both{t: t, now: a.now, coarse: time.Microsecond}
		out, err := b.answers(t.Context(), query.Local{Reader: r}, selection.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(out)
		if want == "" {
			want, cut = got, took
		}
		if got != want {
			t.Fatalf("cut after %d requests:\n%s\nwant\n%s", cut, around(got, want), around(want, got))
		}
		cut -= step(cut)
	}
}

// step is how much sooner something is cut off the next time.
func step(cut int) int {
	if testing.Short() {
		return 1 + cut/2
	}
	return 1 + cut/4
}
