//go:build linux

package commits

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// The disk has less space than a log of Badger needs, which was not noticed yet. That must be an
// error of the write, and not end the process because its memory map has no space on the disk.
func TestLogsAreAllocated(t *testing.T) {
	small := scratchdisk.Tmpfs(t, 24<<20)
	l := open(t, filepath.Join(small.Dir, "commits"), Options{Allocate: true})
	put := func() error { return l.Put(t.Context(), "seg/1", make([]byte, 100<<10)) }
	small.Fill(0, 1<<20, 0)
	if err := put(); err == nil {
		t.Error("a full disk accepts a commit")
	}
	small.Empty()
	small.Fill(6<<20, 1<<20, 0)
	for range 3 {
		if err := put(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v", err)
		}
	}
	small.Fill(0, 1<<20, 0)
	if err := put(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("without any free space: %v", err)
	}
	small.Empty()
	if err := put(); err != nil {
		t.Error(err)
	}
	if got := disk.TreeBytes(l.generations[len(l.generations)-1].path); got < logBytes {
		t.Errorf("%d bytes are allocated", got)
	}
}

// A generation of one log never starts a second log.
func TestOneLog(t *testing.T) {
	l := open(t, t.TempDir(), Options{MaxBytes: OneLog})
	for _, size := range []int{0, 5 << 10, 300 << 10, maxPart + 1} {
		var group sync.WaitGroup
		for who := range 16 {
			group.Go(func() {
				for i := range 3 + 60/(size+1) {
					key := fmt.Sprintf("seg/%d/%d/%d", size, who, i)
					if err := l.Put(t.Context(), key, make([]byte, size)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		l.settle()
		for _, g := range l.generations {
			logs, err := filepath.Glob(filepath.Join(g.path, "*.mem"))
			if err != nil || g.newestLog != "00001.mem" || g.state == active && len(logs) != 1 {
				t.Fatalf("%d bytes in commits of %d: %q, newest %s, %v", g.bytes, size, logs, g.newestLog, err)
			}
		}
	}
}
