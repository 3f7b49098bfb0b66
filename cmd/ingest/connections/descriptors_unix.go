//go:build unix

package connections

import (
	"math"

	"golang.org/x/sys/unix"
)

// descriptors returns how many files and connections the process may have open; 0 if unknown.
func descriptors() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
