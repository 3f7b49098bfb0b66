package folded

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// selfOf returns the self time of each stack of p, with all parts of its frames.
func selfOf(p *trie.Profile) map[string]int64 {
	flat, _ := p.Flat()
	out := map[string]int64{}
	for n, w := range flat {
		if w.Self != 0 {
			out[fmt.Sprintf("%#v", fixture.FramesOf(&p.Trie, trie.NodeID(n)))] += w.Self
		}
	}
	return out
}

func TestDecodeFolded(t *testing.T) {
	for _, c := range []struct {
		name, in string
		stack    []trie.Frame // the only stack with self time
		self     int64
	}{
		{"plain", "main;work 12\n", []trie.Frame{{Name: "main"}, {Name: "work"}}, 12},
		{"ours", "f (https://x.example/a.js:1:2);g (node:fs) 7", []trie.Frame{
			{Name: "f", Resource: "https://x.example/a.js", Line: 1, Column: 2}, {Name: "g", Resource: "node:fs"}}, 7},
		{"blanks, comments and line ends", "\ufeff# of perf\r\n\r\n#\r\na;b 1\r\n  \na;b 2\r\n",
			[]trie.Frame{{Name: "a"}, {Name: "b"}}, 3},
		{"private method", "#go;b 1", []trie.Frame{{Name: "#go"}, {Name: "b"}}, 1},
		{"decimals", "a 1.5\na 0.4\na .6", []trie.Frame{{Name: "a"}}, 3},
		{"tabs and spaces", " a b\t3 ", []trie.Frame{{Name: " a b"}}, 3},
		{"escapes", `a\x3bb\n\\ 1`, []trie.Frame{{Name: "a;b\n\\"}}, 1},
		{"path on Windows", `C:\new\foo;C:\x3b 1`, []trie.Frame{{Name: `C:\new\foo`}, {Name: `C:\x3b`}}, 1},
		{"types are not a place", "operator() (int);f (std::string) 2", []trie.Frame{{Name: "operator() (int)"},
			{Name: "f (std::string)"}}, 2},
		{"port", "a (http://h:80);b (http://h:80:3);c (http://h:80/:3:4) 2", []trie.Frame{
			{Name: "a", Resource: "http://h:80"}, {Name: "b", Resource: "http://h:80", Line: 3},
			{Name: "c", Resource: "http://h:80/", Line: 3, Column: 4}}, 2},
		{"parentheses", "a (b) (http://h/x (1).js:3);c (http://h/).js:1:2) 2", []trie.Frame{
			{Name: "a (b)", Resource: "http://h/x (1).js", Line: 3}, {Name: "c", Resource: "http://h/).js", Line: 1,
				Column: 2}}, 2},
		{"anonymous", "(anonymous) (a.js:1:1);;(anonymous) 1", []trie.Frame{{Resource: "a.js", Line: 1, Column: 1},
			{}, {}}, 1},
		{"not UTF-8", "a\xff 1", []trie.Frame{{Name: "a\ufffd"}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Decode([]byte(c.in), input.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			got := selfOf(p)
			if want := fmt.Sprintf("%#v", c.stack); len(got) != 1 || got[want] != c.self {
				t.Errorf("got %v, want %d of %s", got, c.self, want)
			}
		})
	}
}

func TestDecodeFoldedRefuses(t *testing.T) {
	for _, c := range []struct {
		in, err string
		kind    input.Kind
	}{
		{"a;b 1\na;b\n", `malformed: line 2: not a stack and a count: "a;b"`, input.Malformed},
		{"12\n", "line 1", input.Malformed},
		{"a 1e3\n", "line 1", input.Malformed},
		{"a 1.2.3\n", "line 1", input.Malformed},
		{"a 1\na -\n", "line 2", input.Malformed},
		{"a;b 1\nb -1\n", "invalid: line 2: the count -1 is below zero: this compares two profiles", input.Invalid},
		{"a;b 10 12\na;c 0 3\n", "invalid: two counts to a line: this compares two profiles", input.Invalid},
		{"a 99999999999999999999\n", "line 1: the count 99999999999999999999 is out of range", input.Invalid},
		{"a 36028797018963968\na 36028797018963968\n", "line 2: the sum", input.Invalid},
		{"a;b;a;b 1\n", "too large: line 1: stacks", input.TooLarge},
		{"a 1\nb 1\nc 1\nd 1\n", "too large: line 4: frames", input.TooLarge},
		{"a;a;a 1\n" + strings.Repeat("x", 101) + " 1\n", "too large: line 2: frame", input.TooLarge},
	} {
		_, err := Decode([]byte(c.in), input.Limits{Nodes: 3, Frames: 3, StringBytes: 100})
		if err == nil || !strings.Contains(err.Error(), c.err) || input.KindOf(err) != c.kind {
			t.Errorf("%.40q: got %v, want %s", c.in, err, c.err)
		}
	}
}

func TestIsFolded(t *testing.T) {
	for in, want := range map[string]bool{
		"":                              false,
		"a;b 1":                         true,
		"# of perf\n\na;b 1\n":          true,
		"f (a.js:1:2) 5\n":              true,
		"a;b 1\nnot a stack\n":          false,
		"hello 1\nworld 2\n":            false, // any text
		"for (i = 0; i < n; i++)\nx; 1": false,
		"a;b 1 2\n":                     true, // recognised, to be rejected with a reason
		"a;b -1\n":                      true,
		"{\"a\": 1}":                    false,
		"a;\x00b 1":                     false,
		"a;\xffb 1":                     false,
		strings.Repeat("a;b 1\n", 20_000) + "no stack\n": true, // recognised, but decoding fails
	} {
		if Detect([]byte(in)) != want {
			t.Errorf("%.40q: want %v", in, want)
		}
	}
}

// oddFrame returns a frame with realistic and worse names. It avoids names that the format cannot
// distinguish: those that end like a place, and those that begin like a comment.
func oddFrame(r *rand.Rand) trie.Frame {
	part := func(parts ...string) string { return parts[r.IntN(len(parts))] }
	name := ""
	for range r.IntN(4) {
		name += part("a", "ж", ";", " ", "\\", "\n", "\r", "\x1b", "\u0085", "(", ")", " (", "#b", "\\x3b", "\\n", "12",
			"<", "日", "'\"")
	}
	f := trie.Frame{Name: strings.TrimLeft(name, "# !")}
	if r.IntN(4) > 0 {
		f.Resource = part("https://x.example", "http://localhost:8080", "file://", "wasm://wasm") +
			part("/", "/a.js", "/a;b.js", "/a\\b (1).js", "/)(.js", "/x?y=(:1&z", "/00a0f3c2", "/ü/")
		f.Line = uint32(r.IntN(3)) * 1000
		if f.Line > 0 {
			f.Column = uint32(r.IntN(3))
		}
	}
	return f
}

// FuzzFoldedRoundTrip checks that writing and reading a profile preserves stacks and self time. It
// depends on the seed alone.
func FuzzFoldedRoundTrip(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := trie.NewProfile()
		for range r.IntN(8) {
			stack := []trie.Frame{{Name: "main"}}
			for range r.IntN(4) {
				stack = append(stack, oddFrame(r))
			}
			stack = append(stack, trie.Frame{Name: "leaf"})
			p.Add(trie.MakeLabels("feature", fmt.Sprint(r.IntN(2))), p.Insert(stack...),
				trie.Weight{Self: int64(r.IntN(100)), Samples: 1})
		}
		var b bytes.Buffer
		if err := Encode(&b, p, output.Options{}); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(b.Bytes(), input.Limits{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, &b)
		}
		a, z := selfOf(p), selfOf(got)
		for stack, self := range a {
			if z[stack] != self {
				t.Errorf("%s: got %d, want %d in\n%s", stack, z[stack], self, &b)
			}
		}
		if len(a) != len(z) {
			t.Errorf("got %d stacks, want %d in\n%s", len(z), len(a), &b)
		}
		if len(a) > 0 && !Detect(b.Bytes()) {
			t.Errorf("not recognised:\n%s", &b)
		}
	})
}

