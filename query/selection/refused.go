package selection

import "fmt"

// RefusedError says that a query can not be answered as it was asked.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// Refuse returns a [RefusedError].
func Refuse(format string, args ...any) error { return &RefusedError{fmt.Errorf(format, args...)} }
