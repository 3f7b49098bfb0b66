package query

import (
	"cmp"
	"fmt"
)

// TooLargeError says that an answer would take more memory than one may.
type TooLargeError struct{ Most int } // bytes

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("its stacks take over %d MiB of memory, so it was given up: ask for one page or feature, less time, or fewer labels", e.Most>>20)
}

// defaultMaxSize has room for some four million stacks of one group.
const defaultMaxSize = 256 << 20

// fits returns a [TooLargeError] if an answer may not be so many bytes large.
func (l Local) fits(size int) error {
	if most := cmp.Or(l.MaxSize, defaultMaxSize); size > most {
		return &TooLargeError{most}
	}
	return nil
}
