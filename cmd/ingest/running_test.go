package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/freeaddr"
)

// running is a daemon that a test started.
type running struct {
	t               *testing.T
	cmd             *exec.Cmd
	public, private string
	log             lines
	ended           chan error
}

// lines is a program's output.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// launch starts the daemon and waits until it answers.
func launch(t *testing.T, bin, dir string, flags ...string) *running {
	t.Helper()
	return launchIn(t, nil, bin, dir, flags...)
}

// launchIn is like launch with additional environment variables.
func launchIn(t *testing.T, env []string, bin, dir string, flags ...string) *running {
	t.Helper()
	d := &running{t: t, public: "http://" + freeaddr.Of(t), private: "http://" + freeaddr.Of(t),
		ended: make(chan error, 1)}
	d.cmd = exec.Command(bin, append([]string{"--data", dir, "--listen", d.public[7:], "--query-listen", d.private[7:]},
		flags...)...)
	d.cmd.Stderr = &d.log
	d.cmd.Env = append(os.Environ(), env...)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { d.ended <- d.cmd.Wait() }()
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	for range 400 {
		if d.get("/healthz") == "ok\n" { // not /readyz: on a full disk the daemon is not ready
			return d
		}
		time.Sleep(25 * time.Millisecond)
	}
	_ = d.cmd.Process.Kill()
	t.Fatalf("the daemon did not answer: %v\n%s", <-d.ended, d.log.String())
	return nil
}

// get returns the response of the private address if its status is 200, else "".
func (d *running) get(path string) string {
	if got := d.ask(path); got.status == http.StatusOK {
		return got.body
	}
	return ""
}

// stop sends a signal and returns how the daemon exited.
func (d *running) stop(s os.Signal) error {
	d.t.Helper()
	_ = d.cmd.Process.Signal(s)
	return d.wait()
}

// end waits for a daemon that should exit without a signal. If the test failed, it prints the log.
func (d *running) end() {
	d.t.Helper()
	if err := d.stop(syscall.SIGTERM); err != nil {
		d.t.Error(err)
	}
	if d.t.Failed() {
		d.t.Log(d.log.String())
	}
}

// wait returns how the daemon exited.
func (d *running) wait() error {
	d.t.Helper()
	select {
	case err := <-d.ended:
		return err
	case <-time.After(30 * time.Second):
		_ = d.cmd.Process.Signal(syscall.SIGQUIT) // prints the stacks of all goroutines
		<-d.ended
		d.t.Fatalf("the daemon does not exit\n%s", d.log.String())
		return nil
	}
}

// answered is a response of the daemon, or the error if there was none.
type answered struct {
	status int
	after  string // Retry-After
	body   string
	err    error // if there was no response
}

// patient waits longer than a daemon may take.
var patient = &http.Client{Timeout: 30 * time.Second}

// ask queries the private address.
func (d *running) ask(path string) answered { return answerOf(patient.Get(d.private + path)) }

func (d *running) sendTrace(n int) answered {
	return answerOf(patient.Post(d.public+"/v1/traces", "application/json", strings.NewReader(crashTrace(n))))
}

// wantAccepted checks that the daemon accepts trace n.
func (d *running) wantAccepted(n int) {
	d.t.Helper()
	if got := d.sendTrace(n); got.status != http.StatusAccepted {
		d.t.Fatalf("trace %d: got %+v, want status 202", n, got)
	}
}

func answerOf(res *http.Response, err error) answered {
	if err != nil {
		return answered{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return answered{err: err}
	}
	return answered{res.StatusCode, res.Header.Get("Retry-After"), string(b), nil}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting: %s", what)
		}
	}
}
