package encode

import "github.com/fieldtrie/fieldtrie/encode/internal/input"

// Error is the error of every decoder, in this package and those below it, for rejected
// input.
type Error = input.Error

// Kind is the reason why input was rejected.
type Kind = input.Kind

// Kinds of [Error].
const (
	Malformed = input.Malformed // the bytes are not in the format
	Invalid   = input.Invalid   // the bytes can be parsed, but the content contradicts itself
	TooLarge  = input.TooLarge  // the content is over a limit
)

// KindOf returns the kind of the first [Error] in err's chain, or 0.
func KindOf(err error) Kind { return input.KindOf(err) }

// Limits bounds one trace or profile for a decoder. The zero value has limits for traces
// from the field.
type Limits = input.Limits

// FileLimits returns limits for files named by the user of a program: large enough for any
// real recording, small enough that a broken file cannot take all memory.
func FileLimits() Limits { return input.FileLimits() }
