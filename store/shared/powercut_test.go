//go:build linux

package shared

import (
	"bufio"
	"context"
	cryptorand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// powerDir is an environment variable. If it is set, the test is the process whose power is cut, in
// that directory.
const powerDir = "POWERCUT_DIR"

// TestPowerCut cuts the power of the disk while a process stores and rolls up traces. Afterwards
// each acknowledged trace is stored once, and no object is damaged. SOAK_CUTS is the number of
// cuts.
func TestPowerCut(t *testing.T) {
	if dir := os.Getenv(powerDir); dir != "" {
		onDisk(t, dir, storeEndlessly)
		return
	}
	cuts := 3
	if n, err := strconv.Atoi(os.Getenv("SOAK_CUTS")); err == nil {
		cuts = n
	}
	disk := scratchdisk.Ext4(t, 512<<20)
	dir := filepath.Join(disk.Dir, "data")
	acked := map[string]bool{}
	for cut := range cuts {
		for _, id := range cutUnder(t, disk, dir) {
			acked[id] = true
		}
		disk.Remount()
		onDisk(t, dir, func(ctx context.Context, n *Node) {
			n.RollUp(ctx)
			got := map[string]bool{}
			for id := range idsIn(t, n.Reader) {
				got[id.String()] = true
			}
			for id := range acked {
				if !got[id] {
					t.Errorf("cut %d: acknowledged trace %s is missing", cut+1, id)
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

// cutUnder cuts the power of the disk of a process. It returns the traces that the process
// acknowledged before that. The kernel stops a file system in steps of some milliseconds, and a
// running sync may succeed although the journal is lost. After a real power cut no client would
// receive that acknowledgement.
func cutUnder(t *testing.T, disk *scratchdisk.Disk, dir string) (acked []string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestPowerCut$")
	c.Env = append(os.Environ(), powerDir+"="+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	at := map[string]int64{} // when they were acknowledged (ns)
	read := make(chan bool)
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "acked" {
				at[words[1]], _ = strconv.ParseInt(words[2], 10, 64)
			}
		}
	}()
	time.Sleep(300*time.Millisecond + rand.N(time.Second))
	began := time.Now().UnixNano()
	disk.Cut()
	_ = c.Process.Kill() // it may have ended already
	<-read
	_ = c.Wait() // the error is that it was killed
	for id, when := range at {
		if when < began {
			acked = append(acked, id)
		}
	}
	return acked
}

// storeEndlessly stores traces, rolls them up, and prints the acknowledged ones.
func storeEndlessly(ctx context.Context, n *Node) {
	for range 4 {
		go func() {
			for {
				rec := testRecord(0, "/a", "/b")
				_, _ = cryptorand.Read(rec.ID.View[:])
				if _, err := n.Append(ctx, []store.Record{rec}); err == nil {
					fmt.Println("acked", rec.ID, time.Now().UnixNano())
				}
			}
		}()
	}
	for {
		n.RollUp(ctx)
	}
}

// onDisk opens a directory, calls do, and closes all files.
func onDisk(t *testing.T, dir string, do func(ctx context.Context, n *Node)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d, err := directory.Open(dir, directory.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(ctx, d, Options{Flush: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	do(ctx, n)
	cancel()
	if err := n.Close(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
}
