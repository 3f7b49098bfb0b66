package demo

import (
	"fmt"
	"testing"
)

func TestZZ(t *testing.T) {
	p := openPool(t)
	sums := map[string][2]float64{}
	add := func(arm int) func(string, *replay) {
		return func(page string, r *replay) {
			v := r.vitals()
			for _, k := range []string{"lcp", "inp"} {
				x := sums[k]
				x[arm] += r.clock.at(r.of.Vitals["lcp"]*1000) / 1000
				if k == "inp" {
					x[arm] += v.values["inp"] - r.clock.at(r.of.Vitals["lcp"]*1000)/1000
				}
				sums[k] = x
			}
		}
	}
	each(p, Before, true, add(0))
	each(p, Before, false, add(1))
	for k, x := range sums {
		fmt.Printf("%s %.2f %.2f diff %.2f\n", k, x[0]/210, x[1]/210, (x[0]-x[1])/210)
	}
}
