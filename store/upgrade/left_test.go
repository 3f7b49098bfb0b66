package upgrade

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// TestDamaged upgrades a directory with damage: what can be read is there, the stats say what is left, and the old files are kept.
func TestDamaged(t *testing.T) {
	dir, g := unpack(t, "closed"), readGolden(t, "damaged")
	damage(t, dir)
	before := treeOf(t, dir)
	stats, err := Run(t.Context(), dir, g.options())
	if err != nil || stats.Former != formerFolder {
		t.Fatalf("%+v, %v", stats, err)
	}
	left := strings.Join(stats.Left, "\n")
	for _, want := range []string{"20261120T00: ", "20261120T07: 1 damaged traces", "20261119T09: sums of \"/a/very/long/page/name/that/others/begin/with\""} {
		if !strings.Contains(left, want) {
			t.Errorf("it is not said that %q:\n%s", want, left)
		}
	}
	if len(stats.Left) != 4 {
		t.Errorf("left are\n%s", left)
	}
	// All of the old form is in the folder, but what is not of it.
	for _, line := range before {
		name, sum, _ := strings.Cut(line, " ")
		at := filepath.Join(dir, stats.Former, name)
		if first, _, _ := strings.Cut(name, "/"); first == "symbols" || first == "sites.json" {
			at = filepath.Join(dir, name)
		}
		if body, err := os.ReadFile(at); err != nil || sumOf(body) != sum {
			t.Errorf("%s is not kept: %v", name, err)
		}
	}
	// What had a damaged trace was answered by rollups that were made before it was damaged.
	other := func(line string) bool {
		return empty(line) || strings.HasPrefix(line, "2026-11-20T07") || strings.HasPrefix(line, "2026-11-20T00+24h") || strings.HasPrefix(line, "all ") ||
			strings.HasPrefix(line, "catalogue /a/very/long/page/name/that/others/begin/with ")
	}
	if diff := differ(g.answers(t, dir), lines(g.text), other); diff != "" {
		t.Errorf("it answers otherwise:\n%s", diff)
	}
}

