//go:build linux

package local_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// TestWriteUntilFull writes until a small disk is full. Compaction must find the room it
// takes, writing must go on when there is room again, and the last commits must be there.
func TestWriteUntilFull(t *testing.T) {
	for kind, disk := range map[string]func(testing.TB, int64) *scratchdisk.Disk{"tmpfs": scratchdisk.Tmpfs, "ext4": scratchdisk.Ext4} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			// If a compaction has just left everything in one level, the next one may need as much
			// again. So there must be room for that, whenever the disk was full first.
			fs := disk(t, 300<<20)
			fs.Fill(160<<20, 64<<20, 0)
			dir := filepath.Join(fs.Dir, "data")
			cmd, in, out := startHelper(t, "fill", dir, 0)
			hangs := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
			defer hangs.Stop()
			least := atomic.Int64{}
			least.Store(1 << 62)
			stop := make(chan struct{})
			watched := make(chan struct{})
			go func() {
				defer close(watched)
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						least.Store(min(least.Load(), fs.Free()))
					}
				}
			}()
			says := func(full bool) (stored int) {
				t.Helper()
				for out.Scan() {
					var is bool
					if n, err := fmt.Sscanf(out.Text(), "full %t %d", &is, &stored); n != 2 {
						t.Fatalf("the writer says %q (%v)", out.Text(), err)
					}
					if is == full {
						return stored
					}
				}
				t.Fatalf("the writer has ended: %v", cmd.Wait())
				return 0
			}
			first := says(true)
			time.Sleep(300 * time.Millisecond) // for compactions to end
			fs.Empty()
			says(false)
			last := says(true)
			in.Close()
			for out.Scan() {
				if full := 0; !isFullLine(out.Text(), &full) {
					t.Errorf("the writer says %q", out.Text())
				} else {
					last = full
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the writer ended with %v", err)
			}
			close(stop)
			<-watched
			t.Logf("%d traces of 100 kB until the disk was full, then %d; at least %d MiB were free, %d in the end",
				first, last, least.Load()>>20, fs.Free()>>20)
			if least.Load() < 4<<20 {
				t.Errorf("only %d MiB were free at one time", least.Load()>>20)
			}
			s := mustOpen(t, dir, testOptions(t, nil))
			st, err := s.Scan(t.Context(), store.Query{}, func(store.Record) error { return nil })
			if err != nil || int(st.Traces) < last || !st.Complete() {
				t.Errorf("%d traces acknowledged: %+v, %v", last, st, err)
			}
			mustClose(t, s)
		})
	}
}

func isFullLine(line string, stored *int) bool {
	var is bool
	n, _ := fmt.Sscanf(line, "full %t %d", &is, stored)
	return n == 2
}
