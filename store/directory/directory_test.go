package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

func open(t *testing.T, dir string, o Options) *Directory {
	t.Helper()
	o.MinFree = -1
	d, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// respelled returns another spelling of the path of a directory.
func respelled(t *testing.T, r *rand.Rand, dir string) string {
	t.Helper()
	if r.IntN(3) == 0 {
		here, err := os.Getwd()
		if err == nil {
			dir, err = filepath.Rel(here, dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		dir = []string{"", "./", ".//"}[r.IntN(3)] + dir
	}
	return strings.ReplaceAll(dir, "/", []string{"/", "//", "/./"}[r.IntN(3)]) + []string{"", "/", "/.",
		"/x/.."}[r.IntN(4)]
}

// A directory and a bucket return the same results for random calls.
func TestSameAsBucket(t *testing.T) {
	fakebucket.Env(t.Setenv)
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 30 {
		b := fakebucket.New(uint64(round)).Client().Bucket(time.Now)
		dir := t.TempDir()
		d := open(t, respelled(t, r, dir), Options{})
		tags := map[objects.Tag]objects.Tag{} // of the directory, by the tags of the bucket
		var known []objects.Tag               // of the bucket
		for step := range 400 {
			key := randomKey(r)
			did, got, want := "", "", ""
			switch r.IntN(10) {
			case 0, 1, 2, 3:
				body, c := bytes.Repeat([]byte{byte(r.IntN(4))}, r.IntN(5)), objects.Condition{}
				of := c
				switch {
				case r.IntN(3) == 0:
					c, of = objects.Absent, objects.Absent
				case r.IntN(2) == 0 && len(known) > 0:
					of = objects.Is(known[r.IntN(len(known))])
					c = objects.Is(tags[of.Tag])
				}
				did = fmt.Sprintf("put %s %v %v", key, body, c)
				tag, err := d.Put(t.Context(), key, body, c)
				theirs, theirErr := b.Put(t.Context(), key, body, of)
				if err == nil && theirErr == nil {
					tags[theirs] = tag
					known = append(known, theirs)
				}
				got, want = outcome(err), outcome(theirErr)
			case 4, 5:
				did = "get " + key
				var of objects.Tag
				if len(known) > 0 && r.IntN(2) == 0 {
					of = known[r.IntN(len(known))]
				}
				got, want = gotten(d.Get(t.Context(), key, 4, tags[of])), gotten(b.Get(t.Context(), key, 4, of))
			case 6:
				offset, n := int64(r.IntN(6)-3), int64(1+r.IntN(3))
				did = fmt.Sprintf("range %s %d %d", key, offset, n)
				got, want = part(d.Range(t.Context(), key, offset, n)), part(b.Range(t.Context(), key, offset, n))
			case 7:
				keys := []string{key, randomKey(r)}
				did = fmt.Sprintf("delete %q", keys)
				got, want = outcome(d.Delete(t.Context(), keys...)), outcome(b.Delete(t.Context(), keys...))
			default:
				prefix, after := randomKey(r), ""
				prefix = prefix[:r.IntN(len(prefix)+1)]
				if r.IntN(2) == 0 {
					after = randomKey(r)
				}
				did = fmt.Sprintf("list %q after %q", prefix, after)
				got, want = listed(t.Context(), d, prefix, after), listed(t.Context(), b, prefix, after)
			}
			if got != want {
				t.Fatalf("round %d, step %d: %s: got %s, want %s", round, step, did, got, want)
			}
			if r.IntN(50) == 0 {
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				d = open(t, dir, Options{})
			}
		}
	}
}

// randomKey returns one of a few keys, some of which are prefixes of others. A directory cannot
// contain a file and a folder of the same name, and no two keys require that.
func randomKey(r *rand.Rand) string {
	folders := []string{"", "a/", "a-/", "a/b/", "ab/c/d/", "z/"}
	names := []string{"x", "x-1", "x.1", "y", "xx"}
	return folders[r.IntN(len(folders))] + names[r.IntN(len(names))]
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, objects.ErrConflict):
		return "conflict"
	case errors.Is(err, objects.ErrNotFound):
		return "not found"
	}
	return "an error"
}

func gotten(o *objects.Object, err error) string {
	if err != nil || o == nil {
		return outcome(err)
	}
	return fmt.Sprint(o.Body)
}

func part(body []byte, size int64, err error) string {
	if err != nil {
		return "none" // stores report this in different ways
	}
	return fmt.Sprint(body, size)
}

func listed(ctx context.Context, s objects.Store, prefix, after string) string {
	var out []string
	for e, err := range s.List(ctx, prefix, after) {
		if err != nil {
			return outcome(err)
		}
		out = append(out, fmt.Sprint(e.Key, " ", e.Size))
	}
	return strings.Join(out, ", ")
}

// Of several concurrent puts with the same condition, exactly one succeeds, and readers see either
// version and nothing in between.
func TestOneWins(t *testing.T) {
	d := open(t, t.TempDir(), Options{})
	tag, err := d.Put(t.Context(), "shard/0", []byte("0"), objects.Absent)
	if err != nil {
		t.Fatal(err)
	}
	for round := 1; round <= 20; round++ {
		var won atomic.Int64
		var next objects.Tag
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				if i%2 == 0 {
					got, err := d.Get(t.Context(), "shard/0", 1<<20, "")
					if err != nil || len(bytes.Trim(got.Body, string(got.Body[:1]))) > 0 {
						t.Errorf("got %v", err)
					}
					return
				}
				mine, err := d.Put(t.Context(), "shard/0", bytes.Repeat([]byte{byte('a' + i)}, 100000+round),
					objects.Is(tag))
				if err == nil {
					won.Add(1)
					next = mine
				} else if !errors.Is(err, objects.ErrConflict) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 {
			t.Fatalf("round %d: %d puts succeeded, want 1", round, won.Load())
		}
		tag = next
	}
}

// A crash leaves incomplete files. They are not objects, and the next start deletes them.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, Options{})
	for _, key := range []string{"raw/1", objects.Marker} {
		if _, err := d.Put(t.Context(), key, []byte("x"), objects.Condition{}); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(dir, "raw", "2.7"+tempSuffix)
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := listed(t.Context(), d, "", ""); got != "FORMAT 1, raw/1 1" {
		t.Errorf("got %s", got)
	}
	if _, err := d.Get(t.Context(), "raw/2.7"+tempSuffix, 10, ""); err == nil {
		t.Error("an incomplete file is returned as an object")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir, Options{})
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that it was deleted", err)
	}
}

