package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/demo"
	"github.com/fieldtrie/fieldtrie/sdk"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// demoOptions configures --demo, which adds to a daemon a shop with stored visits, in a new
// directory, and a page that profiles itself.
type demoOptions struct {
	on    bool
	views int  // page views of the shop; 0 for no shop
	ends  bool // the daemon exits after printing the demo's text
}

func (o demoOptions) shop() bool { return o.on && o.views > 0 }

// says returns the dashboard's description of the shop; empty without a shop.
func (o demoOptions) says() string {
	if !o.shop() {
		return ""
	}
	return demo.Summary
}

// serveDemo runs a daemon with the demo. By default it listens on local addresses only and removes
// its data at the end.
func (c *config) serveDemo(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if c.origin["data"] == "" {
		dir, err := os.MkdirTemp("", "fieldtrie-demo-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		c.data = filepath.Join(dir, "data")
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal is closed
		defer stop()
	}
	for flag, addr := range map[string]*string{"listen": &c.listen, "query-listen": &c.queryListen} {
		if c.origin[flag] == "" {
			*addr = localAddr(*addr)
		}
	}
	if c.demo.shop() {
		if err := c.fillDemo(ctx, stdout); err != nil {
			if ctx.Err() != nil {
				return nil // it was interrupted
			}
			return fmt.Errorf("demo: %w", err)
		}
	}
	level := slog.LevelInfo
	if isTerminal(stderr) { // log warnings only, so that the demo's text is readable
		level = slog.LevelWarn
	}
	return c.serve(ctx, c.logger(stderr, level), stdout)
}

// localAddr returns a local address with the port of another address, or with a free port if that
// is taken.
func localAddr(of string) string {
	_, port, _ := net.SplitHostPort(of)
	addr := net.JoinHostPort("127.0.0.1", port)
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "127.0.0.1:0"
	}
	_ = ln.Close() // it only tested the port
	return addr
}

// fillDemo stores the visits of the shop in the data directory, which must be new or empty.
func (c *config) fillDemo(ctx context.Context, stdout io.Writer) error {
	dir, onDisk := shared.Folder(c.data)
	if !onDisk {
		return fmt.Errorf("--data %s: the demo's shop needs a local directory", c.data)
	}
	switch entries, err := os.ReadDir(dir); {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case len(entries) > 0:
		return fmt.Errorf("--data %s is not empty, and demo visits must not be mixed with real data: use a new "+
			"directory, omit --data, or add --demo-views 0 to serve only the page at /demo/", dir)
	}
	fmt.Fprintf(stdout, "Demo: replaying a week of visits of a small shop into %s …\n", dir)
	p := newProgress(stdout, "")
	o := demo.Options{Now: time.Now(), Views: c.demo.views, Progress: func(done, of int) {
		if p.terminal && (time.Since(p.said) > sayOnTerminal || done == of) {
			p.said = time.Now()
			fmt.Fprintf(stdout, "\r\x1b[K%d of %d page views", done, of)
		}
	}}
	if err := demo.Fill(ctx, dir, o); err != nil {
		return errors.Join(err, os.RemoveAll(dir)) // incomplete data would look complete
	}
	p.clear()
	fmt.Fprintf(stdout, "%d page views of 5 pages in 3 releases, stored in %.0f s.\n\n", c.demo.views,
		time.Since(p.started).Seconds())
	return nil
}

// tellDemo prints the changes and links of the demo. It then calls end if the demo should exit.
func (s *serving) tellDemo(ctx context.Context, stdout io.Writer, end context.CancelFunc) {
	if s.config.demo.shop() {
		self, _ := os.Executable() // on an error, the program is in PATH
		err := demo.Tell(ctx, stdout, s.source, s.private.url(), filepath.Dir(self), time.Now())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.Error("demo", "err", err)
		case !s.config.demo.ends:
			fmt.Fprintln(stdout, "\nThe daemon runs until you press Ctrl-C.")
		}
	}
	if s.config.demo.ends {
		end()
	}
}

// addDemo adds the demo's page to the private address, because it displays data. It loads its
// third-party code from the public address, which has the given URL.
func addDemo(public, private *http.ServeMux, collector string) {
	public.Handle("GET /demo/third-party.js", sdk.DemoThirdParty())
	private.Handle("/demo/", sdk.Demo(collector))
}
