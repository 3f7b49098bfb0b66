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
	"syscall"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/docs"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
)

const usage = `Usage: ingest [--config FILE] [--data DIR] [--listen ADDR] [--query-listen ADDR] [flags]

Receives traces at POST /v1/traces on the public address and stores them in DIR. An
answer of 202 means that the traces survive kill -9 and power loss. POST /v1/views counts
page views without a trace; /sdk.js is the script for browsers. The private address
serves the dashboard, queries, /healthz, /readyz, /metrics and a backup of the running
store at /v1/backup; without --access it needs no login. SIGTERM and SIGINT
finish what is in flight and close the store. SIGHUP reads the settings and their files
again and applies them; the log lists changes that need a restart. systemd is told when the
daemon is ready, and with WatchdogSec that the store is not stuck.

Each flag may stand in the file of --config, as "retention: 14d", or in the environment, as
FIELDTRIE_RETENTION=14d. The command line wins over the environment, the environment over
the file.

Examples:

  ingest --data /var/lib/fieldtrie --listen :8418 --allow-origin https://www.example.com
  ingest --config /etc/fieldtrie/ingest.yaml --check
  ingest --notify /etc/fieldtrie/notify.yaml --test-notification on-call

  curl --fail http://127.0.0.1:8419/v1/backup --output backup.tar
  ingest --restore backup.tar --data /var/lib/fieldtrie-restored
  ingest --restore /var/lib/fieldtrie --data s3://my-bucket/fieldtrie
  ingest --verify --data s3://my-bucket/fieldtrie`

const notes = `Sizes are bytes or like 256KiB and 4MiB. Durations are like 90m, 24h and 7d.

Exit status: 0 on success; 1 for an error, if --check or --verify found a mistake, or if the
receiver rejected the message of --test-notification; 2 for a wrong command line or setting.`

func main() { os.Exit(execute(&config{})) }

// execute runs the program and returns its exit status. Background work may still run when it
// returns, if the store is stuck.
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
	err := c.parse(commandline.Words(args), os.Environ())
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return c.program.WriteHelp(stdout, mainFlags()...)
	case c.dry && c.read:
		return c.printCheck(stdout, err)
	case err != nil:
		return usageError{err}
	case c.saysOnly():
		return c.answer(stdout)
	}
	if err := c.check(); err != nil {
		return usageError{err}
	}
	if c.askHealthy {
		return c.askHealth(ctx)
	}
	c.heap = newHeap()
	if c.errands.any() {
		return c.errand(ctx, stdin, stdout, stderr)
	}
	if c.demo.on {
		return c.serveDemo(ctx, stdout, stderr)
	}
	return c.serve(ctx, c.logger(stderr, slog.LevelInfo), stdout)
}

// answer prints information about the program itself.
func (c *config) answer(stdout io.Writer) error {
	if c.helpAll {
		return c.program.WriteHelp(stdout)
	}
	if c.docsTo != "" {
		return docs.Write(c.docsTo)
	}
	return c.asked.Answer(stdout, c.program)
}
