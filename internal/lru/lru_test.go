package lru

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A cache behaves like a list, most recently used first, that is truncated at the limit.
func TestCache(t *testing.T) {
	type kept struct {
		name    string
		v, size int64
	}
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		const most = 100
		var model []kept // most recently used first
		var gone, wantGone []string
		c := New(most, func(name string, v int64) { gone = append(gone, fmt.Sprint(name, v)) })
		take := func(name string) (x kept, ok bool) {
			i := slices.IndexFunc(model, func(x kept) bool { return x.name == name })
			if i < 0 {
				return x, false
			}
			x = model[i]
			model = slices.Delete(model, i, i+1)
			return x, true
		}
		for range 300 {
			name := fmt.Sprint(rnd.IntN(12))
			switch rnd.IntN(4) {
			case 0, 1:
				x := kept{name, rnd.Int64N(1000), rnd.Int64N(most + 10)}
				if rnd.IntN(3) > 0 {
					x.size /= 8
				}
				take(name)
				if got := c.Put(name, x.v, x.size); got != (x.size <= most) {
					t.Fatalf("put %d bytes: %v", x.size, got)
				}
				if x.size > most {
					break
				}
				model = slices.Insert(model, 0, x)
				for sum := int64(0); ; sum = 0 {
					for _, x := range model {
						sum += x.size
					}
					if sum <= most {
						break
					}
					last := model[len(model)-1]
					model = model[:len(model)-1]
					wantGone = append(wantGone, fmt.Sprint(last.name, last.v))
				}
			case 2:
				x, ok := take(name)
				if got, found := c.Get(name); found != ok || got != x.v {
					t.Fatalf("got %d, %v", got, found)
				}
				if ok {
					model = slices.Insert(model, 0, x)
				}
			case 3:
				if x, ok := take(name); ok {
					wantGone = append(wantGone, fmt.Sprint(x.name, x.v))
				}
				c.Drop(name)
			}
			var names []string
			size := int64(0)
			for _, x := range model {
				names, size = append(names, x.name), size+x.size
			}
			if !slices.Equal(c.Names(), names) || c.Size() != size || !slices.Equal(gone, wantGone) {
				t.Fatalf("got %v of %d bytes, want %v of %d; gone %v, want %v", c.Names(), c.Size(), names, size,
					gone, wantGone)
			}
		}
	}
}
