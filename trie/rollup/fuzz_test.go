package rollup

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// fuzzSeeds returns a stack table and records that use it.
func fuzzSeeds() (*trie.Trie, [][]byte) {
	stacks := trie.New()
	b := NewBuilder("/a", stacks, Limits{})
	for _, v := range randomViews(rand.New(rand.NewPCG(1, 2)), 5) {
		addView(b, 1, v...)
	}
	b.AddOutcome("unsampled", 7)
	for _, v := range randomVitals(rand.New(rand.NewPCG(3, 4)), 20) {
		b.AddVital(&v)
	}
	var out [][]byte
	for _, level := range []Level{Narrow, Wide, Details, Whole} {
		out = append(out, b.Encode(level, level != Whole))
	}
	return stacks, out
}

// Decoded records can be added, summed and encoded again; all other input is malformed.
func FuzzDecode(f *testing.F) {
	stacks, seeds := fuzzSeeds()
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := Decode(data, stacks)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error is not one about malformed records: %v", err)
			}
			return
		}
		s := NewSum(func(l trie.Labels) (trie.Labels, bool) { return l, true })
		s.Add(rec, stacks)
		s.Profile()
		b := NewBuilder("/a", trie.New(), Limits{})
		b.AddRecord(rec, stacks)
		once := b.Encode(Whole, false)
		back, err := Decode(once, b.stacks)
		if err != nil {
			t.Fatalf("the encoded record cannot be decoded: %v", err)
		}
		again := NewBuilder("/a", b.stacks, Limits{})
		again.AddRecord(back, b.stacks)
		if !bytes.Equal(again.Encode(Whole, false), once) {
			t.Fatal("encoding is not deterministic")
		}
	})
}

func FuzzDecodeStacks(f *testing.F) {
	stacks, _ := fuzzSeeds()
	f.Add(EncodeStacks(stacks, Size{1, 0, 1}))
	f.Add(EncodeStacks(trie.New(), Size{1, 0, 1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := trie.New()
		if err := DecodeStacks(x, data); err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error is not one about malformed tables: %v", err)
			}
			return
		}
		y := trie.New()
		if err := DecodeStacks(y, EncodeStacks(x, Size{1, 0, 1})); err != nil || len(y.Nodes) != len(x.Nodes) {
			t.Fatalf("the encoded record cannot be decoded: %v", err)
		}
	})
}

// Records and stack tables never exceed their limits, and data over the limits is under (other),
// with all its time.
func TestLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	views := randomViews(r, 60)
	b := NewBuilder("/a", trie.New(), Limits{Nodes: 50, Cells: 5, Functions: 3})
	free := NewBuilder("/a", trie.New(), Limits{})
	for _, v := range views {
		addView(b, 1, v...)
		addView(free, 1, v...)
	}
	if n := len(b.stacks.Nodes); n > 100 {
		t.Errorf("%d nodes", n)
	}
	if n := len(b.cells); n > 11 { // twice the limit, and (other)
		t.Errorf("%d cells", n)
	}
	sum := func(b *Builder) (self, samples, views, traces int64, other bool) {
		s := NewSum(func(trie.Labels) (trie.Labels, bool) { return nil, true })
		s.Add(decoded(t, b, Whole), b.stacks)
		p := s.Profile()
		self, samples = p.Groups[0].Sum()
		for n := range p.Preorder() {
			other = other || p.Frame(n).Name == trie.FrameOther
		}
		return self, samples, p.Views, p.Traces, other
	}
	self, samples, seen, traces, other := sum(b)
	wantSelf, wantSamples, wantSeen, wantTraces, _ := sum(free)
	if self != wantSelf || samples != wantSamples || seen != wantSeen || traces != wantTraces || !other {
		t.Errorf("got %d µs, %d samples, %d views, %d traces, other %v; want %d, %d, %d, %d", self, samples, seen,
			traces, other,
			wantSelf, wantSamples, wantSeen, wantTraces)
	}
	rec, err := Decode(b.Encode(Details, true), b.stacks)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rec.Functions {
		if len(f.Of) > 3 || f.Rest.Functions == 0 || f.Rest.Self == 0 {
			t.Errorf("release %q: %d functions, the rest has %+v", f.Release, len(f.Of), f.Rest)
		}
	}
}
