package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// frame returns a function in a file of one site.
func frame(name, file string, line, column uint32) trie.Frame {
	return trie.Frame{Name: name, Resource: "https://x.example/" + file, Line: line, Column: column}
}

func functionsOf(frames ...trie.Frame) (out []Function) {
	for _, f := range frames {
		out = append(out, Function{Frame: f})
	}
	return out
}

func TestMatch(t *testing.T) {
	moved := func(a, b int) pair { return pair{a, b, true} }
	is := func(a, b int) pair { return pair{a, b, false} }
	for _, c := range []struct {
		name string
		a, b []trie.Frame
		want []pair
	}{
		{"same", []trie.Frame{frame("f", "a.js", 1, 1), {Name: "(gc)"}}, []trie.Frame{{Name: "(gc)"}, frame("f", "a.js",
			1, 1)}, []pair{is(0, 1), is(1, 0)}},
		{"shifted", []trie.Frame{frame("first", "a.js", 10, 1), frame("second", "a.js", 20, 1)},
			[]trie.Frame{frame("first", "a.js", 410, 1), frame("second", "a.js", 420, 1)}, []pair{is(0, 0), is(1, 1)}},
		{"anonymous ones go with the others", []trie.Frame{frame("first", "a.js", 10, 1), frame("", "a.js", 20, 1),
			frame("", "a.js", 30, 1)},
			[]trie.Frame{frame("first", "a.js", 20, 1), frame("", "a.js", 30, 1), frame("", "a.js", 40, 1)},
			[]pair{is(0, 0), is(1, 1), is(2, 2)}},
		{"anonymous and far", []trie.Frame{frame("", "a.js", 20, 1)}, []trie.Frame{frame("", "a.js", 60, 1)},
			[]pair{is(0, -1), is(-1, 0)}},
		{"anonymous in another file", []trie.Frame{frame("", "a.js", 20, 1)}, []trie.Frame{frame("", "b.js", 20, 1)},
			[]pair{is(0, -1), is(-1, 0)}},
		{"hashes", []trie.Frame{frame("f", "app.3f9ac2.js?v=1", 1, 1), frame("", "app.3f9ac2.js?v=1", 2, 2)},
			[]trie.Frame{frame("f", "app.77b1de.js", 1, 1), frame("", "app.77b1de.js", 2, 2)},
			[]pair{is(0, 0), is(1, 1)}},
		{"files by number", []trie.Frame{frame("", "a/1.js", 1, 1), frame("", "a/2.js", 1, 1)},
			[]trie.Frame{frame("", "a/2.js", 1, 1), frame("", "a/3.js", 1, 1)}, []pair{is(0, -1), is(1, 0), is(-1, 1)}},
		{"one name many times", []trie.Frame{frame("get", "a.js", 10, 1), frame("get", "a.js", 40, 1),
			frame("get", "a.js", 70, 1)},
			[]trie.Frame{frame("get", "a.js", 12, 1), frame("get", "a.js", 72, 1)}, []pair{is(0, 0), is(1, -1),
				is(2, 1)}},
		{"packed", []trie.Frame{frame("e", "b.js", 1, 5000), frame("e", "b.js", 1, 9000),
			frame("start", "b.js", 1, 4800)},
			[]trie.Frame{frame("e", "b.js", 2, 15010), frame("e", "b.js", 2, 19000), frame("start", "b.js", 2, 14800)},
			[]pair{is(0, 0), is(1, 1), is(2, 2)}},
		{"to another file", []trie.Frame{frame("render", "a.js", 1, 1)}, []trie.Frame{frame("render", "b.js", 9, 1)},
			[]pair{moved(0, 0)}},
		{"to another file, of two", []trie.Frame{frame("render", "a.js", 1, 1)}, []trie.Frame{frame("render", "b.js", 9,
			1), frame("render", "c.js", 9, 1)}, []pair{is(0, -1), is(-1, 0), is(-1, 1)}},
		{"within the file", []trie.Frame{frame("one", "a.js", 10, 1), frame("two", "a.js", 20, 1),
			frame("three", "a.js", 30, 1)},
			[]trie.Frame{frame("one", "a.js", 10, 1), frame("two", "a.js", 900, 1), frame("three", "a.js", 30, 1)},
			[]pair{is(0, 0), moved(1, 1), is(2, 2)}},
		{"code of files", []trie.Frame{frame("(module)", "a.js", 1, 1), frame("(module)", "b.js", 1, 1),
			frame("(module)", "c.js", 1, 1)},
			[]trie.Frame{frame("(module)", "b.js", 1, 1), frame("(module)", "c.js", 1, 1), frame("(module)", "d.js", 1,
				1)}, []pair{is(0, -1), is(1, 0), is(2, 1), is(-1, 2)}},
		{"synthetic ones are never elsewhere", []trie.Frame{{Name: "(unknown)", Resource: "x"}},
			[]trie.Frame{{Name: "(unknown)"}}, []pair{is(0, 0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := match(functionsOf(c.a...), functionsOf(c.b...), 50)
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestStable(t *testing.T) {
	for url, want := range map[string]string{
		"https://x.example/app.3f9ac2.js?x=1#y":                       "https://x.example/app.*.js",
		"https://x.example/assets/index-BkT3x9aQ.js":                  "https://x.example/assets/index-*.js",
		"https://x.example/_next/static/k3jH2l9sD8f/main.js":          "https://x.example/_next/static/*/main.js",
		"https://x.example/a/1.js":                                    "https://x.example/a/1.js",
		"https://x.example/jquery-3.7.1.min.js":                       "https://x.example/jquery-3.7.1.min.js",
		"https://x.example/bootstrap5.bundle.js":                      "https://x.example/bootstrap5.bundle.js",
		"https://3f9ac2.example/facade.js":                            "https://3f9ac2.example/facade.js",
		"https://x.example":                                           "https://x.example",
		"blob:https://x.example/1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed": "blob:https://x.example/*",
		"": "",
	} {
		if got := StableURL(url); got != want {
			t.Errorf("StableURL(%q) = %q, want %q", url, got, want)
		}
	}
}

// TestMatchOnce checks on random functions that each is in one pair.
func TestMatchOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	side := func() (out []Function) {
		for range rng.IntN(60) {
			name := []string{"", "e", "get", "render", "(gc)", fmt.Sprintf("f%d", rng.IntN(20))}[rng.IntN(6)]
			out = append(out, Function{Frame: frame(name, []string{"a.js", "b.js", "c.1a2b3c.js",
				"c.3d4e5f.js"}[rng.IntN(4)], 1+rng.Uint32N(200), 1+rng.Uint32N(1100))})
		}
		return out
	}
	for range 300 {
		a, b := side(), side()
		seenA, seenB := make([]int, len(a)), make([]int, len(b))
		for _, p := range match(a, b, 50) {
			if p.a >= 0 {
				seenA[p.a]++
			}
			if p.b >= 0 {
				seenB[p.b]++
			}
			if p.a >= 0 && p.b >= 0 && a[p.a].Frame.Name != b[p.b].Frame.Name {
				t.Fatalf("%v is not %v", a[p.a].Frame, b[p.b].Frame)
			}
		}
		for _, seen := range [][]int{seenA, seenB} {
			for i, n := range seen {
				if n != 1 {
					t.Fatalf("function %d is in %d pairs", i, n)
				}
			}
		}
		shuffled := slices.Clone(a)
		rng.Shuffle(len(a), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for i, p := range match(a, shuffled, 50) {
			if p.moved || p.b < 0 || a[i].Frame != shuffled[p.b].Frame {
				t.Fatalf("%v of the same release is %v", a[i].Frame, p)
			}
		}
	}
}
