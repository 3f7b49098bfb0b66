//go:build unix

package commits

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// BenchmarkPut commits 160 kB, the size of 125 traces that arrive within 25 ms, and deletes older
// commits. It compares Badger with one file per commit, which is the alternative for durable
// storage.
func BenchmarkPut(b *testing.B) {
	body := randomBody(rand.New(rand.NewPCG(8, 9)), 160_000)
	key := func(i int) string { return fmt.Sprintf("seg-%08d", i) }
	b.Run("badger", func(b *testing.B) {
		l := open(b, b.TempDir(), Options{MaxBytes: 48 << 20})
		measure(b, func(i int) error {
			if err := l.Put(b.Context(), key(i), body); err != nil || i%40 != 0 {
				return err
			}
			var old []string
			for j := max(0, i-240); j < i-200; j++ {
				old = append(old, key(j))
			}
			return l.Delete(b.Context(), old...)
		})
	})
	b.Run("file", func(b *testing.B) {
		dir := b.TempDir()
		measure(b, func(i int) error { return disk.WriteFile(filepath.Join(dir, key(i)), body) })
	})
}

// measure runs a benchmark and reports the CPU time of the process.
func measure(b *testing.B, do func(i int) error) {
	b.Helper()
	begin := cpuTime(b)
	n := 0
	for ; b.Loop(); n++ {
		if err := do(n); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-begin).Microseconds())/float64(n), "cpu-µs/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
