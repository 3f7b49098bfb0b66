//go:build !unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// replace runs a program and returns its exit status, because this system cannot replace a process.
func replace(path string, args []string) (code int, err error) {
	signal.Ignore(os.Interrupt) // the program also receives it and decides how to end
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, fmt.Errorf("run %s: %w", path, err)
	}
	return 0, nil
}
