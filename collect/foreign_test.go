package collect

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

func TestForeign(t *testing.T) {
	const own = "https://www.example.com/app.js"
	frames := func(resources ...string) string {
		var names, frames, stacks []string
		for i, r := range resources {
			names = append(names, `"`+r+`"`)
			frames = append(frames, fmt.Sprintf(`{"name":"f%d","resourceId":%d,"line":1,"column":%d}`, i, i, i+1))
			parent := ""
			if i > 0 {
				parent = fmt.Sprintf(`,"parentId":%d`, i-1)
			}
			stacks = append(stacks, fmt.Sprintf(`{"frameId":%d%s}`, i, parent))
		}
		return fmt.Sprintf(`{"interval":10,"trace":{"resources":[%s],"frames":[%s],"stacks":[%s],`+
			`"samples":[{"timestamp":0,"stackId":%d}]}}`,
			strings.Join(names, ","), strings.Join(frames, ","), strings.Join(stacks, ","), len(resources)-1)
	}
	first := []string{"www.example.com", "*.cdn.Example.net", "localhost:3000"}
	for _, c := range []struct {
		name      string
		first     []string
		resources []string
		want      string // names, root first
	}{
		{"all are first-party", nil, []string{own, "https://ads.example/x.js", "https://ads.example/y.js"}, "f0 f1 f2"},
		{"run of another host", first, []string{own, "https://ads.example/x.js", "https://ads.example/y.js", own},
			"f0 (third-party ads.example) f3"},
		{"two hosts", first, []string{"https://ads.example/x.js", "https://Ads2.example:8443/y.js"},
			"(third-party ads.example) (third-party ads2.example)"},
		{"below a wildcard", first, []string{"https://a.b.cdn.example.net/x.js", "https://cdn.example.net/y.js"},
			"f0 (third-party cdn.example.net)"},
		{"no wildcard", first, []string{"https://evilwww.example.com/x.js", "https://example.com/y.js"},
			"(third-party evilwww.example.com) (third-party example.com)"},
		{"ports", first, []string{"http://localhost:3000/x.js", "http://localhost:3001/x.js",
			"https://www.example.com:8443/y.js"}, "f0 (third-party localhost) f2"},
		{"other spellings", first, []string{"HTTPS://WWW.Example.COM/x.js", "https://www.example.com./y.js"}, "f0 f1"},
		{"user in front", first, []string{"https://www.example.com@ads.example/x.js"}, "(third-party ads.example)"},
		{"blobs", first, []string{"blob:https://ads.example/1-2-3", "blob:https://www.example.com/1-2-3"},
			"(third-party ads.example) f1"},
		{"no host", first, []string{"data:text/javascript,1", "about:blank", "file:///app.js"}, "f0 f1 f2"},
		{"not a URL", first, []string{"https://ads.example/%zz", "https://a b/"}, "(unknown)"},
		{"the script itself", nil, []string{own, "https://example.com/sdk.js", "https://profiles.example/sdk-rest.mjs",
			own}, "f0 (fieldtrie) f3"},
		{"with a hash", first, []string{"https://profiles.example/sdk.0123456789ab.mjs", own}, "(fieldtrie) f1"},
		{"other scripts", nil, []string{own, "https://connect.example/sdk.js", "https://example.com/sdk-other.js",
			"https://example.com/sdk.js/x.js"}, "f0 f1 f2 f3"},
		{"its parts", nil, []string{own, "https://example.com/rest.mjs", "http://example.com/stackless.mjs", own},
			"f0 (fieldtrie) f3"},
		{"neutral names", nil, []string{"https://Example.com/load.js", own, "https://example.com/all.0123456789ab.mjs",
			"https://example.com/core.js"}, "(fieldtrie) f1 (fieldtrie)"},
		{"neutral names on another host", nil, []string{own, "https://www.example.com/rest.mjs",
			"https://example.com/js/core.js", "https://example.com/loader.js", "file:///core.js"}, "f0 f1 f2 f3 f4"},
		{"extensions", nil, []string{own, "chrome-extension://abc/x.js", "moz-extension://def/y.js", own},
			"f0 (unknown) f3"},
	} {
		col, s := newCollector(Options{FirstParty: c.first})
		if got := post(t, col, frames(c.resources...)); got.status != 202 {
			t.Errorf("%s: got %d %q", c.name, got.status, got.Error)
			continue
		}
		tr := traceOf(t, s.only(t))
		var names []string
		for n := range tr.Stack(tr.Samples[0].Node) {
			names = append(names, tr.Frame(n).Name)
		}
		slices.Reverse(names)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestOwnPlace serves the daemon below a path of a site whose own scripts may have the same names.
func TestOwnPlace(t *testing.T) {
	for _, c := range []struct {
		public, resource string
		own              bool
	}{
		{"", "https://example.com/rest.mjs", true},
		{"", "https://example.com/p/rest.mjs", false},
		{"https://www.example.com/p", "https://www.example.com/p/rest.mjs", true},
		{"https://www.example.com/p", "https://WWW.example.com/p/load.0123456789ab.js", true},
		{"https://www.example.com/p", "https://www.example.com/rest.mjs", false},
		{"https://www.example.com/p", "https://example.com/core.js", false},
		{"https://www.example.com/p", "https://www.example.com/p/sdk-rest.mjs", true},
		{"https://profiles.example", "https://profiles.example/all.js", true},
		{"https://profiles.example", "https://example.com/all.js", true},
		{"https://profiles.example", "https://other.example/all.js", false},
		{"", "file:///core.js", false},
		{"", "core.js", false},
		{"", "", false},
	} {
		col, _ := newCollector(Options{PublicURL: c.public})
		if got := col.ownScript(c.resource, "example.com"); got != c.own {
			t.Errorf("%q, at %q: got %v", c.resource, c.public, got)
		}
	}
}

// TestInlineScripts sends a trace of an inline script.
func TestInlineScripts(t *testing.T) {
	col, s := newCollector(Options{})
	body := `{"page":"/reset/6f1e2d3c4b5a69788796/user/8123","interval":10,"spans":[{"page":"/order/77001","start":5,` +
		`"end":20}],"trace":{
		"resources":["https://x.example/reset/6f1e2d3c4b5a69788796/user/8123","https://x.example/order/77001?a=1",` +
		`"https://x.example/app.js"],
		"frames":[{"name":"a","resourceId":0,"line":1,"column":1},{"name":"b","resourceId":1,"line":1,"column":1},` +
		`{"name":"c","resourceId":2,"line":1,"column":1}],
		"stacks":[{"frameId":0},{"frameId":1,"parentId":0},{"frameId":2,"parentId":1}],
		"samples":[{"timestamp":0,"stackId":2},{"timestamp":10,"stackId":2}]}}`
	if r := post(t, col, body); r.status != http.StatusAccepted {
		t.Fatalf("got %d %s", r.status, r.Error)
	}
	trace := traceOf(t, s.only(t))
	var got []string
	for i := range trace.Frames {
		got = append(got, trace.FrameOf(trie.FrameID(i)).Resource)
	}
	slices.Sort(got)
	if want := []string{"https://x.example/app.js", "https://x.example/order/:id",
		"https://x.example/reset/:id/user/:id"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
