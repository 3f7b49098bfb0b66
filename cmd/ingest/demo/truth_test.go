package demo

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// pair is a comparison of two releases.
type pair struct {
	before, after string
	since         time.Duration
	// planted has the functions whose time differs, by page. The comparison of all pages expects
	// all of them.
	planted map[string][]string
}

// pairs returns the pairs of releases with the planted changes from docs/demo.md.
func pairs() []pair {
	price := map[string][]string{}
	for _, p := range pages {
		price[p.page] = []string{Function}
	}
	search := map[string][]string{Page: {"wordsOf", "searchProducts/map()", "indexed"}}
	both := map[string][]string{}
	for _, p := range pages {
		both[p.page] = append(price[p.page], search[p.page]...)
	}
	const day, week = 24 * time.Hour, days * 24 * time.Hour
	return []pair{{"2.3.0", "2.4.0", week, search}, {"2.4.0", "2.5.0", day, price}, {"2.3.0", "2.5.0", week, both}}
}

// TestTruth compares the releases of five demos on each page: totals have the right direction,
// planted functions come first, and at most 5 % of all reported functions are not planted. A
// function is reported for its self time, so callers of planted functions count as not planted.
func TestTruth(t *testing.T) {
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	p, err := newPool()
	if err != nil {
		t.Fatal(err)
	}
	named, wrong := 0, 0
	for seed := range seeds {
		now := time.Date(2026, 11, 25, 15, 20, 0, 0, time.UTC)
		src := query.Local{Reader: newRolled(t, p, seed, now), Symbols: naming.New(library{p.functions.releases})}
		for _, pair := range pairs() {
			for _, page := range []string{"", "/", Page, "/product/:id", "/cart", "/checkout"} {
				c := compareReleases(t, src, pair, page, now)
				what := fmt.Sprintf("seed %d, %s to %s, page %q", seed, pair.before, pair.after, page)
				n, w := judge(t, what, page, pair, c)
				named, wrong = named+n, wrong+w
			}
		}
	}
	t.Logf("%d functions were reported, %d of them were not planted", named, wrong)
	if named == 0 || float64(wrong) > 0.05*float64(named) {
		t.Errorf("%d of %d reported functions were not planted", wrong, named)
	}
}

func compareReleases(t *testing.T, src query.Source, p pair, page string, now time.Time) query.Comparison {
	t.Helper()
	of := func(release string) selection.Selection {
		where := []selection.Matcher{{Key: "release", Op: selection.Equal, Value: release}}
		return selection.Selection{Page: page, Since: now.Add(-p.since), Until: now, Where: where}
	}
	q := query.CompareQuery{A: of(p.before), B: of(p.after), Method: query.MethodSums, Brief: true}
	c, err := src.Compare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// judge compares a comparison with the planted changes, and returns how many functions it reports
// and how many of these were not planted.
func judge(t *testing.T, what, page string, p pair, c query.Comparison) (named, wrong int) {
	t.Helper()
	if !c.Enough {
		t.Errorf("%s: %v page views are not enough", what, c.Views)
	}
	planted := p.planted[page]
	for _, of := range p.planted {
		if page == "" {
			planted = append(planted, of...)
		}
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		if !f.Status.Alarm() {
			continue
		}
		named++
		if !slices.Contains(planted, f.Name) {
			wrong++
			t.Logf("%s: %s is %s by %.1f ms, p %.2g", what, f.Name, f.Status, shown(&f.Change), f.P)
		}
	}
	if f := largest(c); len(planted) > 0 && !slices.Contains(planted, f.Name) {
		t.Errorf("%s: the first function is %q", what, f.Name)
	}
	right := compare.Faster
	if p.after == After {
		right = compare.Slower
	}
	status := c.Total.Status
	sure := p.after == After && (page == "" || page == Page)
	if len(planted) > 0 && status != right && (status.Alarm() || sure) {
		t.Errorf("%s: the total is %s by %.1f ms", what, status, shown(&c.Total))
	}
	return named, wrong
}

// rolled is an in-memory [store.Reader] with sums by page for the last day and for the time before.
type rolled struct {
	store.Reader
	pages     []string
	sums      map[string][2]*rollup.Builder
	yesterday time.Time
}

func newRolled(t *testing.T, p *pool, seed uint64, now time.Time) *rolled {
	t.Helper()
	out := &rolled{sums: map[string][2]*rollup.Builder{}, yesterday: now.Add(-24 * time.Hour)}
	for _, of := range pages {
		out.pages = append(out.pages, of.page)
		limits := rollup.Limits{}.WithDefaults()
		for i := range 2 {
			sums := out.sums[of.page]
			sums[i] = rollup.NewWholeBuilder(of.page, limits)
			out.sums[of.page] = sums
		}
	}
	r := rand.New(rand.NewPCG(3, seed))
	for i, v := range plan(r, now, Views) {
		if !v.profiled {
			continue
		}
		b := out.sums[v.page][0]
		if v.at.After(out.yesterday) {
			b = out.sums[v.page][1]
		}
		b.Begin(1)
		of := p.pages[v.page]
		replayed := newReplay(p, of[v.pick%len(of)], &v, r)
		for k := range replayed.of.traces {
			x := replayed.trace(k, v.stretch, r.Int64N(1<<30)).Coalesce(func(f trie.Frame) trie.Frame {
				if strings.HasPrefix(f.Resource, profiler) {
					return trie.Frame{Name: trie.FrameFieldtrie}
				}
				return f
			})
			x.Context.Page, x.Context.ViewID = v.page, fmt.Sprint(i)
			more := trie.MakeLabels(rollup.KeyDevice, v.device.name, rollup.KeyConnection, v.connection)
			x.Context.Labels = withLabels(x.Context.Labels, more)
			b.Add(x)
		}
		b.End()
	}
	return out
}

// Select implements [store.Reader].
func (r *rolled) Select(
	_ context.Context, q store.Query, _ store.Wanted, _ func(store.Record) error, take func(store.Rolled) error,
) (store.ScanStats, error) {
	for _, page := range r.pages {
		for i, b := range r.sums[page] {
			if q.Page != "" && q.Page != page || i == 0 && !q.Since.Before(r.yesterday) {
				continue
			}
			record, err := b.Record()
			if err == nil {
				err = take(store.Rolled{Page: page, Stacks: b.Stacks(), Record: record})
			}
			if err != nil {
				return store.ScanStats{}, err
			}
		}
	}
	return store.ScanStats{}, nil
}

// Now implements [store.Reader].
func (r *rolled) Now() time.Time { return r.yesterday.Add(24 * time.Hour) }

// Version implements [store.Reader].
func (r *rolled) Version(time.Time, time.Time) string { return "" }

// Deleted implements [store.Reader].
func (r *rolled) Deleted() string { return "" }

// library has the symbols of releases, oldest first.
type library struct{ releases []*release }

// Uploads implements [naming.Library].
func (l library) Uploads() (out []symbols.Upload) {
	for _, r := range slices.Backward(l.releases) {
		script := symbols.Script{Path: r.Path, Prefix: origin, SHA256: hex.EncodeToString(r.table.Script[:])}
		out = append(out, symbols.Upload{Release: r.Release, Scripts: []symbols.Script{script}})
	}
	return out
}

// Table implements [naming.Library].
func (l library) Table(sha256 string) (*symbols.Table, error) {
	for _, r := range l.releases {
		if hex.EncodeToString(r.table.Script[:]) == sha256 {
			return r.table, nil
		}
	}
	return nil, fmt.Errorf("no table of script %s", sha256)
}

// Generation implements [naming.Library].
func (l library) Generation() string { return "" }
