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

// powerDir is the variable that has the test be the process under which the power is cut, in that directory.
const powerDir = "POWERCUT_DIR"

// TestPowerCut cuts the power of the disk under a process that stores traces and rolls them up: what was acknowledged is there after
// that, once, and nothing is wrong with the rest. SOAK_CUTS says how often.
func TestPowerCut(t *testing.T) {
	if dir := os.Getenv(powerDir); dir != "" {
		onDisk(t, dir, storeForEver)
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

// cutUnder cuts the power under a process, and returns which traces it acknowledged before. The kernel stops a file system in
// steps of some milliseconds, and a sync that is under way may succeed although the journal is lost: after a real power cut
// nobody gets that acknowledgement.
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
	_ = c.Process.Kill() // it may have ended
	<-read
	_ = c.Wait() // it was killed
	for id, when := range at {
		if when < began {
			acked = append(acked, id)
		}
	}
	return acked
}

// storeForEver stores traces and rolls them up, and says which are acknowledged.
func storeForEver(ctx context.Context, n *Node) {
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

// onDisk opens a directory, does something, and leaves no file open.
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
