package collect

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/collect/redact"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/rules/feature"
	"github.com/fieldtrie/fieldtrie/trie"
)

// resourcesOf returns the resources of the trace that a collector stores for a body, sorted.
func resourcesOf(t *testing.T, o Options, body string) []string {
	t.Helper()
	col, s := newCollector(o)
	if r := post(t, col, body); r.status != http.StatusAccepted {
		t.Fatalf("got %d %s", r.status, r.Error)
	}
	tr := traceOf(t, s.only(t))
	var out []string
	for i := range tr.Frames {
		f := tr.FrameOf(trie.FrameID(i))
		if f.Resource == "" {
			f.Resource = f.Name
		}
		out = append(out, f.Resource)
	}
	slices.Sort(out)
	return out
}

// framesIn returns a trace with a frame in each resource, sampled once each.
func framesIn(page string, resources ...string) string {
	var urls, frames, stacks, samples []string
	for i, r := range resources {
		urls = append(urls, fmt.Sprintf("%q", r))
		frames = append(frames, fmt.Sprintf(`{"name":"f","resourceId":%d,"line":1,"column":1}`, i))
		stacks = append(stacks, fmt.Sprintf(`{"frameId":%d}`, i))
		samples = append(samples, fmt.Sprintf(`{"timestamp":%d,"stackId":%d}`, 10*i, i))
	}
	list := func(of []string) string { return "[" + strings.Join(of, ",") + "]" }
	return fmt.Sprintf(`{"page":%q,"interval":10,"trace":{"resources":%s,"frames":%s,"stacks":%s,"samples":%s}}`,
		page, list(urls), list(frames), list(stacks), list(samples))
}

func TestDebugID(t *testing.T) {
	const own = "https://www.example.com"
	for _, id := range []string{
		"85314830-023f-4cf1-a267-535f4e37bb17",
		"41111111-1111-4111-8111-111111111111", // has the number of a card
		"00491701-2345-4678-9012-345678901234", // a phone number
		"00000000-0000-0000-0000-000000000000",
		"deadbeef-cafe-4bad-a000-abcdefabcdef",
	} {
		mark := "#debugId=" + id
		for _, c := range []struct{ sent, want string }{
			{own + "/app.js" + mark, own + "/app.js" + mark},
			{own + "/app.js?user=17" + mark, own + "/app.js" + mark},
			{own + "/u/bob@example.com/app.js" + mark, own + "/u/(email)/app.js" + mark},
			{own + "/a;SID=1/app.js" + mark, own + "/a/app.js" + mark},
			{own + "/user/6f1e2d3c4b5a69788796" + mark, own + "/user/:id" + mark}, // an inline script
			{"blob:" + own + "/5a5a-5a5a" + mark, "blob:" + own + mark},
			{own + "/app.js" + mark + "&token=1", own + "/app.js"},
			{own + "/app.js#token=1", own + "/app.js"},
			{own + "/app.js#debugId=" + id[1:], own + "/app.js"},
			{own + "/app.js#id=" + id, own + "/app.js"},
			{"https://ads.example/x.js" + mark, "(third-party ads.example)"},
			{"chrome-extension://abc/x.js" + mark, "(unknown)"},
		} {
			o := Options{FirstParty: []string{"www.example.com"}}
			if got := resourcesOf(t, o, framesIn("/user/6f1e2d3c4b5a69788796", c.sent)); !slices.Equal(got,
				[]string{c.want}) {
				t.Errorf("%s: got %q, want %s", c.sent, got, c.want)
			}
		}
	}
}

// TestDebugIDs checks that builds with the same URL stay separate.
func TestDebugIDs(t *testing.T) {
	const one = "https://x.example/app.js#debugId=11111111-1111-1111-1111-111111111111"
	const two = "https://x.example/app.js#debugId=22222222-2222-2222-2222-222222222222"
	if got := resourcesOf(t, Options{}, framesIn("/", one, two)); !slices.Equal(got, []string{one, two}) {
		t.Errorf("got %q", got)
	}
}

// TestDebugIDShows checks that a trace without private data is stored as sent, including debug IDs.
func TestDebugIDShows(t *testing.T) {
	tr := &trie.Trace{Trie: *trie.New()}
	tr.Insert(trie.Frame{Name: "f", Resource: "https://x.example/app.js#debugId=85314830-023f-4cf1-a267-535f4e37bb17",
		Line: 1, Column: 1})
	col, _ := newCollector(Options{FirstParty: []string{"x.example"}})
	if encode.Repair(tr) || !col.shows(&tr.Trie, nil, &redact.Redactor{}, "") {
		t.Error("the trace needs changes")
	}
}

// TestDebugIDFeatures checks that rules for scripts match their URLs without debug IDs.
func TestDebugIDFeatures(t *testing.T) {
	rules := featureRules(t, feature.Rule{Name: "shop", Resource: "*/shop.js"})
	col, s := newCollector(Options{Features: rules})
	if r := post(t, col, framesIn("/",
		"https://x.example/shop.js#debugId=85314830-023f-4cf1-a267-535f4e37bb17")); r.status != http.StatusAccepted {
		t.Fatalf("got %d %s", r.status, r.Error)
	}
	if spans := traceOf(t, s.only(t)).Context.Spans; len(spans) != 1 || spans[0].Name != "shop" {
		t.Errorf("got %+v", spans)
	}
}
