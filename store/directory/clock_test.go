package directory

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// A directory records its last use by a trusted clock. A wrong clock is doubted, however many times
// a daemon is started with it and whatever it writes. A correct clock is not doubted.
func TestLastUsed(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	open := func(o Options) *Directory {
		t.Helper()
		o.MinFree, o.Now = -1, func() time.Time { return now }
		d, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	use := func(o Options, doubted bool) {
		t.Helper()
		d := open(o)
		if err := d.Clock().Doubt(); (err != nil) != doubted {
			t.Errorf("at %v: %v, want a doubt: %v", now, err, doubted)
		}
		tag := objects.Absent
		if got, err := d.Get(t.Context(), "manifest", 1<<10, ""); err == nil {
			tag = objects.Is(got.Tag)
		}
		if _, err := d.Put(t.Context(), "manifest", []byte(now.String()), tag); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	use(Options{}, false) // the directory is new
	right := now.Add(20 * time.Hour)
	now = right
	use(Options{}, false)
	for range 3 {
		now = now.Add(400 * 24 * time.Hour)
		use(Options{}, true)
	}
	now = right.Add(time.Hour)
	use(Options{}, false)
	now = right.Add(30 * 24 * time.Hour)
	use(Options{BelieveClock: true}, false)
	use(Options{}, false) // the clock was trusted, so the use was recorded

	d := open(Options{})
	now = now.Add(24*time.Hour + time.Minute) // time passes while it is open
	if _, err := d.Put(t.Context(), "other", nil, objects.Absent); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	use(Options{}, false)
}

// A directory was last used 420 days ago. However its first starts end, the next start doubts the
// clock, so nothing is deleted by age.
func TestDoubtIsNotForgotten(t *testing.T) {
	prepare := func(t *testing.T) string {
		dir := t.TempDir()
		now := time.Now().Add(-420 * 24 * time.Hour)
		d, err := Open(dir, Options{MinFree: -1, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Put(t.Context(), objects.Marker, []byte("x"), objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	doubts := func(t *testing.T, dir string) {
		d, err := Open(dir, Options{MinFree: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if d.Clock().Doubt() == nil {
			t.Error("the clock is trusted")
		}
	}
	t.Run("one start", func(t *testing.T) { doubts(t, prepare(t)) })
	t.Run("two starts", func(t *testing.T) {
		dir := prepare(t)
		doubts(t, dir)
		doubts(t, dir)
	})
	t.Run("killed after it took the lock", func(t *testing.T) {
		dir := prepare(t)
		l, err := disk.OpenLock(dir, "ingest") // like Open
		if err == nil {
			err = l.Exclusive("write", time.Second)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.Release() // like the kernel
		doubts(t, dir)
	})
	t.Run("a start that fails", func(t *testing.T) {
		dir := prepare(t)
		commits := filepath.Join(dir, Commits)
		if err := os.RemoveAll(commits); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(commits, nil, 0o600); err != nil { // unreadable, as after an I/O error
			t.Fatal(err)
		}
		if _, err := Open(dir, Options{MinFree: -1}); err == nil {
			t.Fatal("Open succeeds")
		}
		if err := os.Remove(commits); err != nil {
			t.Fatal(err)
		}
		doubts(t, dir)
	})
	t.Run("a time that cannot be read", func(t *testing.T) {
		dir := prepare(t)
		if err := os.WriteFile(filepath.Join(dir, Used), []byte("2026-\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := Open(dir, Options{MinFree: -1}); err == nil {
			d.Close()
			t.Error("Open succeeds and ignores the last use")
		}
	})
}

// Objects that are stored while the clock is 420 days behind get the time of the last use, plus the
// time since the start.
func TestClockBehind(t *testing.T) {
	dir := t.TempDir()
	right := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	now := right
	list := func(o Options) (at time.Time) {
		t.Helper()
		o.MinFree, o.Now = -1, func() time.Time { return now }
		d, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{objects.Fresh + now.Format("20060102"), "raw/" + now.Format("20060102")} {
			if _, err := d.Put(t.Context(), key, []byte("x"), objects.Condition{}); err != nil {
				t.Fatal(err)
			}
			for e, err := range d.List(t.Context(), key, "") {
				if err != nil {
					t.Fatal(err)
				}
				at = e.Modified
			}
			if !at.Equal(d.Clock().Now()) {
				t.Errorf("%s has the time %v at %v", key, at, d.Clock().Now())
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return at
	}
	list(Options{})
	now = right.Add(-420 * 24 * time.Hour)
	if at := list(Options{}); !at.Equal(right) {
		t.Errorf("an object has the time %v, want the last use, %v", at, right)
	}
	if at := list(Options{BelieveClock: true}); !at.Equal(now) {
		t.Errorf("an object has the time %v, want %v, which an operator believes", at, now)
	}
}
