package upgrade

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// life is a directory that goes on after its upgrade.
type life struct {
	*testing.T
	dir string
	now time.Time
}

// node opens it to write.
func (l *life) node(o shared.Options) *shared.Node {
	l.Helper()
	place, err := shared.OpenPlace(l.Context(), l.dir, shared.PlaceOptions{Program: "test", BelieveClock: true, Now: func() time.Time { return l.now }})
	if err != nil {
		l.Fatal(err)
	}
	o.Flush = time.Millisecond
	n, err := shared.Open(l.Context(), place, o)
	if err != nil {
		l.Fatal(err)
	}
	return n
}

func (l *life) close(n *shared.Node) {
	l.Helper()
	if err := n.Close(l.Context()); err != nil {
		l.Fatal(err)
	}
}

// manifests returns those of all shards.
func (l *life) manifests() (out []*layout.Manifest) {
	l.Helper()
	place, err := shared.OpenPlace(l.Context(), l.dir, shared.PlaceOptions{ReadOnly: true, Now: func() time.Time { return l.now }})
	if err != nil {
		l.Fatal(err)
	}
	b, err := layout.Open(l.Context(), place, layout.Options{})
	if err != nil {
		l.Fatal(err)
	}
	for shard := range b.Shards {
		m, _, err := b.Manifest(l.Context(), shard, 0)
		if err != nil {
			l.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// traces returns all traces.
func (l *life) traces(n *shared.Node) (out []store.Record) {
	l.Helper()
	_, err := n.Scan(l.Context(), store.Query{}, func(r store.Record) error {
		r.Pages, r.Payload = slices.Clone(r.Pages), slices.Clone(r.Payload)
		out = append(out, r)
		return nil
	})
	if err != nil {
		l.Fatal(err)
	}
	return out
}

// TestLife goes on after an upgrade: what comes again is dropped, also what came in the newest hour; hours and days are closed, and what is
// too old goes.
func TestLife(t *testing.T) {
	g := readGolden(t, "closed")
	l := &life{T: t, dir: unpack(t, "closed"), now: g.now}
	if _, err := Run(t.Context(), l.dir, g.options()); err != nil {
		t.Fatal(err)
	}
	newest := layout.HourOf(g.now)
	open := 0
	for _, m := range l.manifests() {
		for name, h := range m.Hours {
			if h.Sealed == (name == newest) {
				t.Errorf("hour %s: closed is %v", name, h.Sealed)
			}
			if name == newest {
				open++
			}
		}
		if len(m.Days) > 0 && (m.Days["20261118"] == nil || m.Days["20261119"] == nil || m.Days["20261120"] != nil) {
			t.Errorf("there are days %v", m.Days)
		}
	}
	if open == 0 {
		t.Fatal("nothing is of the newest hour")
	}
	n := l.node(shared.Options{})
	before := l.traces(n)
	again := slices.Clone(before)
	fresh := before[len(before)-1]
	fresh.ID.Chunk += 100
	fresh.ID.View[0]++
	if _, err := n.Append(t.Context(), append(again, fresh)); err != nil {
		t.Fatal(err)
	}
	n.CountViews("/quiet", "unsupported", 5)
	l.now = l.now.Add(time.Minute)
	n.RollUp(t.Context())
	// What was received more than two hours ago is not looked for.
	old := slices.DeleteFunc(slices.Clone(before), func(r store.Record) bool { return r.Received.After(g.now.Add(-90 * time.Minute)) })
	if got, want := len(l.traces(n)), len(before)+len(old)+1; got != want {
		t.Errorf("there are %d traces, want %d", got, want)
	}
	l.now = l.now.Add(24 * time.Hour)
	n.RollUp(t.Context())
	l.close(n)
	for _, m := range l.manifests() {
		for name, h := range m.Hours {
			if !h.Sealed || m.Days[layout.DayOf(name)] == nil {
				t.Errorf("hour %s is closed: %v, and its day is there: %v", name, h.Sealed, m.Days[layout.DayOf(name)] != nil)
			}
		}
	}
	l.expire(g)
}

// expire has the traces go, then the hours, then the days.
func (l *life) expire(g golden) {
	o := shared.Options{Retention: 12 * time.Hour, HourRetention: 30 * time.Hour, DayRetention: 100 * time.Hour, Shorten: true}
	count := func() (runs, hours, days int) {
		for _, m := range l.manifests() {
			for _, h := range m.Hours {
				runs += len(h.Runs)
			}
			hours, days = hours+len(m.Hours), days+len(m.Days)
		}
		return runs, hours, days
	}
	round := func(after time.Duration) (runs, hours, days int) {
		l.now = l.now.Add(after)
		n := l.node(o)
		n.RollUp(l.Context())
		l.close(n)
		return count()
	}
	if runs, hours, days := round(0); runs > 0 || hours == 0 || days == 0 {
		l.Errorf("after a day: %d runs, %d hours, %d days", runs, hours, days)
	}
	if runs, hours, days := round(48 * time.Hour); runs > 0 || hours > 0 || days == 0 {
		l.Errorf("after three days: %d runs, %d hours, %d days", runs, hours, days)
	}
	if runs, hours, days := round(120 * time.Hour); runs+hours+days > 0 {
		l.Errorf("after eight days: %d runs, %d hours, %d days", runs, hours, days)
	}
}

// TestSymbols finds symbols where they were.
func TestSymbols(t *testing.T) {
	dir, g := unpack(t, "closed"), readGolden(t, "closed")
	if _, err := Run(t.Context(), dir, g.options()); err != nil {
		t.Fatal(err)
	}
	files := g.open(t, dir).Symbols()
	for _, folder := range []string{"tables/", "uploads/"} {
		list, err := files.List(folder)
		if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Name, folder) {
			t.Fatalf("%s has %v, %v", folder, list, err)
		}
		if body, err := files.Read(list[0].Name, 1<<20); err != nil || len(body) == 0 {
			t.Errorf("read %s: %d bytes, %v", list[0].Name, len(body), err)
		}
	}
}
