package budget

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/cost"
)

// A file may contain max_cost only.
func TestMaxCost(t *testing.T) {
	f, err := Parse(strings.NewReader("max_cost:\n  inp: 4ms\n  lcp: 2%\n  cls: 0.01\n  since: 2026-11-27T12:00:00Z\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := cost.Limits{Of: []cost.Limit{{Vital: "lcp", Most: 0.02, Relative: true}, {Vital: "inp", Most: 4},
		{Vital: "cls", Most: 0.01}}, Since: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)}
	if !reflect.DeepEqual(f.MaxCost, want) {
		t.Errorf("got %+v, want %+v", f.MaxCost, want)
	}
	for text, want := range map[string]string{
		"{}":                          "no Web Vital is limited",
		"{since: 2026-11-27T12:00Z}":  "no Web Vital is limited",
		"2%":                          "not a mapping",
		"{lcp: 2}":                    `lcp: "2" is no limit above 0 such as 2% or 4ms`,
		"{lcp: 0%}":                   "no limit above 0",
		"{lcp: -4ms}":                 "no limit above 0",
		"{ttfb: 2%}":                  `unknown key "ttfb"`,
		"{cls: 2%}":                   "no score above 0",
		"{lcp: 2%, since: yesterday}": `since: "yesterday" is no time such as`,
	} {
		if _, err := Parse(strings.NewReader("max_cost: " + text + "\n")); err == nil || !strings.Contains(err.Error(),
			want) || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
