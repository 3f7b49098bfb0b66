// Command upload makes tables of functions from the source maps of a build, and sends them to
// a daemon. Sources and maps are not sent.
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

Finds the scripts that a bundler wrote into folders, and the source map of each, and sends
ingest what the functions of the scripts are called in the sources. Profiles are shown with
these names from then on, those that came before among them. What is sent are names of
functions and files, and where they begin. Scripts, source maps and sources are not sent.

Run it after the build, where the build ran, before source maps are deleted. It may run
again at any time: only what the daemon lacks is sent.

Examples:

  upload --dry-run dist/
  upload --dry-run --strict --format json dist/ > symbols.json

  export FIELDTRIE_TOKEN=…                                of a token with the scope symbols
  upload --addr https://profiles.example.com:8419 --release 2026.11.3 dist/
  upload --addr 127.0.0.1:8419 --release 2026.11.3 --delete-maps dist/
  upload --addr 127.0.0.1:8419 --url-prefix https://cdn.example.com/shop/ dist/assets/
  upload --addr 127.0.0.1:8419 --codeowners .github/CODEOWNERS --repository example/shop dist/
  upload --addr 127.0.0.1:8419 --release 2026.11.4 --repo https://github.com/example/shop \
    --git-range 2026.11.3..HEAD dist/                     who edited what, for changes`

const notes = `Standard output has a line for each script. Problems are on standard error, each with what
to do; docs/upload.md says more of each.

Exit status: 0; 1 if something went wrong, or there are problems and --strict is given; 2
for a wrong command line. Ended by Ctrl-C it is 130, by SIGTERM 143.
`

// firstWait is the wait before the first repetition of a request.
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

// stopTime is how long parts of the program may take to stop when told to. The making of a
// table does not stop.
const stopTime = time.Second

// signalError says that the program was ended by a signal.
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
		return 128 + int(x.signal) // as shells have it
	}
	return 1
}

// run executes the command line. wait is the wait before a request is repeated.
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
