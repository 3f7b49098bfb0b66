package collect

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"

func TestVitals(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       map[string]int64 // weights by page, labels, vital and value
		views      map[string]float64
	}{
		{"all of them", `{"page":"/feed","weight":100,"release":"r1","environment":"production",
			"labels":{"device":"mobile-low","connection":"4g","navigation":"reload"},
			"vitals":{"lcp":2500,"inp":56,"cls":0.1234,"fcp":800.1234,"ttfb":0}}`,
			map[string]int64{
				"/feed [{browser Firefox 145} {connection 4g} {device mobile-low} {environment production} {release " +
					"r1}] lcp 2500000": 100,
				"/feed [{browser Firefox 145} {connection 4g} {device mobile-low} {environment production} {release " +
					"r1}] inp 56000": 100,
				"/feed [{browser Firefox 145} {connection 4g} {device mobile-low} {environment production} {release " +
					"r1}] cls 123400": 100,
				"/feed [{browser Firefox 145} {connection 4g} {device mobile-low} {environment production} {release " +
					"r1}] fcp 800123": 100,
				"/feed [{browser Firefox 145} {connection 4g} {device mobile-low} {environment production} {release " +
					"r1}] ttfb 0": 100,
			}, map[string]float64{}},
		{"elements and parts",
			`{"page":"/feed","labels":{"arm":"none"},"vitals":{"lcp":900,"inp":56,"cls":0.1,"ttfb":100},
			"elements":{"lcp":"image img#hero","inp":"pointer a#bob@example.com","fps":"x","cls":""},
			"parts":{"lcp":[100,200,300.05,300],"fps":[1]}}`,
			map[string]int64{
				"/feed [{arm none} {browser Firefox 145} {element image img#hero}] lcp 900000":   1,
				"/feed [{browser Firefox 145} {element image img#hero}] lcp/ttfb 100000":         1,
				"/feed [{browser Firefox 145} {element image img#hero}] lcp/load-delay 200000":   1,
				"/feed [{browser Firefox 145} {element image img#hero}] lcp/load-time 300050":    1,
				"/feed [{browser Firefox 145} {element image img#hero}] lcp/render-delay 300000": 1,
				"/feed [{arm none} {browser Firefox 145} {element pointer a}] inp 56000":         1,
				"/feed [{arm none} {browser Firefox 145}] cls 100000":                            1,
				"/feed [{arm none} {browser Firefox 145}] ttfb 100000":                           1,
			}, map[string]float64{}},
		{"with an outcome", `{"page":"/feed","outcome":"unsampled","weight":7,"vitals":{"cls":0}}`,
			map[string]int64{"/feed [{browser Firefox 145}] cls 0": 7}, map[string]float64{"/feed unsampled": 7}},
		{"fields of a later version", `{"page":"/feed","vitals":{"xyz":-1,"inp":8},"labels":{"device":{"a":1}}}`,
			map[string]int64{"/feed [{browser Firefox 145}] inp 8000": 1}, map[string]float64{}},
		{"only unknown vitals", `{"page":"/feed","vitals":{}}`, nil, map[string]float64{}},
		{"personal data", `{"page":"/u/bob@example.com","release":"bob@example.com",` +
			`"labels":{"device":"bob@example.com"},"vitals":{"lcp":1}}`,
			map[string]int64{"/u/:id [{browser Firefox 145} {device (email)} {release (email)}] lcp 1000": 1},
			map[string]float64{}},
		{"without a page", `{"vitals":{"lcp":1}}`,
			map[string]int64{PageUnknown + " [{browser Firefox 145}] lcp 1000": 1}, map[string]float64{}},
	} {
		col, s := newCollector(Options{})
		if got := postView(t, col, c.body, "User-Agent", firefox); got.status != http.StatusNoContent {
			t.Errorf("%s: got %d %q", c.name, got.status, got.Error)
		}
		for key := range s.vitals { // a quantile is the middle of its bucket
			for want := range c.want {
				if near(key, want) && key != want {
					s.vitals[want], s.vitals[key] = s.vitals[key], 0
					delete(s.vitals, key)
				}
			}
		}
		if !maps.Equal(s.vitals, c.want) {
			t.Errorf("%s: counted\n%v\nwant\n%v", c.name, s.vitals, c.want)
		}
		if got := s.views(t); !reflect.DeepEqual(got, c.views) {
			t.Errorf("%s: page views %v, want %v", c.name, got, c.views)
		}
	}
}

// near reports whether two keys differ only in their value, by less than the width of a bucket.
func near(a, b string) bool {
	cut := func(s string) (string, float64) {
		at := strings.LastIndexByte(s, ' ')
		var v float64
		_, _ = fmt.Sscan(s[at+1:], &v) // 0 if there is none
		return s[:at], v
	}
	of, x := cut(a)
	to, y := cut(b)
	return of == to && x >= y*0.97 && x <= y*1.03
}

