package sourcemap

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestRandomMaps checks that a map is read as it was written, complete and in sections, and that At
// agrees with a linear search.
func TestRandomMaps(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		want, places := randomMap(r)
		whole, err := Read(want.json(), Limits{})
		if err != nil {
			t.Fatalf("seed %d: %v in %s", seed, err, want.json())
		}
		if got := plainOf(whole); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d:\n got %+v\nwant %+v", seed, got, want)
		}
		checkAt(t, whole, want, r)

		parts, err := Read(want.cut(places), Limits{})
		if err != nil {
			t.Fatalf("seed %d: in sections: %v in %s", seed, err, want.cut(places))
		}
		got := plainOf(parts)
		if len(got.Sources) != len(want.Sources)*(len(places)+1) {
			t.Fatalf("seed %d: %d sources in %d sections", seed, len(got.Sources), len(places)+1)
		}
		for i, m := range got.Mappings { // each section has its own sources and names
			if m.Source >= 0 {
				got.Mappings[i].Source %= int32(len(want.Sources))
			}
			if m.Name >= 0 {
				got.Mappings[i].Name %= int32(len(want.Names))
			}
		}
		if !slices.Equal(got.Mappings, want.Mappings) {
			t.Fatalf("seed %d: in sections from %v:\n got %+v\nwant %+v", seed, places, got.Mappings, want.Mappings)
		}
	}
}

// checkAt compares At with a search from the first mapping on.
func checkAt(t *testing.T, m *Map, want plainMap, r *rand.Rand) {
	t.Helper()
	for range 20 {
		line, column := int32(r.IntN(10)-1), int32(r.Uint32()>>(1+r.IntN(31)))
		if len(want.Mappings) > 0 && r.IntN(2) > 0 {
			one := want.Mappings[r.IntN(len(want.Mappings))]
			line, column = one.Line, max(0, one.Column+int32(r.IntN(3)-1))
		}
		expected := -1
		for i, mapping := range want.Mappings {
			if mapping.Line == line && mapping.Column <= column {
				expected = i
			}
		}
		if got := m.At(line, column); got != expected {
			t.Fatalf("At(%d, %d) is %d, not %d, in %+v", line, column, got, expected, want.Mappings)
		}
	}
}

// TestUnsortedColumns checks that the order of mappings in a line does not matter if their places
// differ.
func TestUnsortedColumns(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		want, _ := randomMap(r)
		want.Mappings = slices.CompactFunc(want.Mappings, func(a, b plain) bool { return !before(a, b) })
		shuffled := want
		shuffled.Mappings = slices.Clone(want.Mappings)
		r.Shuffle(len(shuffled.Mappings), func(i, j int) {
			a, b := &shuffled.Mappings[i], &shuffled.Mappings[j]
			if a.Line == b.Line {
				*a, *b = *b, *a
			}
		})
		m, err := Read(shuffled.json(), Limits{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := plainOf(m); !slices.Equal(got.Mappings, want.Mappings) {
			t.Fatalf("seed %d:\n got %+v\nwant %+v", seed, got.Mappings, want.Mappings)
		}
	}
}
