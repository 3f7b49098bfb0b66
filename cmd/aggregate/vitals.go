package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/vital"
)

// printVitals prints the Web Vitals of pages.
func (c *command) printVitals(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	vitals, err := src.Vitals(ctx, c.selection)
	if err != nil {
		return err
	}
	c.warn(vitals.Stats.Warnings)
	if len(vitals.Pages) == 0 && c.formatName != "json" {
		return fmt.Errorf("no Web Vitals%s %s: page views report them when the page is hidden or closed, and the "+
			"daemon stores reports within a minute (see --list pages)", c.selection, c.period())
	}
	err = c.emitResponse(ctx, vitals, func(w io.Writer, s terminal.Screen) error {
		return vital.WriteText(w, s, vitals.Pages)
	})
	if err != nil || c.toStdout() {
		return err
	}
	c.wrote(counted(uint64(len(vitals.Pages)), "page"))
	return nil
}
