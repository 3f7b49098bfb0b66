//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// replace replaces this process with a program, which then receives signals and keeps the process
// id that a service manager knows. It only returns on failure.
func replace(path string, args []string) (code int, err error) {
	err = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return 1, fmt.Errorf("run %s: %w", path, err)
}
