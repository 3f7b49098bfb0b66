package html

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// written returns the title and the data of a file, after checking that the rest equals the
// template.
func written(t *testing.T, p *trie.Profile, o output.Options) (title string, d document) {
	t.Helper()
	o.Template = fixture.HTMLTemplate()
	got := fixture.Written(t, Encode, p, o)
	head, rest, _ := strings.Cut(string(o.Template), TitlePlace)
	between, tail, _ := strings.Cut(rest, DataPlace)
	after, ok := strings.CutPrefix(got, head)
	if !ok {
		t.Fatalf("it begins with %.200q", got)
	}
	title, data, _ := strings.Cut(after, between)
	data, ok = strings.CutSuffix(data, tail)
	if !ok {
		t.Fatalf("it ends with %q", got[max(0, len(got)-200):])
	}
	for _, mark := range []string{"<", ">", "\u2028", "\u2029", "\x00", "\x1b"} {
		if strings.Contains(title+data, mark) {
			t.Errorf("%q is in the file", mark)
		}
	}
	if !utf8.ValidString(got) {
		t.Error("the file is not UTF-8")
	}
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(title), d
}

func TestEncode(t *testing.T) {
	since := time.Date(2026, 11, 3, 10, 0, 0, 0, time.FixedZone("", 3600))
	now, base := fixture.ComparedPair()
	title, d := written(t, now, output.Options{
		Title: "/feed", Selection: "/feed with release=B", BaseSelection: "/feed with release=A",
		Since: since, Until: since.Add(time.Hour), Base: base,
	})
	if title != "/feed, compared · Fieldtrie" {
		t.Errorf("title %q", title)
	}
	if d.Title != "/feed" || d.Of != "JavaScript" || d.Selection != "/feed with release=B" ||
		d.BaseSelection != "/feed with release=A" ||
		d.Since != "2026-11-03T09:00:00Z" || d.Until != "2026-11-03T10:00:00Z" || d.Cut {
		t.Errorf("got %+v", d)
	}
	self, _ := now.Flat()
	baseSelf, _ := base.Flat()
	if d.Tree.Total != output.SelfSum(self) || d.Tree.Base == nil || d.Tree.Base.Total != output.SelfSum(baseSelf) {
		t.Errorf("totals %d, %+v", d.Tree.Total, d.Tree.Base)
	}
	if title, d = written(t, trie.NewProfile(),
		output.Options{BaseSelection: "nothing"}); title != "Profile · Fieldtrie" || d.Tree.Base != nil ||
		d.BaseSelection != "" {
		t.Errorf("nothing: %q, %+v", title, d)
	}
}

// Names stay data, whatever they contain.
func TestHostileNames(t *testing.T) {
	p := fixture.HostileProfile()
	names := append(fixture.HostileNames(), "</title><script>x()</script>", "<!--<script>", "a\u2028b\u2029c",
		"\u202eevil", "%DATA%%TITLE%", `"\`)
	for _, name := range names {
		p.Add(nil, p.Insert(trie.Frame{Name: name}), trie.Weight{Self: 1})
		_, d := written(t, p, output.Options{Title: name, Selection: name})
		if want := strings.ToValidUTF8(name, "\ufffd"); len(name) < maxTitle && !strings.Contains(name, "\xff") &&
			(d.Title != want || d.Selection != want) {
			t.Errorf("title %q, selection %q, want %q", d.Title, d.Selection, want)
		}
	}
	_, d := written(t, p, output.Options{})
	for _, name := range names {
		if utf8.ValidString(name) && !slices.Contains(d.Tree.Strings, name) {
			t.Errorf("%.100q is not in the file", name)
		}
	}
}

// Negative times have no width in a flame graph.
func TestBelowZero(t *testing.T) {
	_, d := written(t, fixture.Difference(), output.Options{})
	var sum int64
	for _, self := range d.Tree.Self {
		sum += self
	}
	if len(d.Tree.Self) == 0 || slices.Min(d.Tree.Self) < 0 || sum != d.Tree.Total {
		t.Errorf("%v, total %d", d.Tree.Self, d.Tree.Total)
	}
}

// A profile of any size becomes a file that a browser can draw.
func TestBounds(t *testing.T) {
	p := trie.NewProfile()
	var total int64
	for i := range maxNodes + 10_000 {
		w := trie.Weight{Self: int64(1 + i%1000)}
		p.Add(nil, p.Insert(trie.Frame{Name: "main"}, trie.Frame{Name: fmt.Sprint(i)}), w)
		total += w.Self
	}
	_, d := written(t, p, output.Options{})
	if n := len(d.Tree.Label); n > maxNodes+1 || n < maxNodes/2 {
		t.Errorf("%d nodes", n)
	}
	if d.Tree.Pruned.Nodes < 10_000 || d.Tree.Pruned.Self == 0 || d.Tree.Total != total {
		t.Errorf("pruned %+v of %d, want %d", d.Tree.Pruned, d.Tree.Total, total)
	}
	texts := []string{"short", strings.Repeat("ü", 600), strings.Repeat("b", 200)}
	if cutLong(texts, 1405) || !cutLong(texts, 1404) {
		t.Error("texts are truncated at another size")
	}
	if texts[0] != "short" || texts[1] != strings.Repeat("ü", 98)+"…" || len(texts[2]) != 200 {
		t.Errorf("truncated to %q", texts)
	}
}

func TestTemplates(t *testing.T) {
	p := fixture.GroupedProfile()
	if err := Encode(io.Discard, p, output.Options{}); !errors.Is(err, ErrNoTemplate) {
		t.Errorf("none: %v", err)
	}
	for template, want := range map[string]string{
		"nothing":                "the template has %TITLE% 0 times",
		"%TITLE%":                "the template has %DATA% 0 times",
		"%TITLE% %DATA% %DATA%":  "the template has %DATA% 2 times",
		"%DATA% %TITLE%":         "the template has %DATA% before %TITLE%",
		"%TITLE% %TITLE% %DATA%": "the template has %TITLE% 2 times",
	} {
		if err := Encode(io.Discard, p, output.Options{Template: []byte(template)}); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", template, err, want)
		}
	}
	if err := Encode(fixture.FailingWriter{Err: io.ErrShortWrite}, p,
		output.Options{Template: fixture.HTMLTemplate()}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a full disk: %v", err)
	}
}
