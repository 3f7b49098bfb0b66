package selection

import "fmt"

// RefusedError means that a query is invalid or cannot be answered in this form.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// Refuse is like [fmt.Errorf], but returns a [RefusedError].
func Refuse(format string, args ...any) error { return &RefusedError{fmt.Errorf(format, args...)} }
