package local_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/trie"
)

// The tests that cut the power or kill a process run it as it is in the field: real traces,
// short partitions, rolling up and maintenance all at once.

// Environment of fieldForever.
const (
	speedEnv = "FIELDTRIE_STORE_SPEED" // seconds of its clock in one of ours
	roundEnv = "FIELDTRIE_STORE_ROUND" // each round is a day of its own
)

// realTraces reads the traces of testdata.
func realTraces() (out []*trie.Trace, err error) {
	names, err := filepath.Glob("../../testdata/traces/*.json.gz")
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no traces: %v", err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(z)
		if err != nil {
			return nil, err
		}
		t, err := encode.DecodeTraceJSON(data, encode.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, t)
		_ = f.Close()
	}
	return out, nil
}

// realRecord returns trace number n, which is one of the traces as another page view.
func realRecord(traces []*trie.Trace, n int) (store.Record, error) {
	t := *traces[n%len(traces)]
	id := traceID(n)
	t.Context.Page = fmt.Sprintf("/page/%d", n%7)
	t.Context.ViewID, t.Context.Chunk = string(id.View[:]), id.Chunk
	t.Context.Release = []string{"r1", "r2"}[n%2]
	payload, err := encode.EncodeTrace(&t)
	return store.Record{ID: id, Pages: t.Pages(), Tags: []store.Tag{{Key: "release", Value: t.Context.Release}}, Payload: payload}, err
}

// roundStart is when a round begins on the clock of its process.
func roundStart(round int) time.Time {
	return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).AddDate(0, 0, round)
}

// fieldForever appends real traces from number first on, until it is killed, and prints
// the number of each after it was acknowledged.
func fieldForever(dir string, o local.Options, first int) error {
	speed, err := strconv.Atoi(os.Getenv(speedEnv))
	if err != nil {
		return err
	}
	round, err := strconv.Atoi(os.Getenv(roundEnv))
	if err != nil {
		return err
	}
	records, err := realTraces()
	if err != nil {
		return err
	}
	began := time.Now()
	o.Now = func() time.Time { return roundStart(round).Add(time.Since(began) * time.Duration(speed)) }
	o.Partition, o.RollEvery, o.RollTraces = time.Minute, time.Nanosecond, 1
	s, err := local.Open(dir, o)
	if err != nil {
		return err
	}
	errs := make(chan error, 16)
	every := func(pause time.Duration, f func(context.Context) error) {
		for range time.Tick(pause) {
			if err := f(context.Background()); err != nil && !errors.Is(err, store.ErrNoSpace) {
				errs <- err
				return
			}
		}
	}
	go every(20*time.Millisecond, s.Roll)
	go every(100*time.Millisecond, s.Maintain)
	var out sync.Mutex
	const writers, group = 8, 4
	for w := range writers {
		go func() {
			for n := first + w*group; ; n += writers * group {
				var recs []store.Record
				for i := range group {
					rec, err := realRecord(records, n+i)
					if err != nil {
						errs <- err
						return
					}
					recs = append(recs, rec)
				}
				if _, err := s.Append(context.Background(), recs); err != nil {
					errs <- err
					return
				}
				out.Lock()
				for i := range group {
					fmt.Println(n + i)
				}
				out.Unlock()
			}
		}()
	}
	return <-errs
}

// field is a data directory on which fieldForever is run and ended again and again.
type field struct {
	t       *testing.T
	dir     string
	round   int
	next    int // a number that was not used yet
	acked   map[int]bool
	slowest time.Duration // of the starts after it
}

// run runs the process. After it has acknowledged something, end is called, which kills
// it one way or another. It returns what the process said in the end.
func (f *field) run(speed int, end func(kill func())) (last string) {
	f.t.Helper()
	f.t.Setenv(speedEnv, strconv.Itoa(speed))
	f.t.Setenv(roundEnv, strconv.Itoa(f.round))
	f.round++
	cmd, _, out := startHelper(f.t, "field", f.dir, f.next)
	started := false
	before := len(f.acked)
	ended := make(chan struct{})
	for out.Scan() {
		n, err := strconv.Atoi(out.Text())
		if err != nil {
			last = out.Text()
			continue
		}
		if !started {
			started = true
			go func() { defer close(ended); end(func() { _ = cmd.Process.Kill() }) }()
		}
		f.acked[n] = true
		f.next = max(f.next, n+10_000)
	}
	_ = cmd.Wait()
	if !started {
		f.t.Fatalf("nothing was acknowledged: %s", last)
	}
	<-ended
	f.t.Logf("round %d: %d acknowledged; %s", f.round, len(f.acked)-before, last)
	return last
}