// A directory that does not contain objects is not changed: no file is deleted, and no permission
// is removed.
func TestNotOurs(t *testing.T) {
	dir := t.TempDir()
	theirs := filepath.Join(dir, "letter"+tempSuffix)
	if err := errors.Join(os.WriteFile(theirs, []byte("x"), 0o644), os.Chmod(theirs, 0o644)); err != nil {
		t.Fatal(err)
	}
	open(t, dir, Options{})
	if info, err := os.Stat(theirs); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("got %v, %v", info, err)
	}
}

// Only one process writes, while others read.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, Options{Program: "ingest"})
	_, err := Open(dir, Options{Program: "other"})
	if x, ok := errors.AsType[*disk.InUseError](err); !ok || x.Program != "ingest" {
		t.Fatalf("got %v", err)
	}
	if _, err := d.Put(t.Context(), "FORMAT", []byte("{}"), objects.Absent); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir, Options{ReadOnly: true})
	if got, err := r.Get(t.Context(), "FORMAT", 10, ""); err != nil || string(got.Body) != "{}" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := r.Put(t.Context(), "x", nil, objects.Condition{}); err == nil {
		t.Error("a read-only directory accepts a put")
	}
	if err := r.Delete(t.Context(), "FORMAT"); err == nil {
		t.Error("a read-only directory accepts a deletion")
	}
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if _, err := d.Put(t.Context(), "x", nil, objects.Condition{}); err == nil {
		t.Error("a closed directory accepts a put")
	}
	if err := d.Delete(t.Context(), "FORMAT"); err == nil {
		t.Error("a closed directory accepts a deletion")
	}
	if _, err := Open(filepath.Join(dir, "none"), Options{ReadOnly: true}); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
}

// Keys cannot leave the directory, or name files that are not objects.
func TestKeys(t *testing.T) {
	d := open(t, t.TempDir(), Options{})
	for _, key := range []string{"", "../x", "/x", "a/../../x", "a/../x", "a//x", "./x", "a/./x", "LOCK",
		"fieldtrie.sock", "x.tmp"} {
		if _, err := d.Put(t.Context(), key, nil, objects.Condition{}); err == nil {
			t.Errorf("put of invalid key %q succeeded", key)
		}
		if _, err := d.Get(t.Context(), key, 10, ""); err == nil {
			t.Errorf("get of invalid key %q succeeded", key)
		}
		if err := d.Delete(t.Context(), key); err == nil {
			t.Errorf("deletion of invalid key %q succeeded", key)
		}
	}
	if _, _, err := d.Range(t.Context(), "none", 0, 1); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := d.Put(t.Context(), "a/b", []byte("12"), objects.Condition{}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Get(t.Context(), "a", 10, ""); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a folder: got %v", err)
	}
	if _, _, err := d.Range(t.Context(), "a/b", 1, 2); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if err := d.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	if got := listed(t.Context(), d, "", ""); got != "a/b 2" {
		t.Errorf("got %s after a probe", got)
	}
}

