package scratchdisk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Disk is a separate filesystem, mounted on Dir until the test ends.
type Disk struct {
	Dir   string
	t     testing.TB
	image string // file of an ext4
}

// Tmpfs returns an empty tmpfs of the given size in bytes.
func Tmpfs(t testing.TB, size int64) *Disk {
	t.Helper()
	d := newDisk(t)
	err := unix.Mount("none", d.Dir, "tmpfs", 0, fmt.Sprintf("size=%d", size))
	d.mounted("mount a tmpfs", err, "")
	return d
}

// Ext4 returns an empty ext4 of the given size in bytes, in a sparse file.
func Ext4(t testing.TB, size int64) *Disk {
	t.Helper()
	d := newDisk(t)
	d.image = filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, size); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1", d.image).CombinedOutput()
	d.mounted("mkfs.ext4", err, string(out))
	out, err = exec.Command("mount", "-o", "loop", d.image, d.Dir).CombinedOutput()
	d.mounted("mount", err, string(out))
	return d
}

func newDisk(t testing.TB) *Disk {
	t.Helper()
	if os.Getuid() != 0 {
		skip(t, "this needs root")
	}
	d := &Disk{Dir: t.TempDir(), t: t}
	t.Cleanup(func() { _ = unix.Unmount(d.Dir, unix.MNT_DETACH) })
	return d
}

// mounted fails the test if err is not nil. If mounting is forbidden, as in most containers, it
// skips the test; no other error is a reason to skip.
func (d *Disk) mounted(what string, err error, out string) {
	d.t.Helper()
	if err == nil {
		return
	}
	why := strings.TrimSpace(fmt.Sprintf("%s: %v %s", what, err, out))
	forbidden := errors.Is(err, unix.EPERM) || strings.Contains(out, "permission denied") ||
		strings.Contains(out, "not permitted") || strings.Contains(out, "failed to setup loop device")
	if !forbidden {
		d.t.Fatal(why)
	}
	skip(d.t, why)
}

func skip(t testing.TB, why string) {
	t.Helper()
	fmt.Fprintf(os.Stderr, "\n*** NOT TESTED: %s: %s ***\n\n", t.Name(), why)
	t.Skip(why)
}

// EXT4_IOC_SHUTDOWN with this flag stops an ext4 without writing its journal: everything that
// was not synced is lost, as after a power cut.
const (
	ext4Shutdown = 0x8004587d
	noLogFlush   = 2
)

// Cut cuts the power of an ext4: from now on every access to it fails.
func (d *Disk) Cut() {
	d.t.Helper()
	f, err := os.Open(d.Dir)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(f.Fd()), ext4Shutdown, noLogFlush)
		_ = f.Close()
	}
	if err != nil {
		d.t.Fatalf("cut the power: %v", err)
	}
}

// The requests FIFREEZE and FITHAW of linux/fs.h.
const (
	freeze = 0xc0045877
	thaw   = 0xc0045878
)

// Freeze blocks all writes to an ext4, like a disk that is unreachable for a while, until
// Thaw is called or the test ends. Blocked processes cannot be killed meanwhile.
func (d *Disk) Freeze() {
	d.t.Helper()
	if err := d.control(freeze); err != nil {
		d.t.Fatalf("freeze: %v", err)
	}
	d.t.Cleanup(func() { _ = d.control(thaw) })
}

// Thaw reverses Freeze.
func (d *Disk) Thaw() {
	d.t.Helper()
	if err := d.control(thaw); err != nil {
		d.t.Fatalf("thaw: %v", err)
	}
}

func (d *Disk) control(request uint) error {
	f, err := os.Open(d.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return unix.IoctlSetInt(int(f.Fd()), request, 0)
}

// Remount mounts an ext4 again, which replays its journal, as after a reboot. No file on it
// may be open.
func (d *Disk) Remount() {
	d.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Unmount(d.Dir, 0)
		if err == nil {
			break
		}
		if time.Now().After(end) {
			d.t.Fatalf("unmount: %v", err)
		}
	}
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.Dir).CombinedOutput(); err != nil {
		d.t.Fatalf("mount again: %v\n%s", err, out)
	}
}

const fillFile = "FILL"

// Fill fills the disk up to leave bytes, step by step, like other users of the disk.
func (d *Disk) Fill(leave, step int64, pause time.Duration) {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(d.Dir, fillFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		d.t.Fatal(err)
	}
	for size := fi.Size(); ; time.Sleep(pause) {
		n := min(step, d.Free()-leave)
		if n < 4096 {
			return
		}
		err := unix.Fallocate(int(f.Fd()), 0, size, n)
		switch {
		case err == nil:
			size += n
		case errors.Is(err, unix.ENOSPC) && step > 4096:
			step /= 2
		case errors.Is(err, unix.ENOSPC):
			return
		case !errors.Is(err, unix.EINTR):
			d.t.Fatalf("fill the disk: %v", err)
		}
	}
}

// Empty frees the space taken by Fill.
func (d *Disk) Empty() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.Dir, fillFile)); err != nil {
		d.t.Fatal(err)
	}
}

// Free returns how many bytes are free.
func (d *Disk) Free() int64 {
	var st unix.Statfs_t
	if err := unix.Statfs(d.Dir, &st); err != nil {
		d.t.Fatal(err)
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
