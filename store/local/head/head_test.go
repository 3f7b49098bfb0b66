package head

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Pages with long names give way to others before they take all memory, also those that
// grow when they are there.
func TestRoomIsCountedInBytes(t *testing.T) {
	h := New(Options{})
	p := new(part.Partition)
	name := strings.Repeat("a", 8000)
	for n := range 40 {
		x, err := h.take(t.Context(), key{p, fmt.Sprint("/", n)})
		if err != nil {
			t.Fatal(err)
		}
		h.give(x, false) // small as yet
		if x, err = h.take(t.Context(), x.key); err != nil {
			t.Fatal(err)
		}
		x.table = trie.New()
		for i := range 1000 {
			x.table.Insert(trie.Frame{Name: fmt.Sprint(name, i)})
		}
		h.give(x, false)
		sum := 0
		for _, x := range h.pages {
			sum += x.size
		}
		if sum != h.size || sum > MaxSize {
			t.Fatalf("%d pages take %d bytes, %d are counted, at most %d are allowed", len(h.pages), sum, h.size, MaxSize)
		}
	}
	if !h.Has(p, "/39") || h.Has(p, "/0") || len(h.pages) < 8 {
		t.Errorf("of %d pages that are left the last is %v, the first %v", len(h.pages), h.Has(p, "/39"), h.Has(p, "/0"))
	}
	h.Forget(func(*part.Partition) bool { return false })
	if h.size != 0 || len(h.pages) != 0 {
		t.Errorf("%d bytes are counted of %d pages", h.size, len(h.pages))
	}
}
