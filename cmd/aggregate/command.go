package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/trie"
)

// command is what the command line asks for.
type command struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	now            time.Time

	page, feature, release string
	labels                 []string
	since, until           string
	formatName             string
	output                 string
	rows                   int
	data, addr             string
	list                   string
	files                  []string

	selection query.Selection
	format    encode.Format
}

// lists are what --list can print.
var lists = [...]string{"pages", "features", "releases"}

func (c *command) flags(fs *pflag.FlagSet) {
	fs.StringVarP(&c.page, "page", "p", "", "`PAGE` such as /feed (default all)")
	fs.StringVar(&c.feature, "feature", "", "only the time of this `FEATURE`")
	fs.StringVar(&c.release, "release", "", "only this `RELEASE`")
	fs.StringArrayVar(&c.labels, "label", nil, "only the time with `KEY=VALUE`, such as phase=load or environment=production; repeatable")
	fs.StringVar(&c.since, "since", "24h", "only what was received since `TIME`")
	fs.StringVar(&c.until, "until", "", "only what was received before `TIME` (default now)")
	fs.StringVarP(&c.formatName, "format", "f", "", "`FORMAT` to write (default pprof; for --list a table)")
	fs.StringVarP(&c.output, "output", "o", "", "`FILE` to write; - is standard output, even a terminal")
	fs.IntVar(&c.rows, "rows", 40, "functions that --format top shows; -1 shows all")
	fs.StringVar(&c.data, "data", "fieldtrie-data", "data `DIR` of ingest")
	fs.StringVar(&c.addr, "addr", "", "private `ADDR` of a daemon to ask instead, such as 127.0.0.1:8419")
	fs.StringVar(&c.list, "list", "", "print the `pages`, features or releases that there is data for")
}

// check reads the flags that need reading and refuses those that contradict each other.
func (c *command) check(fs *pflag.FlagSet) error {
	if c.list != "" && !slices.Contains(lists[:], c.list) {
		return fmt.Errorf("--list %s: known are %s", c.list, strings.Join(lists[:], ", "))
	}
	not := func(with string, flags ...string) error {
		for _, flag := range flags {
			if fs.Changed(flag) {
				return fmt.Errorf("--%s does not go with %s", flag, with)
			}
		}
		return nil
	}
	if len(c.files) > 0 {
		if err := not("files", "since", "until", "data", "addr", "list"); err != nil {
			return err
		}
		c.since = ""
	}
	if c.list != "" {
		if err := not("--list", "feature", "release", "label", "rows"); err != nil {
			return err
		}
	}
	if c.rows < 1 && c.rows != -1 {
		return fmt.Errorf("--rows %d: a number from 1, or -1 for all", c.rows)
	}
	if c.data == "" && c.addr == "" {
		return errors.New("--data: the name of the directory is empty")
	}
	if fs.Changed("data") && fs.Changed("addr") {
		return errors.New("--data and --addr: use one of them")
	}
	if err := c.checkFormat(); err != nil {
		return err
	}
	return c.checkSelection()
}

func (c *command) checkFormat() error {
	if c.list != "" {
		if c.formatName != "" && c.formatName != "json" && c.formatName != "table" {
			return fmt.Errorf("--list writes json or a table, not %s", c.formatName)
		}
		return nil
	}
	if c.formatName == "" {
		c.formatName = "pprof"
	}
	var err error
	if c.format, err = encode.Writer(c.formatName); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	if c.format.Binary && c.output == "" && isTerminal(c.stdout) {
		return fmt.Errorf("will not write %s to a terminal; use --output FILE, a pipe, or --format top", c.format.Name)
	}
	return nil
}

func (c *command) checkSelection() error {
	s := query.Selection{Page: c.page, Feature: c.feature}
	if c.release != "" {
		s.Labels = append(s.Labels, trie.Label{Key: "release", Value: c.release})
	}
	for _, text := range c.labels {
		l, err := query.ParseLabel(text)
		if err != nil {
			return fmt.Errorf("--label: %w", err)
		}
		s.Labels = append(s.Labels, l)
	}
	s.Labels = s.Labels.Sort()
	var err error
	if s.Since, err = query.ParseTime(c.since, c.now); err != nil {
		return fmt.Errorf("--since: %w", err)
	}
	if s.Until, err = query.ParseTime(c.until, c.now); err != nil {
		return fmt.Errorf("--until: %w", err)
	}
	if !s.Since.IsZero() && !s.Until.IsZero() && !s.Since.Before(s.Until) {
		return fmt.Errorf("--since %s is not before --until %s", c.since, c.until)
	}
	// Formats that keep labels get them; the others count each page view once.
	s.Grouped = c.formatName == "pprof" || c.formatName == "trie"
	c.selection = s
	return nil
}

// formatTable lists the formats that can be written, for --help.
func formatTable() string {
	var b strings.Builder
	for _, f := range encode.Formats() {
		if f.Encode != nil {
			fmt.Fprintf(&b, "  %-8s %s\n", f.Name, f.About)
		}
	}
	return b.String()
}
