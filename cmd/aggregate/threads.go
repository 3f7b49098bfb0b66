package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/file"
)

// printThreads prints the threads of files.
func (c *command) printThreads(ctx context.Context) error {
	p := c.progress()
	entries, warnings, err := file.Threads(ctx, c.inputs(), p.files(len(c.files)))
	p.clear()
	c.warn(warnings)
	if err != nil {
		return err
	}
	if c.formatName == "json" {
		return c.emit(ctx, func(w io.Writer) error {
			if entries == nil {
				entries = []file.ThreadEntry{}
			}
			return json.NewEncoder(w).Encode(entries)
		})
	}
	if len(entries) == 0 {
		return errors.New("no threads in these files")
	}
	return c.emit(ctx, func(w io.Writer) error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "TAKEN\tPROCESS/THREAD\tNAME\tPROFILE\tSAMPLES\tMS\tEVENTS\tFILE")
		for _, e := range entries {
			taken := ""
			if e.Chosen {
				taken = "*"
			}
			profile := e.Source
			if e.ID != "" && profile != "" {
				profile += " "
			}
			fmt.Fprintf(t, "%s\t%d/%d\t%s\t%s\t%d\t%.1f\t%d\t%s\n",
				taken, e.Process, e.Thread, output.Printable(e.Name), output.Printable(profile+e.ID), e.Samples, float64(e.Micros)/1000, e.Events, output.Printable(e.File))
		}
		return t.Flush()
	})
}
