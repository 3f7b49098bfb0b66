package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// watch records the processor time and memory of a program, across kills and restarts, from /proc;
// without /proc it records nothing. It is safe for concurrent use.
type watch struct {
	pid func() int // of the program; 0 if unknown

	mu     sync.Mutex
	cpu    time.Duration // of ended processes
	now    time.Duration // of the current process
	before time.Duration // of that, when the watch began
	rss    int64         // peak resident bytes
	anon   int64         // peak resident bytes without mapped files
}

func (w *watch) begin() {
	w.before, _ = cpuTime(w.pid())
	w.now = w.before
	w.look()
}

// look records the current values.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	pid := w.pid()
	if t, ok := cpuTime(pid); ok {
		w.now = t
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return
	}
	w.rss = max(w.rss, kibibytes(status, "VmHWM:"))
	w.anon = max(w.anon, kibibytes(status, "RssAnon:"))
}

// ended records that the program was killed after the last look.
func (w *watch) ended() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cpu += w.now
	w.now = 0
}

// used returns the processor time used.
func (w *watch) used() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cpu + w.now - w.before
}

// kibibytes returns the value of a line of /proc/PID/status in bytes.
func kibibytes(status []byte, name string) int64 {
	for line := range bytes.Lines(status) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == name {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return n << 10
		}
	}
	return 0
}

// clockTick is the unit of times in /proc, on all platforms of Go.
const clockTick = 10 * time.Millisecond

// cpuTime returns the user and system time of a process.
func cpuTime(pid int) (time.Duration, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name of the program, in parentheses, may contain anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, false
	}
	u, err1 := strconv.ParseInt(fields[user], 10, 64)
	s, err2 := strconv.ParseInt(fields[system], 10, 64)
	return time.Duration(u+s) * clockTick, err1 == nil && err2 == nil
}

// diskUse returns the disk space of a directory in bytes, 0 if it is missing.
func diskUse(dir string) (n int64) {
	if dir == "" {
		return 0
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // the daemon deletes files while we look
		}
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) == nil {
			n += st.Blocks * 512
		}
		return nil
	})
	return n
}
