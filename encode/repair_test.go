package encode

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// latin1 returns the text that the bytes of s are in Latin-1.
func latin1(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteRune(rune(c))
	}
	return b.String()
}

func TestRepairName(t *testing.T) {
	for name, want := range map[string]string{
		"":                                "",
		"render":                          "render",
		"a;b\nc<d>":                       "a;b\nc<d>",
		latin1("größe"):                   "größe",
		latin1("数える"):                     "数える",
		latin1("go😀"):                     "go😀",
		latin1(latin1("größe")):           "größe",
		"größe":                           "größe", // Latin-1 that is not UTF-8
		"数える":                             "数える",
		latin1("é") + "数":                 latin1("é") + "数",
		"\u00c3":                          "\u00c3",
		"\xff":                            "\xff",
		latin1("é") + "\u00ff":            latin1("é") + "\u00ff",
		"\ufffd":                          "\ufffd",
		"x" + latin1(latin1(latin1("é"))): "xé",
	} {
		if got := repairName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestRepairResource(t *testing.T) {
	const debugID = "#debugId=85314830-023f-4cf1-a267-535f4e37bb17"
	for url, want := range map[string]string{
		"":                                        "",
		"https://example.com/app.js":              "https://example.com/app.js",
		"https://example.com/app.js?v=1#x?y":      "https://example.com/app.js",
		"https://example.com/#/user/17?x":         "https://example.com/",
		"https://ann:secret@example.com/app.js":   "https://example.com/app.js",
		"https://ann@example.com":                 "https://example.com",
		"https://a@b@example.com/x@2.js":          "https://example.com/x@2.js",
		"https://example.com/@scope/app@1.2.js":   "https://example.com/@scope/app@1.2.js",
		"/app.js?x":                               "/app.js",
		"?x":                                      "",
		"app.js":                                  "app.js",
		"blob:https://example.com/5a5a-5a5a":      "blob:https://example.com",
		"blob:https://ann:pw@example.com:81/5a":   "blob:https://example.com:81",
		"blob:https://example.com":                "blob:https://example.com",
		"blob:null/5a5a-5a5a":                     "blob:null",
		"BLOB:https://example.com/5a?x":           "BLOB:https://example.com",
		"blob:":                                   "blob:",
		"data:text/javascript,alert(1)":           "data:text/javascript",
		"data:text/javascript;base64,YWxlcnQoMSk": "data:text/javascript",
		"data:text/javascript":                    "data:text/javascript",
		"data:,alert('text/x')":                   "data:",
		"data:alert(1)/2":                         "data:",
		"Data:application/ld+json,{}":             "Data:application/ld+json",
		"wasm://wasm/0017a4be":                    "wasm://wasm/0017a4be",
		"webpack:///./src/app.js?5a":              "webpack:///./src/app.js",
		"://a@b/c?":                               "://b/c",

		"https://example.com/app.js" + debugID:                  "https://example.com/app.js" + debugID,
		"https://ann:secret@example.com/a.js?v=1#x?y" + debugID: "https://example.com/a.js" + debugID,
		"https://example.com/app.js" + debugID + debugID:        "https://example.com/app.js" + debugID,
		"https://example.com/app.js" + debugID + "&user=17":     "https://example.com/app.js",
		"https://example.com/app.js" + strings.ToUpper(debugID): "https://example.com/app.js",
		"https://example.com/app.js#debugId=17":                 "https://example.com/app.js",
		"blob:https://example.com/5a5a-5a5a" + debugID:          "blob:https://example.com" + debugID,
		"data:text/javascript,alert(1)" + debugID:               "data:text/javascript" + debugID,
		debugID:        "",
		"?x" + debugID: "",
	} {
		if got := repairResource(url); got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
		if got := repairResource(want); got != want {
			t.Errorf("%s: a second repair returns %s", want, got)
		}
	}
}

func TestIsExtension(t *testing.T) {
	for url, want := range map[string]bool{
		"chrome-extension://abcdef/content.js":        true,
		"moz-extension://5a5a-5a5a/content.js":        true,
		"safari-web-extension://5A5A/content.js":      true,
		"safari-extension://x/y.js":                   true,
		"Chrome-Extension://abcdef/content.js":        true,
		"blob:chrome-extension://abcdef/5a5a":         true,
		"chrome-extension:":                           true,
		"":                                            false,
		"-extension://x":                              false,
		"chrome-extension":                            false,
		"https://example.com/chrome-extension://x.js": false,
		"https://example.com/?chrome-extension:":      false,
		"blob:https://example.com/5a5a":               false,
	} {
		if got := isExtension(url); got != want {
			t.Errorf("%s: got %v, want %v", url, got, want)
		}
	}
}

func TestPagePath(t *testing.T) {
	for page, want := range map[string]string{
		"":                               "",
		"/":                              "/",
		"/feed":                          "/feed",
		"/feed?user=17#top":              "/feed",
		"?x=1":                           "/",
		"#x":                             "/",
		"https://example.com/feed?x=1":   "/feed",
		"https://ann:pw@example.com/a/b": "/a/b",
		"https://example.com":            "/",
		"https://example.com?next=/a":    "/",
		"/redirect/https://example.com/": "/redirect/https://example.com/",
		"feed":                           "feed",
		"://x":                           "://x",
	} {
		if got := pagePath(page); got != want {
			t.Errorf("%q: got %q, want %q", page, got, want)
		}
		if got := pagePath(want); got != want {
			t.Errorf("%q: the second call returns %q", want, got)
		}
	}
}

// oneStack returns a trace of one sample with one stack.
func oneStack(frames ...trie.Frame) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Interval: 10_000}}
	t.Samples = []trie.Sample{{Node: t.Insert(frames...)}}
	return t
}