// TestAside keeps what was set aside before, and nothing else.
func TestAside(t *testing.T) {
	dir, g := unpack(t, "closed"), readGolden(t, "closed")
	for name, text := range map[string]string{"20261119T11.corrupt/REASON": "no manifest\n", "20261117.hours.sums.corrupt": "x", "20261117.hours.sums.corrupt.reason": "cut off", "BALLAST": "xxx",
		"20261120T09.ahead": "", "20261120T09/MANIFEST": "x", "20261120T06.deleting/1": "x", "202611.days.sums.tmp": "x"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stats, err := Run(t.Context(), dir, g.options())
	if err != nil || stats.Former != formerFolder || len(stats.Left) != 2 || !strings.Contains(stats.Left[1], "20261119T11.corrupt: it was set aside: no manifest") {
		t.Fatalf("%+v, %v", stats, err)
	}
	names := func(dir string) (out []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out
	}
	if got := names(filepath.Join(dir, formerFolder)); !slices.Equal(got, []string{"20261117.hours.sums.corrupt", "20261117.hours.sums.corrupt.reason", "20261119T11.corrupt"}) {
		t.Errorf("kept is %v", got)
	}
	if got := names(dir); !slices.Equal(got, []string{"FORMAT", "LOCK", "days", "former", "hours", "raw", "shard", "sites.json", "symbols"}) {
		t.Errorf("there is %v", got)
	}
	if diff := differ(g.answers(t, dir), lines(g.text), empty); diff != "" {
		t.Errorf("it answers otherwise:\n%s", diff)
	}
}

// TestQuarters upgrades partitions of a part of an hour: a trace that came twice in the hour is there once, and so is a page view.
func TestQuarters(t *testing.T) {
	dir, g := unpack(t, "quarters"), readGolden(t, "quarters")
	stats, err := Run(t.Context(), dir, g.options())
	if err != nil || len(stats.Left) > 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	var want []string
	for _, line := range lines(g.text) {
		if strings.HasPrefix(line, "trace ") {
			want = append(want, line)
		}
	}
	var got []string
	for _, line := range g.answers(t, dir) {
		if strings.HasPrefix(line, "trace ") {
			got = append(got, line)
		}
	}
	ids := map[string]bool{} // of pages
	for _, line := range want {
		f := strings.Fields(line)
		ids[f[1]+" "+f[2]] = true
	}
	if len(got) != len(ids) || len(want)-len(got) != int(stats.Repeats) || differ(got, want, func(line string) bool { return !slices.Contains(got, line) }) != "" {
		t.Errorf("%d traces with %d ids, of %d; %d came twice", len(got), len(ids), len(want), stats.Repeats)
	}
	r := g.open(t, dir)
	v, err := r.Verify(t.Context(), func(int, int, uint64) {})
	if err != nil || len(v.Findings) > 0 {
		t.Errorf("verified: %+v, %v", v, err)
	}
	var views int64
	_, err = r.Select(t.Context(), store.Query{Page: "/quiet"}, store.Wanted{Details: true}, func(store.Record) error { return nil }, func(x store.Rolled) error {
		for _, o := range x.Record.Outcomes {
			views += o.Views
		}
		return nil
	})
	if err != nil || !strings.Contains(g.text, fmt.Sprintf("/quiet: 0 page views [unsupported:%d]", views)) {
		t.Errorf("%d page views without a trace, %v", views, err)
	}
}

// counted returns how many traces the catalogue of a golden text counts, one of two pages twice.
func counted(t testing.TB, g golden) (all uint64) {
	t.Helper()
	for _, line := range lines(g.text) {
		if _, rest, ok := strings.Cut(line, " =: "); ok && strings.HasPrefix(line, "catalogue ") {
			n := uint64(0)
			if _, err := fmt.Sscan(rest, &n); err != nil {
				t.Fatal(err)
			}
			all += n
		}
	}
	return all
}

// TestMixed upgrades an hour of which a part has rollups alone: so has all of it then, and nothing is counted twice or not at all.
func TestMixed(t *testing.T) {
	dir, g := unpack(t, "quarters"), readGolden(t, "quarters")
	if err := os.RemoveAll(filepath.Join(dir, "20261118T1015")); err != nil {
		t.Fatal(err)
	}
	stats, err := Run(t.Context(), dir, g.options())
	if want := counted(t, g); err != nil || len(stats.Left) > 0 || stats.Traces+stats.Repeats != want {
		t.Fatalf("%+v, %v, want %d traces", stats, err, want)
	}
	traces := map[string]int{}
	for _, line := range g.answers(t, dir) {
		if _, at, ok := strings.Cut(line, " received 2026-11-18T"); ok {
			traces[at[:2]]++
		}
	}
	if traces["10"] > 0 || traces["11"] == 0 {
		t.Errorf("there are traces of hours %v", traces)
	}
	r := g.open(t, dir)
	at := g.now.Truncate(24 * time.Hour).Add(10 * time.Hour)
	if r.HasTraces(at, at.Add(time.Hour)) || !r.HasHours(at, at.Add(time.Hour)) {
		t.Error("it is not known that the traces of an hour are gone")
	}
}

// TestLateHour adds an hour to a day of which there is the rollup alone, as when the clock was set back.
func TestLateHour(t *testing.T) {
	dir, g := unpack(t, "closed"), readGolden(t, "closed")
	if err := os.Rename(filepath.Join(dir, "20261120T00"), filepath.Join(dir, "20261118T12")); err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Join(dir, "20261120.hours.sums"))
	stats, err := Run(t.Context(), dir, g.options())
	if want := counted(t, g); err != nil || len(stats.Left) > 0 {
		t.Fatalf("%+v, %v, want %d traces", stats, err, want)
	}
	l := &life{T: t, dir: dir, now: g.now}
	var traces uint64
	sources := map[string]bool{}
	for _, m := range l.manifests() {
		if d := m.Days["20261118"]; d != nil {
			traces += d.Traces
			for _, hour := range d.Sources {
				sources[hour] = true
			}
		}
	}
	if traces != 98+56 || len(sources) != 3 || !sources["20261118T12"] {
		t.Errorf("the day has %d traces of %v", traces, sources)
	}
}