// check opens the directory: each acknowledged trace must be there once, nothing twice,
// and rollups must answer as traces do, at once and after all is rolled up.
func (f *field) check() {
	f.t.Helper()
	c := newClock(roundStart(f.round - 1).Add(12 * time.Hour))
	o := rolledOptions(f.t, c)
	o.Partition, o.Logger = time.Minute, nil
	begin := time.Now()
	s := mustOpen(f.t, f.dir, o)
	f.slowest = max(f.slowest, time.Since(begin))
	seen := map[store.ID]int{}
	st, err := s.Scan(f.t.Context(), store.Query{}, func(r store.Record) error { seen[r.ID]++; return nil })
	if err != nil || !st.Complete() {
		f.t.Errorf("round %d: scan: %+v, %v", f.round, st, err)
	}
	lost, doubled := 0, 0
	for n := range f.acked {
		if seen[traceID(n)] == 0 {
			lost++
		}
	}
	for _, times := range seen {
		if times > 1 {
			doubled++
		}
	}
	if lost+doubled > 0 {
		f.t.Errorf("round %d: of %d acknowledged traces %d are lost, and %d of %d are doubled", f.round, len(f.acked), lost, doubled, len(seen))
	}
	want, _ := answer(f.t, s.Reader, store.Query{}, true)
	got, st := answer(f.t, s.Reader, store.Query{}, false)
	if got != want || !st.Complete() {
		f.t.Errorf("round %d: rollups answer otherwise:\n%.2000s\n%+v", f.round, differences(got, want), st)
	}
	c.Add(48 * time.Hour)
	if err := s.Maintain(f.t.Context()); err != nil {
		f.t.Error(err)
	}
	rollAll(f.t, s)
	got, st = answer(f.t, s.Reader, store.Query{}, false)
	if got != want || st.Days == 0 || st.Partitions != 0 || !st.Complete() {
		f.t.Errorf("round %d: when all is rolled up:\n%.2000s\n%+v", f.round, differences(got, want), st)
	}
	mustClose(f.t, s)
	if set, _ := filepath.Glob(filepath.Join(f.dir, "*.corrupt*")); len(set) > 0 {
		f.t.Errorf("round %d: set aside: %s", f.round, set)
	}
	f.t.Logf("round %d: %d traces, lost %d, doubled %d, opened in %v at most", f.round, len(seen), lost, doubled, f.slowest)
}

// rounds returns how many rounds a test runs: normal, or what the variable says.
func rounds(t *testing.T, variable string, normal int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" && testing.Short() {
		return (normal + 2) / 3
	}
	if text == "" {
		return normal
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fillDisk appends large traces until there is no space, and when there is again. It says
// so each time, and ends cleanly when its input ends.
func fillDisk(dir string, o local.Options) error {
	o.Ballast = 4 << 20
	s, err := local.Open(dir, o)
	if err != nil {
		return err
	}
	var done atomic.Bool
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); done.Store(true) }()
	r := rand.New(rand.NewPCG(1, 1))
	full := false
	for n := 0; !done.Load(); n++ {
		payload := make([]byte, 100_000)
		for i := range payload {
			payload[i] = byte(r.Uint32())
		}
		_, err := s.Append(context.Background(), []store.Record{{ID: traceID(r.Int()), Pages: []string{"/fill"}, Payload: payload}})
		now := errors.Is(err, store.ErrNoSpace)
		if err != nil && !now {
			return err
		}
		if now != full {
			full = now
			c := s.Counters()
			fmt.Println("full", full, c.Stored)
		}
		if full {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return s.Close()
}
