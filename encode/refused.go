package encode

import "github.com/fieldtrie/fieldtrie/encode/internal/input"

// Error is the error of every decoder, of this package and of those below it, for input that
// it refuses.
type Error = input.Error

// Kind says what is wrong with input that can not be read.
type Kind = input.Kind

// Kinds of [Error].
const (
	Malformed = input.Malformed // the bytes are not what the format asks for
	Invalid   = input.Invalid   // the bytes can be parsed, but the content contradicts itself
	TooLarge  = input.TooLarge  // the content is over a limit
)

// KindOf returns the kind of the first [Error] in err's chain, or 0.
func KindOf(err error) Kind { return input.KindOf(err) }

// Limits bounds what a decoder accepts for one trace or profile. The zero value has limits
// for traces from the field.
type Limits = input.Limits

// FileLimits returns limits for files that the user of a program names: large enough
// for any real recording, small enough that a broken file can not take all memory.
func FileLimits() Limits { return input.FileLimits() }
