package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/agent"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

// mcpCommand is the word after aggregate. A file of that name is ./mcp.
const mcpCommand = "mcp"

const mcpUsage = `Usage: aggregate mcp [--data DIR | --addr ADDR] [flags]

Serves a coding agent on standard input and output with the Model Context Protocol: the
pages, the functions that take the most time, their callers, the changes of a release, and
the status and history of budgets. It is read-only. The data comes from the data directory
of ingest, whether ingest is running or not, or from a daemon elsewhere (--addr). A daemon
also serves agents itself, at /mcp of its private address.

Add it to the agent's list of servers:

  {
    "mcpServers": {
      "fieldtrie": {
        "command": "aggregate",
        "args": ["mcp", "--addr", "https://profiles.example.com:8419"],
        "env": { "FIELDTRIE_TOKEN": "…" }
      }
    }
  }

Try it without an agent:

  npx @modelcontextprotocol/inspector --cli aggregate mcp --data DIR --method tools/list`

// mcpFlags are the flags of aggregate for the source of the data.
func mcpFlags() []string {
	return []string{"data", "addr", "token-file", "ca", "site", "budgets", "owners"}
}

// mcpProgram describes the command line of aggregate mcp.
func mcpProgram() *commandline.Program { return new(command).mcpProgram() }

func (c *command) mcpProgram() *commandline.Program {
	all, some := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = false
	c.flags(all)
	for _, name := range mcpFlags() {
		some.AddFlag(all.Lookup(name))
	}
	return &commandline.Program{Name: "aggregate " + mcpCommand, Summary: "serve JavaScript profiles to coding agents",
		Usage:    mcpUsage,
		Sections: []commandline.Section{{Flags: some}}, Notes: "docs/mcp.md describes the tools."}
}

// runMCP serves requests until the agent closes standard input or ctx is done.
func runMCP(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c := command{stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now()}
	p := c.mcpProgram()
	fs := p.Flags()
	if err := commandline.Parse(fs, args); errors.Is(err, pflag.ErrHelp) {
		return p.WriteHelp(stdout)
	} else if err != nil {
		return usageError{err}
	}
	if fs.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q; see aggregate mcp --help", fs.Arg(0))}
	}
	if err := errors.Join(c.checkStore(fs, nil), c.checkSite()); err != nil {
		return usageError{err}
	}
	if err := c.readOwners(); err != nil {
		return err
	}
	o := agent.Options{Version: commandline.ReadVersion().Version, Open: c.source, Changes: changesSource}
	if c.budgets != "" {
		file, err := c.readBudgets()
		if err != nil {
			return err
		}
		o.Budgets = func(ctx context.Context, src query.Source) ([]budget.Status, error) {
			return budget.Evaluate(ctx, src, file, time.Now())
		}
	}
	// This reports a mistake immediately instead of with the first response.
	_, done, err := c.source()
	if err != nil {
		return err
	}
	if err := done(); err != nil {
		return err
	}
	return agent.New(o).Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(stdin), Writer: unclosed{stdout}})
}

// unclosed is a writer whose Close does nothing, because the caller closes the underlying writer.
type unclosed struct{ io.Writer }

// Close implements [io.Closer].
func (unclosed) Close() error { return nil }
