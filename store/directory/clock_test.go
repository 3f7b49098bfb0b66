package directory

import (
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// A directory knows when it was used last, by a time that was believed: however often a daemon is started with a clock that is wrong, and
// whatever it writes, that clock is doubted. When it is right again, it is not.
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
	use(Options{}, false) // it is new
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
	use(Options{}, false) // it was believed, which is noted

	d := open(Options{})
	now = now.Add(24*time.Hour + time.Minute) // which goes by while it is open
	if _, err := d.Put(t.Context(), "other", nil, objects.Absent); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	use(Options{}, false)
}