// TestEmpty upgrades a directory that nothing ever came to.
func TestEmpty(t *testing.T) {
	dir, g := t.TempDir(), readGolden(t, "closed")
	if err := os.WriteFile(filepath.Join(dir, "FORMAT"), []byte("{\"format\":3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stats, err := Run(t.Context(), dir, g.options())
	if err != nil || stats.Hours+stats.Days+len(stats.Left) > 0 || stats.Former != "" {
		t.Fatalf("%+v, %v", stats, err)
	}
	l := &life{T: t, dir: dir, now: g.now}
	n := l.node(shared.Options{})
	if got := l.traces(n); len(got) > 0 {
		t.Errorf("it has %d traces", len(got))
	}
	l.close(n)
}

// TestFaultySums can not open a file of rollups, and goes on with what there is beside it.
func TestFaultySums(t *testing.T) {
	dir, g := unpack(t, "closed"), readGolden(t, "closed")
	cut(t, filepath.Join(dir, "20261119.hours.sums"), 20_000)
	stats, err := Run(t.Context(), dir, g.options())
	if err != nil || len(stats.Left) != 1 || !strings.HasPrefix(stats.Left[0], "20261119.hours.sums: damaged") || stats.Former == "" {
		t.Fatalf("%+v, %v", stats, err)
	}
	hour := func(line string) bool {
		return empty(line) || strings.HasPrefix(line, "2026-11-19T") && !strings.Contains(line, "+24h")
	}
	if diff := differ(g.answers(t, dir), lines(g.text), hour); diff != "" {
		t.Errorf("it answers otherwise:\n%s", diff)
	}
}

// TestLoss damages what a crash has left: what of it can be replayed is there, and how much was lost is said. Nothing ends the process.
func TestLoss(t *testing.T) {
	g := readGolden(t, "killed")
	traces := strings.Count(g.text, "\ntrace ")
	for _, x := range []struct {
		name   string
		change func(dir string)
		lost   bool
	}{
		{"a flipped byte in a log", func(dir string) { flip(t, filepath.Join(dir, "00001.mem"), 40_000) }, true},
		{"no log", func(dir string) { remove(t, filepath.Join(dir, "00001.mem")) }, true},
		{"an empty log", func(dir string) { cut(t, filepath.Join(dir, "00002.mem"), 0) }, false},
		{"damaged keys", func(dir string) { cut(t, filepath.Join(dir, "KEYREGISTRY"), 20) }, false},
		{"a damaged head of a log", func(dir string) { flip(t, filepath.Join(dir, "00001.mem"), 3) }, false},
		{"a table that nothing names", func(dir string) { cut(t, filepath.Join(dir, "000099.sst"), 0) }, false},
		{"a torn list of commits", func(dir string) { appendTo(t, filepath.Join(dir, "COMMITS"), "torn") }, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := unpack(t, "killed")
			x.change(filepath.Join(dir, "20261121T10"))
			stats, err := Run(t.Context(), dir, g.options())
			if err != nil || len(stats.Left) > 0 || (stats.Lost > 0) != x.lost {
				t.Fatalf("%+v, %v", stats, err)
			}
			got := 0
			for _, line := range g.answers(t, dir) {
				if strings.HasPrefix(line, "trace ") {
					got++
				}
			}
			if (got < traces) != x.lost || got == 0 {
				t.Errorf("there are %d traces of %d", got, traces)
			}
		})
	}
}

// TestUnreadable can not open a partition that a crash has left, and goes on with the others.
func TestUnreadable(t *testing.T) {
	dir, g := unpack(t, "killed"), readGolden(t, "killed")
	if err := os.WriteFile(filepath.Join(dir, "20261121T10", "MANIFEST"), bytes.Repeat([]byte("x"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	stats, err := Run(t.Context(), dir, g.options())
	if err != nil || len(stats.Left) != 1 || !strings.HasPrefix(stats.Left[0], "20261121T10: ") || stats.Former == "" {
		t.Fatalf("%+v, %v", stats, err)
	}
	of := func(line string) bool {
		return strings.HasPrefix(line, "2026-11-21T09+1h") || strings.HasPrefix(line, "2026-11-21T11+1h")
	}
	if diff := differ(g.answers(t, dir), lines(g.text), func(line string) bool { return !of(line) }); diff != "" {
		t.Errorf("other hours answer otherwise:\n%s", diff)
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// cut makes a file as long as that.
func cut(t testing.TB, path string, size int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func appendTo(t testing.TB, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(b, text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
