package faultyfs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// Only the chosen operation fails, with the chosen error.
func TestFault(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write := func(f *FS) error { return disk.WriteFileBy(f, path, path+".tmp", []byte("some text"), time.Time{}) }
	f := &FS{}
	if err := write(f); err != nil || f.Count() == 0 {
		t.Fatalf("%d operations without a fault: %v", f.Count(), err)
	}
	f.Set(Fault{N: 1, Only: On(Sync), Err: syscall.EMFILE})
	if err := write(f); !errors.Is(err, syscall.EMFILE) || len(f.Failed()) != 1 || f.Failed()[0].Kind != Sync {
		t.Errorf("got %v, failed: %v", err, f.Failed())
	}
	if err := write(f); err != nil {
		t.Errorf("after the fault: %v", err)
	}
	f.Set(Fault{N: 1, Only: On(Write), Torn: true})
	w, err := f.OpenFile(path, os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := w.Write([]byte("12345678"))
	if got, _ := os.ReadFile(path); n != 4 || !errors.Is(err, syscall.EIO) || string(got) != "1234" {
		t.Errorf("a torn write: %d bytes, %v, %q", n, err, got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.Set(Fault{N: 2, Stays: true})
	_, err = disk.ReadFile(f, path)
	if err == nil || disk.Fail(f, "any", path) == nil || disk.Fail(disk.OS, "any", path) != nil {
		t.Error("a permanent fault is gone")
	}
}

// A sweep makes each operation fail once.
func TestSweep(t *testing.T) {
	t.Parallel()
	failed := map[Op]int{}
	Sweep(t, nil, 0, func(t *testing.T, f *FS, begin, end func()) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		begin()
		err := disk.WriteFileBy(f, path, path+".tmp", []byte("after"), time.Time{})
		if (err != nil) != (len(f.Failed()) > 0) {
			t.Errorf("%v failed: %v", f.Failed(), err)
		}
		for _, op := range f.Failed() {
			failed[Op{op.Kind, ""}]++
		}
		end()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != "before" && string(got) != "after" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	for _, kind := range []string{Create, Write, Sync, Close, Rename, Open} {
		if failed[Op{kind, ""}] == 0 {
			t.Errorf("%s never failed", kind)
		}
	}
}
