package shared

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// both are a directory and a bucket that receive the same traces. Hours and days are closed in the
// bucket, but never in the directory.
type both struct {
	t         *testing.T
	now       time.Time
	dir, node *Node

	coarse time.Duration // precision for comparing receive times
}

func newBoth(t *testing.T) *both {
	b := &both{t: t, coarse: time.Minute, now: time.Date(2026, 11, 20, 22, 10, 0, 0, time.UTC)}
	now := func() time.Time { return b.now }
	d, err := directory.Open(t.TempDir(), directory.Options{Now: now, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := Open(t.Context(), d, Options{Shards: 2, RollRows: 7, Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close(context.Background()) })
	s := fakebucket.New(1)
	s.Now = now
	node, err := Open(t.Context(), s.Client().Bucket(now), Options{Shards: 3, Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	b.dir, b.node = dir, node
	return b
}

func (b *both) append(recs ...store.Record) {
	b.t.Helper()
	if _, err := b.dir.Append(b.t.Context(), recs); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.node.Append(b.t.Context(), recs); err != nil {
		b.t.Fatal(err)
	}
}

// count counts page views without a trace, and Web Vitals.
func (b *both) count(page string, views int64, lcp int64) {
	v := rollup.Vital{Name: "lcp", Labels: trie.MakeLabels("release", "r1")}
	v.Add(lcp, views)
	for _, s := range []*Node{b.dir, b.node} {
		s.CountViews(page, "unsampled", views)
		s.CountVitals(page, []rollup.Vital{v})
	}
}

// settle makes both roll up and close everything they can.
func (b *both) settle() {
	b.t.Helper()
	b.now = b.now.Add(time.Minute)
	ctx := b.t.Context()
	b.dir.round(ctx, roll.Work{})
	b.node.round(ctx, roll.Work{Close: true, Sweep: true})
	b.node.round(ctx, roll.Work{Close: true}) // days are closed after their hours
}

// same compares the responses of both.
func (b *both) same(when string) {
	b.t.Helper()
	ctx := b.t.Context()
	for _, page := range []string{"", "/feed", "/cart", "/none"} {
		for _, span := range []struct{ since, until time.Duration }{{0, 0}, {-90 * time.Minute, 0},
			{-30 * time.Hour, -2 * time.Hour}, {-26 * time.Hour, -25 * time.Hour}} {
			sel := selection.Selection{Page: page}
			if span.since != 0 {
				sel.Since = b.now.Add(span.since)
			}
			if span.until != 0 {
				sel.Until = b.now.Add(span.until)
			}
			what := fmt.Sprintf("%s, %q from %v to %v", when, page, span.since, span.until)
			want, werr := b.answers(ctx, query.Local{Reader: b.dir.Reader}, sel)
			got, gerr := b.answers(ctx, query.Local{Reader: b.node.Reader}, sel)
			if werr != nil || gerr != nil {
				b.t.Fatalf("%s: %v, %v", what, werr, gerr)
			}
			for i := range want {
				if got[i] != want[i] {
					b.t.Errorf("%s: answer %d:\nbucket    %s\ndirectory %s", what, i, around(got[i], want[i]),
						around(want[i], got[i]))
				}
			}
		}
	}
}

// answers returns the responses of a store to a selection as text.
func (b *both) answers(ctx context.Context, l query.Local, sel selection.Selection) ([]string, error) {
	var out []string
	p, err := l.Profile(ctx, sel, nil)
	if err != nil {
		return nil, err
	}
	data, err := encode.EncodeProfile(p.Profile)
	if err != nil {
		return nil, err
	}
	out = append(out, fmt.Sprintf("%x %v", data, p.Stats.Warnings))
	r, err := l.Report(ctx, sel)
	if err != nil {
		return nil, err
	}
	r.Stats = query.Stats{Warnings: r.Stats.Warnings}
	out = append(out, textOf(r))
	v, err := l.Vitals(ctx, sel)
	if err != nil {
		return nil, err
	}
	v.Stats = query.Stats{}
	out = append(out, textOf(v))
	c, err := l.Catalog(ctx, sel.Since, sel.Until, 0)
	if err != nil {
		return nil, err
	}
	for i := range c.Entries { // all traces of a segment have the same receive time
		c.Entries[i].First, c.Entries[i].Last = c.Entries[i].First.Truncate(b.coarse),
			c.Entries[i].Last.Truncate(b.coarse)
	}
	out = append(out, textOf(c))
	var traces []string
	_, err = l.Reader.(*Reader).Scan(ctx, store.Query{Page: sel.Page, Since: sel.Since, Until: sel.Until},
		func(rec store.Record) error {
			traces = append(traces, fmt.Sprintf("%s %s %v %v %x", rec.ID, rec.Page, rec.Pages,
				rec.Received.Truncate(b.coarse), rec.Payload))
			return nil
		})
	slices.Sort(traces)
	return append(out, fmt.Sprint(traces)), err
}

// around returns the part of a text that differs from another one.
func around(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[max(0, n-100):min(len(a), n+150)]
}

func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestSameHoweverRolledUp sends the same traces to a directory and a bucket, and compares their
// responses while hours and a day go by.
func TestSameHoweverRolledUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	b := newBoth(t)
	n := 0
	for hour := range 5 {
		for range 3 {
			var recs []store.Record
			for range 1 + rnd.IntN(30) {
				var id store.ID
				binary.BigEndian.PutUint64(id.View[:], uint64(n/3)*0x9E3779B97F4A7C15)
				id.Chunk = uint32(n % 3)
				n++
				recs = append(recs, recordOf(id, rnd))
			}
			b.append(recs...)
			b.append(recs[0]) // a duplicate
			b.count("/feed", int64(1+rnd.IntN(9)), int64(rnd.IntN(5_000_000)))
			b.now = b.now.Add(5 * time.Minute)
			b.settle()
			b.same(fmt.Sprintf("in hour %d", hour))
		}
		b.now = b.now.Add(50 * time.Minute)
		b.settle()
		b.same(fmt.Sprintf("after hour %d", hour))
	}
	b.now = b.now.Add(26 * time.Hour)
	b.settle()
	b.same("days later")
}
