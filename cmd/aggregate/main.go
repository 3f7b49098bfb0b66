// Command aggregate merges stored traces, or profiles in files, into one profile.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
)

const usage = `Usage: aggregate [--page PAGE] [--since TIME] [flags]
       aggregate [flags] FILE...
       aggregate report [flags]              what a release changed, on one page
       aggregate changes [ID] [flags]        automatically detected changes
       aggregate verdict [flags]             can a rollout continue?
       aggregate edits [flags]               the functions edited between two releases
       aggregate capture [flags] URL         record visits with a local browser
       aggregate delete [flags]              delete stored data on request
       aggregate mcp [flags]                 for coding agents; each command has --help

Merges the traces of a page into one profile and writes it as pprof. The traces come
from the data directory of ingest, whether ingest is running or not, from a daemon
elsewhere (--addr), or from files: any number of profiles, traces and recordings, gzipped
or not. Their formats are detected by content; "-" is standard input.

Examples:

  aggregate --page /feed --since 24h --output feed.pb.gz
  go tool pprof -http=: feed.pb.gz

  aggregate --page /feed --feature search --since 7d --format top
  aggregate --page /feed --since 30d --stats              percentiles per page view
  aggregate --page /feed --release B --compare-release A  changes and their significance
  aggregate --page /feed --since 7d --compare-since 14d -f svg -o changed.svg
  aggregate --list pages                                  views, p75, mean, people's time
  aggregate --page /feed --since 7d --series              the same over time
  aggregate --budgets budgets.yaml --since 24h            for CI: exits with 3 if a budget is blown

  aggregate --http :0 --page /feed                        view in a browser
  aggregate --page /feed --since 7d -f html -o feed.html  a file to send
  aggregate --http :0 app.cpuprofile                      also with files; --diff shows changes

  aggregate -f top --maps dist/ app.cpuprofile            with names from the sources
  aggregate -f svg -o flame.svg CPU.*.cpuprofile          the sum over recordings
  aggregate -f top Trace.json.gz                          its main thread, see --thread
  aggregate --list threads Trace.json.gz                  the threads of a Chrome trace
  aggregate -f tree --events Trace.json.gz                with browser tasks and layouts
  aggregate -f top --diff before.cpuprofile after.cpuprofile
  aggregate -f speedscope --timed trace.json -o trace.speedscope.json`

const notes = `TIME is a duration before now (90m, 24h, 7d), a date (2026-11-21) or RFC 3339. With
--since, six hours and more reach back to the beginning of an hour, in UTC.

Formats (r read, w written, t written in time order, d shows a difference; what each
keeps and loses is in docs/formats.md):

%s
Exit status: 0 on success; 1 for an error or if nothing was found; 2 for a wrong command
line; 3 if a budget of --budgets is blown. A budget with too few page views or no data does
not change the status. Empty lists and --stats exit with 0 as JSON; a comparison with an
empty side is written as JSON and exits with 1. Ctrl-C exits with 130, SIGTERM with 143.
`

func main() {
	if os.Getenv("GOGC") == "" { // a merge is short; half as many collections save a tenth of its time
		debug.SetGCPercent(200)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		err := signalError{(<-signals).(syscall.Signal)}
		signal.Stop(signals) // a second one kills the process
		cancel(err)
		time.Sleep(stopTime)
		os.Exit(exitCode(err))
	}()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	os.Exit(report(os.Stderr, err))
}

// stopTime bounds the time between a signal and the end of the program. Two operations do not heed
// cancellation: decoding a file, and writing to a pipe without a reader.
const stopTime = time.Second

// signalError reports that a signal ended the program.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return e.signal.String() }

// report writes the error, if there is one, and returns the exit status.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "aggregate:", output.PrintableLines(err.Error()))
	return exitCode(err)
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	if _, ok := errors.AsType[blownError](err); ok {
		return 3
	}
	if x, ok := errors.AsType[verdictError](err); ok {
		return x.exitCode()
	}
	if x, ok := errors.AsType[signalError](err); ok {
		return 128 + int(x.signal) // the convention of shells
	}
	return 1
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	args = commandline.Words(args)
	if len(args) > 0 {
		switch args[0] {
		case mcpCommand:
			return runMCP(ctx, args[1:], stdin, stdout, stderr)
		case reportCommand:
			return runReport(ctx, args[1:], stdout, stderr)
		case changesCommand:
			return runChanges(ctx, args[1:], stdout, stderr)
		case verdictCommand:
			return runVerdict(ctx, args[1:], stdout, stderr)
		case editsCommand:
			return runEdits(ctx, args[1:], stdout, stderr)
		case captureCommand:
			return runCapture(ctx, args[1:], stdout, stderr)
		case deleteCommand:
			return runDelete(ctx, args[1:], stdout, stderr)
		}
	}
	c := command{stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now()}
	p, asked := c.program()
	fs := p.Flags()
	if err := commandline.Parse(fs, args); errors.Is(err, pflag.ErrHelp) {
		return p.WriteHelp(stdout)
	} else if err != nil {
		return usageError{misplaced(err, args)}
	}
	if asked.Any() {
		return asked.Answer(stdout, p, reportProgram(), verdictProgram(), changesProgram(), editsProgram(),
			captureProgram(), deleteProgram(), mcpProgram())
	}
	c.files = fs.Args()
	if err := meant(c.files); err != nil {
		return usageError{err}
	}
	if err := c.check(fs); err != nil {
		return usageError{err}
	}
	for _, read := range []func() error{c.readTemplate, c.readOwners, c.readMaps, c.readModules} {
		if err := read(); err != nil {
			return err
		}
	}
	switch {
	case c.http != "":
		return c.serveHTTP(ctx)
	case c.list == "threads":
		return c.printThreads(ctx)
	case c.budgets != "":
		return c.printBudgets(ctx)
	case c.stats:
		return c.printReport(ctx)
	case c.vitals:
		return c.printVitals(ctx)
	case c.cost:
		return c.printCost(ctx)
	case c.list != "":
		return c.printList(ctx)
	case c.series:
		return c.printSeries(ctx)
	case c.timed:
		return c.printTimed(ctx)
	case c.comparesTable():
		return c.printComparison(ctx)
	case c.printsTop():
		return c.printTop(ctx)
	}
	return c.printProfile(ctx)
}
