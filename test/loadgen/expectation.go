package loadgen

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// expectation computes the expected profiles.
type expectation struct {
	variants []variant
	stored   [][]*trie.Trace        // by variant and chunk: as the daemon stores it
	pages    [][][]string           // of these
	views    map[seen]*trie.Profile // of one page view
}

// seen is the stored part of a page view as seen by a query. It leaves out the page of
// the query, so that views of all pages share it.
type seen struct {
	query   pageQuery
	variant int
	chunks  chunkSet
	on      shown
}

// shown is the time in which a view shows the page of a query.
type shown struct {
	first bool   // before its first change of routes
	route string // "" or the page, if a route leads there
}

func (s shown) has(page string) bool { return s.first && page == firstPage || s.route == page }

// firstPage stands for the first page of a view, so that views of all pages share their
// expectations.
const firstPage = "/first"

// shown returns the time in which a view of a variant shows the page with rank rank, if its first
// page has rank first.
func (x *expectation) shown(variant, first, rank int) shown {
	on := shown{first: first == rank}
	if slices.Contains(x.variants[variant].routes, rank) {
		on.route = PageName(rank)
	}
	return on
}

// byPage returns the views that show each page, by rank, with their chunks that do.
func (x *expectation) byPage(byFirst map[int]map[tally]uint64) map[int]map[tally]uint64 {
	out := map[int]map[tally]uint64{}
	for first, views := range byFirst {
		for t, n := range views {
			ranks := append([]int{first}, x.variants[t.variant].routes...)
			slices.Sort(ranks)
			for _, rank := range slices.Compact(ranks) {
				chunks := x.showing(t.variant, x.shown(t.variant, first, rank))
				part := tally{rank: first, variant: t.variant, acked: t.acked & chunks, unclear: t.unclear & chunks}
				part.split = t.split && members(part.acked|part.unclear) > 1
				if part.acked|part.unclear == 0 {
					continue
				}
				if out[rank] == nil {
					out[rank] = map[tally]uint64{}
				}
				out[rank][part] += n
			}
		}
	}
	return out
}

// showing returns the chunks of a variant that show a page for some of their time.
func (x *expectation) showing(variant int, on shown) (chunks chunkSet) {
	for k, pages := range x.pages[variant] {
		if slices.ContainsFunc(pages, on.has) {
			chunks |= chunkNumber(k)
		}
	}
	return chunks
}

// newExpectation receives each chunk once with the daemon's own code, to learn which part is
// stored. It does not use the tested code, the store and the queries.
func newExpectation(variants []variant) (*expectation, error) {
	x := &expectation{variants: variants, stored: make([][]*trie.Trace, len(variants)), pages: make([][][]string,
		len(variants)), views: map[seen]*trie.Profile{}}
	var got lastRecord
	receiver := collect.New(collect.Options{Store: &got})
	for i, v := range variants {
		for k := range v.chunks {
			s := stamp{page: firstPage, number: k}
			s.view[0] = 0xff                                  // otherwise the id would be a text
			binary.BigEndian.PutUint64(s.view[1:], uint64(i)) // the time of one view is limited
			r, err := http.NewRequest(http.MethodPost, "/v1/traces", bytes.NewReader(v.chunks[k].append(nil, s)))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Content-Type", string(v.chunks[k].form))
			got.payload = nil
			var w discard
			receiver.ServeHTTP(&w, r)
			if w.status != http.StatusAccepted || got.payload == nil {
				return nil, fmt.Errorf("variant %d, chunk %d: it would be refused with status %d: %s", i, k,
					w.status, &w.body)
			}
			doc, err := encode.DecodeBinary(got.payload, encode.Limits{})
			if err != nil {
				return nil, fmt.Errorf("variant %d, chunk %d: %w", i, k, err)
			}
			x.stored[i] = append(x.stored[i], doc.Trace)
			x.pages[i] = append(x.pages[i], doc.Trace.Pages())
		}
	}
	return x, nil
}

// lastRecord is a store that only remembers the last record.
type lastRecord struct {
	store.Writer
	payload []byte
}

// CountViews implements [store.Writer].
func (*lastRecord) CountViews(string, string, int64) {}

func (k *lastRecord) Append(_ context.Context, recs []store.Record) (store.AppendResult, error) {
	k.payload = recs[0].Payload
	return store.AppendResult{Stored: len(recs)}, nil
}

// discard is a response writer that discards everything.
type discard struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (d *discard) Header() http.Header {
	if d.header == nil {
		d.header = http.Header{}
	}
	return d.header
}

func (d *discard) WriteHeader(status int)         { d.status = status }
func (d *discard) Write(data []byte) (int, error) { return d.body.Write(data) }

// view returns the profile of a page view for q, given when it shows its page.
func (x *expectation) view(q pageQuery, variant int, chunks chunkSet, on shown) *trie.Profile {
	q.page = firstPage
	key := seen{q, variant, chunks, on}
	p := x.views[key]
	if p == nil {
		m := trie.NewMerger()
		for k, t := range x.stored[variant] {
			if !chunks.has(k) {
				continue
			}
			m.AddTrace(t, func(s trie.Slice) int {
				if !on.has(s.Page) || !q.takes(s, &t.Context) {
					return -1
				}
				return m.Group(q.labels(s, &t.Context))
			})
		}
		p = m.Profile()
		if on.route == "" { // others belong to one page and few views
			x.views[key] = p
		}
	}
	return p
}

// bounds returns the lower and the upper bound of the result of q for the page with the
// given rank. They are the same profile if the outcome of every view is known.
func (x *expectation) bounds(q pageQuery, rank int, views map[tally]uint64) (least, most *trie.Profile) {
	low, high := trie.NewMerger(), trie.NewMerger()
	doubt := false
	for t := range views {
		doubt = doubt || t.unclear != 0 || t.split
	}
	for t, n := range views {
		on := x.shown(t.variant, t.rank, rank)
		if t.acked != 0 {
			low.AddProfile(times(x.view(q, t.variant, t.acked, on), n, q))
		}
		switch {
		case !doubt:
		case t.split: // each chunk may count as a view
			for k := range maxChunks {
				if (t.acked | t.unclear).has(k) {
					high.AddProfile(times(x.view(q, t.variant, chunkNumber(k), on), n, q))
				}
			}
		default:
			high.AddProfile(times(x.view(q, t.variant, t.acked|t.unclear, on), n, q))
		}
	}
	if !doubt {
		return low.Profile(), low.Profile()
	}
	return low.Profile(), high.Profile()
}

// times returns p as if every page view had been sent n times, on the page of q. The result shares
// the trie of p.
func times(p *trie.Profile, n uint64, q pageQuery) *trie.Profile {
	k := int64(n)
	out := &trie.Profile{Trie: p.Trie, Views: k * p.Views, Traces: k * p.Traces}
	for i := range p.Groups {
		from := &p.Groups[i]
		c := from.Coverage
		to := trie.Group{Labels: append(trie.Labels(nil), from.Labels...), Coverage: trie.Coverage{
			Views: k * c.Views, Traces: k * c.Traces, Stackless: k * c.Stackless,
			Idle: k * c.Idle, Unsampled: k * c.Unsampled, Truncated: k * c.Truncated,
		}}
		for j := range to.Labels {
			if to.Labels[j].Key == "page" {
				to.Labels[j].Value = q.page
			}
		}
		for node, w := range from.Weights.All() {
			to.Weights.Add(node, trie.Weight{Self: k * w.Self, Samples: k * w.Samples, Reach: k * w.Reach})
		}
		out.Groups = append(out.Groups, to)
	}
	return out
}
