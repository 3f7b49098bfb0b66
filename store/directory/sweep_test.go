package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/faultyfs"
)

// ledger is what a caller knows about a directory whose operations may fail: the possible contents
// of each key, where nil means no object.
type ledger struct {
	t    *testing.T
	may  map[string][][]byte
	tags map[string]objects.Tag // tags of manifests, as the caller knows them
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t, map[string][][]byte{}, map[string]objects.Tag{}}
}

// put puts an object. After an error the object may have its former or its new content, but after
// ErrConflict and ErrNoSpace only its former.
func (l *ledger) put(d *Directory, key, text string, c objects.Condition) {
	body := []byte(text)
	tag, err := d.Put(l.t.Context(), key, body, c)
	switch {
	case err == nil:
		l.may[key] = [][]byte{body}
		l.tags[key] = tag
	case errors.Is(err, objects.ErrConflict):
		l.t.Errorf("put %s: got %v although no other process puts it", key, err)
	case !errors.Is(err, objects.ErrNoSpace):
		if len(l.may[key]) == 0 {
			l.may[key] = [][]byte{nil}
		}
		l.may[key] = append(l.may[key], body)
	}
}

// replace replaces the current version of a manifest.
func (l *ledger) replace(d *Directory, key, text string) {
	c := objects.Absent
	switch got, err := d.Get(l.t.Context(), key, 1<<20, ""); {
	case err == nil:
		c = objects.Is(got.Tag)
	case !errors.Is(err, objects.ErrNotFound):
		return
	}
	l.put(d, key, text, c)
}

func (l *ledger) delete(d *Directory, keys ...string) {
	err := d.Delete(l.t.Context(), keys...)
	for _, key := range keys {
		if err == nil {
			l.may[key] = [][]byte{nil}
		} else if len(l.may[key]) > 0 {
			l.may[key] = append(l.may[key], nil)
		}
	}
}

// look gets and lists all objects. If certain is set, no call may fail.
func (l *ledger) look(d *Directory, what string, certain bool) {
	l.t.Helper()
	listed, failed := map[string]int64{}, false
	for e, err := range d.List(l.t.Context(), "", "") {
		if err != nil {
			failed = true
			break
		}
		listed[e.Key] = e.Size
	}
	for key, may := range l.may {
		got, err := d.Get(l.t.Context(), key, 1<<22, "")
		var body []byte
		switch {
		case err == nil:
			body = got.Body
		case !errors.Is(err, objects.ErrNotFound):
			if certain || errors.Is(err, objects.ErrDamaged) {
				l.t.Errorf("%s: %s: %v", what, key, err)
			}
			continue
		}
		ok, none := false, false
		for _, b := range may {
			ok = ok || (b == nil) == (body == nil) && bytes.Equal(b, body)
			none = none || b == nil
		}
		if !ok {
			l.t.Errorf("%s: %s: got %d bytes, %v, want one of %d possible contents", what, key, len(body),
				err, len(may))
		}
		if size, there := listed[key]; !failed && !none && (!there || size != int64(len(body))) {
			l.t.Errorf("%s: %s is not in the list", what, key)
		}
	}
	if failed && certain {
		l.t.Errorf("%s: the list fails", what)
	}
}

// use puts, replaces, deletes and reads objects, as a node does.
func (l *ledger) use(d *Directory, name string, now *time.Time) {
	long := string(bytes.Repeat([]byte(name), 1000))
	l.put(d, "seg/1/"+name, long+"1", objects.Condition{})
	l.put(d, "raw/1/"+name, long+"2", objects.Condition{})
	l.replace(d, "shard/1/MANIFEST", "first of "+name)
	l.look(d, name, false)
	*now = now.Add(2 * time.Hour)
	l.put(d, "seg/2/"+name, long+"3", objects.Condition{}) // in another generation
	l.replace(d, "shard/1/MANIFEST", "second of "+name)
	l.delete(d, "seg/1/"+name)
	l.delete(d, "raw/1/"+name)
	l.put(d, "raw/2/"+name, long+"4", objects.Condition{})
	l.look(d, name, false)
}

// Each file operation of a directory fails once, and so does each call of Badger. All acknowledged
// objects exist after a start, no object is incomplete, each manifest has its former or its new
// content, and no object counts as missing or damaged.
func TestEachOperationFails(t *testing.T) {
	faultyfs.Sweep(t, nil, 3, func(t *testing.T, f *faultyfs.FS, begin, end func()) {
		dir := t.TempDir()
		now := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
		o := Options{MinFree: -1, FS: f, Now: func() time.Time { return now }}
		l := newLedger(t)
		use := func(what string) {
			t.Helper()
			d, err := Open(dir, o)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if d.Lost() > 0 {
				t.Errorf("%s: %d commits are lost", what, d.Lost())
			}
			l.look(d, what, true)
			l.use(d, what, &now)
			l.look(d, what, true)
			if err := d.Close(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		d, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		l.put(d, objects.Marker, "format", objects.Absent)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		use("before")
		begin()
		if d, err := Open(dir, o); err == nil {
			l.use(d, "during", &now)
			_ = d.Probe(t.Context())
			_ = d.Close()
		}
		end()
		use("after")
		use("at last")
	})
}

// A fault that lasts is in readiness until it is over, with or without requests.
func TestUnreadyUntilItWorks(t *testing.T) {
	f := &faultyfs.FS{}
	d := open(t, t.TempDir(), Options{FS: f})
	f.Set(faultyfs.Fault{N: 1, Stays: true})
	for i := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if _, err := d.Put(ctx, fmt.Sprint("seg/", i), []byte("x"), objects.Condition{}); err == nil {
			t.Error("it was put")
		}
		cancel()
		if d.Unready() == nil {
			t.Error("it is ready")
		}
	}
	f.Set(faultyfs.Fault{})
	if d.Unready() == nil {
		t.Error("it is ready before a write has succeeded")
	}
	if _, err := d.Put(t.Context(), "seg/more", []byte("x"), objects.Condition{}); err != nil || d.Unready() != nil {
		t.Error(err, d.Unready())
	}
}
