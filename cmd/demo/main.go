// Command demo shows the main job: it starts ingest, sends it the sample traces as
// browsers would, and lets aggregate show what came of it. "make run" runs it.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interactive := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	if err := run(ctx, os.Stdout, interactive); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run does the demo. If somebody is there to try things it waits until it is
// interrupted, and then leaves nothing behind; otherwise it leaves the profile.
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
	d, err := startDaemon(ctx, filepath.Join(bin, "ingest"), data)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	fmt.Fprintf(stdout, "   public http://%s, private http://%s, data in %s\n\n", d.public, d.private, data)

	fmt.Fprintln(stdout, "2. Sending the sample traces, one request each, as browsers do …")
	sent, err := d.send(ctx, "testdata/traces/*.json.gz")
	if err != nil {
		return interrupted(ctx, err)
	}
	fmt.Fprintf(stdout, "   %d traces accepted: each is on disk and survives a power cut\n\n", sent)

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

// interrupted returns nil if err comes from the user's wish to stop.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// daemon is a running ingest.
type daemon struct {
	cmd             *exec.Cmd
	log             bytes.Buffer
	public, private string
}

// addrs returns the daemon's default addresses, or free ones if those are taken.
func addrs() (public, private string, err error) {
	out := []string{"127.0.0.1:8418", "127.0.0.1:8419"}
	for i, addr := range out {
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			ln, err = net.Listen("tcp", "127.0.0.1:0")
		}
		if err != nil {
			return "", "", err
		}
		out[i] = ln.Addr().String()
		_ = ln.Close()
	}
	return out[0], out[1], nil
}

func startDaemon(ctx context.Context, bin, data string) (*daemon, error) {
	d := &daemon{}
	var err error
	if d.public, d.private, err = addrs(); err != nil {
		return nil, err
	}
	d.cmd = exec.Command(bin, "--data", data, "--listen", d.public, "--query-listen", d.private, "--demo")
	d.cmd.Stderr = &d.log
	// A process group of its own: Ctrl-C is for the demo, which then stops the daemon.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	for range 400 {
		if d.ready(ctx) {
			return d, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), d.stop())
		case <-time.After(25 * time.Millisecond):
		}
	}
	err = d.stop() // before the log is read, to which the daemon writes
	return nil, errors.Join(fmt.Errorf("ingest does not get ready:\n%s", d.log.String()), err)
}

// ready reports whether the daemon takes traces.
func (d *daemon) ready(ctx context.Context) bool { return d.shows(ctx, "/readyz") }

// shows reports whether the daemon answers a browser that asks for a path of its private address.
func (d *daemon) shows(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.private+path, nil)
	if err != nil {
		return false
	}
	req.Header.Set("Accept", "text/html")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// stop ends the daemon as a service manager would.
func (d *daemon) stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("ingest: %w\n%s", err, d.log.String())
	}
	return nil
}

// send posts files and returns how many there were.
func (d *daemon) send(ctx context.Context, pattern string) (int, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, fmt.Errorf("no %s; run this in the root of the repository", pattern)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.public+"/v1/traces", bytes.NewReader(data))
		if err != nil {
			return 0, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Content-Encoding", "gzip")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusAccepted {
			return 0, fmt.Errorf("%s: %s: %s", name, res.Status, body)
		}
	}
	return len(files), nil
}
