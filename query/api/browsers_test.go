package api

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// browserField reads a store with page views of four days. Chrome 158 is 5 % slower than Chrome 157
// and has more of the page views from day to day. One page view of 300 is in Chrome 140, and a few
// each day in the only version of Firefox.
func browserField(t *testing.T) (l query.Local, now func() time.Time) {
	t.Helper()
	at := fixture.Noon.Truncate(24 * time.Hour)
	now = func() time.Time { return at }
	s := storetest.Open(t, storetest.Options{Now: now})
	r := rand.New(rand.NewPCG(7, 7))
	n := 0
	for _, newer := range []int{10, 40, 70, 90} {
		var records []store.Record
		for range 800 {
			n++
			browser, ms := "Chrome 157", 300+200*r.Float64()
			switch {
			case n%300 == 0:
				browser = "Chrome 140"
			case n%40 == 0:
				browser = "Firefox 150"
			case r.IntN(100) < newer:
				browser, ms = "Chrome 158", ms*1.05
			}
			tr := fixture.ViewTrace(r, n, int(ms/10+r.Float64())*10)
			tr.Context.Labels = trie.MakeLabels("browser", browser, "device",
				tr.Context.Labels.Value("device"), "phase",
				"idle")
			records = append(records, fixture.ViewRecord(t, tr))
		}
		if _, err := s.Append(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		at = at.Add(24 * time.Hour)
		s.RollUp(t.Context())
	}
	return query.Local{Reader: s}, now
}

// A version that is 5 % slower is found, one with few page views is folded, and unknown effects are
// null.
func TestBrowsers(t *testing.T) {
	l, now := browserField(t)
	h := Handler(l, Options{Now: now})
	got := get[query.BrowserVersions](t, h, "/api/v1/browsers?page=/feed")
	if got.Step != 86400 || len(got.Families) != 2 || got.Families[0].Family != "Chrome" {
		t.Fatalf("%s", fixture.AsJSON(t, got))
	}
	chrome, versions := got.Families[0], map[string]sums.BrowserVersion{}
	views, share := int64(0), 0.0
	for _, x := range chrome.Versions {
		versions[x.Browser] = x
		views, share = views+x.Views, share+x.Share
	}
	if views != chrome.Views || math.Abs(share-1) > 1e-9 || len(chrome.Versions) != 3 {
		t.Errorf("the versions are %d of %d page views: %s", views, chrome.Views, fixture.AsJSON(t, chrome))
	}
	newer, older := versions["Chrome 158"], versions["Chrome 157"]
	for x, want := range map[*sums.BrowserVersion]float64{&newer: 0.05, &older: -0.05} {
		if x.Effect == nil || math.Abs(x.Effect.Value-want) > 0.03 || *x.Effect.Low > want || *x.Effect.High < want {
			t.Fatalf("%s has the effect %s, want %g", x.Browser, fixture.AsJSON(t, x.Effect), want)
		}
		if ms := x.EffectMS; math.Abs(ms.Value-x.Effect.Value*chrome.Mean) > 1e-9 || *ms.Low >= ms.Value {
			t.Errorf("%s: %s of %g ms", x.Browser, fixture.AsJSON(t, ms), chrome.Mean)
		}
	}
	// The first step with at least half is the third day.
	if first := newer.Points[0].Time; len(newer.Points) != 4 || newer.HalfSince == nil ||
		!newer.HalfSince.Equal(first.Add(48*time.Hour)) || older.HalfSince != nil {
		t.Errorf("half since %v and %v: %s", newer.HalfSince, older.HalfSince, fixture.AsJSON(t, newer.Points))
	}
	if x := versions["Chrome (other)"]; x.Views == 0 || x.Share >= 0.01 || x.Effect != nil || x.EffectMS != nil {
		t.Errorf("folded: %s", fixture.AsJSON(t, x))
	}
	if x := got.Families[1].Versions; len(x) != 1 || x[0].Share != 1 || x[0].Effect != nil {
		t.Errorf("a single version: %s", fixture.AsJSON(t, x))
	}
}

// Unknown is written as null, and a page without views has no families.
func TestBrowsersUnknown(t *testing.T) {
	l, now := browserField(t)
	h := Handler(l, Options{Now: now})
	for path, want := range map[string]string{
		"/api/v1/browsers?page=/nowhere": `"families":[]`,
		"/api/v1/browsers?page=/feed&label=browser=~Firefox.*": `"share":1,"effect":null,"effect_ms":null,` +
			`"half_since":null`,
		"/api/v1/browsers?page=/feed&since=48h":              `"step_seconds":3600`,
		"/api/v1/browsers?page=/feed&since=49h":              `"step_seconds":86400`,
		"/api/v1/browsers?page=" + strings.Repeat("/", 2000): `parameter page: `,
		"/api/v1/browsers?since=tomorrow":                    `parameter since: `,
		"/api/v1/browsers?since=1d&until=3d":                 `since`,
		"/api/v1/browsers?group_by=release":                  `unknown parameter \"group_by\"`,
		"/api/v1/browsers?label=visibility=hidden":           `distributions are stored by `,
		"/api/v1/browsers?page=/feed&since=10000d":           `the most is `,
		"/api/v1/browsers?page=/feed&since=1d&since=2d":      `parameter since is given 2 times`,
		"/api/v1/browsers?page=/feed&release=&label=x=y":     `not by x`,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if refused := !strings.HasPrefix(want, `"`); refused != (w.Code == http.StatusBadRequest) ||
			!strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %.300s, want %s", path, w.Code, w.Body, want)
		}
	}
}

// Browser versions are the same here and over HTTP.
func TestBrowsersRemote(t *testing.T) {
	l, now := browserField(t)
	server := httptest.NewServer(Handler(l, Options{Now: now}))
	defer server.Close()
	r, err := NewRemote(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, sel := range []selection.Selection{{Page: "/feed"}, {}, ofRelease("r1")} {
		sel.Since = now().Add(-7 * 24 * time.Hour)
		got, err := l.BrowserVersions(t.Context(), sel)
		if err != nil {
			t.Fatal(err)
		}
		over, err := r.BrowserVersions(t.Context(), sel)
		if err != nil {
			t.Fatal(err)
		}
		a, errA := json.Marshal(got)
		b, errB := json.Marshal(over)
		if errA != nil || errB != nil || string(a) != string(b) || !strings.Contains(string(a), "Chrome 158") {
			t.Errorf("%v: over HTTP it is\n%s\nnot\n%s", sel, b, a)
		}
	}
}
