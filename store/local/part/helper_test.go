package part

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// noon is when most tests begin.
var noon = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

// smallMem keeps tests light; it is the least Badger takes with values of 1 MiB.
const smallMem = 8 << 20

func testOptions(t testing.TB, dir string) Options {
	log := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	return Options{Width: time.Hour, MemTableSize: smallMem, MaxOpen: 8, Log: log,
		Space:  disk.NewSpace(dir, disk.SpaceOptions{MinFree: 1 << 20, Log: log}),
		Failed: func(err error) { t.Errorf("a partition could not be closed: %v", err) }}
}

// open opens a shelf, and recovers what a crash has left.
func open(t testing.TB, dir string) *Shelf {
	t.Helper()
	return openWith(t, dir, testOptions(t, dir))
}

func openWith(t testing.TB, dir string, o Options) *Shelf {
	t.Helper()
	s, dirty, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	s.Recover(dirty)
	t.Cleanup(func() { closeShelf(t, s) })
	return s
}

// closeShelf closes a shelf as a store does. It may be called again.
func closeShelf(t testing.TB, s *Shelf) {
	t.Helper()
	if err := s.CloseWriters(context.Background(), true); err != nil {
		t.Errorf("close: %v", err)
	}
	s.CloseReaders()
}

// idOf returns the id of entry n.
func idOf(n int) (id store.ID) {
	binary.BigEndian.PutUint64(id.View[:], uint64(n)*0x9E3779B97F4A7C15) // spread over the key space
	id.Chunk = uint32(n)
	return id
}

// valueOf returns the value of entry n, so that a wrong one is seen.
func valueOf(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	b := make([]byte, 200+r.IntN(800))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// put commits entries that are not known yet, and returns how many that were.
func put(t testing.TB, s *Shelf, now time.Time, from, to int) int {
	t.Helper()
	stored, err := tryPut(s, now, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func tryPut(s *Shelf, now time.Time, from, to int) (stored int, err error) {
	w, _, err := s.Writer(now)
	if err != nil {
		return 0, err
	}
	err = w.Commit(func(b *Batch) (bool, error) {
		for n := from; n < to; n++ {
			key := record.AppendIDKey(nil, idOf(n))
			if b.Known(key) {
				continue
			}
			if err := b.Set(key, valueOf(n)); err != nil {
				return false, err
			}
			stored++
		}
		b.Count = record.Commit{Traces: uint32(stored), Entries: uint32(stored), Received: now.UnixMicro()}
		return stored > 0, nil
	})
	return stored, err
}

// readAll returns how many entries a partition has. It fails on one that came back changed.
func readAll(ctx context.Context, s *Shelf, p *Partition) (found int, err error) {
	err = s.Read(ctx, p, func(txn *Txn) error {
		it := txn.Iterate([]byte{record.KindID}, 0)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			id := record.ParseID(it.Key()[1:])
			err := it.Value(func(b []byte) error {
				if id != idOf(int(id.Chunk)) || !bytes.Equal(b, valueOf(int(id.Chunk))) {
					return fmt.Errorf("entry %d came back changed", id.Chunk)
				}
				return nil
			})
			if err != nil {
				return err
			}
			found++
		}
		return nil
	})
	return found, err
}

// wantEntries checks how many entries there are in all partitions, and that none is lost.
func wantEntries(t testing.TB, s *Shelf, want int) {
	t.Helper()
	got := 0
	for _, p := range s.All() {
		n, err := readAll(t.Context(), s, p.Partition)
		if err != nil {
			t.Errorf("partition %s: %v", p.Name, err)
		}
		if p.LostTraces > 0 || uint64(n) != p.Traces {
			t.Errorf("partition %s: %d entries found, %d known, %d lost", p.Name, n, p.Traces, p.LostTraces)
		}
		got += n
	}
	if got != want {
		t.Errorf("got %d entries, want %d", got, want)
	}
	if asides := s.Asides(); len(asides) > 0 {
		t.Errorf("set aside: %+v", asides)
	}
}

// filled returns a directory with n entries in the partition of noon, cleanly closed, and the
// path of that partition.
func filled(t testing.TB, n int) (dir, part string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir)
	for i := 0; i < n; i += 10 {
		put(t, s, noon, i, min(i+10, n))
	}
	closeShelf(t, s)
	return dir, filepath.Join(dir, Name(StartOf(noon, time.Hour)))
}

// crashed is filled, but as a kill leaves it.
func crashed(t testing.TB, n int) (dir, part string) {
	t.Helper()
	from := t.TempDir()
	s := open(t, from)
	for i := 0; i < n; i += 10 {
		put(t, s, noon, i, min(i+10, n))
	}
	dir = copyDir(t, from)
	return dir, filepath.Join(dir, Name(StartOf(noon, time.Hour)))
}

// copyDir copies a directory with open files, which is what a kill would leave of it.
func copyDir(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// glob returns the one file that matches pattern in dir.
func glob(t testing.TB, dir, pattern string) string {
	t.Helper()
	m, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(m) != 1 {
		t.Fatalf("%s matches %v, %v; want one file", pattern, m, err)
	}
	return m[0]
}

// flip changes one byte of a file.
func flip(t testing.TB, path string, at int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0x40
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func cut(t testing.TB, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// isClean reports whether a partition has a CLEAN file.
func isClean(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name, cleanFile))
	return err == nil
}
