package api

import (
	"context"
	_ "embed" // for openAPI
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/rollout"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/calls"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

//go:embed openapi.yaml
var openAPI []byte

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI) // the client may have disconnected
}

// statsHeader carries the [query.Stats] of a profile as JSON.
const statsHeader = "Fieldtrie-Stats"

// Bounds of parameters.
const (
	defaultNodes = 20_000
	mostNodes    = 200_000
	defaultRows  = 100
	mostRows     = 10_000
)

// endpoints returns the queries that are served, by path.
func endpoints() map[string]endpoint {
	with := func(more ...string) []string {
		return append(selectionParameters[:len(selectionParameters):len(selectionParameters)], more...)
	}
	return map[string]endpoint{
		"/api/v1/profile": {parameters: with("names", "by", "only", "group_by", "format", "rows"),
			respond: respondProfile},
		"/api/v1/stats":    {parameters: with("names"), respond: respondStats},
		"/api/v1/vitals":   {parameters: with("group_by"), respond: respondVitals},
		"/api/v1/cost":     {parameters: with(), respond: respondCost},
		"/api/v1/browsers": {parameters: with(), respond: respondBrowsers, resolve: resolveBrowsers},
		"/api/v1/catalog":  {parameters: []string{"since", "until"}, respond: respondCatalog},
		"/api/v1/pages":    {parameters: with("limit"), respond: respondBy(selection.KeyPage, false)},
		"/api/v1/features": {parameters: with("limit"), respond: respondBy(rollup.KeyFeature, false)},
		"/api/v1/releases": {parameters: with("limit"), respond: respondBy(rollup.KeyRelease, false)},
		"/api/v1/newest":   {parameters: with(), respond: respondNewest},
		"/api/v1/labels":   {parameters: with("key"), respond: respondLabels},
		"/api/v1/series": {parameters: with("names", "by", "group_by", "step", "histogram", "coverage", "limit"),
			respond: respondSeries, resolve: resolveSeries},
		"/api/v1/coverage": {parameters: with("limit"), respond: respondBy(selection.KeyPage, true)},
		"/api/v1/tree": {parameters: with(append(compareParameters(), "names", "by", "only", "min_views",
			"max_nodes", "root")...), respond: respondTree},
		"/api/v1/compare": {parameters: with(append(compareParameters(), "names", "by", "only", "method", "min_views",
			"limit", "mix", "concurrent")...), respond: respondCompare},
		"/api/v1/edits": {parameters: []string{"release", "compare_release", "page", "since", "until", "limit"},
			respond: respondEdits},
		"/api/v1/top": {parameters: with("names", "by", "only", "limit", "sort"), respond: respondTop},
		"/api/v1/callers": {parameters: with("names", "by", "only", "name", "resource", "line", "column", "max_nodes"),
			respond: respondAround(calls.Callers)},
		"/api/v1/callees": {parameters: with("names", "by", "only", "name", "resource", "line", "column", "max_nodes"),
			respond: respondAround(calls.Callees)},
		"/api/v1/views":  {parameters: with("quantiles"), respond: respondViews},
		"/api/v1/view":   {parameters: []string{"id", "page", "since", "until", "names"}, respond: respondView},
		"/pprof/profile": {parameters: with("names", "by", "only", "group_by", "seconds"), respond: respondPprof},
		"/pprof/{$}":     {parameters: []string{"since", "until"}, respond: respondPprofIndex},
	}
}

func respondProfile(ctx context.Context, h *handler, p *parameters) (response, error) {
	sel := p.selection()
	format, err := formats.Writer(p.choice("format", profileFormats()...))
	if p.fail(err); p.err != nil {
		return response{}, p.err
	}
	rows := p.number("rows", 0, -1, mostRows)
	if p.err != nil {
		return response{}, p.err
	}
	a, err := profileResponse(ctx, h, sel, format, rows)
	if err != nil {
		return response{}, err
	}
	// The page is meant to be saved. Shown here, its script would have the origin of the query API.
	if format.Template {
		a.header["Content-Disposition"] = "attachment"
	}
	if format.Template || format.Name == "svg" {
		a.header["Content-Security-Policy"] = "sandbox; " + policy
	}
	return a, nil
}

