package collect

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// costs returns the counters of the SDK's costs: seconds to start, stop and encode, bytes sent,
// traces dropped, seconds profiled.
func (s *fakeStore) costs(t testing.TB) [6]float64 {
	t.Helper()
	families, err := s.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out [6]float64
	for _, f := range families {
		for _, m := range f.GetMetric() {
			v := m.GetCounter().GetValue()
			switch f.GetName() {
			case "fieldtrie_sdk_seconds_total":
				out[slices.Index([]string{"start", "stop", "encode"}, m.GetLabel()[0].GetValue())] = v
			case "fieldtrie_sdk_sent_bytes_total":
				out[3] = v
			case "fieldtrie_sdk_dropped_traces_total":
				out[4] = v
			case "fieldtrie_sdk_profiled_seconds_total":
				out[5] = v
			}
		}
	}
	return out
}

func TestCost(t *testing.T) {
	const most = math.MaxUint32
	for _, c := range []struct {
		cost trie.Cost
		want [6]float64
	}{
		{trie.Cost{}, [6]float64{5: 0.02}},
		{trie.Cost{Start: 1500, Stop: 2_000_000, Encode: 250_000, Bytes: 7000, Dropped: 2}, [6]float64{0.0015, 2, 0.25,
			7000, 2, 0.02}},
		{trie.Cost{Start: most, Stop: most, Encode: most, Bytes: most, Dropped: most}, [6]float64{60, 0, 0, 64 << 20,
			1000, 0.02}},
		{trie.Cost{Start: 10_000_000, Stop: 20_000_000, Encode: 31_000_000}, [6]float64{10, 20, 30, 0, 0, 0.02}},
	} {
		col, s := newCollector(Options{})
		body := traceBinary(t, "f", `"viewId":"1",`, func(tr *trie.Trace) { tr.Cost = c.cost })
		for range 2 { // the second time it is a duplicate
			if got := post(t, col, body); got.status != 202 {
				t.Fatalf("got %d %q", got.status, got.Error)
			}
		}
		if got := s.costs(t); got != c.want {
			t.Errorf("%+v: counted %v, want %v", c.cost, got, c.want)
		}
		if got := traceOf(t, s.only(t)).Cost; got != c.cost {
			t.Errorf("%+v is stored as %+v", c.cost, got)
		}
	}
}

// TestCostOfForeignCode checks that a re-encoded trace keeps its cost.
func TestCostOfForeignCode(t *testing.T) {
	col, s := newCollector(Options{FirstParty: []string{"other.example"}})
	cost := trie.Cost{Start: 1, Stop: 2, Encode: 3, Bytes: 4, Dropped: 5}
	post(t, col, traceBinary(t, "f", "", func(tr *trie.Trace) { tr.Cost = cost }))
	if got := traceOf(t, s.only(t)).Cost; got != cost {
		t.Errorf("stored %+v, want %+v", got, cost)
	}
}

func TestProfiledTime(t *testing.T) {
	for _, c := range []struct {
		interval uint32
		times    []int64
		want     int64
	}{
		{10, nil, 0},
		{10, []int64{5}, 10},
		{10, []int64{0, 10, 12, 12, 25}, 35},
		{10, []int64{0, 30, 61}, 30 + 30 + 10},
		{10, []int64{-trie.MaxTime, trie.MaxTime}, 30 + 10},
		{60_000_000, slices.Repeat([]int64{0}, 10), 60_000_000},
		{60_000_000, []int64{0, 1e9, 2e9, 3e9, 4e9}, 4*180_000_000 + 60_000_000},
		{math.MaxUint32, []int64{0, trie.MaxTime}, maxProfiled},
	} {
		tr := &trie.Trace{Context: trie.Context{Interval: c.interval}}
		for _, at := range c.times {
			tr.Samples = append(tr.Samples, trie.Sample{Time: at})
		}
		if got := profiledTime(tr); got != c.want {
			t.Errorf("%d µs, %v: got %d, want %d", c.interval, c.times, got, c.want)
		}
	}
}

func TestBrowser(t *testing.T) {
	const chrome = "Mozilla/5.0 (X11; Linux x86_64; Secret) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.1.2 " +
		"Safari/537.36"
	many := make([]string, 0, 64)
	for i := range 64 {
		many = append(many, fmt.Sprintf(`"c%02d":"x"`, i))
	}
	for _, c := range []struct {
		name, agent, more string
		want              string // the label; "none" if there should be none
		labels            int
	}{
		{"from the header", chrome, "", "Chrome 156", 1},
		{"among others", chrome, `"labels":{"a":"1","z":"2"},`, "Chrome 156", 3},
		{"the trace has one", chrome, `"labels":{"browser":"mine"},`, "mine", 1},
		{"the trace has an empty one", chrome, `"labels":{"browser":"","a":"1"},`, "", 2},
		{"the trace has a user agent", chrome, `"ua":"x Firefox/150.0",`, "Firefox 150", 1},
		{"no browser", "curl/8.0", "", "none", 0},
		{"no header", "", "", "none", 0},
		{"room for one", chrome, `"labels":{` + strings.Join(many[:63], ",") + `},`, "Chrome 156", 64},
		{"no room", chrome, `"labels":{` + strings.Join(many, ",") + `},`, "none", 64},
	} {
		for format, body := range map[string]string{"JSON": traceJSON("f", c.more), "binary": traceBinary(t,
			"f", c.more)} {
			col, s := newCollector(Options{})
			if got := post(t, col, body, "User-Agent", c.agent); got.status != 202 {
				t.Fatalf("%s: got %d %q", c.name, got.status, got.Error)
			}
			r := s.only(t)
			labels := traceOf(t, r).Context.Labels
			got := "none"
			if i := slices.IndexFunc(labels, func(l trie.Label) bool { return l.Key == labelBrowser }); i >= 0 {
				got = labels[i].Value
			}
			if got != c.want || len(labels) != c.labels {
				t.Errorf("%s, %s: browser is %q among %d labels, want %q among %d", c.name, format, got, len(labels),
					c.want, c.labels)
			}
			if strings.Contains(string(r.Payload), "Secret") || strings.Contains(string(r.Payload), "Linux") {
				t.Errorf("%s, %s: more of the header is stored: %q", c.name, format, r.Payload)
			}
			if _, err := encode.DecodeBinary(r.Payload, encode.Limits{}); err != nil {
				t.Errorf("%s, %s: %v", c.name, format, err)
			}
		}
	}
}

// TestMarked checks that layout without a stack, which the browser script derives from long
// animation frames, does not count as a marker of the browser.
func TestMarked(t *testing.T) {
	for _, c := range []struct {
		samples []trie.Sample
		want    bool
	}{
		{nil, false},
		{[]trie.Sample{{Node: 1}, {Node: trie.Root}}, false},
		{[]trie.Sample{{Node: trie.Root, Marker: trie.MarkerIdle}, {Node: trie.Root, Marker: trie.MarkerLayout}},
			false},
		{[]trie.Sample{{Node: 1, Marker: trie.MarkerLayout}}, true},
		{[]trie.Sample{{Node: trie.Root, Marker: trie.MarkerStyle}}, true},
		{[]trie.Sample{{Node: 1}, {Node: trie.Root, Marker: trie.MarkerGC}}, true},
	} {
		if got := marked(&trie.Trace{Samples: c.samples}); got != c.want {
			t.Errorf("%v: %t", c.samples, got)
		}
	}
}
