package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// program is a child process.
type program struct {
	name  string
	make  func() *exec.Cmd
	ready func(context.Context) bool

	cmd   *exec.Cmd // nil: it does not run
	ended chan struct{}
	err   error // result of cmd
	log   bytes.Buffer
}

// start starts the program, and waits until it is ready.
func (p *program) start(ctx context.Context) error {
	p.log.Reset()
	p.cmd, p.ended = p.make(), make(chan struct{})
	p.cmd.Stderr = &p.log
	// In its own process group, Ctrl-C reaches only the cluster, which then stops the others.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		p.cmd = nil
		return err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if p.ready(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), p.stop())
		case <-p.ended:
			return fmt.Errorf("%s has ended: %w\n%s", p.name, p.err, p.log.String())
		case <-time.After(25 * time.Millisecond):
		}
	}
	err := p.stop() // before the log is read, because the program writes to it
	return errors.Join(fmt.Errorf("%s did not become ready:\n%s", p.name, p.log.String()), err)
}

// stop ends the program like a service manager.
func (p *program) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	if p.err != nil {
		return fmt.Errorf("%s: %w\n%s", p.name, p.err, p.log.String())
	}
	return nil
}

// running reports whether the program runs.
func (p *program) running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// kill kills the program with SIGKILL, if it runs.
func (p *program) kill() {
	if p.running() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// daemon is an ingest process.
type daemon struct {
	program
	public, private string
}

// newDaemon returns a daemon that is not yet started.
func newDaemon(bin, data string, env ...string) (*daemon, error) {
	d := &daemon{}
	var err error
	if d.public, d.private, err = addrs(); err != nil {
		return nil, err
	}
	d.program = program{name: "ingest", ready: func(ctx context.Context) bool {
		return answers(ctx, "http://"+d.private+"/readyz", http.StatusOK)
	}, make: func() *exec.Cmd {
		cmd := exec.Command(bin, "--data", data, "--listen", d.public, "--query-listen", d.private)
		cmd.Env = append(os.Environ(), env...)
		return cmd
	}}
	return d, nil
}

// answers reports whether url responds to a browser with this status.
func answers(ctx context.Context, url string, status int) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	req.Header.Set("Accept", "text/html")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == status
}

// addrs returns the daemon's default addresses, or free ones if they are taken.
func addrs() (public, private string, err error) {
	out := []string{"127.0.0.1:8418", "127.0.0.1:8419"}
	for i, addr := range out {
		if out[i], err = freeAddr(addr); err != nil {
			return "", "", err
		}
	}
	return out[0], out[1], nil
}

// freeAddr returns a free address, preferably wish.
func freeAddr(wish string) (string, error) {
	ln, err := net.Listen("tcp", wish)
	if err != nil {
		ln, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// post sends a file to the public address of a daemon, or of its load balancer.
func post(ctx context.Context, addr, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/v1/traces", bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var body bytes.Buffer
	_, _ = body.ReadFrom(res.Body)
	if res.StatusCode != http.StatusAccepted {
		return fmt.Errorf("%s: %s: %s", name, res.Status, body.String())
	}
	return nil
}

// samples returns the sample traces.
func samples() ([]string, error) {
	files, err := filepath.Glob("testdata/traces/*.json.gz")
	if err == nil && len(files) == 0 {
		err = errors.New("no testdata/traces/*.json.gz; run this in the root of the repository")
	}
	return files, err
}