// policy forbids a page to load or run anything, except its own styles, which are harmless.
const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"

// profileFormats returns the names of the formats of a merged profile, pprof first.
func profileFormats() []string {
	names := formats.Names(func(f formats.Format) bool { return f.Encode != nil && f.Name != "pprof" })
	return append([]string{"pprof"}, names...)
}

func profileResponse(ctx context.Context, h *handler, sel selection.Selection, format formats.Format,
	rows int) (response, error) {
	o := output.Options{Since: sel.Since, Until: sel.Until, Rows: rows, Title: sel.Page, PerView: true}
	if format.Template {
		var err error
		if o.Template, err = h.opts.ProfileFile(); err != nil {
			return response{}, selection.Refuse("parameter format: %s: %w", format.Name, err)
		}
		o.Selection = strings.TrimPrefix(strings.TrimSpace(sel.String()), "for ")
		if o.Until.IsZero() { // the saved page does not know when it was written
			o.Until = h.opts.Now()
		}
	}
	result, err := h.src.Profile(ctx, sel, nil)
	if err != nil {
		return response{}, err
	}
	stats, err := json.Marshal(result.Stats)
	if err != nil {
		return response{}, err
	}
	header := map[string]string{statsHeader: string(stats)}
	return response{media: contentType(format), header: header, age: result.Stats.Age, size: writtenSize(result),
		write: func(w http.ResponseWriter) error {
			return format.Encode(w, result.Profile, o)
		}}, nil
}

