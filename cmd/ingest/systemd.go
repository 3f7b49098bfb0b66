package main

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"
)

// Notifications for the service manager, see sd_notify(3).
const (
	nowReady    = "READY=1"
	nowStopping = "STOPPING=1"
	stillAlive  = "WATCHDOG=1"
)

// supervisor is the service manager that started the daemon and wants to know how it is:
// systemd, with Type=notify. Without one it is nil.
type supervisor struct {
	conn   net.Conn
	period time.Duration // without a sign of life for that long it kills the daemon; 0: it does not
	log    *slog.Logger
}

// findSupervisor returns the supervisor that the environment names. Without one, and with an
// error, it returns nil.
func findSupervisor(getenv func(string) string, log *slog.Logger) (*supervisor, error) {
	address := getenv("NOTIFY_SOCKET")
	if address == "" {
		return nil, nil
	}
	period, err := watchdogPeriod(getenv)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("unixgram", address) // an @ in front is an abstract socket to net, too
	if err != nil {
		return nil, fmt.Errorf("connect to NOTIFY_SOCKET: %w", err)
	}
	return &supervisor{conn: conn, period: period, log: log}, nil
}

// watchdogPeriod returns how often a supervisor wants a sign of life of this process at least,
// 0 if it does not want one.
func watchdogPeriod(getenv func(string) string) (time.Duration, error) {
	text := getenv("WATCHDOG_USEC")
	if pid := getenv("WATCHDOG_PID"); text == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || n > uint64(maxPeriod/time.Microsecond) {
		return 0, fmt.Errorf("WATCHDOG_USEC is %.20q, which is not a number of microseconds", text)
	}
	return time.Duration(n) * time.Microsecond, nil
}

// maxPeriod is more than anybody waits for.
const maxPeriod = 1000 * time.Hour

// tellTimeout is how long a supervisor may take to take a message. It may be busy.
const tellTimeout = time.Second

// tell sends a state to the service manager, if there is one.
func (s *supervisor) tell(state string) {
	if s == nil {
		return
	}
	err := s.conn.SetWriteDeadline(time.Now().Add(tellTimeout))
	if err == nil {
		_, err = s.conn.Write([]byte(state))
	}
	if err != nil {
		s.log.Warn("tell the service manager", "state", state, "err", err)
	}
}

// signs returns when a sign of life is due: three times in the period of the watchdog. Without
// a watchdog it never is.
func (s *supervisor) signs() (due <-chan time.Time, stop func()) {
	if s == nil || s.period == 0 {
		return nil, func() {}
	}
	t := time.NewTicker(max(s.period/3, time.Millisecond))
	return t.C, t.Stop
}
