package compare

import (
	"math"
	"slices"
)

// Code is the evidence for a function from the symbols of two builds.
type Code string

// Kinds of evidence. A function that was not edited needs more evidence from page views, see
// [comparison.families].
const (
	CodeUnknown Code = ""                 // one side has no symbols, or both sides have several builds
	CodeEdited  Code = "edited"           // its code differs, or only one build has it
	CodeCalls   Code = "calls edited"     // its code is the same, and it directly calls an edited function
	CodeCalled  Code = "called by edited" // its code is the same, and an edited function directly calls it
	CodeSame    Code = "not edited"       // its code is the same, like its callers and callees that ran
)

// NotEdited summarizes the functions with [CodeSame].
type NotEdited struct {
	Functions int `json:"functions"`
	Changed   int `json:"changed"` // significantly
	// Largest is the function with the largest significant change, or nil.
	Largest *Place    `json:"largest,omitempty"`
	Change  *Estimate `json:"change_ms,omitempty"` // of Largest
}

// Folded reports whether screens show the function only in the summary of functions that were not
// edited. If no function was edited, the summary has no purpose.
func (r *Result) Folded(f *FunctionChange) bool { return r.NotEdited != nil && f.Code == CodeSame }

// notEdited summarizes the functions that were not edited, or returns nil if there are none.
func notEdited(functions []FunctionChange) *NotEdited {
	var out NotEdited
	edited := false
	for i := range functions {
		f := &functions[i]
		edited = edited || f.Code == CodeEdited
		if f.Code != CodeSame {
			continue
		}
		out.Functions++
		if !f.Status.Alarm() {
			continue
		}
		if out.Changed++; out.Change == nil || math.Abs(f.Shown.Value) > math.Abs(out.Change.Value) {
			out.Largest, out.Change = new(f.Place), new(f.Shown)
		}
	}
	if !edited {
		return nil
	}
	return &out
}

// codeOf returns the evidence for a pair of functions. One side may be missing.
func codeOf(a, b *Function, p pair) Code {
	switch {
	case p.b < 0:
		return a.Code
	case p.a < 0:
		return b.Code
	}
	return strongest(a.Code, b.Code)
}

// strongest combines the evidence of both sides.
func strongest(a, b Code) Code {
	for _, c := range [...]Code{CodeEdited, CodeCalls, CodeCalled, CodeUnknown} {
		if a == c || b == c {
			return c
		}
	}
	return CodeSame
}

// family is a set of tests that are corrected together, with its share of the false discoveries.
type family struct {
	changes []*Change
	share   float64
}

// Shares of the families in the false discoveries of all functions. If a family has no tests, the
// others get its share.
const (
	editedShare = 4.0 / 6
	nearShare   = 1.0 / 6 // calls edited, called by edited, unknown
	sameShare   = 1.0 / 6
)

// families divides the tests of functions by the evidence from code. Edited functions are few and
// likely to have changed, so a separate family finds smaller changes of them. The division does not
// depend on a difference between the sides.
func (c *comparison) families(functions []FunctionChange, share float64) []family {
	all := []family{{share: editedShare}, {share: nearShare}, {share: sameShare}}
	for i := range functions {
		f := &functions[i]
		at := &all[1]
		switch f.Code {
		case CodeEdited:
			at = &all[0]
		case CodeSame:
			at = &all[2]
		}
		at.changes = append(at.changes, &f.Change)
	}
	whole := 0.0
	for i := range all {
		if !tests(all[i].changes) {
			all[i].share = 0
		}
		whole += all[i].share
	}
	for i := range all {
		if whole > 0 {
			all[i].share *= share / whole
		}
	}
	return all
}

func tests(changes []*Change) bool {
	return slices.ContainsFunc(changes, func(x *Change) bool { return x.tested })
}
