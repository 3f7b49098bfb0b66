package watching

import (
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/cost"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// visits stores the page views of an hour. One in five is profiled, with LCP multiplied by a
// factor.
func visits(s interface {
	CountVitals(page string, list []rollup.Vital)
}, r *rand.Rand, page string, views int, effect float64) {
	for i := range views {
		arm, times := rollup.ArmNone, 1.0
		if i%5 == 0 {
			arm, times = rollup.ArmProfiled, effect
		}
		var list []rollup.Vital
		for name, ms := range map[string]float64{"lcp": 1000 * times, "ttfb": 100} {
			v := rollup.Vital{Name: name, Labels: trie.MakeLabels(rollup.KeyDevice, "desktop-high", rollup.KeyArm, arm)}
			v.Add(int64(1000*ms*math.Exp(0.5*r.NormFloat64())), 1)
			list = append(list, v)
		}
		s.CountVitals(page, list)
	}
}

// If profiling costs too much on a page, any node reduces its sampling step by step, finally to
// zero. A notification is sent, and the reduction stays until a user lifts it. Other pages are
// unchanged.
func TestBrake(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 7))
	now := fixture.Noon.Truncate(time.Hour)
	clock := func() time.Time { return now }
	s := storetest.Open(t, storetest.Options{Now: clock})
	rec := &receiver{status: http.StatusOK}
	srv := httptest.NewServer(rec)
	defer srv.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), 0o600); err != nil {
		t.Fatal(err)
	}
	channels := channelsOf(t, "channels:\n  - {name: all, kind: webhook, target: \""+srv.URL+"\", secret_file: "+secret+
		", allow_private: true}\n")
	doc := &document{}
	limits := cost.Limits{Of: []cost.Limit{{Vital: "lcp", Most: 0.02, Relative: true}}}
	node := func() (*Watcher, *map[string]float64, *prometheus.Registry) {
		most, metrics := new(map[string]float64), prometheus.NewRegistry()
		return New(Options{Now: clock, Document: doc, Source: query.Local{Reader: s}, Notify: channels,
			Metrics: metrics, Log: slog.New(slog.DiscardHandler), Limits: limits,
			Steer: func(m map[string]float64) { *most = m }}), most, metrics
	}
	first, most, metrics := node()
	second, mostThere, _ := node()
	look := func(w *Watcher) {
		t.Helper()
		for range 2 { // the second time it applies the stored decision
			if err := w.brakeOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.tellOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	hour := func(slow float64) {
		now = now.Add(time.Minute)
		visits(s, r, "/slow", 10_000, slow)
		visits(s, r, "/same", 10_000, 1)
		visits(s, r, "/few", 100, 3)
		now = now.Add(time.Minute)
		s.RollUp(t.Context())
		now = now.Add(time.Hour + 5*time.Minute)
		s.RollUp(t.Context())
	}
	want := func(who string, got, want map[string]float64) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Fatalf("%s at %v: %v, want %v", who, now, got, want)
		}
	}
	rate := 0.2
	for range 4 {
		hour(1.2)
		rate /= 2
		look(first)
		look(second)
		want("the first node", *most, map[string]float64{"/slow": rate})
		want("the second node", *mostThere, map[string]float64{"/slow": rate})
	}
	hour(1.2)
	look(second)
	look(first)
	want("after five hours", *most, map[string]float64{"/slow": 0})
	hour(1.2)
	look(first)
	hour(1)
	look(first)
	want("later", *most, map[string]float64{"/slow": 0})
	families, err := metrics.Gather()
	i := slices.IndexFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == "fieldtrie_brake_rate" })
	if err != nil || i < 0 || len(families[i].Metric) != 1 || families[i].Metric[0].GetGauge().GetValue() != 0 ||
		families[i].Metric[0].Label[0].GetValue() != "/slow" {
		t.Errorf("metrics: %v, %v", families, err)
	}
	if len(rec.titles) != 5 ||
		rec.titles[0] != "Profiling costs visitors of /slow more than the limit: at most 10 % of its page views are "+
			"profiled now" ||
		rec.titles[4] != "Profiling costs visitors of /slow more than the limit: none of its page views is profiled "+
			"now" {
		t.Errorf("notifications: %q", rec.titles)
	}
	// A user lifts the reduction. Earlier measurements are ignored.
	limits.Since = now
	first.SetLimits(limits)
	hour(1)
	look(first)
	want("after since", *most, map[string]float64{})
	hour(1.2)
	look(first)
	want("slow again", *most, map[string]float64{"/slow": 0.1})
	if err := first.Forget(t.Context(), func(page string) bool { return page == "/slow" }); err != nil {
		t.Fatal(err)
	}
	look(first)
	want("deleted", *most, map[string]float64{})
	first.SetLimits(cost.Limits{})
	hour(1.2)
	look(first)
	want("without limits", *most, nil)
}
