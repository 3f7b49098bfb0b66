package main

import (
	"context"
	"errors"
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
	return c.emitResponse(ctx, got, got.WriteText)
}
