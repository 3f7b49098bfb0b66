package commits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/faultyfs"
)

// ledger is what a caller knows about a log whose operations may fail.
type ledger struct {
	bodies  map[string][]byte
	put     map[string]bool // acknowledged; others may exist as well
	deleted map[string]bool // acknowledged
	unsure  map[string]bool // the deletion failed
}

func newLedger() *ledger {
	return &ledger{map[string][]byte{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// check compares a log with the commits that must exist and those that may exist.
func (l *ledger) check(t *testing.T, what string, of *Log) {
	t.Helper()
	there := map[string]bool{}
	for _, e := range of.List("", "") {
		there[e.Key] = true
		if l.deleted[e.Key] {
			t.Errorf("%s: %s exists although its deletion was acknowledged", what, e.Key)
		}
		if got, err := of.Get(t.Context(), e.Key, 1<<22); err != nil || !bytes.Equal(got, l.bodies[e.Key]) {
			t.Errorf("%s: %s: got %d bytes, %v, want %d", what, e.Key, len(got), err, len(l.bodies[e.Key]))
		}
	}
	for key := range l.put {
		if !there[key] && !l.deleted[key] && !l.unsure[key] {
			t.Errorf("%s: acknowledged commit %s is missing", what, key)
		}
	}
}

// use puts, reads and deletes commits over three generations, as a node does.
func (l *ledger) use(ctx context.Context, t *testing.T, name string, of *Log, now *time.Time) {
	put := func(n, size int) {
		key := fmt.Sprintf("seg/%s/%d", name, n)
		l.bodies[key] = bytes.Repeat([]byte{byte(n), 7, 9}, size/3)
		if of.Put(ctx, key, l.bodies[key]) == nil {
			l.put[key] = true
		}
	}
	get := func() {
		for _, e := range of.List("", "") {
			body, err := of.Get(ctx, e.Key, 1<<22)
			switch {
			case errors.Is(err, ErrDamaged), errors.Is(err, ErrNotFound):
				t.Errorf("%s: got %v, but a fault is neither damage nor a deletion", e.Key, err)
			case err == nil && !bytes.Equal(body, l.bodies[e.Key]):
				t.Errorf("%s: got %d bytes, want %d", e.Key, len(body), len(l.bodies[e.Key]))
			}
		}
	}
	remove := func(n ...int) {
		for _, n := range n {
			key := fmt.Sprintf("seg/%s/%d", name, n)
			if !l.put[key] {
				continue // no caller deletes it
			}
			if of.Delete(ctx, key) == nil {
				l.deleted[key] = true
			} else {
				l.unsure[key] = true
			}
		}
	}
	put(1, 100)
	put(2, 2*maxPart)
	get()
	*now = now.Add(2 * time.Hour)
	put(3, 100)
	of.settle()
	get()
	remove(1)
	*now = now.Add(2 * time.Hour)
	put(4, 100)
	of.settle()
	remove(2, 3) // the first two generations can be removed now
	get()
}

// Each file operation of a log fails once, and so does each call of Badger. All acknowledged
// commits exist after a start, even if the process was killed, and none of them counts as damaged.
func TestEachOperationFails(t *testing.T) {
	runs := 0
	faultyfs.Sweep(t, nil, 3, func(t *testing.T, f *faultyfs.FS, begin, end func()) {
		dir := filepath.Join(t.TempDir(), "commits")
		now := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
		warn := func(err error) {
			if strings.Contains(err.Error(), "lost") {
				t.Error(err)
			}
		}
		o := Options{FS: f, Now: func() time.Time { return now }, Warn: warn}
		start := func(what string, o Options, dir string) *Log {
			t.Helper()
			l, err := Open(dir, o)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			return l
		}
		want := newLedger()
		l := start("before", o, dir)
		want.use(t.Context(), t, "before", l, &now)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}

		runs++
		begin()
		l, err := Open(dir, o)
		if err == nil {
			want.use(t.Context(), t, "during", l, &now)
			if runs%2 == 0 { // otherwise it is killed
				_ = l.Close()
			}
			l.settle()
		}
		end()
		if err == nil {
			defer func() {
				_ = l.Close()
				for _, g := range l.generations { // after some faults Close leaves them open
					_ = g.close()
				}
			}()
		}
		image := filepath.Join(t.TempDir(), "commits")
		if err := os.CopyFS(image, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		l = start("after", Options{Now: o.Now, Warn: warn}, image)
		want.check(t, "after", l)
		want.use(t.Context(), t, "after", l, &now)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = start("at the end", Options{Now: o.Now, Warn: warn}, image)
		want.check(t, "at the end", l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
