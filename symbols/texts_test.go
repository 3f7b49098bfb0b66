package symbols

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// hashesOf returns the hashes of the functions of a source by path and ordinal.
func hashesOf(t *testing.T, name, text string) map[string]hashes {
	t.Helper()
	o := newOriginal(name, []byte(text))
	o.describe()
	out := map[string]hashes{}
	for i, h := range o.textHashes() {
		out[fmt.Sprintf("%s#%d", o.paths[i], o.ordinals[i])] = h
	}
	return out
}

// An edit changes the texts of all functions around it, and the own text of the innermost.
func TestTextHashes(t *testing.T) {
	const before = "/** Rows. */\nexport function rows(a: Row[], b = ' ') {\n  const f = (x) => x.id + 1; // sum\n" +
		"  return <p title=\"a b\">{a.map((r) => `${r.a}  ${/a  b/.test(r)}`)} it's // no comment</p>;\n}\n" +
		"class A { n = 1; static s = 2; get() { return this.n }; }\n"
	for _, test := range []struct{ old, new, own, whole string }{
		{"", "", "", ""},
		{"// sum", "/* the sum\nof rows */", "", ""},
		{"{a.map", "{/* all */}\n{ a . map", "", ""},
		{" + 1", "\n\t+1", "", ""},
		{"export", "//\nconst z = 1;\nexport", "", ""},
		{"x.id + 1", "x.id + 2", "rows/f#0", "rows#0 rows/f#0"},
		{"' '", "''", "rows#0", "rows#0"},
		{"\"a b\"", "\"ab\"", "rows#0", "rows#0"},
		{"}  ${", "} ${", "rows/map()#0", "rows#0 rows/map()#0"},
		{"/a  b/", "/a b/", "rows/map()#0", "rows#0 rows/map()#0"},
		{"// no", "/ no", "rows#0", "rows#0"},
		{"it's // no", "it's // a no", "rows#0", "rows#0"},
		{"n = 1", "n = 3", "new A#0 new A#1", "new A#0 new A#1"}, // the constructor and the fields
		{"this.n", "-this.n", "A.get#0", "A.get#0 new A#0 new A#1 new A#2"},
	} {
		a, b := hashesOf(t, "a.tsx", before), hashesOf(t, "a.tsx", strings.Replace(before, test.old, test.new, 1))
		own, whole := map[string]bool{}, map[string]bool{}
		for name, h := range a {
			g, ok := b[name]
			if !ok {
				t.Errorf("%q for %q: %s is missing", test.new, test.old, name)
			}
			if h.own != g.own {
				own[name] = true
			}
			if h.whole != g.whole {
				whole[name] = true
			}
		}
		if !sameSet(own, test.own) || !sameSet(whole, test.whole) {
			t.Errorf("%q for %q: own texts of %v, complete texts of %v; not %q, %q", test.new, test.old, own, whole,
				test.own, test.whole)
		}
	}
}

func sameSet(got map[string]bool, want string) bool {
	// Names may repeat a word, as "new A" does.
	fields := strings.Fields(strings.ReplaceAll(want, "new ", "new_"))
	for _, name := range fields {
		if !got[strings.ReplaceAll(name, "new_", "new ")] {
			return false
		}
	}
	return len(got) == len(fields)
}

// The name is not part of the own text.
func TestOwnHashWithoutName(t *testing.T) {
	a := hashesOf(t, "a.js", "function a(x) { return x } const o = { a(x) { return x }, c: () => 1 }")
	b := hashesOf(t, "b.js", "function b(x) { return x } const o = { b(x) { return x }, d: () => 1 }")
	if a["a#0"].own != b["b#0"].own || a["a#0"].whole == b["b#0"].whole || a["a#1"].own != b["b#1"].own ||
		a["c#0"].own != b["d#0"].own {
		t.Errorf("%v\n%v", a, b)
	}
}

// The path is the key without the ordinal.
func TestPathKey(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		source, name := fmt.Sprint(r.Uint32()), fmt.Sprint(r.Uint32())
		a, b := r.Uint32()>>r.IntN(32), r.Uint32()>>r.IntN(32)
		f, g := Function{Key: keyOf(source, name, a), Ordinal: a}, Function{Key: keyOf(source, name, b), Ordinal: b}
		if f.PathKey() != g.PathKey() || f.PathKey() == (&Function{Key: keyOf(source, name+"x", a),
			Ordinal: a}).PathKey() {
			t.Fatalf("%s %s: %d, %d", source, name, a, b)
		}
	}
}

// The hashes of random nested functions equal hashes of manually combined texts.
func TestOwnHashModel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var own []string
		var write func(depth int) string
		write = func(depth int) string {
			at := len(own)
			own = append(own, "")
			whole, mine := "function(){", "function(){"
			for range r.IntN(3) {
				if depth < 5 && r.IntN(2) == 0 {
					whole += "f(" + write(depth+1) + ");"
					mine += "f(\x01);"
				}
				piece := fmt.Sprintf("a(%d);", r.IntN(3))
				whole, mine = whole+" /* x */ "+piece, mine+piece
			}
			own[at] = mine + "}"
			return whole + "}"
		}
		text := "x(" + write(0) + ")"
		o := newOriginal("a.js", []byte(text))
		for i, h := range o.textHashes() {
			p := polynomial{0, 1}
			for _, c := range []byte(own[i]) {
				p.add(c)
			}
			if h.own != p.sum() {
				t.Fatalf("%s: function %d is not %s", text, i, own[i])
			}
		}
	}
}