func TestRepair(t *testing.T) {
	shared := latin1("/größe.js") // names and resources are repaired differently
	tr := oneStack(
		trie.Frame{Name: shared, Resource: shared, Line: 1, Column: 2},
		trie.Frame{Name: "inject", Resource: "chrome-extension://abc/a.js", Line: 3, Column: 4},
		trie.Frame{Name: "spy", Resource: "moz-extension://abc/b.js", Line: 5, Column: 6},
		trie.Frame{Name: "a?b#c", Resource: "a?b#c", Line: 7, Column: 8},
		trie.Frame{Name: "querySelector", Line: 9, Column: 10},
		trie.Frame{Name: "run", Resource: "blob:https://example.com/1", Line: 1, Column: 1},
		trie.Frame{Name: "run", Resource: "blob:https://example.com/2", Line: 1, Column: 1},
	)
	tr.Strings = append(tr.Strings, "https://example.com/?unused")
	tr.Context.Page = "https://example.com/feed?user=17"
	tr.Context.Spans = []trie.Span{
		{Kind: trie.SpanPage, Name: "/a?x", Start: 1, Length: 5},
		{Kind: trie.SpanFeature, Name: "search?", Start: 1, Length: 5},
	}
	trie.SortSpans(tr.Context.Spans)
	Repair(tr)
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	run := trie.Frame{Name: "run", Resource: "blob:https://example.com", Line: 1, Column: 1}
	want := []trie.Frame{
		{Name: "/größe.js", Resource: shared, Line: 1, Column: 2},
		{Name: trie.FrameUnknown},
		{Name: trie.FrameUnknown},
		{Name: "a?b#c", Resource: "a", Line: 7, Column: 8},
		{Name: "querySelector"},
		run,
		run,
	}
	if got := fixture.FramesOf(&tr.Trie, tr.Samples[0].Node); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if len(tr.Frames) != 5 {
		t.Errorf("got %d frames, want 5, each once", len(tr.Frames))
	}
	for _, s := range tr.Strings {
		if strings.Contains(s, "://") && s != "blob:https://example.com" {
			t.Errorf("string %q is still there", s)
		}
	}
	c := tr.Context
	if c.Page != "/feed" || c.Spans[0].Name != "/a" || c.Spans[1].Name != "search?" {
		t.Errorf("got page %q and spans %v", c.Page, c.Spans)
	}
	// The index of the old tables must not be used for the new ones.
	if n := tr.Insert(want...); n == trie.Root || !slices.Equal(fixture.FramesOf(&tr.Trie, n), want) {
		t.Errorf("a stack cannot be inserted after the repair")
	}
	joined := tr.Coalesce(nil)
	if got := fixture.FramesOf(&joined.Trie, joined.Samples[0].Node); len(got) != len(want)-1 {
		t.Errorf("coalesced: got %v", got)
	}
}

