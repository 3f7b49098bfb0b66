package shared

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/test/faultyfs"
)

// sweepOf returns the numbers of the operations that fail, one in each run: all with SWEEP=all, as
// make sweeps has it, else about most of them. STRIDE is the distance between two of them and FIRST
// is the first one, to reproduce a failure.
func sweepOf(operations, most int) (list []int) {
	first, stride := 1, max(1, operations/most)
	if os.Getenv("SWEEP") == "all" {
		stride = 1
	}
	if s, err := strconv.Atoi(os.Getenv("STRIDE")); err == nil && s > 0 {
		stride = s
	}
	if s, err := strconv.Atoi(os.Getenv("FIRST")); err == nil && s > 0 {
		first = s
	}
	for n := first; n <= operations; n += stride {
		list = append(list, n)
	}
	return list
}

// losing is a connection to a bucket on which one request fails, and possibly some after it.
type losing struct {
	of *fakebucket.Client

	mu    sync.Mutex
	count int
	fault lostAnswer
}

// lostAnswer configures which requests fail, and how.
type lostAnswer struct {
	at    int  // number of the request, from 1; 0 for none
	done  bool // the request is carried out, but its response is lost
	later int  // number of following requests that fail without being carried out
}

func (l *losing) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	l.count++
	n, fault := l.count, l.fault
	l.mu.Unlock()
	switch {
	case fault.at == 0 || n < fault.at || n > fault.at+fault.later:
		return l.of.RoundTrip(r)
	case n == fault.at && fault.done:
		if res, err := l.of.RoundTrip(r); err == nil {
			_ = res.Body.Close()
		}
	}
	return nil, fakebucket.ErrCut
}

// runOnBucket runs the scenario on a bucket in virtual time, with a fault. It returns the number of
// requests.
func runOnBucket(t *testing.T, fault lostAnswer, activities *[]int) int {
	l := &losing{of: fakebucket.New(1).Client()}
	x := &scenario{T: t, pass: time.Sleep, giveUp: 2 * time.Second, open: func() (objects.Store, error) {
		return bucket.Open(t.Context(), bucket.Location{Bucket: fakebucket.Name, Prefix: "p/",
			Endpoint: "http://store.test", Region: "r"},
			bucket.Options{Transport: l, Now: time.Now, Attempts: 3, Pause: time.Millisecond})
	}}
	l.fault = fault
	x.run(func(int) {
		if activities != nil {
			*activities = append(*activities, l.count)
		}
	})
	requests := l.count
	l.fault = lostAnswer{}
	x.check()
	return requests
}

// fileFaults are the ways in which an operation on a file fails. The last one persists until the
// process is restarted.
var fileFaults = []faultyfs.Fault{{}, {Err: syscall.EMFILE}, {Err: syscall.ENOSPC, Torn: true}, {Torn: true},
	{Stays: true, Torn: true}}

// runInDirectory runs the scenario in a directory, with a fault. It returns the number of file
// operations.
func runInDirectory(t *testing.T, fault faultyfs.Fault, activities *[]int) (operations int) {
	f := &faultyfs.FS{}
	dir, now := t.TempDir(), time.Date(2026, 11, 20, 10, 5, 0, 0, time.UTC)
	x := &scenario{T: t, pass: func(d time.Duration) { now = now.Add(d) }, giveUp: 20 * time.Millisecond}
	x.open = func() (objects.Store, error) {
		if len(f.Failed()) > 0 {
			f.Set(faultyfs.Fault{}) // a new process has no open descriptors, and its disk works again
		}
		return directory.Open(dir, directory.Options{MinFree: -1, FS: f, Now: func() time.Time { return now },
			Warn: func(err error) { fmt.Fprintln(&x.log, "warning:", err) }})
	}
	f.Set(fault)
	x.run(func(int) {
		if activities != nil {
			*activities = append(*activities, f.Count())
		}
	})
	operations = f.Count()
	if failed := f.Failed(); len(failed) > 0 {
		x.log.WriteString("failed: " + failed[0].String() + "\n")
	}
	f.Set(faultyfs.Fault{})
	x.check()
	return operations
}

// Each file operation of the store may fail once, or from then on until the process is restarted.
// Nothing acknowledged is lost, no sound object is quarantined, and a restart without faults
// returns all traces.
func TestFailingFiles(t *testing.T) {
	var begins []int
	operations := runInDirectory(t, faultyfs.Fault{}, &begins)
	for i, a := range (&scenario{}).activities() {
		t.Logf("%s: operations %d to %d", a.name, begins[i]+1, begins[i+1])
	}
	for _, n := range sweepOf(operations, 40) {
		fault := fileFaults[n%len(fileFaults)]
		fault.N = n
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			runInDirectory(t, fault, nil)
		})
	}
}

// Each request to a bucket may lose its response once. Nothing acknowledged is lost, only the
// selected traces are deleted, and nothing is quarantined. The network may also be down for a while
// afterwards, so that the node cannot find out whether the request succeeded.
func TestLostAnswers(t *testing.T) {
	var begins []int
	operations := 0
	synctest.Test(t, func(t *testing.T) { operations = runOnBucket(t, lostAnswer{}, &begins) })
	for i, a := range (&scenario{}).activities() {
		t.Logf("%s: requests %d to %d", a.name, begins[i]+1, begins[i+1])
	}
	for what, fault := range map[string]lostAnswer{
		"the response":                    {done: true},
		"the response, and some requests": {done: true, later: 8},
		"the request":                     {},
	} {
		for _, n := range sweepOf(operations, 24) {
			fault.at = n
			ok := t.Run(fmt.Sprintf("%s, %d", what, n), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { runOnBucket(t, fault, nil) })
			})
			if !ok {
				return
			}
		}
	}
}

// Each file operation of a spool may fail once, or from then on. A trace that was acknowledged
// while the bucket was unavailable is in the bucket at the end.
func TestSpoolFailingFiles(t *testing.T) {
	faultyfs.Sweep(t, nil, 12, func(t *testing.T, f *faultyfs.FS, begin, end func()) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			c := fakebucket.New(1).Client()
			o := Options{Flush: time.Millisecond, Shards: 1, Spool: dir, SpoolAfter: 20 * time.Millisecond,
				GiveUp: 100 * time.Millisecond, FS: f}
			open := func() (*Node, error) { return Open(t.Context(), c.Bucket(time.Now), o) }
			acked := map[byte]bool{}
			begin()
			n, err := open()
			for i := byte(1); i <= 6 && err == nil; i++ {
				c.CutAfter(-1)
				if i%3 > 0 {
					c.CutAfter(0)
				}
				if _, err := n.Append(t.Context(), []store.Record{testRecord(i, "/a")}); err == nil {
					acked[i] = true
				}
				if i%3 == 0 {
					settleNode(t.Context(), n, 1) // empties the spool
				}
			}
			if err == nil {
				_ = n.Close(t.Context()) // this may fail
			}
			end()
			c.CutAfter(-1)
			if n, err = open(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // until the shards of the earlier process are taken over
			settleNode(t.Context(), n, 6)
			found := countOf(t, n)
			for id := range acked {
				if found[id] != 1 {
					t.Errorf("got acknowledged trace %d %d times, want once", id, found[id])
				}
			}
		})
	})
}
