package pyroscope

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"

	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
)

// rendered is a flame graph in the format of the older paths.
type rendered struct {
	Version     int              `json:"version"`
	Flamebearer flamebearer      `json:"flamebearer"`
	Metadata    metadata         `json:"metadata"`
	Timeline    *line            `json:"timeline"`
	Groups      map[string]*line `json:"groups"`
	LeftTicks   int64            `json:"leftTicks,omitempty"`
	RightTicks  int64            `json:"rightTicks,omitempty"`
}

type flamebearer struct {
	Names    []string  `json:"names"`
	Levels   [][]int64 `json:"levels"`
	NumTicks int64     `json:"numTicks"`
	MaxSelf  int64     `json:"maxSelf"`
}

type metadata struct {
	Format     string `json:"format"` // "single" or "double", which is a comparison
	SpyName    string `json:"spyName"`
	SampleRate uint32 `json:"sampleRate"` // of the values, a second
	Units      string `json:"units"`
	Name       string `json:"name"`
}

// line has a sum for each of several consecutive steps.
type line struct {
	StartTime     int64            `json:"startTime"` // in seconds of the Unix epoch
	Samples       []int64          `json:"samples"`
	DurationDelta int64            `json:"durationDelta"` // of a step, in seconds
	Watermarks    map[string]int64 `json:"watermarks"`
}

// metadataOf describes the format of values: times are samples at a rate per second, the format in
// which clients know CPU time.
func metadataOf(t profileType, format string) metadata {
	if t.isTime() {
		return metadata{Format: format, SampleRate: 1e9, Units: "samples", Name: t.sample}
	}
	return metadata{Format: format, SampleRate: 100, Units: "objects", Name: t.sample}
}

func (g *graph) flamebearer() flamebearer {
	out := flamebearer{Names: g.used, Levels: g.levels, MaxSelf: g.maxSelf}
	for _, total := range g.total {
		out.NumTicks += total[0]
	}
	return out
}

// render serves GET /pyroscope/render?query=TYPE{SELECTOR}&from=now-1h&until=now.
func (a *backend) render(ctx context.Context, r *http.Request) (any, error) {
	v := r.URL.Query()
	if f := v.Get("format"); f != "" && f != "json" {
		return nil, failure(unimplemented, "format %q is not written here; known is json", f)
	}
	maxNodes, err := parseNodes(v)
	if err != nil {
		return nil, err
	}
	request, err := a.legacySelection(v, "query", "from", "until")
	if err != nil {
		return nil, err
	}
	request.MaxNodes = maxNodes
	s, err := a.merged(ctx, request)
	if err != nil {
		return nil, err
	}
	out := rendered{Version: 1, Flamebearer: s.layOut().flamebearer(), Metadata: metadataOf(s.of, "single")}
	return out, a.addLines(ctx, &out, s, float64((request.End-request.Start)/1000), v["groupBy"])
}

// addLines adds the sums over time, in total and for each value of a label. seconds is the
// length of the time range.
func (a *backend) addLines(ctx context.Context, out *rendered, s *stacks, seconds float64, groupBy []string) error {
	q, t := s.asked, s.of
	step := max(15, seconds/maxColumns)
	all, err := a.bySteps(ctx, q, step, nil, false)
	if err != nil {
		return err
	}
	out.Timeline = all.line(query.SeriesGroup{}, t)
	for _, g := range all.groups {
		out.Timeline = all.line(g, t)
	}
	if len(groupBy) == 0 || groupBy[0] == "" {
		return nil
	}
	groups, err := a.bySteps(ctx, q, step, groupBy[:1], false)
	if err != nil {
		return err
	}
	out.Groups = map[string]*line{}
	for _, g := range groups.groups {
		out.Groups[g.Labels[groupBy[0]]] = groups.line(g, t)
	}
	return nil
}

