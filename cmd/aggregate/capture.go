package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/cmd/aggregate/capture"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/sdk"
)

// captureCommand is the word after aggregate. A file of that name is ./capture.
const captureCommand = "capture"

const captureUsage = `Usage: aggregate capture [flags] URL

Visits a page several times with a local browser and records each visit with the browser
script, so that lab visits can be compared with visits of users. Traces are sent to the
daemon with the environment lab and the label source=lab. --out also stores the
.cpuprofile that DevTools recorded for each visit. The page needs neither the script nor
the Document-Policy header, and its policies do not block the recording.

Examples:

  aggregate capture --runs 10 --cpu 4 https://staging.example.com/feed
  aggregate capture --script scroll.js --out lab/ http://127.0.0.1:3000/
  aggregate report --lab --page /feed                    what users run and the lab does not
  aggregate -f top lab/*.cpuprofile`

// capturing is the command line of aggregate capture.
type capturing struct {
	o           capture.Options
	script, out string
}

func captureProgram() *commandline.Program { return new(capturing).program() }

func (c *capturing) program() *commandline.Program {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.IntVar(&c.o.Runs, "runs", 10, "number of visits of the page, each with a fresh browser")
	fs.Float64Var(&c.o.CPU, "cpu", 1, "CPU slowdown factor: 4 resembles a phone")
	fs.StringVar(&c.script, "script", "",
		"JavaScript `FILE` with the actions of a visitor, run in the page after it has loaded; it may use await")
	fs.DurationVar(&c.o.Settle, "settle", time.Second,
		"how long a visit continues after the page has loaded and the actions are done")
	fs.StringVar(&c.o.Collector, "to", "http://127.0.0.1:8418", "public address of the daemon, as a `URL`")
	fs.StringVar(&c.o.Key, "key", "", "`KEY` for sending, if the daemon requires one")
	fs.StringVar(&c.o.Release, "release", "", "`RELEASE` of the page")
	fs.StringVar(&c.out, "out", "",
		"`DIR` for the .cpuprofile of each visit, recorded by DevTools; created if it is missing (default not stored)")
	fs.StringVar(&c.o.Chromium, "chromium", "", "`FILE` of Chromium, Chrome or Edge (default the first one found)")
	return &commandline.Program{Name: "aggregate " + captureCommand,
		Summary: "record visits to a page with a local browser", Usage: captureUsage,
		Sections: []commandline.Section{{Flags: fs}},
		Notes:    "More in docs/ci.md. Exit status: 0 on success; 1 for an error; 2 for a wrong command line."}
}

// check parses the command line.
func (c *capturing) check(fs *pflag.FlagSet) error {
	if fs.NArg() != 1 {
		return errors.New("give one URL to visit; see aggregate capture --help")
	}
	c.o.URL = fs.Arg(0)
	for name, text := range map[string]string{"URL": c.o.URL, "--to": c.o.Collector} {
		if u, err := url.Parse(text); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return fmt.Errorf("%s %q: must begin with https:// or http:// and a host", name, text)
		}
	}
	switch {
	case c.o.Runs < 1 || c.o.Runs > 10_000:
		return fmt.Errorf("--runs %d: must be from 1 to 10000", c.o.Runs)
	case !(c.o.CPU >= 1 && c.o.CPU <= 100):
		return fmt.Errorf("--cpu %g: must be from 1 to 100", c.o.CPU)
	case c.o.Settle < 0 || c.o.Settle > time.Minute:
		return fmt.Errorf("--settle %s: must be at most 1m", c.o.Settle)
	}
	return nil
}

// runCapture records visits and reports progress.
func runCapture(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c capturing
	p := c.program()
	fs := p.Flags()
	if err := commandline.Parse(fs, args); errors.Is(err, pflag.ErrHelp) {
		return p.WriteHelp(stdout)
	} else if err != nil {
		return usageError{err}
	}
	if err := c.check(fs); err != nil {
		return usageError{err}
	}
	if c.script != "" {
		text, err := os.ReadFile(c.script)
		if err != nil {
			return fmt.Errorf("--script: %w", err)
		}
		c.o.Actions = string(text)
	}
	if c.out != "" {
		if err := os.MkdirAll(c.out, 0o755); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if c.o.Script = sdk.Source("sdk-all.js"); c.o.Script == nil {
		return errors.New("this program was built without the browser script")
	}
	traces := 0
	c.o.Done = func(v capture.Visit) error {
		traces += v.Traces
		fmt.Fprintf(stderr, "visit %d of %d: %s\n", v.Number, c.o.Runs, counted(uint64(v.Traces), "trace"))
		if c.out == "" {
			return nil
		}
		return os.WriteFile(filepath.Join(c.out, fmt.Sprintf("visit-%03d.cpuprofile", v.Number)), v.Profile, 0o644)
	}
	if err := capture.Record(ctx, c.o); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "%d visits, %d traces at %s with environment=%s\n", c.o.Runs, traces, c.o.Collector,
		capture.Environment)
	return err
}
