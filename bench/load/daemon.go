package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/loadgen"
)

// daemon is an ingest that was started, and may be killed and started again.
type daemon struct {
	program         string
	args            []string
	public, private string
	group           *cgroup // nil: memory is not bounded
	fresh           bool    // it had no data

	mu      sync.Mutex
	cmd     *exec.Cmd
	ended   chan error // of cmd
	log     logTail
	kills   int
	slowest time.Duration // from a start after a kill until it was ready
}

// readyTimeout is how long a start may take, with the recovery after a kill.
const readyTimeout = 60 * time.Second

// startDaemon builds ingest in dir unless there is a program, starts it and waits until
// it is ready. Its data is in c.data, which is set if it is not.
func (c *config) startDaemon(ctx context.Context, dir string, stderr io.Writer) (*daemon, error) {
	d := &daemon{program: c.ingest}
	if d.program == "" {
		d.program = filepath.Join(dir, "ingest")
		fmt.Fprintln(stderr, "load: building ingest …")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", d.program, "github.com/fieldtrie/fieldtrie/cmd/ingest").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build ingest: %w\n%s", err, out)
		}
	}
	if c.data == "" {
		c.data = filepath.Join(dir, "data")
	}
	d.fresh = emptyDir(c.data)
	for _, addr := range []*string{&d.public, &d.private} {
		var err error
		if *addr, err = freeAddr(); err != nil {
			return nil, err
		}
	}
	d.args = []string{"--data", c.data, "--listen", d.public, "--query-listen", d.private, "--partition", c.options.Partition.String()}
	if c.options.Pages > manyPages {
		d.args = append(d.args, "--max-pages", fmt.Sprint(c.options.Pages))
	}
	if c.options.Networks > 0 {
		d.args = append(d.args, "--trusted-proxies", "127.0.0.1")
	}
	d.args = append(d.args, c.ingestFlags...)
	if c.memory > 0 {
		var err error
		if d.group, err = newCgroup(c.memory); err != nil {
			return nil, err
		}
	}
	if err := d.start(); err != nil {
		return nil, err
	}
	if err := d.ready(); err != nil {
		return nil, errors.Join(err, d.logged())
	}
	fmt.Fprintf(stderr, "load: ingest is at http://%s and http://%s, process %d\n", d.public, d.private, d.pid())
	return d, nil
}

// manyPages is how many pages a daemon takes unless it is told otherwise.
const manyPages = 2000

// freeAddr returns an address that nobody listens on. It is not one of those from which
// the kernel takes the ports of clients: a client that calls while the daemon is down
// could be given that very port, and be connected with itself.
func freeAddr() (string, error) {
	for range 100 {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err == nil {
			return ln.Addr().String(), ln.Close()
		}
	}
	return "", errors.New("no free port")
}

func (d *daemon) start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cmd = exec.Command(d.program, d.args...)
	d.cmd.Stderr = &d.log
	// A process group of its own: Ctrl-C is for this program, which then stops the daemon.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		return err
	}
	if d.group != nil {
		if err := d.group.add(d.cmd.Process.Pid); err != nil {
			return fmt.Errorf("bound the memory of ingest: %w", err)
		}
	}
	cmd, ended := d.cmd, make(chan error, 1)
	d.ended = ended
	go func() {
		ended <- cmd.Wait()
		close(ended)
	}()
	return nil
}

// pid returns the process id of the daemon.
func (d *daemon) pid() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cmd.Process.Pid
}

// ready waits until the daemon takes traces.
func (d *daemon) ready() error {
	client := http.Client{Timeout: 10 * time.Second}
	for end := time.Now().Add(readyTimeout); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-d.ended:
			return fmt.Errorf("ingest has ended: %w", errors.Join(err, errors.New("before it was told to")))
		default:
		}
		if res, err := client.Get("http://" + d.private + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return errors.New("ingest does not get ready")
}

// kill ends the daemon at once, if it runs.
func (d *daemon) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.cmd.Process.Kill()
	<-d.ended
}

// stopTimeout is how long the daemon may take to end when it is told to.
const stopTimeout = 2 * time.Minute

// stop ends the daemon as a service manager would.
func (d *daemon) stop() error {
	ended, err := d.signal(syscall.SIGTERM)
	if err != nil {
		return errors.Join(fmt.Errorf("stop ingest: %w", err), d.logged())
	}
	select {
	case err := <-ended:
		if err != nil {
			return errors.Join(fmt.Errorf("ingest: %w", err), d.logged())
		}
		return nil
	case <-time.After(stopTimeout):
		return fmt.Errorf("ingest has not ended %v after it was told to; its goroutines:\n%s", stopTimeout, d.goroutines())
	}
}

// signal signals the daemon, and returns what will say that it has ended.
func (d *daemon) signal(s os.Signal) (ended <-chan error, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended, d.cmd.Process.Signal(s)
}

// goroutines ends the daemon in the way that makes the Go runtime write what all goroutines
// are at, and returns that.
func (d *daemon) goroutines() string {
	d.log.clear()
	ended, err := d.signal(syscall.SIGQUIT)
	if err != nil {
		return err.Error()
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
	}
	return d.log.String()
}

// killOften kills the daemon and starts it again, every now and then until all is sent.
// It returns once the daemon is ready for the last time.
func (d *daemon) killOften(every time.Duration, g *loadgen.Generator, w *watch) error {
	for {
		wait := time.Duration((0.5 + rand.Float64()) * float64(every))
		select {
		case <-g.Sent():
			return nil
		case <-time.After(wait):
		}
		w.look()
		g.Restarting()
		d.kill()
		w.ended()
		began := time.Now()
		if err := d.start(); err != nil {
			return err
		}
		if err := d.ready(); err != nil {
			return errors.Join(err, d.logged())
		}
		g.Restarting()
		d.kills++
		d.slowest = max(d.slowest, time.Since(began))
	}
}

// logged returns what the daemon wrote last as an error, or nil if there is no daemon.
func (d *daemon) logged() error {
	if d == nil {
		return nil
	}
	text := d.log.String()
	return fmt.Errorf("the log of ingest ends with\n%s", text[max(len(text)-shownBytes, 0):])
}

// logTail keeps the end of a log.
type logTail struct {
	mu   sync.Mutex
	text []byte
}

const (
	logBytes   = 4 << 20 // kept: the stacks of all goroutines are long
	shownBytes = 16 << 10
)

func (l *logTail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if n := len(l.text) - logBytes; n > 0 {
		l.text = append(l.text[:0], l.text[n:]...)
	}
	return len(p), nil
}

func (l *logTail) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = l.text[:0]
}

func (l *logTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.text))
}
