package upgrade

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// TestNeeded tells directories that are upgraded from others.
func TestNeeded(t *testing.T) {
	for _, x := range []struct {
		name   string
		files  map[string]string
		needed bool
		err    string
	}{
		{"empty", nil, false, ""},
		{"format 3", map[string]string{"FORMAT": `{"format":3}`}, true, ""},
		{"objects", map[string]string{"FORMAT": `{"format":1,"shards":4}`}, false, ""},
		{"format 1", map[string]string{"FORMAT": `{"format":1}`}, false, "format 1, this program upgrades format 3: move it away"},
		{"format 2", map[string]string{"FORMAT": `{"format":2}`}, false, "format 2, this program upgrades format 3: move it away"},
		{"newer", map[string]string{"FORMAT": `{"format":4}`}, false, "format 4, this program upgrades format 3: use a newer release"},
		{"nonsense", map[string]string{"FORMAT": `x`}, false, "not a format file"},
		{"no format", map[string]string{"20261120T08/x": ""}, false, "has partitions but no FORMAT"},
		{"another's file", map[string]string{"README": ""}, false, ""},
		{"restoring", map[string]string{"FORMAT.restoring": "", "20261120T08/x": ""}, false, "not restored to its end"},
		{"loading", map[string]string{"LOADING": "", "20261120T08/x": ""}, false, "not exported to its end"},
		{"cut off", map[string]string{"UPGRADED": "{}"}, true, ""},
	} {
		dir := t.TempDir()
		for name, text := range x.files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		needed, err := Needed(dir)
		if needed != x.needed || (err == nil) != (x.err == "") || err != nil && !strings.Contains(err.Error(), x.err) {
			t.Errorf("%s: %v, %v", x.name, needed, err)
		}
		if _, isFormat := errors.AsType[*FormatError](err); isFormat != strings.Contains(x.err, "this program upgrades") {
			t.Errorf("%s: error %T", x.name, err)
		}
		if !x.needed {
			before := treeOf(t, dir)
			if _, rerr := Run(t.Context(), dir, Options{}); (rerr == nil) != (err == nil) || len(treeOf(t, dir)) != len(before) {
				t.Errorf("%s: it was upgraded: %v", x.name, rerr)
			}
		}
	}
	if needed, err := Needed(filepath.Join(t.TempDir(), "none")); needed || err != nil {
		t.Errorf("no directory: %v, %v", needed, err)
	}
}

// TestInUse leaves a directory alone that another process has open.
func TestInUse(t *testing.T) {
	dir, g := unpack(t, "closed"), readGolden(t, "closed")
	lock, err := disk.OpenLock(dir, "ingest")
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Exclusive("write", 0); err != nil {
		t.Fatal(err)
	}
	before := treeOf(t, dir)
	_, err = Run(t.Context(), dir, g.options())
	if x, ok := errors.AsType[*disk.InUseError](err); !ok || x.Dir != dir {
		t.Errorf("a directory in use: %v", err)
	}
	if diff := differ(treeOf(t, dir), before, func(string) bool { return false }); diff != "" {
		t.Errorf("it was changed:\n%s", diff)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), dir, g.options()); err != nil {
		t.Errorf("when nobody uses it any more: %v", err)
	}
}

