package directory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/faultyfs"
	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// An error of a full file system is [objects.ErrNoSpace], in any operation, unless the object may
// have been stored.
func TestNoSpaceOfAnyOperation(t *testing.T) {
	f := &faultyfs.FS{}
	d := open(t, t.TempDir(), Options{FS: f})
	for i, x := range []struct {
		key, kind string
		noSpace   bool
	}{
		{"raw/a/b", faultyfs.Mkdir, true}, {"raw/a/b", faultyfs.Create, true}, {"raw/a/b", faultyfs.Write, true},
		{"raw/a/b", faultyfs.Rename, true}, {"seg/a", faultyfs.Mkdir, true}, {"seg/a", "badger update", true},
		{"raw/c", faultyfs.Open, false}, // of the folder, to sync the name
	} {
		f.Set(faultyfs.Fault{N: 1, Err: syscall.ENOSPC, Only: func(o faultyfs.Op) bool {
			// Only segments are commits; their generations are opened and closed in the background.
			return o.Kind == x.kind && (strings.HasPrefix(x.key, "seg/") || !strings.Contains(o.Path, "/commits"))
		}})
		_, err := d.Put(t.Context(), x.key, []byte("x"), objects.Condition{})
		right := errors.Is(err, objects.ErrNoSpace) == x.noSpace && objects.Refused(err) == x.noSpace
		if len(f.Failed()) != 1 || err == nil || !right {
			t.Errorf("%d: %s: %s: got %v, failed %v", i, x.key, x.kind, err, f.Failed())
		}
		_, err = d.Put(t.Context(), x.key, []byte("x"), objects.Condition{})
		if err != nil {
			t.Errorf("%d: after it: %v", i, err)
		}
		if err := d.Unready(); err != nil {
			t.Errorf("%d: after a success: %v", i, err)
		}
	}
}

// A file system without inodes is full, however many bytes are free.
func TestNoInodes(t *testing.T) {
	small := scratchdisk.Ext4(t, 32<<20)
	d, err := Open(filepath.Join(small.Dir, "data"), Options{MinFree: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	put := func(key string) error {
		_, err := d.Put(t.Context(), key, []byte("x"), objects.Condition{})
		return err
	}
	if err := put("seg/1"); err != nil {
		t.Fatal(err)
	}
	fill := filepath.Join(small.Dir, "others")
	if err := os.Mkdir(fill, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil; i++ {
		err = os.WriteFile(filepath.Join(fill, fmt.Sprint(i)), nil, 0o600)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // the free space is checked once a second
	if err := d.Unready(); !errors.Is(err, objects.ErrNoSpace) || !strings.Contains(err.Error(), "inodes") {
		t.Errorf("not ready: %v", err)
	}
	if !d.Room().Refusing {
		t.Error("Room does not report that traces are rejected")
	}
	for _, key := range []string{"seg/2", "raw/1"} {
		if err := put(key); !errors.Is(err, objects.ErrNoSpace) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := os.RemoveAll(fill); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := errors.Join(d.Unready(), put("seg/2"), put("raw/1")); err != nil {
		t.Errorf("with inodes: %v", err)
	}
}
