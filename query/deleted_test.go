package query_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// visit is a chunk of a page view, and the parts of it that are deleted.
type visit struct {
	at       time.Time
	view     [16]byte
	chunk    uint32
	release  string
	device   string
	pages    []string // in order, for 50 ms each
	features []string // one per page, "" for none
	stacks   [][]string
}

// trace returns the trace of a visit, without its time on the deleted pages.
func (v *visit) trace(gone func(page string) bool) (*trie.Trace, store.Record) {
	name := func(page string) string {
		if gone(page) {
			return "(deleted)"
		}
		return page
	}
	t := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Page: name(v.pages[0]), ViewID: string(v.view[:]),
		Chunk: v.chunk, Interval: 10_000,
		Release: v.release, Labels: trie.MakeLabels("device", v.device)}}
	var there []string
	for i, page := range v.pages {
		start := int64(50_000 * i)
		if i > 0 {
			t.Context.Spans = append(t.Context.Spans, trie.Span{Kind: trie.SpanPage, Name: name(page), Start: start,
				Length: 50_000})
		}
		if f := v.features[i]; f != "" && !gone(page) {
			t.Context.Spans = append(t.Context.Spans, trie.Span{Kind: trie.SpanFeature, Name: f, Start: start + 5_000,
				Length: 30_000})
		}
		for k := range int64(5) {
			s := trie.Sample{Time: start + 10_000*k}
			if !gone(page) && k > 0 {
				var frames []trie.Frame
				for _, fn := range v.stacks[i] {
					frames = append(frames, trie.Frame{Name: fn, Resource: "https://x.example/app.js", Line: uint32(k)})
				}
				s.Node = t.Insert(frames...)
			}
			t.Samples = append(t.Samples, s)
		}
		if !gone(page) {
			there = append(there, page)
		}
	}
	trie.SortSpans(t.Context.Spans)
	slices.Sort(there)
	rec := store.Record{ID: store.ID{View: v.view, Chunk: v.chunk}, Pages: slices.Compact(there)}
	rec.Tags, _ = store.TagsOf(t)
	return t, rec
}

// report is a report of a page view without a trace.
type report struct {
	at      time.Time
	page    string
	release string
	lcp     int64
}

// aFewDays returns 90 page views, some with further chunks, and 25 reports, all begun within 38
// hours of from.
func aFewDays(rnd *rand.Rand, from time.Time) (visits []visit, reports []report) {
	pages := []string{"/feed", "/item", "/cart", "shop:/", "shop:/cart"}
	for i := range 90 {
		v := visit{at: from.Add(time.Duration(rnd.Int64N(int64(38 * time.Hour)))).Truncate(time.Second),
			release: fmt.Sprint("r", rnd.IntN(3)),
			device:  []string{"phone", "desktop"}[rnd.IntN(2)]}
		copy(v.view[:], fmt.Sprintf("view %010d", i))
		for range 1 + rnd.IntN(3) {
			of := pages[:3]
			if i%4 == 0 {
				of = pages[3:]
			}
			v.pages = append(v.pages, of[rnd.IntN(len(of))])
			v.features = append(v.features, []string{"", "search", "edit"}[rnd.IntN(3)])
			v.stacks = append(v.stacks, []string{"main", fmt.Sprint("render", rnd.IntN(4)),
				fmt.Sprint("row", rnd.IntN(9))}[:1+rnd.IntN(3)])
		}
		visits = append(visits, v)
		for c := 1; c < 1+rnd.IntN(3); c++ { // further chunks of the view, some of them in another hour
			next := v
			next.chunk, next.at = uint32(c), v.at.Add(time.Duration(rnd.IntN(50))*time.Minute).Truncate(time.Second)
			next.stacks = slices.Clone(v.stacks)
			next.stacks[0] = []string{"main", fmt.Sprint("later", c)}
			visits = append(visits, next)
		}
	}
	for range 25 {
		reports = append(reports,
			report{from.Add(time.Duration(rnd.Int64N(int64(38 * time.Hour)))).Truncate(time.Second),
				pages[rnd.IntN(len(pages))],
				fmt.Sprint("r", rnd.IntN(3)), int64(200+rnd.IntN(5000)) * 1000})
	}
	return visits, reports
}

// world is a store with a clock that only the test advances.
type world struct {
	*storetest.Store
	now *time.Time
}

