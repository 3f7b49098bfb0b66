package query

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// TestComparePlain compares two groups of page views without a common device: users with phones,
// and a lab.
func TestComparePlain(t *testing.T) {
	f := &fixture.Stored{Store: storetest.Open(t, storetest.Options{Now: func() time.Time { return fixture.Noon }})}
	var traces []*trie.Trace
	for i := range 400 {
		tr := &trie.Trace{Trie: *trie.New()}
		tr.Context = trie.Context{Page: "/a", ViewID: fmt.Sprintf("view %011d", i), Interval: 10_000,
			Environment: "production", Labels: trie.MakeLabels("device", "mobile-low")}
		functions := []string{"render", "render", "ad", "ad", "ad"}
		if i%2 == 1 {
			tr.Context.Environment, tr.Context.Labels, functions = "lab", trie.MakeLabels("device", "desktop-high"),
				[]string{"render", "render"}
		}
		if i%5 == 0 { // for a variance above 0
			functions = append(functions, "render")
		}
		for k, name := range functions {
			tr.Samples = append(tr.Samples, trie.Sample{Time: int64(10_000 * k), Node: tr.Insert(trie.Frame{Name: name,
				Resource: "https://x.example/app.js", Line: 1, Column: 1})})
		}
		traces = append(traces, tr)
	}
	f.Append(t, 0, traces)
	of := func(environment string) selection.Selection {
		return selection.Selection{Where: []selection.Matcher{{Key: rollup.KeyEnvironment, Op: selection.Equal,
			Value: environment}}}
	}
	for _, method := range []Method{MethodViews, MethodSums} {
		q := CompareQuery{A: of("production"), B: of("lab"), Method: method}
		adjusted, err := localOf(f).Compare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Plain = true
		plain, err := localOf(f).Compare(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if adjusted.Enough || adjusted.Uncovered != nil || adjusted.Total.Adjusted != nil || *plain.Uncovered != 0 {
			t.Errorf("%s: %+v, and plain %+v", method, adjusted.Result, plain.Uncovered)
		}
		total := plain.Total
		if math.Abs(total.Adjusted.Value-(total.Measured.B-total.Measured.A)) > 1e-6 ||
			math.Abs(total.Adjusted.Value+30) > 1e-6 || total.Status != compare.Faster {
			t.Errorf("%s: %+v", method, total)
		}
		if first := plain.Functions[0]; first.Name != "ad" || first.Status != compare.Gone {
			t.Errorf("%s: the first function is %+v", method, first)
		}
	}
}
