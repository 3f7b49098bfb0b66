package fresh

import "time"

// Age says how old a response is.
type Age struct {
	// Behind is how long ago what came in last was looked at.
	Behind time.Duration
	// Kept is whether some of it was made for somebody who asked before: it may lack what was stored when it was asked for.
	Kept bool
}

// After returns the age of a response that was kept for so long, or made for who asks if that is zero.
func (a Age) After(kept time.Duration) Age { return Age{a.Behind + kept, a.Kept || kept > 0} }

// With returns the age of a response that is made of two.
func (a Age) With(b Age) Age { return Age{max(a.Behind, b.Behind), a.Kept || b.Kept} }