func newWorld(t *testing.T, from time.Time, retention time.Duration) world {
	now := from
	return world{storetest.Open(t, storetest.Options{Now: func() time.Time { return now }, Retention: retention}), &now}
}

// fill stores the remaining parts of visits and reports, hour by hour. It skips entirely deleted
// ones.
func (w world) fill(t *testing.T, from time.Time, visits []visit, reports []report, gone func(v *visit,
	page string) bool, noReport, noVital func(report) bool) {
	t.Helper()
	for hour := from; hour.Before(from.Add(41 * time.Hour)); hour = hour.Add(time.Hour) {
		for _, v := range visits {
			if !v.at.Truncate(time.Hour).Equal(hour) {
				continue
			}
			tr, rec := v.trace(func(page string) bool { return gone(&v, page) })
			if len(rec.Pages) == 0 {
				continue
			}
			*w.now = v.at
			var err error
			if rec.Payload, err = encode.EncodeTrace(tr); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Append(t.Context(), []store.Record{rec}); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range reports {
			if !r.at.Truncate(time.Hour).Equal(hour) || noReport(r) {
				continue
			}
			*w.now = r.at
			w.CountViews(r.page, "unsupported", 1)
			if v := (rollup.Vital{Labels: trie.MakeLabels("release", r.release), Name: "lcp"}); !noVital(r) {
				v.Add(r.lcp, 1)
				w.CountVitals(r.page, []rollup.Vital{v})
			}
		}
		w.RollUp(t.Context())
		*w.now = hour.Add(time.Hour + 3*time.Minute)
		w.RollUp(t.Context())
	}
	*w.now = time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC)
	w.RollUp(t.Context())
}

// answers sends all queries and returns the responses without their stats.
func (w world) answers(t *testing.T, selections []string) map[string]string {
	t.Helper()
	h := api.Handler(query.Local{Reader: w.Store}, api.Options{Now: func() time.Time {
		return time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	}})
	notes := regexp.MustCompile(`,"(stats|stats_a|stats_b)":{.*?}`)
	out := map[string]string{}
	for _, s := range selections {
		for _, q := range []string{
			"labels?key=release", "labels?key=page", "labels?", "pages?", "features?", "releases?", "coverage?",
			"series?step=1h", "series?step=15m",
			"series?step=1d&group_by=release", "series?step=all&histogram=1", "top?",
			"top?sort=reach&label=device%3Dphone", "vitals?",
			"vitals?group_by=release", "views?", "views?quantiles=0.5&group_by=feature",
			"compare?release=r0&compare_release=r1&min_views=2",
			"profile?format=pprof", "profile?format=folded&group_by=page,release,device,feature",
		} {
			path, params, _ := strings.Cut(q, "?")
			target := "/api/v1/" + path + "?" + s + "&" + params
			r, answer := httptest.NewRequest(http.MethodGet, target, nil), httptest.NewRecorder()
			h.ServeHTTP(answer, r)
			out[target] = fmt.Sprint(answer.Code, " ", notes.ReplaceAllString(answer.Body.String(), ""))
		}
	}
	return out
}

// delete deletes the selected data and waits until that is done.
func (w world) delete(t *testing.T, s deletion.Selection, dryRun bool) *deletion.Request {
	t.Helper()
	w.RollUp(t.Context())
	r, err := w.Delete(t.Context(), s, "test", dryRun)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		*w.now = w.now.Add(time.Second)
		w.RollUp(t.Context())
		list, err := w.Deletions(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 && list[0].ID == r.ID && !list[0].Done.IsZero() {
			w.RollUp(t.Context()) // this rebuilds the days
			return list[0]
		}
	}
	t.Fatalf("%s is not done", r.Name())
	return nil
}

