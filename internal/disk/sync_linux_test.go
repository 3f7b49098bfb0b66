package disk

import (
	"errors"
	"syscall"
	"testing"
)

// SyncDir calls fsync, which procfs does not support.
func TestSyncDirSyncs(t *testing.T) {
	if err := SyncDirOf(OS, "/proc/self"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("got %v, want %v", err, syscall.EINVAL)
	}
	if err := SyncDirOf(OS, t.TempDir()); err != nil {
		t.Error(err)
	}
}
