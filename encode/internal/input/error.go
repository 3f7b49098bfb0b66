// Package input has the parts shared by the decoders of all formats: errors, limits, a reader
// of JSON, and a parser of function names and places.
package input

import (
	"errors"
	"fmt"
)

// Kind is the reason why input was rejected.
type Kind uint8

// Kinds of [Error].
const (
	Malformed Kind = iota + 1 // the bytes are not in the format
	Invalid                   // the bytes can be parsed, but the content contradicts itself
	TooLarge                  // the content is over a limit
)

// Error is the error of every decoder in this package for input that it rejects.
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

// Refuse returns an *Error of the given kind about field.
func Refuse(k Kind, field, format string, args ...any) error {
	return &Error{k, field, fmt.Errorf(format, args...)}
}

// KindOf returns the kind of the first [Error] in err's chain, or 0.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}

// First returns the first error that is not nil.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