// TestDeleted makes random deletions. The responses of the store must then equal the responses of a
// store that never had the deleted data. A dry run must predict the deleted amounts.
func TestDeleted(t *testing.T) {
	from := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	t.Parallel()
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 33))
		visits, reports := aFewDays(rnd, from)
		s := deletion.Selection{}
		some := visits[rnd.IntN(len(visits))]
		wholeHours := func() { // reports are deleted by whole hours only
			s.Since = from.Add(time.Duration(5+rnd.IntN(20)) * time.Hour)
			s.Until = s.Since.Add(time.Duration(1+rnd.IntN(15)) * time.Hour)
		}
		switch seed % 8 {
		case 0:
			s.Page = some.pages[0]
		case 1:
			s.Page = some.pages[0]
			wholeHours()
		case 2:
			s.Site = "shop"
		case 3:
			s.Views = []string{hex.EncodeToString(some.view[:])}
		case 4:
			s.Labels = map[string]string{"release": some.release}
		case 5:
			wholeHours()
		case 6:
			s.Page, s.Labels = some.pages[0], map[string]string{"release": some.release, "device": some.device}
		case 7:
			reports = nil // reports are stored by the hour, not by the minute
			s.Since, s.Until = some.at.Add(-150*time.Minute), some.at.Add(77*time.Minute)
			s.Labels = map[string]string{"device": some.device}
		}
		inTime := func(at time.Time) bool {
			return (s.Since.IsZero() || !at.Before(s.Since)) && (s.Until.IsZero() || at.Before(s.Until))
		}
		ofPage := func(page string) bool {
			return (s.Page == "" || page == s.Page) && (s.Site == "" || strings.HasPrefix(page, s.Site+":"))
		}
		ofVisit := func(v *visit) bool {
			return inTime(v.at) && (len(s.Views) == 0 || s.Views[0] == hex.EncodeToString(v.view[:])) &&
				(s.Labels["release"] == "" || s.Labels["release"] == v.release) && (s.Labels["device"] == "" ||
				s.Labels["device"] == v.device)
		}
		gone := func(v *visit, page string) bool { return ofVisit(v) && ofPage(page) }
		noReport := func(r report) bool {
			return inTime(r.at) && ofPage(r.page) && len(s.Views) == 0 && len(s.Labels) == 0
		}
		noVital := func(r report) bool { // Web Vitals have labels
			return noReport(r) || inTime(r.at) && ofPage(r.page) && len(s.Labels) > 0 && s.Labels["device"] == "" &&
				r.release == s.Labels["release"]
		}
		t.Run(fmt.Sprintf("%d %s", seed, (&deletion.Request{Selection: s}).Name()), func(t *testing.T) {
			t.Parallel()
			w, never := newWorld(t, from, 0), newWorld(t, from, 0)
			none := func(*visit, string) bool { return false }
			all := func(report) bool { return false }
			w.fill(t, from, visits, reports, none, all, all)
			selections := []string{"since=2026-11-01&until=2026-11-22", "since=2026-11-21&until=2026-11-22",
				"page=/feed&since=2026-11-01&until=2026-11-22", "page=shop:/&since=2026-11-01&until=2026-11-22",
				"since=2026-11-20T07:30:00Z&until=2026-11-21T11:20:00Z"}
			before := w.answers(t, selections)
			traces := uint64(0)
			for i := range visits {
				_, rec := visits[i].trace(func(string) bool { return false })
				for _, page := range rec.Pages {
					if gone(&visits[i], page) {
						traces++
					}
				}
			}
			dry := w.delete(t, s, true)
			if traces == 0 || dry.Counts.Traces != traces || dry.Counts.Left > 0 {
				t.Errorf("the dry run counts %+v, want %d traces", dry.Counts, traces)
			}
			same(t, "after a dry run", w.answers(t, selections), before)
			done := w.delete(t, s, false)
			if done.Counts != dry.Counts {
				t.Errorf("deleted %+v, the dry run counted %+v", done.Counts, dry.Counts)
			}
			never.fill(t, from, visits, reports, gone, noReport, noVital)
			*never.now = *w.now
			got, want := w.answers(t, selections), never.answers(t, selections)
			same(t, "after the deletion", got, want)
			answered := 0
			for _, text := range want {
				if strings.HasPrefix(text, "200") {
					answered++
				}
			}
			if answered < len(want)/2 {
				t.Errorf("%d of %d queries succeeded", answered, len(want))
			}
			if again := w.delete(t, s, true); again.Counts.Traces+again.Counts.Parts > 0 {
				t.Errorf("some data was not deleted: %+v", again.Counts)
			}
		})
	}
}

func same(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	wrong := 0
	for target, text := range want {
		if got[target] != text {
			if wrong++; wrong <= 3 {
				n := 0
				for n < min(len(text), len(got[target])) && text[n] == got[target][n] {
					n++
				}
				t.Errorf("%s, %s: from byte %d on\ngot  %.200s\nwant %.200s", when, target, n,
					got[target][max(0, n-100):], text[max(0, n-100):])
			}
		}
	}
	if wrong > 3 {
		t.Errorf("%s: %d of %d responses differ", when, wrong, len(want))
	}
}
