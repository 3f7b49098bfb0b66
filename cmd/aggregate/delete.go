package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/cmd/aggregate/deleting"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
)

// deleteCommand is the word after aggregate. A file of that name is ./delete.
const deleteCommand = "delete"

func deleteProgram() *commandline.Program { return deleting.New().Program() }

// runDelete has a daemon delete something.
func runDelete(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := deleting.New()
	p := c.Program()
	if err := commandline.Parse(p.Flags(), args); errors.Is(err, pflag.ErrHelp) {
		return p.WriteHelp(stdout)
	} else if err != nil {
		return usageError{err}
	}
	if err := c.Check(p.Flags(), time.Now()); err != nil {
		return usageError{err}
	}
	return c.Run(ctx, stdout, stderr)
}