// TestRepairKeeps checks that Repair leaves correct traces unchanged, without allocations.
func TestRepairKeeps(t *testing.T) {
	tr := oneStack(trie.Frame{Name: "größe", Resource: "https://example.com/a.js", Line: 1, Column: 2},
		trie.Frame{Name: "querySelector"}, trie.Frame{}, trie.Frame{Name: trie.FrameGC})
	tr.Context.Page = "/feed"
	if n := testing.AllocsPerRun(10, func() { Repair(tr) }); n > 1 {
		t.Errorf("got %v allocations", n)
	}
	if len(tr.Frames) != 4 || tr.Frame(1).Name != "größe" {
		t.Errorf("got %v %q", tr.Frames, tr.Strings)
	}
}

// FuzzRepair checks that a repair preserves all stacks and is idempotent.
func FuzzRepair(f *testing.F) {
	f.Add("main\x00"+latin1("größe")+"\x00run", "https://u@h/a?b\x00chrome-extension://a\x00blob:https://h/5",
		"https://h/p?q", uint32(7))
	f.Add(latin1(latin1("é"))+"\x00data:a/b,c", "data:a/b,c\x00data:a/b\x00"+latin1("é"), "#", uint32(0))
	f.Add("", "?\x00", "a://b", uint32(1))
	f.Add("blob:blob:chrome-extension:", "blob:a://u@b@c/d\x00blob:x@y/z", "a:b@c://", uint32(1))
	f.Fuzz(func(t *testing.T, names, resources, page string, line uint32) {
		tr := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Interval: 1, Page: page}}
		if page != "" {
			tr.Context.Spans = []trie.Span{{Kind: trie.SpanPage, Name: page}, {Kind: trie.SpanPage, Name: "/",
				Length: 1}}
			trie.SortSpans(tr.Context.Spans)
		}
		n := trie.Root
		for name := range strings.SplitSeq(names, "\x00") {
			for resource := range strings.SplitSeq(resources, "\x00") {
				n = tr.Child(n, tr.Intern(trie.Frame{Name: name, Resource: resource, Line: line}))
				tr.Samples = append(tr.Samples, trie.Sample{Time: int64(n), Node: n})
			}
		}
		var want []trie.Frame
		for _, f := range fixture.FramesOf(&tr.Trie, n) {
			want = append(want, repairFrame(f))
		}
		if err := tr.Validate(); err != nil {
			t.Fatal(err)
		}
		Repair(tr)
		if err := tr.Validate(); err != nil {
			t.Fatalf("after the repair: %v", err)
		}
		if got := fixture.FramesOf(&tr.Trie, n); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		checkRepaired(t, tr)
	})
}

// checkRepaired checks that another repair would change nothing.
func checkRepaired(t *testing.T, tr *trie.Trace) {
	t.Helper()
	if needsRepair(&tr.Trie) {
		t.Fatalf("needs another repair: %q %v", tr.Strings, tr.Frames)
	}
	for i := range tr.Frames {
		f := tr.FrameOf(trie.FrameID(i))
		if got := repairFrame(f); got != f {
			t.Fatalf("a second repair makes %v of %v", got, f)
		}
		if strings.ContainsAny(f.Resource, "?#") || f.Resource == "" && f.Line|f.Column != 0 {
			t.Fatalf("frame %v", f)
		}
	}
	again := *tr
	again.Context.Spans = slices.Clone(tr.Context.Spans)
	Repair(&again)
	if !reflect.DeepEqual(again.Context, tr.Context) || strings.ContainsAny(tr.Context.Page, "?#") {
		t.Fatalf("a second repair makes %v of %v", again.Context, tr.Context)
	}
}
