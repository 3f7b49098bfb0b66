package view

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// elements parses a document as strictly as a browser and counts its elements.
func elements(t *testing.T, data string) map[string]int {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(data))
	count := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("%s has the attribute %s", e.Name.Local, a.Name.Local)
				}
			}
		}
	}
}

// TestSVGHostile checks that no name becomes an element, an attribute or a script.
func TestSVGHostile(t *testing.T) {
	data := fixture.Written(t, EncodeSVG, fixture.HostileProfile(), output.Options{Title: fixture.HostileNames()[0]})
	count := elements(t, data)
	frames := len(fixture.HostileNames()) + 1
	if count["script"] != 1 || count["style"] != 1 || count["image"] != 0 || count["title"] != frames {
		t.Errorf("got %v", count)
	}
	if strings.ContainsFunc(data, func(r rune) bool { return r == 0xfffe || output.IsControl(r) && r != '\n' }) {
		t.Error("a control character remains")
	}
	for _, url := range regexp.MustCompile(`(?:src|href|url|@import|fetch)\s*[=(]`).FindAllString(data, -1) {
		if !strings.Contains(fixture.HostileNames()[2], url) {
			t.Errorf("the chart loads something: %s", url)
		}
	}
}

// TestSVGLarge checks that a browser can open the file of a profile with half a million nodes, and
// that the header states the time that is not drawn.
func TestSVGLarge(t *testing.T) {
	p, r := trie.NewProfile(), rand.New(rand.NewPCG(1, 2))
	nodes := []trie.NodeID{trie.Root}
	for i := range 2_000 {
		p.Intern(trie.Frame{Name: fmt.Sprintf("function%d", i),
			Resource: fmt.Sprintf("https://example.com/assets/script%d.js", i%50), Line: uint32(i + 1), Column: 1})
	}
	for len(p.Nodes) < 500_000 {
		// Prefer recent nodes as parents, for deep stacks.
		parent := nodes[max(0, len(nodes)-1-r.IntN(min(len(nodes), 2_000)))]
		n := p.Child(parent, trie.FrameID(r.IntN(2_000)))
		p.Add(nil, n, trie.Weight{Self: 1 + r.Int64N(1_000), Samples: 1, Reach: 1})
		nodes = append(nodes, n)
	}
	data := fixture.Written(t, EncodeSVG, p, output.Options{})
	frames := strings.Count(data, `class="frame`)
	if len(data) > 3_000_000 || frames < 1_000 {
		t.Errorf("%d bytes, %d frames", len(data), frames)
	}
	if !strings.Contains(data, fmt.Sprintf("%d frames too narrow to draw: ", 500_000-frames)) {
		t.Errorf("%d frames: the header does not state what is missing", frames)
	}
}

// TestSVGColours checks that a function has one colour in all files, and functions of a package
// have one hue.
func TestSVGColours(t *testing.T) {
	class := func(p *trie.Profile, name string) string {
		m := regexp.MustCompile(`class="frame (\S+)"[^>]*><title>` + name + "\n").FindStringSubmatch(fixture.Written(t,
			EncodeSVG, p, output.Options{}))
		if m == nil {
			t.Fatalf("no frame %s", name)
		}
		return m[1]
	}
	one, two := trie.NewProfile(), trie.NewProfile()
	a := trie.Frame{Name: "a", Resource: "https://one.example/node_modules/lodash/a.js"}
	b := trie.Frame{Name: "b", Resource: "https://two.example/node_modules/lodash/b.js"}
	one.Add(nil, one.Insert(fixture.FrameMain, a), trie.Weight{Self: 1})
	two.Add(nil, two.Insert(a), trie.Weight{Self: 5})
	two.Add(nil, two.Insert(b), trie.Weight{Self: 7})
	two.Add(nil, two.Insert(fixture.FrameDOM), trie.Weight{Self: 7})
	if class(one, "a") != class(two, "a") {
		t.Error("a function has two colours")
	}
	hue := func(s string) string { h, _, _ := strings.Cut(s, "-"); return h }
	if hue(class(two, "a")) != hue(class(two, "b")) {
		t.Error("a package has two hues")
	}
	if got := class(two, "querySelector"); got != "none" {
		t.Errorf("a function without a resource is %s", got)
	}
}

func TestCutName(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns int
		want    string
	}{{"render", 6, "render"}, {"render", 5, "rend…"}, {"日本語", 2, "日…"}, {"a", 0, "…"}, {"", 0, ""}} {
		if got := cutName(c.name, c.columns); got != c.want {
			t.Errorf("%s in %d: got %q, want %q", c.name, c.columns, got, c.want)
		}
	}
	if got := cutText("日本語", 4); got != "日…" {
		t.Errorf("got %q", got)
	}
}
