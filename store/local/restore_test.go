package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/local"
)

// A stream that is not what was written is refused, the entry is named, and nothing is left.
func TestRestoreDamaged(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	s := variedStore(t, t.TempDir(), c)
	want := answers(t, s.Reader, c.Now())
	var b bytes.Buffer
	if _, err := s.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	o := variedOptions(t, c)
	mustClose(t, s)
	whole := b.Bytes()
	r := rand.New(rand.NewPCG(5, 6))
	refused := 0
	try := func(what string, stream []byte, must bool) {
		t.Helper()
		to := filepath.Join(t.TempDir(), "restored")
		_, err := local.Restore(t.Context(), bytes.NewReader(stream), to, o, nil)
		if err != nil {
			refused++
			if _, e := os.Lstat(to); !errors.Is(e, fs.ErrNotExist) {
				t.Errorf("%s: something is left: %v", what, e)
			}
			if !strings.Contains(err.Error(), "the backup is damaged or cut off") && !strings.Contains(err.Error(), "use a newer release") {
				t.Errorf("%s: %v", what, err)
			}
			return
		}
		if must {
			t.Errorf("%s: nothing is wrong", what)
		}
		reader, err := local.OpenReader(to, o)
		if err != nil {
			t.Fatal(err)
		}
		defer mustClose(t, reader)
		sameAnswers(t, answers(t, reader, c.Now()), want) // it was not in what counts
	}
	size := len(whole) - 1024 // the end of a tar file are two blocks of zeros
	for range 20 {
		n := r.IntN(size)
		try(fmt.Sprintf("cut off at %d of %d", n, size), whole[:n], true)
	}
	for n := 512; n < 5*512; n += 512 {
		try(fmt.Sprintf("cut off at %d", n), whole[:n], true)
	}
	for range 30 {
		n := r.IntN(len(whole))
		flipped := bytes.Clone(whole)
		flipped[n] ^= 1 << r.IntN(8)
		try(fmt.Sprintf("byte %d of %d", n, len(whole)), flipped, false)
	}
	if refused < 20+4+15 { // DISCARD is 1 MiB of zeros, which are in the sums as well
		t.Errorf("%d streams were refused", refused)
	}
}

// What is flipped is named.
func TestRestoreNames(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	s := variedStore(t, t.TempDir(), c)
	var b bytes.Buffer
	if _, err := s.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"backup.json", "sums/20261121.hours.sums", "/ENTRIES.000001", "/COMMITS", "/000002.sst"} {
		at := bytes.Index(b.Bytes(), []byte(name))
		if at < 0 {
			t.Fatalf("no entry %s", name)
		}
		start := bytes.LastIndexByte(b.Bytes()[:at], 0) + 1
		entry := string(b.Bytes()[start : at+len(name)])
		flipped := bytes.Clone(b.Bytes())
		flipped[start+512+20] ^= 4
		_, err := local.Restore(t.Context(), bytes.NewReader(flipped), filepath.Join(t.TempDir(), "x"), variedOptions(t, c), nil)
		if err == nil || !strings.Contains(err.Error(), "entry "+entry+" does not have") {
			t.Errorf("%s: got %v", entry, err)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	s := variedStore(t, t.TempDir(), c)
	var b bytes.Buffer
	if _, err := s.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "mine")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := local.Restore(t.Context(), bytes.NewReader(b.Bytes()), dir, variedOptions(t, c), nil)
	if err == nil || !strings.Contains(err.Error(), "it is not empty (mine is there): use a new directory") {
		t.Errorf("into a directory with a file: %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	// One that is empty stays, one that was cut off is no data directory.
	empty := t.TempDir()
	if _, err := local.Restore(t.Context(), bytes.NewReader(b.Bytes()[:b.Len()/2]), empty, variedOptions(t, c), nil); err == nil {
		t.Error("half a backup was restored")
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	if _, err := local.Restore(t.Context(), bytes.NewReader(b.Bytes()), empty, variedOptions(t, c), nil); err != nil {
		t.Errorf("into an empty directory: %v", err)
	}
	// As after kill -9.
	if err := os.Rename(filepath.Join(empty, "FORMAT"), filepath.Join(empty, "FORMAT.restoring")); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() error{
		"Open":       func() error { _, err := local.Open(empty, variedOptions(t, c)); return err },
		"OpenReader": func() error { _, err := local.OpenReader(empty, variedOptions(t, c)); return err },
		"Restore": func() error {
			_, err := local.Restore(t.Context(), bytes.NewReader(b.Bytes()), empty, variedOptions(t, c), nil)
			return err
		},
	} {
		if err := open(); err == nil || !strings.Contains(err.Error(), "delete it and") {
			t.Errorf("%s of a directory that is half restored: %v", name, err)
		}
	}
	// A context that ends.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := filepath.Join(t.TempDir(), "x")
	if _, err := local.Restore(ctx, bytes.NewReader(b.Bytes()), to, variedOptions(t, c), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Backup(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Backup(t.Context(), failing{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
