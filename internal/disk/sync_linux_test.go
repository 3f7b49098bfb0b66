package disk

import (
	"errors"
	"syscall"
	"testing"
)

// SyncDir asks the file system to write a folder. That of the kernel's processes refuses, as it has
// nothing to write.
func TestSyncDirSyncs(t *testing.T) {
	if err := SyncDir("/proc/self"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("got %v, want %v", err, syscall.EINVAL)
	}
	if err := SyncDir(t.TempDir()); err != nil {
		t.Error(err)
	}
}
