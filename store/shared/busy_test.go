package shared

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
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// busyStore tells the test program to be a store, and nothing else: what a store keeps in memory is not what a daemon needs.
const busyStore = "FLEET_BUSY_STORE"

func TestBusyStore(t *testing.T) {
	if os.Getenv(busyStore) == "" {
		t.Skip("it is the store of another test")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("listening", l.Addr())
	go func() { _ = http.Serve(l, fakebucket.New(1).Client()) }()
	_, _ = io.Copy(io.Discard, os.Stdin) // until who started it ends
}

// startStore starts a store in another process, and returns its bucket.
func startStore(t *testing.T) *bucket.Bucket {
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
	t.Cleanup(func() { _ = cmd.Wait() }) // the context of the test has ended by then
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if addr, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
			b, err := bucket.Open(t.Context(), bucket.Location{Bucket: fakebucket.Name, Prefix: "p/", Endpoint: "http://" + addr, Region: "r"}, bucket.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	t.Fatal("the store does not start")
	return nil
}

// An hour of one busy page is rolled up and closed in bounded memory, in objects of bounded size, and exactly. ROWS=7200000 is an
// hour of 2,000 traces a second.
func TestHourOfBusyPage(t *testing.T) {
	rows := 280_000
	if s := os.Getenv("ROWS"); s != "" {
		rows, _ = strconv.Atoi(s)
	}
	const chunk = 8000
	n, err := Open(t.Context(), startStore(t), Options{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(448 << 20)) // as ingest does
	peak := watchHeap(t)
	r := n.rollers.shards[0]
	rnd := rand.New(rand.NewPCG(1, 2))
	rec := recordOf(store.ID{View: [16]byte{1}}, rnd)
	begin := time.Now()
	for sent := 0; sent < rows; sent += chunk {
		if sent%(50*chunk) == 0 {
			t.Logf("%v: %d traces, heap at most %d MiB", time.Since(begin).Round(time.Second), sent, peak()>>20)
		}
		b := &batch{}
		for i := sent; i < min(rows, sent+chunk); i++ {
			x := row{page: rec.Pages[0], payload: rec.Payload, others: []string{noise(rnd, 224)}}
			binary.BigEndian.PutUint64(x.id.View[:], rnd.Uint64())
			binary.BigEndian.PutUint64(x.id.View[8:], uint64(i))
			b.rows = append(b.rows, x)
		}
		if _, err := n.put(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		l, err := n.b.listSegments(t.Context())
		if err == nil {
			_, err = r.cycle(t.Context(), l)
		}
		if err == nil {
			err = errors.Join(n.rollers.sweepSegments(t.Context(), l), deleteTaken(t.Context(), r))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	closeAll(t, r)
	largest, traces, runs := int64(0), uint64(0), 0
	for _, h := range r.m.Hours {
		traces += h.Traces
		runs += len(h.Runs)
		for _, f := range append(h.Runs, h.Sums...) {
			largest = max(largest, f.Size)
		}
	}
	if traces != uint64(rows) {
		t.Errorf("the manifest counts %d traces of %d", traces, rows)
	}
	if largest > maxRun+maxRun/8 {
		t.Errorf("there is an object of %d bytes", largest)
	}
	checkBusy(t, n, rec.Pages[0], uint64(rows))
	t.Logf("%v: %d runs, the largest object has %d MiB, the heap had %d MiB at most", time.Since(begin).Round(time.Second), runs, largest>>20, peak()>>20)
	if peak() > 512<<20 {
		t.Errorf("the heap had %d MiB", peak()>>20)
	}
}

// noise returns what does not compress, so that a row takes what one of real traces does.
func noise(rnd *rand.Rand, n int) string {
	var out []byte
	for len(out) < n {
		out = binary.LittleEndian.AppendUint64(out, rnd.Uint64())
	}
	return string(out)
}

// deleteTaken deletes what was taken out of the manifest, whatever the time.
func deleteTaken(ctx context.Context, r *roller) error {
	var keys []string
	for _, x := range r.m.Removed {
		keys = append(keys, x.Key)
	}
	r.m.Removed = nil
	return r.b.deleteAll(ctx, keys)
}

// closeAll closes the hours of a shard, whatever the time.
func closeAll(t *testing.T, r *roller) {
	t.Helper()
	next := r.m.clone()
	for name := range next.Hours {
		if err := r.seal(t.Context(), next, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.commit(t.Context(), next); err != nil {
		t.Fatal(err)
	}
}

// checkBusy counts what there is of the page by its sums, and one by one.
func checkBusy(t *testing.T, n *Node, page string, rows uint64) {
	t.Helper()
	var summed int64
	_, err := n.Select(t.Context(), store.Query{Page: page}, store.Wanted{}, nil, func(x store.Rolled) error {
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
		t.Errorf("there are %d traces of %d: %v, %v", stats.Traces, rows, err, stats.Unreadable)
	}
}

// watchHeap samples the heap until the test ends, garbage included, and returns what tells how large it was at most.
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

// The keys of a page in a run have no bound of their own: an hour of a page has millions.
func TestRunOfBusyPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	codec, err := block.NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	defer codec.Close()
	w := newRunWriter(codec)
	r := row{page: "/feed", received: 1, payload: []byte("x")}
	const rows = block.MaxBlock/17 + 1
	for i := range uint64(rows) {
		binary.BigEndian.PutUint64(r.id.View[:], i)
		if err := w.add(&r); err != nil {
			t.Fatal(err)
		}
	}
	body, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
	server := fakebucket.New(1)
	n := openNode(t, server, Options{Shards: 1})
	if _, err := n.b.Put(t.Context(), "raw/run", body, bucket.Condition{}); err != nil {
		t.Fatal(err)
	}
	x, err := n.b.loadKeys(t.Context(), "raw/run")
	if err != nil {
		t.Fatal(err)
	}
	var last, beyond [16]byte
	binary.BigEndian.PutUint64(last[:], rows-1)
	binary.BigEndian.PutUint64(beyond[:], rows)
	if p := x.pages[r.page]; len(p.keys) != rows || !x.has(r.page, key{last, 0}) || x.has(r.page, key{beyond, 0}) {
		t.Errorf("%d keys of %d traces, the last one %v", len(p.keys), rows, x.has(r.page, key{last, 0}))
	}
	if got, err := x.readViews(t.Context(), r.page, [][16]byte{last}); err != nil || len(got) != 1 || got[0].id.View != last {
		t.Errorf("the last page view is not found: %v %v", got, err)
	}
}
