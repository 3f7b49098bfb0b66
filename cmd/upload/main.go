// Command upload creates function tables from the source maps of a build and sends them to a
// daemon. Sources and maps are not sent.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
)

const usage = `Usage: upload --addr ADDR [--release RELEASE] [flags] DIR...
       upload --dry-run [flags] DIR...

Finds the scripts in the output folders of a bundler with their source maps, and sends
ingest the original names of their functions. All profiles, including earlier ones, are
then shown with these names. Only the names and positions of functions and files are sent;
scripts, source maps and sources are not.

Run it after the build, on the same machine, before source maps are deleted. Repeated runs
send only tables that the daemon does not have.

Examples:

  upload --dry-run dist/
  upload --dry-run --strict --format json dist/ > symbols.json

  export FIELDTRIE_TOKEN=…                                of a token with the scope symbols
  upload --addr https://profiles.example.com:8419 --release 2026.11.3 dist/
  upload --addr 127.0.0.1:8419 --release 2026.11.3 --delete-maps dist/
  upload --addr 127.0.0.1:8419 --url-prefix https://cdn.example.com/shop/ dist/assets/
  upload --addr 127.0.0.1:8419 --codeowners .github/CODEOWNERS --repository example/shop dist/
  upload --addr 127.0.0.1:8419 --release 2026.11.4 --repo https://github.com/example/shop \
    --git-range 2026.11.3..HEAD dist/                     authors of edits, for changes`

const notes = `Standard output has a line for each script. Standard error has problems with advice;
docs/upload.md describes them.

Exit status: 0 on success; 1 for an error, or for problems with --strict; 2 for a wrong
command line. Ctrl-C exits with 130, SIGTERM with 143.
`

// firstWait is the wait before the first retry of a request.
const firstWait = time.Second

func main() { os.Exit(start(firstWait)) }

// start runs the program until it ends or a signal ends it, and returns the exit status.
func start(wait time.Duration) int {
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
	err := run(ctx, wait, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "upload:", output.PrintableLines(err.Error()))
	}
	return exitCode(err)
}

// stopTime bounds the time between a signal and the end of the program. Creating a table cannot be
// interrupted.
const stopTime = time.Second

// signalError reports that a signal ended the program.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return e.signal.String() }

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	if x, ok := errors.AsType[signalError](err); ok {
		return 128 + int(x.signal) // the convention of shells
	}
	return 1
}

// run executes the command line. wait is the wait before the first retry of a request.
func run(ctx context.Context, wait time.Duration, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c := command{stdin: stdin, stdout: stdout, stderr: stderr, wait: wait}
	p, asked := c.program()
	fs := p.Flags()
	if err := commandline.Parse(fs, commandline.Words(args)); errors.Is(err, pflag.ErrHelp) {
		return p.WriteHelp(stdout)
	} else if err != nil {
		return usageError{err}
	}
	if asked.Any() {
		return asked.Answer(stdout, p)
	}
	c.dirs = fs.Args()
	if err := c.check(); err != nil {
		return usageError{err}
	}
	return c.upload(ctx)
}