func contentType(f formats.Format) string {
	switch {
	case f.Name == "html":
		return "text/html; charset=utf-8"
	case f.Binary:
		return "application/octet-stream"
	case f.Name == "svg":
		return "image/svg+xml"
	case f.Name == "csv":
		return "text/csv; charset=utf-8"
	case slices.Contains([]string{"json", "d3", "speedscope", "cpuprofile"}, f.Name):
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}

func respondStats(ctx context.Context, h *handler, p *parameters) (response, error) {
	sel := p.selection()
	if p.err != nil {
		return response{}, p.err
	}
	report, err := h.src.Report(ctx, sel)
	return response{json: report, age: report.Stats.Age}, err
}

func respondVitals(ctx context.Context, h *handler, p *parameters) (response, error) {
	sel := p.selection()
	if p.err != nil {
		return response{}, p.err
	}
	vitals, err := h.src.Vitals(ctx, sel)
	return response{json: vitals, age: vitals.Stats.Age}, err
}

func respondCost(ctx context.Context, h *handler, p *parameters) (response, error) {
	sel := p.selection()
	if p.err != nil {
		return response{}, p.err
	}
	cost, err := h.src.Cost(ctx, sel)
	return response{json: cost, age: cost.Stats.Age}, err
}

// resolveBrowsers sets the time to the days that the watch looks at.
func resolveBrowsers(p *parameters) {
	if p.Get("since") == "" {
		since, _ := selection.ParseSince("35d", p.now)
		setTimes(p.Values, "", since, time.Time{})
	}
}

func respondBrowsers(ctx context.Context, h *handler, p *parameters) (response, error) {
	sel := p.selection()
	if p.err != nil {
		return response{}, p.err
	}
	versions, err := h.src.BrowserVersions(ctx, sel)
	return response{json: versions, age: versions.Stats.Age}, err
}

func respondCatalog(ctx context.Context, h *handler, p *parameters) (response, error) {
	since, until, err := parseTimes(p.Values, "", p.now)
	if p.fail(err); p.err != nil {
		return response{}, p.err
	}
	catalog, err := h.src.Catalog(ctx, since, until, p.lag)
	catalog.Demo = h.opts.Demo
	return response{json: catalog, age: catalog.Age}, err
}

// respondBy returns the page views of each value of a label, and with coverage also the page views
// without a profile.
func respondBy(key string, coverage bool) func(context.Context, *handler, *parameters) (response, error) {
	return func(ctx context.Context, h *handler, p *parameters) (response, error) {
		q := query.SeriesQuery{Selection: p.selection(), Coverage: coverage}
		limit := p.number("limit", defaultRows, 1, query.MaxSeries)
		if p.err != nil {
			return response{}, p.err
		}
		q.GroupBy = []string{key}
		series, err := h.src.Series(ctx, q)
		if err != nil {
			return response{}, err
		}
		return response{json: query.ListOf(key, series, limit, coverage), age: series.Stats.Age}, nil
	}
}

func respondNewest(ctx context.Context, h *handler, p *parameters) (response, error) {
	sel := p.selection()
	if p.err != nil {
		return response{}, p.err
	}
	pair, err := rollout.Choose(ctx, h.src, sel)
	return response{json: pair, age: pair.Stats.Age}, err
}

func respondLabels(ctx context.Context, h *handler, p *parameters) (response, error) {
	sel := p.selection()
	if p.err != nil {
		return response{}, p.err
	}
	labels, err := h.src.Labels(ctx, sel)
	if key := p.Get("key"); key != "" && err == nil {
		labels.Labels = slices.DeleteFunc(slices.Clone(labels.Labels), func(x query.LabelValues) bool {
			return x.Key != key
		})
	}
	return response{json: labels, age: labels.Stats.Age}, err
}

// resolveSeries sets the missing parameters of a series, since and step, whose defaults depend on
// the current time.
func resolveSeries(p *parameters) {
	if p.Get("step") == stepAll {
		return
	}
	if p.Get("since") == "" {
		since, _ := selection.ParseSince("24h", p.now)
		setTimes(p.Values, "", since, time.Time{})
	}
	since, until, err := parseTimes(p.Values, "", p.now)
	if err == nil && p.Get("step") == "" { // the response reports an error
		p.Set("step", query.DefaultStep(since, until, p.now).String())
	}
}

// respondSeries returns a series, with the parameters set by [resolveSeries].
func respondSeries(ctx context.Context, h *handler, p *parameters) (response, error) {
	q := query.SeriesQuery{Selection: p.selection(), Coverage: p.flag("coverage"), Histogram: p.flag("histogram"),
		Limit: p.number("limit", 0, 1, query.MaxSeries)}
	if p.Get("step") != stepAll {
		q.Step = p.duration("step", time.Hour)
	}
	if p.err != nil {
		return response{}, p.err
	}
	series, err := h.src.Series(ctx, q)
	return response{json: series, age: series.Stats.Age}, err
}

// stepAll is the step of a series with a single point.
const stepAll = "all"

func respondTop(ctx context.Context, h *handler, p *parameters) (response, error) {
	q := query.TopQuery{Selection: p.selection(), Limit: p.number("limit", defaultRows, 1, mostRows),
		Sort: p.choice("sort", "self", "total", "reach")}
	if p.err != nil {
		return response{}, p.err
	}
	top, err := h.src.Top(ctx, q)
	return response{json: top, age: top.Stats.Age}, err
}

// compareParameters returns the names of the parameters that select the second side.
func compareParameters() (names []string) {
	for _, name := range selectionParameters {
		names = append(names, "compare_"+name)
	}
	return names
}

// comparison returns the second selection: the first one with its compare_ parameters applied. ok
// is false if there are none.
func (p *parameters) comparison(sel selection.Selection) (base selection.Selection, ok bool) {
	for _, name := range compareParameters() {
		ok = ok || p.Has(name)
	}
	base, err := compareSelection(sel, p.Values, p.now)
	p.fail(err)
	return base, ok
}

func respondCompare(ctx context.Context, h *handler, p *parameters) (response, error) {
	q := query.CompareQuery{B: p.selection()}
	var ok bool
	if q.A, ok = p.comparison(q.B); !ok {
		p.fail(selection.Refuse("nothing to compare with: give one of %s", strings.Join(compareParameters(), ", ")))
	}
	if method := p.choice("method", "auto", string(query.MethodViews), string(query.MethodSums)); method != "auto" {
		q.Method = query.Method(method)
	}
	q.Plain = p.choice("mix", "adjusted", "plain") == "plain"
	q.Concurrent = p.choice("concurrent", "false", "true") == "true"
	q.Options.MinViews, q.Options.Functions = p.number("min_views", 0, 2, 1<<31-1), p.number("limit", 0, 1, mostRows)
	if p.err != nil {
		return response{}, p.err
	}
	comparison, err := h.src.Compare(ctx, q)
	return response{json: comparison, age: comparison.StatsA.Age.With(comparison.StatsB.Age)}, err
}

func respondEdits(ctx context.Context, h *handler, p *parameters) (response, error) {
	q := query.EditsQuery{A: p.Get("compare_release"), B: p.Get("release"), Page: p.Get("page"), Lag: p.lag,
		Limit: p.number("limit", 1000, 1, mostRows)}
	for _, name := range []string{"release", "compare_release"} {
		if p.Get(name) == "" {
			p.fail(selection.Refuse("parameter %s: it is missing; edits are those from compare_release to release",
				name))
		}
	}
	p.fail(selection.CheckPage(q.Page))
	var err error
	q.Since, q.Until, err = parseTimes(p.Values, "", p.now)
	if p.fail(err); p.err != nil {
		return response{}, p.err
	}
	edits, err := h.src.Edits(ctx, q)
	return response{json: edits, age: edits.Age}, err
}

func respondTree(ctx context.Context, h *handler, p *parameters) (response, error) {
	sel := p.selection()
	base, both := p.comparison(sel)
	nodes, root := p.number("max_nodes", defaultNodes, 1, mostNodes), p.Get("root")
	options := compare.Options{MinViews: p.number("min_views", 0, 2, 1<<31-1)}
	if p.err != nil {
		return response{}, p.err
	}
	var result, other query.Result
	var err error
	if both {
		other, result, err = query.Sides(ctx, h.src, base, sel, options, nil)
	} else {
		result, err = h.src.Profile(ctx, sel, nil)
	}
	if err != nil {
		return response{}, err
	}
	tree, err := withoutOwn(result, other, root, nodes)
	if err != nil {
		return response{}, err
	}
	return response{json: tree, age: result.Stats.Age.With(other.Stats.Age)}, nil
}

func respondViews(ctx context.Context, h *handler, p *parameters) (response, error) {
	q := query.ViewsQuery{Selection: p.selection(), Quantiles: p.quantiles("quantiles")}
	if p.err != nil {
		return response{}, p.err
	}
	views, err := h.src.Views(ctx, q)
	return response{json: views, age: views.Stats.Age}, err
}

func respondView(ctx context.Context, h *handler, p *parameters) (response, error) {
	q := query.ViewQuery{Selection: p.selection(), ID: p.Get("id")}
	if p.err != nil {
		return response{}, p.err
	}
	view, err := h.src.View(ctx, q)
	return response{json: view, age: view.Stats.Age}, err
}

// respondAround returns the callers or callees of a function.
func respondAround(around func(*trie.Profile, func(trie.Frame) bool) *trie.Profile) func(context.Context, *handler,
	*parameters) (response, error) {
	return func(ctx context.Context, h *handler, p *parameters) (response, error) {
		sel := p.selection()
		nodes := p.number("max_nodes", 1000, 1, mostNodes)
		line, column := p.number("line", 0, 1, 1<<31-1), p.number("column", 0, 1, 1<<31-1)
		if !p.Has("name") {
			p.fail(selection.Refuse("parameter name: it is missing; a function without a name is name="))
		}
		if p.err != nil {
			return response{}, p.err
		}
		result, err := h.src.Profile(ctx, sel, nil)
		if err != nil {
			return response{}, err
		}
		result.Profile = around(result.Profile, func(f trie.Frame) bool {
			return f.Name == p.Get("name") && (!p.Has("resource") || f.Resource == p.Get("resource")) &&
				(line == 0 || f.Line == uint32(line)) && (column == 0 || f.Column == uint32(column))
		})
		tree, err := treeOf(result, query.Result{}, "", nodes)
		return response{json: tree, age: result.Stats.Age}, err
	}
}

// writtenSize returns roughly how many bytes a profile takes until it is written. Formats make a
// canonical copy of it.
func writtenSize(r query.Result) int { return 2 * r.Profile.Size() }
