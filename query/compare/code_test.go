package compare

import (
	"fmt"
	"math"
	"testing"
)

// codedSides returns two sides with n steady functions. The first one is slower in B by a factor.
// code returns the evidence for each.
func codedSides(n int, factor float64, code func(i int) Code) Input {
	side := func(factor float64) Side {
		const views = 2000.0
		s := Side{Views: []float64{views}}
		var all Amount
		for i := range n {
			ms := 10.0
			if i == 0 {
				ms *= factor
			}
			x := Amount{Seen: views, Sum: views * ms, Squares: views * ms * ms * 1.25,
				Product: views * ms * ms * (float64(n) + 0.25)}
			s.Functions = append(s.Functions, Function{Frame: frame(fmt.Sprintf("function%d", i), "a.js",
				uint32(10*i+1), 1), Self: []Amount{x}, Reach: views, Code: code(i)})
			all.Sum += x.Sum
		}
		all.Seen, all.Squares = views, all.Sum*all.Sum/views+views*25*float64(n)
		s.Time = []Amount{all}
		return s
	}
	return Input{Strata: strata("a"), A: side(1), B: side(factor)}
}

// first returns a code for the first function, and another one for the others.
func first(n, rest Code) func(int) Code {
	return func(i int) Code {
		if i == 0 {
			return n
		}
		return rest
	}
}

// An edited function needs less evidence than an unknown function, and one that was not edited
// needs more.
func TestEditedFunctionsNeedLessEvidence(t *testing.T) {
	level := func(code func(int) Code) float64 {
		r := Compare(codedSides(400, 1.05, code), Options{})
		for _, f := range r.Functions {
			if f.Name == "function0" {
				if got, want := f.Code, code(0); got != want {
					t.Errorf("code %q, not %q", got, want)
				}
				return *f.Detectable
			}
		}
		t.Fatal("function0 is missing")
		return 0
	}
	edited, unknown := level(first(CodeEdited, CodeSame)), level(first(CodeUnknown, CodeUnknown))
	same := level(func(i int) Code {
		if i == 1 {
			return CodeEdited
		}
		return CodeSame
	})
	if !(edited < 0.8*unknown && unknown < same) {
		t.Errorf("detectable: %.3g ms if edited, %.3g ms if nothing is known, %.3g ms if not edited", edited,
			unknown, same)
	}
}

// The shares of families with tests add up to the share of all functions.
func TestFamiliesShareAll(t *testing.T) {
	c := &comparison{}
	for mask := range 8 {
		var functions []FunctionChange
		for i, code := range []Code{CodeEdited, CodeCalls, CodeSame} {
			functions = append(functions, FunctionChange{Code: code, Change: Change{tested: mask>>i&1 > 0}})
		}
		whole := 0.0
		for _, x := range c.families(functions, 0.6) {
			if tests(x.changes) {
				whole += x.share
			} else if x.share != 0 {
				t.Errorf("%03b: a family without tests has a share of %g", mask, x.share)
			}
		}
		if want := 0.6; mask > 0 && math.Abs(whole-want) > 1e-12 {
			t.Errorf("%03b: shares add up to %g", mask, whole)
		}
	}
}

// Evidence from one side alone is unknown, except for an edit, which counts on either side.
func TestStrongest(t *testing.T) {
	for _, c := range []struct{ a, b, want Code }{
		{CodeSame, CodeSame, CodeSame}, {CodeSame, CodeUnknown, CodeUnknown}, {CodeSame, CodeCalled, CodeCalled},
		{CodeCalls, CodeCalled, CodeCalls}, {CodeUnknown, CodeEdited, CodeEdited}, {CodeUnknown, CodeUnknown,
			CodeUnknown},
	} {
		if got, other := strongest(c.a, c.b), strongest(c.b, c.a); got != c.want || other != c.want {
			t.Errorf("%q and %q: %q, and %q with swapped sides; want %q", c.a, c.b, got, other, c.want)
		}
	}
}

// Without an edited function nothing is folded, because a summary of the others has no purpose.
func TestNotEdited(t *testing.T) {
	same := Compare(codedSides(20, 2, first(CodeSame, CodeSame)), Options{})
	if same.NotEdited != nil || same.Folded(&same.Functions[0]) {
		t.Errorf("nothing was edited: %+v", same.NotEdited)
	}
	r := Compare(codedSides(20, 2, func(i int) Code {
		if i == 1 {
			return CodeEdited
		}
		return CodeSame
	}), Options{Functions: 3})
	n := r.NotEdited
	if n == nil || n.Functions != 19 || n.Changed != 1 || n.Largest.Name != "function0" ||
		math.Abs(n.Change.Value-10) > 1e-9 {
		t.Errorf("got %+v", n)
	}
	for i := range r.Functions {
		if f := &r.Functions[i]; r.Folded(f) != (f.Code == CodeSame) {
			t.Errorf("%s, %s: folded %v", f.Name, f.Code, r.Folded(f))
		}
	}
}
