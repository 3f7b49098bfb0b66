package query

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// siteTraces returns traces of a site that resemble the traces of other sites as much as possible.
func siteTraces(name string) []*trie.Trace {
	traces := append(fixture.Spans(0), fixture.Spans(1)...)
	for _, tr := range traces {
		x := &tr.Context
		x.Page, x.ViewID = site.Page(name, x.Page), name[:1]+x.ViewID
		if name == "blog" {
			x.Release = "secret " + x.Release
		}
		for i, s := range x.Spans {
			if s.Kind == trie.SpanPage {
				x.Spans[i].Name = site.Page(name, s.Name)
			}
		}
		trie.SortSpans(x.Spans)
	}
	return traces
}

// TestOnly queries a store with several sites for one of them, and compares with a store of that
// site alone.
func TestOnly(t *testing.T) {
	open := func(names ...string) *fixture.Stored {
		now := fixture.Noon
		f := &fixture.Stored{Store: storetest.Open(t, storetest.Options{Now: func() time.Time { return now }})}
		for i, name := range names {
			f.Append(t, 1000*i, siteTraces(name))
			f.Store.CountViews(site.Page(name, "/a"), "unsampled", int64(100*(i+1)))
		}
		return f
	}
	both, alone := open("blog", "shop"), open("shop")
	alone.Store.CountViews("shop:/a", "unsampled", 100) // as in the store of both sites
	l := localOf(both)
	l.Responses, l.Steps = NewResponseCache(t.Context()), NewStepCache()
	only := Pages{"shop", func(page string) bool { return strings.HasPrefix(page, "shop:") }, nil}
	shop, want := l.Only(only), localOf(alone)
	ctx := t.Context()
	sel := selection.Selection{Since: fixture.Noon.Add(-time.Hour), Lag: time.Minute}
	questions := map[string]func(Local) (any, error){
		"profile": func(l Local) (any, error) {
			s := sel
			s.GroupBy = selection.AllGroups()
			r, err := l.Profile(ctx, s, nil)
			if err != nil {
				return nil, err
			}
			var b strings.Builder
			folded, err := formats.Writer("folded")
			if err != nil {
				return nil, err
			}
			if err := folded.Encode(&b, r.Profile.Canonical(), output.Options{}); err != nil {
				return nil, err
			}
			return []any{b.String(), r.Stats.Traces}, nil
		},
		"report":  func(l Local) (any, error) { return l.Report(ctx, sel) },
		"vitals":  func(l Local) (any, error) { return l.Vitals(ctx, sel) },
		"cost":    func(l Local) (any, error) { return l.Cost(ctx, sel) },
		"series":  func(l Local) (any, error) { return l.Series(ctx, SeriesQuery{Selection: sel, Coverage: true}) },
		"minutes": func(l Local) (any, error) { return l.Series(ctx, SeriesQuery{Selection: sel, Step: time.Minute}) },
		"top":     func(l Local) (any, error) { return l.Top(ctx, TopQuery{Selection: sel, Limit: 100}) },
		"labels":  func(l Local) (any, error) { return l.Labels(ctx, sel) },
		"values":  func(l Local) (any, error) { return l.Values(ctx, sel, "release") },
		"catalog": func(l Local) (any, error) { return l.Catalog(ctx, sel.Since, time.Time{}, 0) },
		"views":   func(l Local) (any, error) { return l.Views(ctx, ViewsQuery{Selection: sel}) },
		"another's page": func(l Local) (any, error) {
			s := sel
			s.Page = "blog:/a"
			return l.Top(ctx, TopQuery{Selection: s, Limit: 100})
		},
	}
	for name, ask := range questions {
		if _, err := ask(l); err != nil { // first, so that its response is cached
			t.Errorf("%s of all sites: %v", name, err)
		}
		got, err := ask(shop)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		expected, err := ask(want)
		if err != nil {
			t.Fatal(err)
		}
		a, b := plainJSON(t, got), plainJSON(t, expected)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: got\n%v\nwant\n%v", name, a, b)
		}
		if text, _ := json.Marshal(got); strings.Contains(string(text), "blog") || strings.Contains(string(text),
			"secret") {
			t.Errorf("%s reveals another site: %s", name, text)
		}
	}
	if l.Version(fixture.Noon, fixture.Noon.Add(time.Hour)) == shop.Version(fixture.Noon, fixture.Noon.Add(time.Hour)) {
		t.Error("responses with different permissions have the same version")
	}
}

// plainJSON returns a response as JSON, without its stats.
func plainJSON(t *testing.T, answer any) any {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if m, ok := v.(map[string]any); ok {
		delete(m, "stats")
	}
	return v
}

func TestBothPages(t *testing.T) {
	site := Pages{"site", func(page string) bool { return strings.HasPrefix(page, "shop:") }, nil}
	path := Pages{"path", func(page string) bool { return strings.HasSuffix(page, "/a") }, nil}
	for _, p := range []Pages{site.Both(path), path.Both(site), site.Both(Pages{}).Both(path)} {
		if !p.Takes("shop:/a") || p.Takes("shop:/b") || p.Takes("blog:/a") || p.Key == site.Key || p.Key == path.Key {
			t.Errorf("%s: Takes accepts the wrong pages", p.Key)
		}
	}
	if p := (Pages{}).Both(Pages{}); p.Takes != nil {
		t.Error("all pages and all pages are not all pages")
	}
}
