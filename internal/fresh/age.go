package fresh

import "time"

// Age is the age of a response.
type Age struct {
	// Behind is the time since the newest data was last read.
	Behind time.Duration
	// Kept reports whether part of the response was cached: it may lack data stored before the
	// request.
	Kept bool
}

// After returns the age of a response that was cached for kept, or just computed if kept is zero.
func (a Age) After(kept time.Duration) Age { return Age{a.Behind + kept, a.Kept || kept > 0} }

// With returns the age of a response that combines two.
func (a Age) With(b Age) Age { return Age{max(a.Behind, b.Behind), a.Kept || b.Kept} }
