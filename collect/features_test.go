package collect

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/rules/feature"
	"github.com/fieldtrie/fieldtrie/store"
)

func featureRules(t testing.TB, list ...feature.Rule) feature.Rules {
	t.Helper()
	r, err := feature.NewRules(list)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFeatures checks that rules match pages and scripts in their stored form, and that the
// catalogue contains their features.
func TestFeatures(t *testing.T) {
	const body = `{"page":"/shop/8123?q=1","viewId":"00000000000000000000000000000001","interval":10,` +
		`"trace":{"resources":["https://x.example/app.js?v=1"],"frames":[{"name":"search","resourceId":0,"line":1,` +
		`"column":1}],` +
		`"stacks":[{"frameId":0}],"samples":[{"timestamp":0,"stackId":0},{"timestamp":10},{"timestamp":20,` +
		`"stackId":0}]}}`
	c, s := newCollector(Options{Features: featureRules(t,
		feature.Rule{Name: "shop", Page: "/shop/:id"}, feature.Rule{Name: "find", Function: "search",
			Resource: "*/app.js"}, feature.Rule{Name: "none", Page: "/shop/8123"})})
	if r := post(t, c, body, "Content-Type", "application/json"); r.status != http.StatusAccepted {
		t.Fatalf("got %+v", r)
	}
	rec := s.only(t)
	if want := []store.Tag{{Key: kindFeature, Value: "find"}, {Key: kindFeature, Value: "shop"}}; !reflect.DeepEqual(
		rec.Tags, want) {
		t.Errorf("tags are %v, want %v", rec.Tags, want)
	}
	tr := traceOf(t, rec)
	if n := len(tr.Context.Spans); n != 3 {
		t.Errorf("%d spans: %+v", n, tr.Context.Spans)
	}

	c.SetFeatures(feature.Rules{})
	if r := post(t, c, strings.Replace(body, "0001", "0002", 1), "Content-Type",
		"application/json"); r.status != http.StatusAccepted {
		t.Fatalf("got %+v", r)
	}
	for id, rec := range s.records {
		if n := len(rec.Tags); id.View[15] == 2 && n != 0 {
			t.Errorf("without rules there are %d tags", n)
		}
	}
}

// TestFeaturesWithoutRoom checks that a feature without room is dropped and counted.
func TestFeaturesWithoutRoom(t *testing.T) {
	const body = `{"page":"/shop","interval":10,"trace":{"resources":[],"frames":[{"name":"f"}],` +
		`"stacks":[{"frameId":0}],"samples":[{"timestamp":0,"stackId":0},{"timestamp":10},{"timestamp":20,` +
		`"stackId":0}]}}`
	c, s := newCollector(Options{Limits: Limits{Trace: encode.Limits{Spans: 1}},
		Features: featureRules(t, feature.Rule{Name: "f", Function: "f"}, feature.Rule{Name: "shop", Page: "/shop"})})
	if r := post(t, c, body, "Content-Type", "application/json"); r.status != http.StatusAccepted {
		t.Fatalf("got %+v", r)
	}
	if tags := s.only(t).Tags; len(tags) != 1 || tags[0].Value != "shop" {
		t.Errorf("tags are %v", tags)
	}
	if n := s.metric(t, "feature_rules_skipped_total"); n != 1 {
		t.Errorf("%g skipped", n)
	}
}

// BenchmarkRecord measures the share of feature rules in the cost of a trace.
func BenchmarkRecord(b *testing.B) {
	var bodies [][]byte
	for _, text := range realTraces(b) {
		tr, err := encode.DecodeTraceJSON([]byte(text), encode.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		data, err := encode.EncodeTrace(tr)
		if err != nil {
			b.Fatal(err)
		}
		bodies = append(bodies, data)
	}
	for name, rules := range map[string]feature.Rules{"none": {}, "ten": featureRules(b,
		feature.Rule{Name: "checkout", Page: "/checkout/**"}, feature.Rule{Name: "all", Page: "/**"},
		feature.Rule{Name: "charts", Package: "chart.js"}, feature.Rule{Name: "react", Package: "react-dom"},
		feature.Rule{Name: "search", Function: "search*", Resource: "*/app.*.js"}, feature.Rule{Name: "render",
			Function: "*ender*"},
		feature.Rule{Name: "events", Function: "dispatch*"}, feature.Rule{Name: "add", Function: "add*"},
		feature.Rule{Name: "vendor", Resource: "*/vendor*.js"}, feature.Rule{Name: "layout", Function: "(layout)"})} {
		b.Run("rules="+name, func(b *testing.B) {
			c, _ := newCollector(Options{Features: rules})
			for b.Loop() {
				for _, data := range bodies {
					if _, _, err := c.record(data, true, client{}); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(bodies)), "µs/trace")
		})
	}
}
