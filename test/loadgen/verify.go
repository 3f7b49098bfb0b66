package loadgen

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Verdict is the comparison of a daemon's data with its acknowledgements.
type Verdict struct {
	Pages       int      // queried
	Everywhere  int      // of these, pages queried at every daemon
	Questions   int      // queries
	Traces      uint64   // distinct, certainly stored; counted on each of these pages
	Unclear     uint64   // possibly stored in addition, same unit
	Found       uint64   // stored according to the responses, same unit
	Folded      uint64   // page views possibly missed by a query by label, as the responses report
	Split       uint64   // page views possibly counted twice on a page, as an hour ended between their chunks
	Count       int      // differences
	Differences []string // the first ones; empty if everything is correct
}

// Scope is the scope of a verification.
type Scope struct {
	QueryAddrs []string  // HOST:PORT of the daemons' private addresses: each page is queried at a random one
	Since      time.Time // earlier traces are not this run's; zero: the daemon has no others
	Pages      int       // with the most views; 0 for all
	Everywhere int       // number of these to query at every daemon; the results must be equal
}

// maxDifferences bounds the differences in a verdict.
const maxDifferences = 20

// Verify compares the daemon's results with its acknowledgements, after [Generator.Run] has
// returned. An error means that a query failed, not that a result is wrong.
func (g *Generator) Verify(ctx context.Context, s Scope) (Verdict, error) {
	x, err := newExpectation(g.variants)
	if err != nil {
		return Verdict{}, err
	}
	var v Verdict
	for _, w := range g.wrong {
		v.add(w)
	}
	g.verifyDuplicates(&v)
	byRank := x.byPage(g.ledger.tallies())
	for rank := range g.opts.Pages {
		views := byRank[rank]
		if len(views) == 0 || s.Pages > 0 && v.Pages >= s.Pages {
			continue
		}
		page := PageName(rank)
		if p := (collect.PageRules{}).Page(page); p != page {
			return v, fmt.Errorf("page %s would be stored as %s", page, p)
		}
		v.Pages++
		for t, n := range views {
			v.Traces += n * uint64(members(t.acked))
			v.Unclear += n * uint64(members(t.unclear))
			if t.split {
				v.Split += n
			}
		}
		addrs := s.ask(&v)
		for i, q := range queriesOf(page, rank, g.opts.population()) {
			p, err := x.ask(ctx, q, addrs, rank, views, s, &v)
			if err != nil {
				return v, fmt.Errorf("query %s: %w", q.path(s.Since), err)
			}
			if i == 0 { // the query for the whole page
				v.Found += uint64(p.Traces)
			}
		}
	}
	if s.Since.IsZero() {
		for _, addr := range s.QueryAddrs {
			if err := g.verifyCatalog(ctx, addr, byRank, &v); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

// ask returns the daemons to query for the next page.
func (s Scope) ask(v *Verdict) (addrs []string) {
	addrs = slices.Clone(s.QueryAddrs)
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	if v.Everywhere >= s.Everywhere {
		return addrs[:1]
	}
	v.Everywhere++
	return addrs
}

func (v *Verdict) add(difference string) {
	if v.Count++; len(v.Differences) < maxDifferences {
		v.Differences = append(v.Differences, difference)
	}
}

// verifyDuplicates checks that the daemon does not report more duplicates than there are. It may
// report fewer, because it can find a duplicate after its response. A trace that was stored before
// without an acknowledgement is a duplicate, too.
func (g *Generator) verifyDuplicates(v *Verdict) {
	c := g.Counts()
	sure, _, doubted := g.ledger.stored()
	d := &differing{room: 1}
	again := int64(c.Acknowledged) - int64(sure)
	d.check("answers", "duplicates", int64(c.Duplicates), 0, again+int64(doubted))
	for _, what := range d.first {
		v.add(what)
	}
}

// ask sends a query to the first of addrs, compares the result with the expectation, and returns
// it. The others must return the same.
func (x *expectation) ask(ctx context.Context, q pageQuery, addrs []string, rank int, views map[tally]uint64, s Scope,
	v *Verdict) (*trie.Profile, error) {
	v.Questions += len(addrs)
	first, stats, err := profileOf(ctx, addrs[0], q.path(s.Since))
	if err != nil {
		return nil, err
	}
	name := q.path(time.Time{})
	for _, addr := range addrs[1:] {
		other, _, err := profileOf(ctx, addr, q.path(s.Since))
		if err != nil {
			return nil, err
		}
		v.compare(fmt.Sprintf("%s: %s, and not as %s", name, addr, addrs[0]), other, first, first)
	}
	least, most := x.bounds(q, rank, views)
	if stats.Folded > 0 && q.foldable() {
		v.Folded += uint64(stats.Folded)
		if len(stats.Warnings) == 1 { // the warning about folded views
			stats.Warnings = nil
		}
		least = &trie.Profile{Views: least.Views - stats.Folded}
	}
	for _, w := range stats.Warnings {
		v.add(name + ": warning: " + w)
	}
	v.compare(name, first, least, most)
	return first, nil
}

// compare adds the differences of got from the range between least and most.
func (v *Verdict) compare(name string, got, least, most *trie.Profile) {
	differences, count := compare(got, least, most, maxDifferences)
	for _, d := range differences {
		v.add(name + ": " + d)
	}
	v.Count += count - len(differences)
}

// profileOf queries one daemon for a profile.
func profileOf(ctx context.Context, addr, path string) (*trie.Profile, query.Stats, error) {
	var stats query.Stats
	body, header, err := get(ctx, addr, path)
	if err != nil {
		return nil, stats, err
	}
	doc, err := encode.DecodeBinary(body, encode.FileLimits())
	if err != nil {
		return nil, stats, err
	}
	if doc.Profile == nil {
		return nil, stats, fmt.Errorf("the result is not a profile")
	}
	if err := json.Unmarshal([]byte(header.Get("Fieldtrie-Stats")), &stats); err != nil {
		return nil, stats, fmt.Errorf("header Fieldtrie-Stats: %w", err)
	}
	return doc.Profile, stats, nil
}

// verifyCatalog checks that the catalogue has exactly the pages of this run, with all their traces.
func (g *Generator) verifyCatalog(ctx context.Context, addr string, byRank map[int]map[tally]uint64, v *Verdict) error {
	body, _, err := get(ctx, addr, "/api/v1/catalog")
	if err != nil {
		return fmt.Errorf("query the catalogue: %w", err)
	}
	var catalog struct {
		Entries []struct {
			Page, Kind string
			Traces     int64
		}
		Warnings []string
	}
	if err := json.Unmarshal(body, &catalog); err != nil {
		return fmt.Errorf("read the catalogue: %w", err)
	}
	for _, w := range catalog.Warnings {
		v.add("catalogue: warning: " + w)
	}
	found := map[string]int64{}
	for _, e := range catalog.Entries {
		if e.Kind == "page" {
			found[e.Page] += e.Traces
		}
	}
	d := &differing{room: maxDifferences}
	for rank, views := range byRank {
		var sure, more int64
		for t, n := range views {
			sure += int64(n) * int64(members(t.acked))
			more += int64(n) * int64(members(t.unclear))
		}
		d.check("catalogue: "+PageName(rank), "traces", found[PageName(rank)], sure, sure+more)
		delete(found, PageName(rank))
	}
	for page, n := range found {
		d.check("catalogue: "+page, "traces", n, 0, 0)
	}
	slices.Sort(d.first)
	for _, what := range d.first {
		v.add(what)
	}
	v.Count += d.count - len(d.first)
	return nil
}

// queryTimeout is longer than a working daemon may take.
const queryTimeout = 2 * time.Minute

// get sends a request to the daemon.
func get(ctx context.Context, addr, path string) ([]byte, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Cache-Control", "no-cache") // cached responses may be some seconds behind
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("%s: %s", res.Status, body)
	}
	return body, res.Header, nil
}
