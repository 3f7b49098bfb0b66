package simulate

import (
	"math/rand/v2"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Builds counts the findings of comparisons of two builds with known symbols.
type Builds struct {
	// FalseEdited and FalseSame are the shares of false findings among those about edited functions
	// and about functions that were not edited, mean of the runs.
	FalseEdited, FalseSame float64
	// Found and FoundWithout are the shares of runs that find the planted change, with symbols and
	// without them.
	Found, FoundWithout float64
}

// PlantedShare is the share of a page's time of the function that [Scenario.Builds] slows down.
const PlantedShare = 0.02

// Builds plants a slowdown in B: in the function that is closest to [PlantedShare] of the page. The
// given number of functions were edited, among them this one; the others take as long as before.
func (s Scenario) Builds(p *Page, by By, edited int, factor float64) (out Builds) {
	planted := p.Nearest(PlantedShare)
	each := 1 / float64(s.Runs)
	for run := range s.Runs {
		rng := rand.New(rand.NewPCG(s.Seed+1, uint64(run)))
		a, b := s.draw(p, run)
		in := Input(a, b, by)
		b.Slow(&in.B, by, planted, factor)
		without := result(in, by)
		is := map[int]bool{planted: true}
		for len(is) < min(edited, len(p.Functions)) {
			is[rng.IntN(len(p.Functions))] = true
		}
		for _, side := range []*compare.Side{&in.A, &in.B} {
			for i := range side.Functions {
				side.Functions[i].Code = compare.CodeSame
				if is[i] {
					side.Functions[i].Code = compare.CodeEdited
				}
			}
		}
		with := result(in, by)
		frame := p.Functions[planted]
		out.FalseEdited += each * falseShare(&with, compare.CodeEdited, frame)
		out.FalseSame += each * falseShare(&with, compare.CodeSame, frame)
		out.Found += each * found(&with, frame)
		out.FoundWithout += each * found(&without, frame)
	}
	return out
}

// falseShare returns the share of functions other than the planted one among the alarms about code.
func falseShare(r *compare.Result, code compare.Code, planted trie.Frame) float64 {
	alarms, wrong := 0.0, 0.0
	for i := range r.Functions {
		f := &r.Functions[i]
		if f.Code != code || !f.Status.Alarm() {
			continue
		}
		alarms++
		if f.Place != compare.PlaceOf(planted) {
			wrong++
		}
	}
	return wrong / max(alarms, 1)
}

// found is 1 if the planted function is slower, else 0.
func found(r *compare.Result, planted trie.Frame) float64 {
	for i := range r.Functions {
		if f := &r.Functions[i]; f.Place == compare.PlaceOf(planted) && f.Status == compare.Slower {
			return 1
		}
	}
	return 0
}