func TestVitalsRefused(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"page":"/feed"}`, "neither an outcome nor vitals"},
		{`{"page":"/feed","vitals":null}`, "neither an outcome nor vitals"},
		{`{"page":"/feed","vitals":{"lcp":-1}}`, "vitals.lcp: -1 is not from 0 to 3.6e+06 ms"},
		{`{"page":"/feed","vitals":{"inp":3600001}}`, "vitals.inp: 3.600001e+06"},
		{`{"page":"/feed","vitals":{"cls":1001}}`, "vitals.cls: 1001 is not from 0 to 1000"},
		{`{"page":"/feed","vitals":{"lcp":1e999}}`, "vitals: unexpected number 1e999"},
		{`{"page":"/feed","vitals":{"lcp":"fast"}}`, "vitals: unexpected string"},
		{`{"page":"/feed","vitals":[1]}`, "vitals: unexpected array"},
		{`{"page":"/feed","weight":10001,"vitals":{"lcp":1}}`, "weight: 10001"},
		{`{"page":"/feed","vitals":{"lcp":1},"elements":{"lcp":5}}`, "elements: unexpected number"},
		{`{"page":"/feed","vitals":{"lcp":1},"parts":{"lcp":[1]}}`,
			"parts.lcp: got 1 parts, want 4: ttfb, load-delay, load-time, render-delay"},
		{`{"page":"/feed","vitals":{"inp":8},"parts":{"inp":[4,8,-4]}}`, "parts.inp: -4 ms is negative"},
		{`{"page":"/feed","vitals":{"inp":8},"parts":{"inp":[4,4,4]}}`,
			"parts.inp: the parts add up to 12 ms, but vitals.inp is 8"},
		{`{"page":"/feed","vitals":{"lcp":8},"parts":{"inp":[4,4,4]}}`,
			"parts.inp: the parts add up to 12 ms, but vitals.inp is 0"},
		{`{"page":"/feed","vitals":{"cls":8},"parts":{"cls":[4]}}`, "parts.cls: got 1 parts, want 0: "},
		{`{"page":"/feed","release":5,"vitals":{"lcp":1}}`, "release: unexpected number"},
	} {
		col, s := newCollector(Options{})
		got := postView(t, col, c.body)
		if got.status != http.StatusUnprocessableEntity && got.status != http.StatusBadRequest ||
			!strings.Contains(got.Error, c.want) {
			t.Errorf("%s: got %d %q, want %q", c.body, got.status, got.Error, c.want)
		}
		if len(s.vitals) > 0 {
			t.Errorf("%s: counted %v", c.body, s.vitals)
		}
	}
}

// TestVitalsBudgets checks that invented releases and devices of reports are bounded like those of
// traces.
func TestVitalsBudgets(t *testing.T) {
	col, s := newCollector(Options{Limits: Limits{Tags: 20, Labels: 20}})
	for i := range 100 {
		body := fmt.Sprintf(`{"page":"/feed","release":"r%d","labels":{"device":"d%d"},"vitals":{"lcp":1}}`, i, i)
		if got := postView(t, col, body); got.status != http.StatusNoContent {
			t.Fatalf("got %d %q", got.status, got.Error)
		}
	}
	weight := int64(0)
	for _, w := range s.vitals {
		weight += w
	}
	if len(s.vitals) > 21 || weight != 100 {
		t.Errorf("%d sets of labels of weight %d, want about 20 of 100: %v", len(s.vitals), weight, s.vitals)
	}
}

// TestElementBudgets checks that elements with ever new names are bounded like values of a label.
func TestElementBudgets(t *testing.T) {
	col, s := newCollector(Options{Limits: Limits{Labels: 20}})
	for i := range 100 {
		body := fmt.Sprintf(`{"page":"/feed","vitals":{"lcp":1,"cls":0},"elements":{"lcp":"text p#%c%c","cls":"div"}}`,
			'a'+i%10, 'a'+i/10)
		if got := postView(t, col, body); got.status != http.StatusNoContent {
			t.Fatalf("got %d %q", got.status, got.Error)
		}
	}
	others, div := int64(0), int64(0)
	for key, w := range s.vitals {
		if strings.Contains(key, "(other)") {
			others += w
		}
		if strings.Contains(key, "{element div}] cls") {
			div += w
		}
	}
	if len(s.vitals) > 22 || others != 80 || div != 100 {
		t.Errorf("%d sets of labels, %d page views of other elements, want 80, and %d of the div: %v", len(s.vitals),
			others, div, s.vitals)
	}
}
