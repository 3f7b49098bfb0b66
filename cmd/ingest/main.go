// Command ingest receives traces from browsers and stores them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode/output"
)

const usage = `Usage: ingest [--data DIR] [--listen ADDR] [--query-listen ADDR] [flags]

Receives traces at POST /v1/traces on the public address and stores them in DIR. An
answer of 202 means that the traces survive kill -9 and power loss. POST /v1/views counts
page views without a trace; /sdk.js is the script for browsers. The private address
serves queries, /healthz, /readyz, /metrics and a backup of the running store at
/v1/backup; without --access it asks nobody who they are. SIGTERM and SIGINT finish what
is in flight and close the store. SIGHUP reads the files of --sampling, --keys,
--access and --budgets again. systemd is told when the daemon is ready, and with
WatchdogSec that the store is not stuck.

Examples:

  ingest --data /var/lib/fieldtrie --listen :8418 --allow-origin https://www.example.com
  curl --fail http://127.0.0.1:8419/v1/backup --output backup.tar
  ingest --restore backup.tar --data /var/lib/fieldtrie-restored
  ingest --import /var/lib/fieldtrie --data s3://my-bucket/fieldtrie
  ingest --export /var/lib/fieldtrie-back --data s3://my-bucket/fieldtrie
  ingest --verify --data s3://my-bucket/fieldtrie

Flags:
%s
Sizes are bytes or like 256KiB and 4MiB. Durations are like 90m, 24h and 7d.
`

func main() { os.Exit(execute(&config{})) }

// execute runs the program and returns its exit status. Something may go on behind it, when the
// store is stuck.
func execute(c *config) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills the process
	err := c.run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ingest:", output.PrintableLines(err.Error()))
	}
	return exitCode(err)
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	if err != nil {
		return 1
	}
	return 0
}

func (c *config) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	fs := pflag.NewFlagSet("ingest", pflag.ContinueOnError)
	fs.SortFlags = false
	c.flags(fs)
	version := fs.Bool("version", false, "print the version and exit")
	fs.Usage = func() { fmt.Fprintf(stdout, usage, fs.FlagUsagesWrapped(92)) }
	if err := fs.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return usageError{err}
	}
	if *version {
		_, err := fmt.Fprintln(stdout, "ingest", buildVersion())
		return err
	}
	if fs.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q; see ingest --help", fs.Arg(0))}
	}
	if err := c.check(); err != nil {
		return usageError{err}
	}
	c.heap = newHeap()
	if c.any() {
		return c.errand(ctx, stdin, stdout, stderr)
	}
	return c.serve(ctx, slog.New(slog.NewTextHandler(stderr, nil)))
}

// buildVersion returns the version of the module, as the go command recorded it.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
