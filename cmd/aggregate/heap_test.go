package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/hostile"
)

// Memory limits for one file as documented in docs/security.md, in bytes: a factor of its size plus
// a constant. Both are generous here, because unreachable memory counts until it is collected.
const (
	heapPerByte = 40
	heapForAny  = 128 << 20
	heapInOrder = 1 << 30 // for calls in order of time
)

// used runs aggregate and returns its peak heap and its total allocations, in bytes.
func used(t *testing.T, args ...string) (peak, allocated uint64, err error) {
	t.Helper()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	over, watched := make(chan struct{}), make(chan uint64)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		most := uint64(0)
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-over:
				watched <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	err = run(t.Context(), args, strings.NewReader(""), io.Discard, io.Discard)
	close(over)
	peak = <-watched
	runtime.ReadMemStats(&after)
	return peak, after.TotalAlloc - before.TotalAlloc, err
}

// Worst-case files take memory in proportion to their size: twice the file, twice the memory. With
// an algorithm that is quadratic in time the test would exceed its timeout.
func TestHostileFiles(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 6_000
	}
	for _, k := range hostile.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			var all [2]uint64
			for i := range all {
				file := filepath.Join(t.TempDir(), "file")
				content := hostile.Bytes(k.Write, n<<i)
				size := uint64(len(content))
				if err := os.WriteFile(file, content, 0o600); err != nil {
					t.Fatal(err)
				}
				content = nil
				peak, allocated, err := used(t, append(k.Flags, "-o", "-", file)...)
				most := heapForAny + heapPerByte*size
				if k.Name == "alternating-profile" || k.Name == "whole-stacks" {
					most += heapInOrder
				}
				if peak > most {
					t.Errorf("%d bytes took %d MiB, the most is %d (%v)", size, peak>>20, most>>20, err)
				}
				if err != nil && !strings.Contains(err.Error(), "over ") {
					t.Errorf("%d bytes: %v", size, err)
				}
				all[i] = allocated
			}
			if all[1] > 3*all[0]+32<<20 {
				t.Errorf("allocated %d MiB for one and %d for twice as much", all[0]>>20, all[1]>>20)
			}
		})
	}
}
