package main

import (
	"errors"
	"fmt"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/calls"
)

// checkAround rejects --callers together with --callees, and flags that conflict with either.
func (c *command) checkAround(not refusing) error {
	if c.callers != "" && c.callees != "" {
		return errors.New("--callers and --callees: use one of them")
	}
	for flag, value := range map[string]string{"callers": c.callers, "callees": c.callees} {
		if value == "" {
			continue
		}
		if err := not("--"+flag, append(selectionFlags[:], "diff", "list", "series", "stats", "vitals", "cost",
			"budgets", "http", "timed")...); err != nil {
			return err
		}
	}
	return nil
}

// aroundFunction returns the callers or callees in p of the function that --callers or --callees
// names. Without these flags it returns p.
func (c *command) aroundFunction(p *trie.Profile) (*trie.Profile, error) {
	name, around := c.callers, calls.Callers
	if name == "" {
		name, around = c.callees, calls.Callees
	}
	if name == "" {
		return p, nil
	}
	found := false
	p = around(p, func(f trie.Frame) bool {
		is := name == output.Location(f) || name == output.Shown(f)
		found = found || is
		return is
	})
	if !found {
		return nil, fmt.Errorf("no function %q in what is selected; --format top prints their names and places", name)
	}
	return p, nil
}
