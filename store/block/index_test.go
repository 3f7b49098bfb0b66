package block

import (
	"errors"
	"slices"
	"testing"
)

// Extra or missing bytes in front of the index are reported as damage.
func TestUnknownBytes(t *testing.T) {
	c, err := NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := NewWriter(c)
	for _, page := range []string{"/a", "/b"} {
		if err := w.Add(1, page, 1, []byte("content of "+page)); err != nil {
			t.Fatal(err)
		}
	}
	blocks := w.Size()
	file := w.Finish("x")
	if _, err := c.ParseIndex("x", file, int64(len(file))); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, blocks / 2, blocks} {
		more := slices.Insert(slices.Clone(file), at, 'x')
		if _, err := c.ParseIndex("x", more, int64(len(more))); !errors.Is(err, ErrDamaged) {
			t.Errorf("an extra byte at %d: got %v, want %v", at, err, ErrDamaged)
		}
		if at < blocks {
			less := slices.Delete(slices.Clone(file), at, at+1)
			if _, err := c.ParseIndex("x", less, int64(len(less))); !errors.Is(err, ErrDamaged) {
				t.Errorf("a missing byte at %d: got %v, want %v", at, err, ErrDamaged)
			}
		}
	}
}