// A disk that is filling up first rejects incoming objects, then all others, with ErrNoSpace.
// Deleting objects frees space.
func TestFull(t *testing.T) {
	fs := scratchdisk.Tmpfs(t, 192<<20)
	dir := filepath.Join(fs.Dir, "data")
	const minFree = 64 << 20 // much larger than a log of 8 MiB
	d, err := Open(dir, Options{MinFree: minFree})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	body := make([]byte, 1<<20)
	fill := func(prefix string) (n int) {
		for ; n < 300; n++ {
			time.Sleep(11 * time.Millisecond) // the free space is checked every 10 ms
			_, err := d.Put(t.Context(), fmt.Sprint(prefix, n), body, objects.Condition{})
			if errors.Is(err, objects.ErrNoSpace) {
				if !objects.Refused(err) || objects.Temporary(err) {
					t.Errorf("%v allows a retry", err)
				}
				return n
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	// The log of a generation takes 8 MiB until Badger has closed it in the background.
	n := fill(objects.Fresh + "0")
	time.Sleep(time.Second)
	if n += fill(objects.Fresh + "1"); n < 108 || n > 128 {
		t.Errorf("%d MiB fit, want some 120", n)
	}
	time.Sleep(time.Second)
	if n := fill("raw/"); n < 20 || n > 32+8+4 {
		t.Errorf("%d MiB more fit, want some 32, and the 8 MiB of a log that was closed meanwhile", n)
	}
	time.Sleep(time.Second)
	if r := d.Room(); !r.Refusing || !r.Full(0) || r.Needed != minFree || r.Free > r.Needed {
		t.Errorf("got %+v of a full disk", r)
	}
	if err := d.Unready(); !errors.Is(err, objects.ErrNoSpace) {
		t.Errorf("got %v", err)
	}
	for i := range 60 {
		if err := d.Delete(t.Context(), fmt.Sprint(objects.Fresh+"0", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; d.Unready() != nil && i < 100; i++ { // Badger deletes in the background
		time.Sleep(100 * time.Millisecond)
	}
	if r := d.Room(); r.Refusing || r.Full(0) || !r.Full(r.Free-r.Needed+1) {
		t.Errorf("got %+v when there is space again", r)
	}
	if err := d.Unready(); err != nil {
		t.Errorf("got %v", err)
	}
	if n := fill(objects.Fresh + "more"); n == 0 {
		t.Error("there is no space")
	}
}

func TestLocation(t *testing.T) {
	for text, want := range map[string]string{"file:///var/lib/x": "/var/lib/x", "file:///a/b/": "/a/b",
		"file:///with%20space": "/with space"} {
		if got, err := ParseLocation(text); err != nil || got != want || !IsLocation(text) {
			t.Errorf("%s: got %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"file://relative/path", "file:///", "file:relative", "file:///x?y=z", "file:///x#y",
		"file://u@/x", "s3://a/b", "file:///%zz"} {
		if got, err := ParseLocation(text); err == nil {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

// A fresh object that is damaged on disk is returned with its remaining bytes, because an error of
// the store would be retried indefinitely. It is never returned without bytes.
func TestDamagedCommit(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, Options{})
	key, body := objects.Fresh+"a", bytes.Repeat([]byte("abc"), 100)
	if _, err := d.Put(t.Context(), key, body, objects.Condition{}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir, Options{})
	tables, err := filepath.Glob(filepath.Join(dir, Commits, "*", "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("got %v, %v", tables, err)
	}
	data, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	data[bytes.Index(data, []byte("abcabc"))]++
	if err := os.WriteFile(tables[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := d.Get(t.Context(), key, 1000, "")
	if err != nil || len(got.Body) != len(body) || bytes.Equal(got.Body, body) || !bytes.Equal(got.Body[1:], body[1:]) {
		t.Errorf("got %v, %v", got, err)
	}
	if err := os.Remove(tables[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Get(t.Context(), key, 1000, ""); err == nil || errors.Is(err, objects.ErrNotFound) {
		t.Errorf("without its table: got %v, %v", got, err)
	}
}

// LOCK is removed while a process writes, as by a tool that deletes old files. A second writer is
// rejected nevertheless.
func TestLockRemoved(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, Options{})
	if err := os.Remove(filepath.Join(dir, disk.LockFile)); err != nil {
		t.Fatal(err)
	}
	if second, err := Open(dir, Options{MinFree: -1}); err == nil {
		second.Close()
		t.Error("two processes write to one directory")
	}
	if _, err := first.Put(t.Context(), objects.Fresh+"a", []byte("x"), objects.Condition{}); err != nil {
		t.Error(err)
	}
}