// TestNoRoom refuses a disk that has no room for both forms, says how much is needed, and goes on when there is more; the space that was
// set aside is released for it.
func TestNoRoom(t *testing.T) {
	dir, g := unpack(t, "closed"), readGolden(t, "closed")
	o := g.options()
	free := int64(1 << 20)
	o.free = func() (int64, error) { return free, nil }
	before := treeOf(t, dir)
	_, err := Run(t.Context(), dir, o)
	x, ok := errors.AsType[*NoRoomError](err)
	if !ok || x.Free != free || x.Need < reserve || !errors.Is(err, disk.ErrNoSpace) || !strings.Contains(err.Error(), "needs ") {
		t.Fatalf("no room: %v", err)
	}
	if diff := differ(treeOf(t, dir), before, func(line string) bool { return strings.HasPrefix(line, workFolder) }); diff != "" {
		t.Errorf("it was changed:\n%s", diff)
	}
	ballast := filepath.Join(dir, ballastFile)
	if err := os.WriteFile(ballast, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.free = func() (int64, error) {
		if _, err := os.Stat(ballast); err != nil {
			return x.Need, nil
		}
		return free, nil
	}
	o.step = func(what string) error { // the disk fills up on the way
		if strings.HasPrefix(what, "put hours/") {
			return objects.ErrNoSpace
		}
		return nil
	}
	if _, err := Run(t.Context(), dir, o); !errors.Is(err, objects.ErrNoSpace) {
		t.Errorf("the disk is full: %v", err)
	}
	o.step = nil
	if stats, err := Run(t.Context(), dir, o); err != nil || stats.Hours == 0 {
		t.Errorf("with room: %+v, %v", stats, err)
	}
}

// TestCanceled ends when its context does, and goes on.
func TestCanceled(t *testing.T) {
	dir, g := unpack(t, "closed"), readGolden(t, "closed")
	o := g.options()
	o.shards = 1 // which is all that the counters below are made for
	for n := 0; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		left, calls := 3, 0
		o.Progress = func(done, of int, traces uint64) {
			if calls++; done > of || of == 0 {
				t.Errorf("%d of %d are done, %d traces", done, of, traces)
			}
			if left--; left == 0 {
				cancel()
			}
		}
		o.step = func(string) error {
			if left--; left == 0 {
				cancel()
			}
			return nil
		}
		left = 10 + n
		stats, err := Run(ctx, dir, o)
		cancel()
		if err == nil {
			if n == 0 || stats.Hours == 0 || calls == 0 {
				t.Errorf("it was not canceled once: %+v", stats)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if diff := differ(g.answers(t, dir), lines(g.text), empty); diff != "" {
		t.Errorf("it answers otherwise:\n%s", diff)
	}
}

// TestBegunAnew forgets what was made of a directory that the release before has written to since.
func TestBegunAnew(t *testing.T) {
	dir, g := unpack(t, "closed"), readGolden(t, "closed")
	o := g.options()
	o.step = (&cutter{left: 40}).step
	if _, err := Run(t.Context(), dir, o); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, workFolder, placeName, "raw", "mark")
	if err := errors.Join(os.MkdirAll(filepath.Dir(mark), 0o700), os.WriteFile(mark, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	commits, err := os.OpenFile(filepath.Join(dir, "20261120T08", "COMMITS"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := commits.Write(make([]byte, 28)); err != nil {
		t.Fatal(err)
	}
	if err := commits.Close(); err != nil {
		t.Fatal(err)
	}
	o.step = nil
	if _, err := Run(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
	if there, err := exists(filepath.Join(dir, "raw", "mark")); there || err != nil {
		t.Errorf("it went on with what was made before: %v", err)
	}
}

// TestInTheWay leaves a file of somebody else alone that has a name of the new form.
func TestInTheWay(t *testing.T) {
	for _, name := range []string{"raw", "upgrade/mine"} {
		dir, g := unpack(t, "closed"), readGolden(t, "closed")
		mine := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(mine), 0o700), os.WriteFile(mine, []byte("mine"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), dir, g.options()); err == nil || !strings.Contains(err.Error(), mine+" is in the way") {
			t.Fatalf("with %s in the way: %v", name, err)
		}
		if needed, err := Needed(dir); !needed || err != nil {
			t.Errorf("%v, %v", needed, err)
		}
		if body, err := os.ReadFile(mine); err != nil || string(body) != "mine" {
			t.Errorf("%s was changed: %v", name, err)
		}
		if err := os.Remove(mine); err != nil {
			t.Fatal(err)
		}
		if stats, err := Run(t.Context(), dir, g.options()); err != nil || stats.Hours == 0 {
			t.Errorf("without %s: %+v, %v", name, stats, err)
		}
	}
}