// line returns the sums of all steps, including empty ones.
func (s *steps) line(g query.SeriesGroup, t profileType) *line {
	begin := s.Since.Truncate(s.step)
	n := max(int64((s.end.Sub(begin)+s.step-1)/s.step), 1)
	out := &line{StartTime: begin.Unix(), Samples: make([]int64, n), DurationDelta: int64(s.step / time.Second)}
	for _, p := range g.Points {
		if i := int64(p.Time.Sub(begin) / s.step); i >= 0 && i < n {
			out.Samples[i] = int64(t.ofPoint(p))
		}
	}
	return out
}

// renderDiff serves GET /pyroscope/render-diff, with query, from and until for each side:
// leftQuery, leftFrom and so on.
func (a *backend) renderDiff(ctx context.Context, r *http.Request) (any, error) {
	v := r.URL.Query()
	maxNodes, err := parseNodes(v)
	if err != nil {
		return nil, err
	}
	left, err := a.legacySelection(v, "leftQuery", "leftFrom", "leftUntil")
	if err != nil {
		return nil, err
	}
	right, err := a.legacySelection(v, "rightQuery", "rightFrom", "rightUntil")
	if err != nil {
		return nil, err
	}
	left.MaxNodes = maxNodes
	g, err := a.compared(ctx, &querierv1.DiffRequest{Left: left, Right: right})
	if err != nil {
		return nil, err
	}
	return rendered{
		Version: 1, Flamebearer: g.flamebearer(), Metadata: metadataOf(g.of, "double"),
		LeftTicks: g.total[0][0], RightTicks: g.total[1][0],
	}, nil
}

// parseNodes parses the parameter max-nodes, or maxNodes from older clients.
func parseNodes(v url.Values) (*int64, error) {
	for _, name := range []string{"max-nodes", "maxNodes"} {
		if text := v.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, failure(invalidArgument, "parameter %s: %q is no number", name, text)
			}
			return &n, nil
		}
	}
	return nil, nil
}

// legacySelection parses a query such as TYPE{SELECTOR}, and its time range.
func (a *backend) legacySelection(v url.Values, queryName, fromName,
	untilName string) (*querierv1.SelectMergeStacktracesRequest, error) {
	text := v.Get(queryName)
	if text == "" {
		return nil, failure(invalidArgument, "parameter %s is missing: TYPE{SELECTOR}, as in %s{}", queryName,
			profileTypes()[0].id())
	}
	brace := strings.IndexByte(text, '{')
	if brace < 0 {
		brace = len(text)
	}
	r := &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: strings.TrimSpace(text[:brace]),
		LabelSelector: text[brace:]}
	now := a.opts.Now()
	from, err := parseMoment(v.Get(fromName), now, now.Add(-time.Hour))
	if err != nil {
		return nil, failure(invalidArgument, "parameter %s: %w", fromName, err)
	}
	until, err := parseMoment(v.Get(untilName), now, now)
	if err != nil {
		return nil, failure(invalidArgument, "parameter %s: %w", untilName, err)
	}
	r.Start, r.End = from.UnixMilli(), until.UnixMilli()
	return r, nil
}

// parseMoment parses now, now-DURATION, a number of seconds, milliseconds or nanoseconds of
// the Unix epoch, or a time as in [query.ParseTime]. An empty text is missing.
func parseMoment(text string, now, missing time.Time) (time.Time, error) {
	switch age, relative := strings.CutPrefix(text, "now-"); {
	case text == "":
		return missing, nil
	case text == "now":
		return now, nil
	case relative:
		d, err := selection.ParseAge(age)
		if err != nil || d < 0 {
			return time.Time{}, fmt.Errorf("%q is not now- and a duration such as 24h or 7d", text)
		}
		return now.Add(-d), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		switch {
		case n < 1e11: // seconds, up to the year 5138
			return time.Unix(n, 0), nil
		case n < 1e14:
			return time.UnixMilli(n), nil
		}
		return time.Unix(0, n), nil
	}
	return selection.ParseTime(text, now)
}
