package commits_test

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/commits"
)

func openLog(t *testing.T, dir string) *commits.Log {
	t.Helper()
	l, err := commits.Open(dir, commits.Options{Warn: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// The active generation keeps its folder even if all of its commits are deleted.
func TestOpenGenerationStays(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	for round := range 3 {
		key := fmt.Sprint("seg/", round)
		if err := l.Put(t.Context(), key, []byte("body")); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(before) != 1 || len(after) != 1 || before[0].Name() != after[0].Name() {
			t.Fatalf("round %d: the folder has %v, and %v after its only commit was deleted", round, before, after)
		}
	}
}

// A commit survives a restart if all other commits are deleted while it is written.
func TestPutDuringDelete(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	large := bytes.Repeat([]byte("0123456789abcdef"), 2<<20/16) // stored in several steps
	for round := range 4 {
		small := fmt.Sprintf("seg/%d/small", round)
		if err := l.Put(t.Context(), small, []byte("body")); err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("seg/%d/large", round)
		var group sync.WaitGroup
		group.Go(func() {
			if err := l.Put(t.Context(), key, large); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Duration(round) * time.Millisecond)
		if err := l.Delete(t.Context(), small); err != nil {
			t.Error(err)
		}
		group.Wait()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		l = openLog(t, dir)
		if got, err := l.Get(t.Context(), key, int64(len(large))); err != nil || !bytes.Equal(got, large) {
			t.Fatalf("round %d: got %d bytes and error %v after a start, want the %d bytes that were put",
				round, len(got), err, len(large))
		}
		if list := l.List("", ""); len(list) != 1 {
			t.Errorf("round %d: got %v after a start, want one commit", round, list)
		}
		if err := l.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
}
