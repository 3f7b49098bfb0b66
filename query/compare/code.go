package compare

import "math"

// Code is the evidence for a function from the symbols of two builds.
type Code string

// The kinds of evidence. A function that was not edited needs more evidence from page views, see
// [comparison.families].
const (
	CodeUnknown Code = ""                 // there are no symbols of one side, or each side has several builds
	CodeEdited  Code = "edited"           // its own code differs, or one build alone has it
	CodeCalls   Code = "calls edited"     // it is the same, and calls an edited function itself
	CodeCalled  Code = "called by edited" // it is the same, and an edited function itself calls it
	CodeSame    Code = "not edited"       // it is the same, and so are its callers and callees that ran
)

// NotEdited sums up the functions with [CodeSame].
type NotEdited struct {
	Functions int `json:"functions"`
	Changed   int `json:"changed"` // by more than noise
	// Largest is the function of those that changed with the largest change, nil if there are none.
	Largest *Place    `json:"largest,omitempty"`
	Change  *Estimate `json:"change_ms,omitempty"` // of Largest
}

// Folded reports whether screens sum up the function in one line with the others that were not edited.
// Without edited functions there is nothing to tell it from.
func (r *Result) Folded(f *FunctionChange) bool { return r.NotEdited != nil && f.Code == CodeSame }

// notEdited sums up the functions that were not edited, or returns nil if none was.
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

// codeOf returns the evidence for a pair of functions, of which one side may be missing.
func codeOf(a, b *Function, p pair) Code {
	switch {
	case p.b < 0:
		return a.Code
	case p.a < 0:
		return b.Code
	}
	return strongest(a.Code, b.Code)
}

// strongest returns the evidence for a function of both sides.
func strongest(a, b Code) Code {
	for _, c := range [...]Code{CodeEdited, CodeCalls, CodeCalled, CodeUnknown} {
		if a == c || b == c {
			return c
		}
	}
	return CodeSame
}

// family is tests that are decided together, with their share of the false discoveries.
type family struct {
	changes []*Change
	share   float64
}

// The shares of the families of functions in that of all functions. A family without tests leaves its
// share to the others.
const (
	editedShare = 4.0 / 6
	nearShare   = 1.0 / 6 // calls edited, called by edited, unknown
	sameShare   = 1.0 / 6
)

// families divides the tests of functions by the evidence from code: edited functions are few and
// likely to have changed, so a family of their own finds smaller changes of them. Which family a
// function is in, and which have tests, does not depend on a difference between the sides.
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

// tests reports whether one of the changes is tested.
func tests(changes []*Change) bool {
	for _, x := range changes {
		if x.tested {
			return true
		}
	}
	return false
}
