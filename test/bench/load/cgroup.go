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
	for _, of := range []struct{ root, limit string }{{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max"}} {
		c := &cgroup{filepath.Join(of.root, name)}
		err := os.Mkdir(c.dir, 0o755)
		if err == nil {
			err = c.set(of.limit, bytes)
		}
		if err == nil {
			return c, nil
		}
		c.remove()
		errs = errors.Join(errs, err)
	}
	return nil, fmt.Errorf("create a control group for memory, which needs root; without --memory the table shows "+
		"the memory used: %w", errs)
}

// set sets a value of the group. It does not create the file, because a folder without it is not a
// control group.
func (c *cgroup) set(name string, value int64) error {
	f, err := os.OpenFile(filepath.Join(c.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(strconv.AppendInt(nil, value, 10))
	return errors.Join(err, f.Close())
}

// command returns a command line that puts itself into the group and then executes a program, so
// the limit applies from the program's start.
func (c *cgroup) command(program string, args []string) (string, []string) {
	return "/bin/sh", append([]string{"-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(c.dir, "cgroup.procs"),
		program}, args...)
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
func (c *cgroup) remove() { _ = os.Remove(c.dir) } // a group has no files of its own to remove
