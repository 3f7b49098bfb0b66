package main

import (
	"context"
	"errors"
	"io"
)

// printCost prints what profiling costs visitors.
func (c *command) printCost(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	got, err := src.Cost(ctx, c.selection)
	if err != nil {
		return err
	}
	c.warn(got.Stats.Warnings)
	return c.emit(ctx, func(w io.Writer) error {
		if c.formatName == "json" {
			return writeJSON(w, got)
		}
		return got.WriteText(w)
	})
}
