package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cgroup is a control group that bounds the memory of daemons, including mapped files.
// Exceeding it ends the daemon, as on a machine without more memory. It needs root.
type cgroup struct{ dir string }

// newCgroup makes a group with a limit in bytes.
func newCgroup(bytes int64) (*cgroup, error) {
	name := fmt.Sprintf("fieldtrie-load-%d", os.Getpid())
	var errs error
	for root, limit := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		c := &cgroup{filepath.Join(root, name)}
		err := os.Mkdir(c.dir, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(c.dir, limit), strconv.AppendInt(nil, bytes, 10), 0o644)
		}
		if err == nil {
			return c, nil
		}
		c.remove()
		errs = errors.Join(errs, err)
	}
	return nil, fmt.Errorf("make a control group for memory, which takes root; without --memory the table says how much was taken: %w", errs)
}

// add puts a process into the group.
func (c *cgroup) add(pid int) error {
	return os.WriteFile(filepath.Join(c.dir, "cgroup.procs"), strconv.AppendInt(nil, int64(pid), 10), 0o644)
}

// peak returns the peak memory of the group, 0 if unknown.
func (c *cgroup) peak() int64 {
	for _, name := range []string{"memory.max_usage_in_bytes", "memory.peak"} {
		if text, err := os.ReadFile(filepath.Join(c.dir, name)); err == nil {
			n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			return n
		}
	}
	return 0
}

// remove removes the group once its processes have ended.
func (c *cgroup) remove() { _ = os.Remove(c.dir) }
