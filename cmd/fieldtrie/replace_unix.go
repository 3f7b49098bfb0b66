//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// replace has a program take the place of this one, so that signals, and what a service manager knows of the
// process, are its own. It returns if that fails.
func replace(path string, args []string) (code int, err error) {
	err = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return 1, fmt.Errorf("run %s: %w", path, err)
}
