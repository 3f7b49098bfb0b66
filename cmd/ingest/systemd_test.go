//go:build linux

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// signs are the notifications that a supervisor receives.
type signs struct {
	t       *testing.T
	conn    *net.UnixConn
	address string
}

// listenForSigns listens at an address for NOTIFY_SOCKET.
func listenForSigns(t *testing.T, address string) *signs {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &signs{t, conn, address}
}

// next returns the next notification, or "" if none arrives in time.
func (s *signs) next(patience time.Duration) string {
	s.t.Helper()
	b := make([]byte, 1<<10)
	if err := s.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	n, err := s.conn.Read(b)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Fatal(err)
	}
	return string(b[:n])
}

// expect waits for a notification. Watchdog signs may come before it.
func (s *signs) expect(want string) {
	s.t.Helper()
	for range 1000 {
		switch got := s.next(20 * time.Second); {
		case got == want:
			return
		case got != stillAlive:
			s.t.Fatalf("the supervisor received %q, want %q", got, want)
		}
	}
	s.t.Fatalf("the supervisor did not receive %q", want)
}

// expectNone waits for several periods until a notification no longer arrives.
func (s *signs) expectNone(sign string) {
	s.t.Helper()
	for range 1000 {
		if s.next(2*time.Second) == "" {
			return
		}
	}
	s.t.Errorf("the supervisor still receives %q", sign)
}

// environment returns a stand-in for os.Getenv.
func environment(of map[string]string) func(string) string {
	return func(name string) string { return of[name] }
}

// TestSupervisor notifies a supervisor of the daemon's state, over sockets in the file system and
// abstract ones.
func TestSupervisor(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for _, address := range []string{filepath.Join(t.TempDir(), "notify"), fmt.Sprintf("@fieldtrie-test-%d",
		os.Getpid())} {
		heard := listenForSigns(t, address)
		s, err := findSupervisor(environment(map[string]string{
			"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "30000", "WATCHDOG_PID": strconv.Itoa(os.Getpid()),
		}), log)
		if err != nil || s == nil {
			t.Fatalf("%s: got %v, %v, want a supervisor", address, s, err)
		}
		s.tell(nowReady)
		if got := heard.next(20 * time.Second); got != "READY=1" {
			t.Errorf("%s: the supervisor received %q, want READY=1", address, got)
		}
		due, stop := s.signs()
		<-due
		stop()
	}
}

// TestNoSupervisor runs without a supervisor, or with one that does not listen or expects no
// watchdog signs from this process.
func TestNoSupervisor(t *testing.T) {
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	heard := listenForSigns(t, filepath.Join(t.TempDir(), "notify"))
	for _, c := range []struct {
		name   string
		env    map[string]string
		there  bool
		period time.Duration
		err    string
	}{
		{name: "none"},
		{name: "watchdog without socket", env: map[string]string{"WATCHDOG_USEC": "30000000"}},
		{name: "no watchdog", env: map[string]string{"NOTIFY_SOCKET": heard.address}, there: true},
		{name: "watchdog", env: map[string]string{"NOTIFY_SOCKET": heard.address, "WATCHDOG_USEC": "30000000"},
			there: true, period: 30 * time.Second},
		{name: "watchdog of a parent", env: map[string]string{"NOTIFY_SOCKET": heard.address,
			"WATCHDOG_USEC": "30000000",
			"WATCHDOG_PID":  "1"}, there: true},
		{name: "invalid period", env: map[string]string{"NOTIFY_SOCKET": heard.address, "WATCHDOG_USEC": "30s"},
			err: `WATCHDOG_USEC is "30s", which is not a number of microseconds`},
		{name: "zero", env: map[string]string{"NOTIFY_SOCKET": heard.address, "WATCHDOG_USEC": "0"},
			err: "not a number of microseconds"},
		{name: "period too long", env: map[string]string{"NOTIFY_SOCKET": heard.address,
			"WATCHDOG_USEC": "9223372036854775807"}, err: "not a number of microseconds"},
		{name: "no listener", env: map[string]string{"NOTIFY_SOCKET": heard.address + "x"},
			err: "connect to NOTIFY_SOCKET: "},
		{name: "unsupported socket", env: map[string]string{"NOTIFY_SOCKET": "vsock:2:1234"},
			err: "connect to NOTIFY_SOCKET: "},
	} {
		s, err := findSupervisor(environment(c.env), logger)
		if (s != nil) != c.there || (err != nil) != (c.err != "") || err != nil &&
			!strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, %v, want one: %v, error %q", c.name, s, err, c.there, c.err)
			continue
		}
		if s != nil && s.period != c.period {
			t.Errorf("%s: got the period %v, want %v", c.name, s.period, c.period)
		}
		s.tell(nowReady)
		if due, _ := s.signs(); (due != nil) != (c.period > 0) {
			t.Errorf("%s: got watchdog signs: %v, want %v", c.name, due != nil, c.period > 0)
		}
	}
	if log.Len() > 0 {
		t.Errorf("the log has %s", log.String())
	}
}

// TestSupervisorGone ends the supervisor, which must not end the daemon.
func TestSupervisorGone(t *testing.T) {
	var log strings.Builder
	heard := listenForSigns(t, filepath.Join(t.TempDir(), "notify"))
	s, err := findSupervisor(environment(map[string]string{"NOTIFY_SOCKET": heard.address}),
		slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	_ = heard.conn.Close()
	s.tell(stillAlive)
	if want := "tell the service manager"; !strings.Contains(log.String(), want) {
		t.Errorf("log: got %q, want %q", log.String(), want)
	}
}

// TestExitWhenStuckDefault tests the default of --exit-when-stuck: on if there is a watchdog.
func TestExitWhenStuckDefault(t *testing.T) {
	for _, c := range []struct {
		usec string
		args []string
		want bool
	}{
		{"", nil, false},
		{"", []string{"--exit-when-stuck"}, true},
		{"30000000", nil, true},
		{"30000000", []string{"--exit-when-stuck=false"}, false},
		{"soon", nil, false},
	} {
		t.Setenv("WATCHDOG_USEC", c.usec)
		var conf config
		if err := conf.parse(c.args, nil); err != nil || conf.exitWhenStuck != c.want {
			t.Errorf("WATCHDOG_USEC=%s %v: got %v, %v, want %v", c.usec, c.args, conf.exitWhenStuck, err, c.want)
		}
	}
}
