package symbols

import "testing"

// Some bundlers write a few misplaced mappings; the accepted share is smaller for large scripts.
func TestOfAnother(t *testing.T) {
	for _, c := range []struct {
		misplaced, all int
		another        bool
	}{
		{0, 0, false}, {0, 10, false}, {1, 5, true}, {32, 1000, false}, {101, 1000, true}, {200, 2000, false},
		{201, 2000, true},
		{2999, 100_000, false}, {3001, 100_000, true},
	} {
		if got := ofAnother(c.misplaced, c.all); got != c.another {
			t.Errorf("%d of %d: %t", c.misplaced, c.all, got)
		}
	}
}
