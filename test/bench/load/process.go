package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is a child process that may be killed and started again.
type process struct {
	name    string // in messages
	program string
	args    []string
	env     []string // in addition to this program's
	dir     string   // working directory; "" is the current one
	ready   string   // URL with a status below 500 once the process is ready

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan error // receives the result of cmd
	log   logTail
}

// readyTimeout bounds a start, including recovery after a kill.
const readyTimeout = 60 * time.Second

// freeAddr returns a free address. It is outside the kernel's range for client ports: a
// client that connects while the daemon is down could get the same port, and be
// connected with itself.
func freeAddr() (string, error) {
	for range 100 {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err == nil {
			return ln.Addr().String(), ln.Close()
		}
	}
	return "", errors.New("no free port")
}

func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd = exec.Command(p.program, p.args...)
	p.cmd.Stderr, p.cmd.Dir = &p.log, p.dir
	p.cmd.Env = append(os.Environ(), p.env...)
	// In its own process group, Ctrl-C reaches only this program, which then stops the other one.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	cmd, ended := p.cmd, make(chan error, 1)
	p.ended = ended
	go func() {
		ended <- cmd.Wait()
		close(ended)
	}()
	return nil
}

// pid returns its process id.
func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// startReady starts the process, and waits until it is ready.
func (p *process) startReady() error {
	if err := p.start(); err != nil {
		return err
	}
	client := http.Client{Timeout: 10 * time.Second}
	for end := time.Now().Add(readyTimeout); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-p.ended:
			return errors.Join(fmt.Errorf("%s has ended: %w", p.name,
				errors.Join(err, errors.New("before it was stopped"))), p.logged())
		default:
		}
		if res, err := client.Get(p.ready); err == nil {
			_ = res.Body.Close()
			if res.StatusCode < http.StatusInternalServerError {
				return nil
			}
		}
	}
	return errors.Join(fmt.Errorf("%s did not become ready", p.name), p.logged())
}

// kill kills the process with SIGKILL, if it runs.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// stopTimeout is how long a program may take to stop.
const stopTimeout = 2 * time.Minute

// stop ends the process like a service manager.
func (p *process) stop() error {
	ended, err := p.signal(syscall.SIGTERM)
	if err != nil {
		return errors.Join(fmt.Errorf("stop %s: %w", p.name, err), p.logged())
	}
	select {
	case err := <-ended:
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", p.name, err), p.logged())
		}
		return nil
	case <-time.After(stopTimeout):
		return fmt.Errorf("%s has not ended %v after SIGTERM; its goroutines:\n%s", p.name, stopTimeout,
			p.goroutines())
	}
}

// signal signals the process, and returns a channel that reports its end.
func (p *process) signal(s os.Signal) (ended <-chan error, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended, p.cmd.Process.Signal(s)
}

// goroutines ends the process with a signal that makes the Go runtime write the stacks
// of all goroutines, and returns them.
func (p *process) goroutines() string {
	p.log.clear()
	ended, err := p.signal(syscall.SIGQUIT)
	if err != nil {
		return err.Error()
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
	}
	return p.log.String()
}

// logged returns the end of the log as an error.
func (p *process) logged() error {
	text := p.log.String()
	return fmt.Errorf("the log of %s ends with\n%s", p.name, text[max(len(text)-shownBytes, 0):])
}

// logTail has the end of a log.
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
