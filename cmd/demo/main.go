// Command demo shows the main use: it starts ingest, sends the sample traces like browsers, and
// shows the result with aggregate. "make run" runs it. With --cluster it shows several daemons
// on one bucket, and the loss of one of them; "make cluster" runs that.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interactive := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	show := run
	if len(os.Args) > 1 && os.Args[1] == "--cluster" {
		show = runCluster
	}
	if err := show(ctx, os.Stdout, interactive); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run does the demo. If interactive, it waits until it is interrupted and leaves nothing behind;
// otherwise it leaves the profile.
func run(ctx context.Context, stdout io.Writer, interactive bool) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bin := filepath.Dir(self)
	dir, err := os.MkdirTemp("", "fieldtrie-demo-")
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	defer func() {
		_ = os.RemoveAll(data)
		if err != nil || interactive || ctx.Err() != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	fmt.Fprintln(stdout, "1. Starting ingest …")
	d, err := newDaemon(filepath.Join(bin, "ingest"), data)
	if err != nil {
		return err
	}
	if err := d.start(ctx); err != nil {
		return interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	fmt.Fprintf(stdout, "   public http://%s, private http://%s, data in %s\n\n", d.public, d.private, data)

	fmt.Fprintln(stdout, "2. Sending the sample traces, one request each, as browsers do …")
	files, err := samples()
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := post(ctx, d.public, name); err != nil {
			return interrupted(ctx, err)
		}
	}
	fmt.Fprintf(stdout, "   %d traces accepted: each is on disk and survives a power cut\n\n", len(files))

	fmt.Fprintln(stdout, "3. Where does the main thread's time go? The answer of aggregate --format top:")
	fmt.Fprintln(stdout)
	aggregate := filepath.Join(bin, "aggregate")
	profile := filepath.Join(dir, "profile.pb.gz")
	for _, args := range [][]string{
		{"--data", data, "--since", "24h", "--format", "top", "--rows", "12"},
		{"--data", data, "--since", "24h", "--output", profile},
	} {
		cmd := exec.CommandContext(ctx, aggregate, args...)
		cmd.Stdout, cmd.Stderr = stdout, stdout
		if err := cmd.Run(); err != nil {
			return interrupted(ctx, fmt.Errorf("aggregate: %w", err))
		}
	}
	fmt.Fprintf(stdout, "\n4. The profile is %s. Try next:\n\n", profile)
	fmt.Fprintf(stdout, "   go tool pprof -http=: %s\n", profile)
	if !interactive {
		return nil
	}
	if d.shows(ctx, "/") {
		fmt.Fprintf(stdout, "   open http://%s/, the dashboard\n", d.private)
	} else {
		fmt.Fprintln(stdout, "   install npm and run this again for the dashboard")
	}
	fmt.Fprintf(stdout, "   open http://%s/demo/ in Chrome or Edge, click about, close the tab, and see your own functions:\n", d.private)
	fmt.Fprintf(stdout, "   %s --data %s --page /demo/feed --format top\n", aggregate, data)
	fmt.Fprintf(stdout, "   %s --data %s --list pages\n", aggregate, data)
	fmt.Fprintf(stdout, "   %s --data %s --page /suites/editors/dist/tiptap.html --format top\n", aggregate, data)
	fmt.Fprintf(stdout, "   curl -s http://%s/metrics | grep ^fieldtrie\n", d.private)
	fmt.Fprintf(stdout, "\nThe daemon runs until you press Ctrl-C, which also deletes the data and the profile.\n")
	<-ctx.Done()
	return nil
}

// interrupted returns nil if err is due to the user's interrupt.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
