package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/file"
)

// allThreads is the value of --thread that selects all threads.
const allThreads = "all"

// threadNames returns the threads that --thread names; nil for all.
func (c *command) threadNames() []string {
	if slices.Contains(c.threads, allThreads) {
		return nil
	}
	return c.threads
}

// shownOf returns the part of files to show: the threads of --thread, or by default the main thread
// of each recording. Exports do not distinguish threads and are shown completely.
func (c *command) shownOf(m file.Merged) file.Merged {
	if !c.pick.Apart {
		return m
	}
	sampled := map[string]bool{} // recordings
	for _, t := range m.Threads {
		sampled[t.Recording] = sampled[t.Recording] || t.Sampled
	}
	return m.Shown(func(t *output.Thread) bool {
		switch {
		case len(c.threads) == 0:
			return t.Main
		case c.threadNames() == nil: // no selection of threads, or exports
			return t.Sampled || !sampled[t.Recording]
		}
		return true
	})
}

// shortNames replaces the paths of recordings with the names of their files, if these differ.
func shortNames(threads output.Threads) {
	paths := map[string]string{} // by name
	for _, t := range threads {
		name := filepath.Base(t.Recording)
		if path, ok := paths[name]; ok && path != t.Recording {
			return
		}
		paths[name] = t.Recording
	}
	for i := range threads {
		threads[i].Recording = filepath.Base(threads[i].Recording)
	}
}

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
		return errors.New("these files have no threads")
	}
	return c.emitTable(ctx, func(w io.Writer, s terminal.Screen) error { return writeThreads(w, s, entries) })
}

// writeThreads writes the threads of files as a table.
func writeThreads(w io.Writer, s terminal.Screen, entries []file.ThreadEntry) error {
	t := terminal.Table{Screen: s, Columns: []terminal.Column{{Title: "THREAD", Least: 12},
		{Title: "NUMBER", Right: true}, {Title: "TAKEN"}, {Title: "JAVASCRIPT MS", Right: true},
		{Title: "PROCESS", Least: 8, Drop: 3}, {Title: "PROFILE", Least: 8, Drop: 4}, {Title: "SAMPLES", Right: true,
			Drop: 2}, {Title: "COVERED MS", Right: true, Drop: 5},
		{Title: "EVENTS", Right: true, Drop: 6}, {Title: "FILE", Least: 12, Drop: 1}}}
	for i := range entries {
		e := &entries[i]
		taken, script := "", ""
		switch {
		case e.Main:
			taken = "main"
		case e.Chosen:
			taken = "all"
		}
		if e.Samples > 0 {
			script = terminal.Number(float64(e.JavaScript) / 1000)
		}
		profile := e.Source
		if e.ID != "" && profile != "" {
			profile += " "
		}
		t.Row(output.Printable(cmp.Or(e.Name, "(no name)")), fmt.Sprintf("%d/%d", e.Process, e.Thread), taken, script,
			output.Printable(e.ProcessName), output.Printable(profile+e.ID), fmt.Sprint(e.Samples),
			terminal.Number(float64(e.Micros)/1000), fmt.Sprint(e.Events), output.Printable(e.File))
	}
	_, err := t.WriteTo(w)
	return err
}