func FuzzDecodeFolded(f *testing.F) {
	for _, s := range []string{"a;b 1\n", "# x\n\nf (https://x/a.js:1:2);g\\x3b 2.5\r\n", "a 1 2\n", "a;b -1",
		"a (b:1) (c:2:3) 4", "x \\ 1", "f (:1) 1", ") 1", " () 1", "#\t1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Detect(data)
		p, err := Decode(data, input.Limits{})
		if err != nil {
			if input.KindOf(err) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Encode(&b, p, output.Options{}); err != nil {
			t.Fatal(err)
		}
		again, err := Decode(b.Bytes(), input.FileLimits())
		if err != nil || bytes.Contains(data, []byte("\ufeff")) {
			return // a name such as "a 1" in each line looks like two counts
		}
		sum := func(p *trie.Profile) (n int64) {
			for _, self := range selfOf(p) {
				n += self
			}
			return n
		}
		if sum(p) != sum(again) {
			t.Fatalf("self time %d became %d in\n%s", sum(p), sum(again), &b)
		}
	})
}

func TestUnescapeFolded(t *testing.T) {
	for _, s := range []string{"", "a", `\`, `\\`, "\n\r;\x1b", "\u0085", "a\u202eb\u200b\U000e0041", `\u{202e}`,
		`\u{41}`, `\u{`, `\x3b`, `a\nb`, "ж;\\"} {
		if got := unescapeFolded(escape(s)); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	if !slices.Equal([]bool{onlyOurEscapes([]byte(`\x3b\\\n`)), onlyOurEscapes([]byte(`\x41`)),
		onlyOurEscapes([]byte(`a\`))}, []bool{true, false, false}) {
		t.Error("escapes are not distinguished")
	}
}

// A stack may be longer than the prefix that detection otherwise examines.
func TestDetectDeep(t *testing.T) {
	deep := strings.Repeat("f (a.js:1);", 100_000) + "g 5\n"
	for in, want := range map[string]bool{deep: true, deep + "f;g 3\n": true, deep[:200_000]: false,
		strings.Repeat("text ", 100_000): false} {
		if got := Detect([]byte(in)); got != want {
			t.Errorf("%.20s of %d bytes: %v", in, len(in), got)
		}
	}
	p, err := Decode([]byte(deep), input.FileLimits())
	if err != nil || len(p.Nodes) != 100_002 {
		t.Errorf("%v", err)
	}
}
