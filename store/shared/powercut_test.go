//go:build linux

package shared

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// TestPowerCut cuts the power of the disk while traces are stored and rolled up: what was acknowledged is there after that, once, and
// nothing is wrong with the rest. SOAK_CUTS says how often.
func TestPowerCut(t *testing.T) {
	cuts := 3
	if n, err := strconv.Atoi(os.Getenv("SOAK_CUTS")); err == nil {
		cuts = n
	}
	disk := scratchdisk.Ext4(t, 512<<20)
	dir := filepath.Join(disk.Dir, "data")
	acked := map[store.ID]bool{}
	next := uint64(0)
	for cut := range cuts {
		var mu sync.Mutex
		onDisk(t, dir, 100*time.Millisecond, func(ctx context.Context, n *Node) {
			ctx, cancel := context.WithCancel(ctx)
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					for ctx.Err() == nil {
						mu.Lock()
						next++
						rec := testRecord(0, "/a", "/b")
						binary.BigEndian.PutUint64(rec.ID.View[:], next)
						mu.Unlock()
						if _, err := n.Append(ctx, []store.Record{rec}); err == nil {
							mu.Lock()
							acked[rec.ID] = true
							mu.Unlock()
						}
					}
				})
			}
			group.Go(func() {
				for ctx.Err() == nil {
					n.RollUp(ctx)
				}
			})
			time.Sleep(200*time.Millisecond + rand.N(time.Second))
			disk.Cut()
			time.Sleep(20 * time.Millisecond) // for acknowledgements that are a lie
			cancel()
			group.Wait()
		})
		disk.Remount()
		onDisk(t, dir, time.Minute, func(ctx context.Context, n *Node) {
			n.RollUp(ctx)
			got := idsIn(t, n.Reader)
			for id := range acked {
				if !got[id] {
					t.Errorf("cut %d: %s was acknowledged and is not there", cut+1, id)
				}
			}
			v, err := n.Verify(ctx, func(int, int, uint64) {})
			if err != nil || len(v.Findings) > 0 {
				t.Errorf("cut %d: got %+v, %v", cut+1, v.Findings, err)
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d cuts, %d traces acknowledged", cuts, len(acked))
}

// onDisk opens a directory, does something, and leaves no file open.
func onDisk(t *testing.T, dir string, giveUp time.Duration, do func(ctx context.Context, n *Node)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d, err := directory.Open(dir, directory.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(ctx, d, Options{Flush: time.Millisecond, GiveUp: giveUp})
	if err != nil {
		t.Fatal(err)
	}
	do(ctx, n)
	cancel()
	_ = n.Close(context.WithoutCancel(ctx)) // after it nothing is put, which is all that can be done without a disk
}
