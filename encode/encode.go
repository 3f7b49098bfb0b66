package encode

import (
	"errors"
	"fmt"
)

// Kind says what is wrong with input that can not be read.
type Kind uint8

// Kinds of [Error].
const (
	Malformed Kind = iota + 1 // the bytes are not what the format asks for
	Invalid                   // the bytes can be parsed, but the content contradicts itself
	TooLarge                  // the content is over a limit
)

// Error is the error of every decoder in this package for input that it refuses.
type Error struct {
	Kind  Kind
	Field string // where, such as "trace.stacks[3].parentId"; may be ""
	Err   error  // what is wrong there
}

func (e *Error) Error() string {
	stage := map[Kind]string{Malformed: "malformed", Invalid: "invalid", TooLarge: "too large"}[e.Kind]
	if e.Field == "" {
		return fmt.Sprintf("%s: %v", stage, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", stage, e.Field, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// refuse returns an *Error of the given kind about field.
func refuse(k Kind, field, format string, args ...any) error {
	return &Error{k, field, fmt.Errorf(format, args...)}
}

// KindOf returns the kind of the first [Error] in err's chain, or 0.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}

// Limits bounds what a decoder accepts for one trace or profile. A zero field means the
// default that stands beside it.
type Limits struct {
	Samples     int // 60,000
	Nodes       int // 20,000
	Frames      int // 20,000
	Resources   int // 2,000
	StringBytes int // 8 KiB, the longest single name, URL, page or label
	Spans       int // 1,000
	Labels      int // 64
}

// FileLimits returns limits for files that the user of a program names: large enough
// for any real recording, small enough that a broken file can not take all memory.
func FileLimits() Limits {
	return Limits{1 << 28, 1 << 26, 1 << 26, 1 << 24, 1 << 20, 1 << 20, 1 << 10}
}

// WithDefaults returns l with every zero replaced by its default.
func (l Limits) WithDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Samples, 60_000}, {&l.Nodes, 20_000}, {&l.Frames, 20_000}, {&l.Resources, 2_000},
		{&l.StringBytes, 8 << 10}, {&l.Spans, 1_000}, {&l.Labels, 64},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return l
}

// check returns a TooLarge error if n things of field are more than most.
func check(field string, n, most int) error {
	if n > most {
		return refuse(TooLarge, field, "%d, the most is %d", n, most)
	}
	return nil
}

// first returns the first error that is not nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
