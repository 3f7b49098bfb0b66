package encode

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// written returns what a format writes.
func written[O any](t testing.TB, write func(io.Writer, *trie.Profile, O) error, p *trie.Profile, o O) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, p, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// writtenTimed returns what a format writes in time order.
func writtenTimed[O any](t testing.TB, write func(io.Writer, []*trie.Timeline, O) error, o O, lines ...*trie.Timeline) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, lines, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// comparedPair returns two profiles that share some stacks: one has more of a function,
// less of another, one that is new and one that is gone.
func comparedPair() (now, base *trie.Profile) {
	now, base = trie.NewProfile(), trie.NewProfile()
	lodash := trie.Frame{Name: "map", Resource: "https://example.com/node_modules/lodash/map.js", Line: 3, Column: 1}
	now.Add(nil, now.Insert(frameMain), trie.Weight{Self: 30_000, Samples: 3, Reach: 2})
	now.Add(nil, now.Insert(frameMain, frameRender), trie.Weight{Self: 70_000, Samples: 7, Reach: 2})
	now.Add(nil, now.Insert(frameMain, lodash), trie.Weight{Self: 10_001, Samples: 1, Reach: 1})
	base.Add(nil, base.Insert(frameMain), trie.Weight{Self: 30_000, Samples: 3, Reach: 1})
	base.Add(nil, base.Insert(frameMain, frameRender), trie.Weight{Self: 90_000, Samples: 9, Reach: 1})
	base.Add(trie.MakeLabels("page", "/old"), base.Insert(frameDOM), trie.Weight{Self: 5_000, Samples: 1, Reach: 1})
	now.Views, now.Traces, base.Views, base.Traces = 2, 2, 1, 1
	return now, base
}

// someTimelines returns two threads: one with a gap, with a call that is repeated at
// once, and with an event in it; and one that begins earlier.
func someTimelines() []*trie.Timeline {
	main := &trie.Timeline{Trie: *trie.New(), Process: 7, Thread: 8, Name: "CrRendererMain"}
	outer, inner := main.Insert(frameMain), main.Insert(frameMain, frameRender)
	layout := main.Insert(frameMain, frameRender, trie.Frame{Name: "Layout"})
	main.Calls = []trie.Call{
		{Node: outer, Start: 1_000, End: 6_000},
		{Node: inner, Start: 2_000, End: 4_000},
		{Node: layout, Start: 2_500, End: 3_000, Event: true},
		{Node: inner, Start: 4_000, End: 6_000},
		{Node: outer, Start: 9_000, End: 9_500},
	}
	worker := &trie.Timeline{Trie: *trie.New(), Process: 7, Thread: 9}
	worker.Calls = []trie.Call{{Node: worker.Insert(trie.Frame{}), Start: 500, End: 800}}
	return []*trie.Timeline{main, worker}
}

// hostileNames are names that a document could be broken with.
func hostileNames() []string {
	return []string{
		"</script><script>x()</script>", "]]>", `"><img onerror=x() src=a>`, "\x00\x1b[2J\ufffe\r\n\t", "\xff\xfe", "&amp;", "=cmd()",
		strings.Repeat("long", 2_500), "日本語", "a;b",
	}
}

func hostileProfile() *trie.Profile {
	p := trie.NewProfile()
	for i, name := range hostileNames() {
		p.Add(trie.MakeLabels("page", name), p.Insert(trie.Frame{Name: name, Resource: name}), trie.Weight{Self: int64(1_000 + i), Samples: 1, Reach: 1})
	}
	return p
}
