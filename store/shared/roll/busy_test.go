package roll

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/read"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// busyStore makes the test program act as a store and nothing else, because the memory of the store
// must not count as the memory of a daemon.
const busyStore = "FLEET_BUSY_STORE"

func TestBusyStore(t *testing.T) {
	if os.Getenv(busyStore) == "" {
		t.Skip("this test runs the store of another test")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("listening", l.Addr())
	go func() { _ = http.Serve(l, fakebucket.New(1).Client()) }()
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent process ends
}

// startStore starts a store in another process, and returns its bucket.
func startStore(t *testing.T) objects.Store {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestBusyStore$")
	cmd.Env = append(os.Environ(), busyStore+"=1")
	_, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context has been cancelled by then
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if addr, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
			b, err := bucket.Open(t.Context(), bucket.Location{Bucket: fakebucket.Name, Prefix: "p/",
				Endpoint: "http://" + addr, Region: "r"}, bucket.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	t.Fatal("the store does not start")
	return nil
}

// An hour of one busy page is rolled up and closed exactly, in bounded memory and in objects of
// bounded size. ROWS=7200000 is an hour with 2,000 traces per second.
func TestHourOfBusyPage(t *testing.T) {
	rows := 280_000
	if testing.Short() {
		rows = 80_000
	}
	if s := os.Getenv("ROWS"); s != "" {
		rows, _ = strconv.Atoi(s)
	}
	const chunk = 8000
	n := newTestRoller(t, startStore(t))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(448 << 20)) // as ingest does
	peak := watchHeap(t)
	r := n.Shards[0]
	rnd := rand.New(rand.NewPCG(1, 2))
	const page = "/feed"
	payload := testPayload(t, page)
	begin := time.Now()
	for sent := 0; sent < rows; sent += chunk {
		if sent%(50*chunk) == 0 {
			t.Logf("%v: %d traces, heap at most %d MiB", time.Since(begin).Round(time.Second), sent, peak()>>20)
		}
		b := &layout.Batch{}
		for i := sent; i < min(rows, sent+chunk); i++ {
			x := layout.Row{Page: page, Received: n.Bucket.Now().UnixMicro(), Payload: payload,
				Others: []string{noise(rnd, 224)}}
			binary.BigEndian.PutUint64(x.ID.View[:], rnd.Uint64())
			binary.BigEndian.PutUint64(x.ID.View[8:], uint64(i))
			b.Rows = append(b.Rows, x)
		}
		putSegment(t, n.Bucket, uint64(1+sent/chunk), b)
		l, err := n.Bucket.ListSegments(t.Context())
		if err == nil {
			_, err = r.Cycle(t.Context(), l)
		}
		if err == nil {
			err = errors.Join(n.SweepSegments(t.Context(), l), deleteTaken(t.Context(), r))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	closeAll(t, r)
	largest, traces, runs := int64(0), uint64(0), 0
	for _, h := range r.Manifest.Hours {
		traces += h.Traces
		runs += len(h.Runs)
		for _, f := range append(h.Runs, h.Rollups...) {
			largest = max(largest, f.Size)
		}
	}
	if traces != uint64(rows) {
		t.Errorf("the manifest counts %d traces of %d", traces, rows)
	}
	if largest > maxRun+maxRun/8 {
		t.Errorf("the largest object has %d bytes", largest)
	}
	checkBusy(t, n.Bucket, page, uint64(rows))
	t.Logf("%v: %d runs, the largest object has %d MiB, the heap had %d MiB at most",
		time.Since(begin).Round(time.Second), runs, largest>>20, peak()>>20)
	if peak() > 512<<20 {
		t.Errorf("the heap had %d MiB", peak()>>20)
	}
}

// noise returns text that does not compress, so that a row is as large as a real trace.
func noise(rnd *rand.Rand, n int) string {
	var out []byte
	for len(out) < n {
		out = binary.LittleEndian.AppendUint64(out, rnd.Uint64())
	}
	return string(out)
}

// deleteTaken deletes the objects that were removed from the manifest, at any time.
func deleteTaken(ctx context.Context, r *Shard) error {
	var keys []string
	for _, x := range r.Manifest.Removed {
		keys = append(keys, x.Key)
	}
	r.Manifest.Removed = nil
	return r.Bucket.DeleteAll(ctx, keys)
}

// closeAll closes the hours of a shard, at any time.
func closeAll(t *testing.T, r *Shard) {
	t.Helper()
	next := r.Manifest.Clone()
	for name := range next.Hours {
		if err := r.seal(t.Context(), next, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Commit(t.Context(), next); err != nil {
		t.Fatal(err)
	}
}

// checkBusy counts the traces of the page in its rollups, and one by one.
func checkBusy(t *testing.T, b *layout.Bucket, page string, rows uint64) {
	t.Helper()
	n, err := read.New(b, read.Options{CacheMemory: 64 << 20}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	var summed int64
	_, err = n.Select(t.Context(), store.Query{Page: page}, store.Wanted{}, nil, func(x store.Rolled) error {
		_, traces := x.Record.Views()
		summed += int64(traces)
		return nil
	})
	if err != nil || summed != int64(rows) {
		t.Errorf("the sums have %d traces of %d: %v", summed, rows, err)
	}
	var last [16]byte
	stats, err := n.Scan(t.Context(), store.Query{Page: page}, func(rec store.Record) error {
		if string(rec.ID.View[:]) <= string(last[:]) {
			return fmt.Errorf("%x comes after %x", rec.ID.View, last)
		}
		last = rec.ID.View
		return nil
	})
	if err != nil || stats.Traces != rows || len(stats.Unreadable) > 0 {
		t.Errorf("got %d traces, want %d: %v, %v", stats.Traces, rows, err, stats.Unreadable)
	}
}

// watchHeap samples the heap, including garbage, until the test ends. It returns a function that
// returns its maximum size.
func watchHeap(t *testing.T) (peak func() uint64) {
	ctx, cancel := context.WithCancel(t.Context())
	most, ended := make(chan uint64, 1), make(chan struct{})
	most <- 0
	go func() {
		defer close(ended)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for ctx.Err() == nil {
			metrics.Read(sample)
			most <- max(<-most, sample[0].Value.Uint64())
			time.Sleep(2 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return func() uint64 {
		x := <-most
		most <- x
		return x
	}
}
