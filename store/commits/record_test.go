package commits

import (
	"testing"
	"time"
)

// The part number of a record is less than the number of parts. A deletion has no parts.
func TestPartsOfRecord(t *testing.T) {
	m := mark{1, 2, 3}
	for _, tt := range []struct {
		part, parts int
		ok          bool
	}{
		{0, 0, true}, {0, 1, true}, {1, 1, false}, {2, 1, false}, {1, 2, true}, {2, 2, false},
		{maxParts - 1, maxParts, true}, {maxParts, maxParts, false}, {0, maxParts + 1, false},
	} {
		r := record{key: "seg/1", at: time.UnixMicro(1_800_000_000_000_000), body: []byte("body")}
		r.part, r.parts = tt.part, tt.parts
		data := r.encode(m)
		got, n, ok := decodeRecord(data)
		if ok != tt.ok || n != len(data) {
			t.Errorf("part %d of %d: got %t and %d bytes, want %t and %d", tt.part, tt.parts, ok, n, tt.ok, len(data))
		}
		same := got.key == r.key && got.at.Equal(r.at) && got.part == r.part && got.parts == r.parts
		if ok && (!same || string(got.body) != "body") {
			t.Errorf("part %d of %d: got %+v, want %+v", tt.part, tt.parts, got, r)
		}
		for i := range len(data) {
			if _, _, ok := decodeRecord(data[:i]); ok {
				t.Errorf("part %d of %d: the first %d of %d bytes are a record", tt.part, tt.parts, i, len(data))
			}
		}
	}
}
