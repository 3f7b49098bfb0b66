package collect

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

func TestBelieve(t *testing.T) {
	const minute = 60_000_000
	every := func(step int64, n int) (times []int64) {
		for i := range n {
			times = append(times, int64(i)*step)
		}
		return times
	}
	for _, tt := range []struct {
		name     string
		interval uint32
		times    []int64
		gapless  bool
		end      int64
		want     int // remaining samples
		wantEnd  int64
	}{
		{name: "nothing", interval: 10_000},
		{name: "a minute", interval: 10_000, times: every(10_000, 6000), want: 6000},
		{name: "ten minutes", interval: 10_000, times: every(10_000, 60_000), want: 60_000},
		{name: "a page that was frozen for hours", interval: 10_000, times: append(every(10_000, 100), 20*60*minute,
			20*60*minute+10_000), want: 102},
		{name: "frozen for two days", interval: 10_000, times: append(every(10_000, 100), 48*60*minute), want: 100},
		{name: "samples of a minute each", interval: minute, times: every(minute, 100), want: 11},
		{name: "samples of three minutes each", interval: minute, times: every(5*minute, 100), want: 4},
		{name: "the ends of time", interval: 10_000, times: []int64{-trie.MaxTime, trie.MaxTime}, want: 1},
		{name: "no gaps", interval: 10_000, times: []int64{0, minute}, gapless: true, end: 2 * minute, want: 2,
			wantEnd: 2 * minute},
		{name: "no gaps, and no end", interval: 10_000, times: []int64{5, minute}, gapless: true, end: trie.MaxTime,
			want: 2, wantEnd: 10*minute + 5},
		{name: "no gaps, and years", interval: 10_000, times: []int64{0, minute, trie.MaxTime}, gapless: true,
			end: trie.MaxTime, want: 2, wantEnd: 10 * minute},
	} {
		tr := &trie.Trace{Trie: *trie.New(), Gapless: tt.gapless, End: tt.end,
			Context: trie.Context{Interval: tt.interval}}
		for _, at := range tt.times {
			tr.Samples = append(tr.Samples, trie.Sample{Time: at})
		}
		cut, err := believe(tr, func(us int64) int64 { return us })
		if len(tr.Samples) != tt.want || tr.End != tt.wantEnd || err != nil || cut != (tt.want < len(tt.times) ||
			tt.end != tt.wantEnd) {
			t.Errorf("%s: got %d samples to %d, cut %v, %v; want %d to %d", tt.name, len(tr.Samples), tr.End, cut, err,
				tt.want, tt.wantEnd)
		}
		if err := tr.Validate(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		spoken := int64(0)
		tr.Shares(tr.Slices(), func(s *trie.Share) { spoken += s.Self })
		if most := int64(maxTraceTime) + 3*int64(tt.interval); spoken > most {
			t.Errorf("%s: the samples cover %d µs, want at most %d", tt.name, spoken, most)
		}
	}
	if _, err := believe(&trie.Trace{Context: trie.Context{Interval: maxInterval + 1}}, nil); err == nil {
		t.Error("an interval of more than a minute is accepted")
	}
}

// TestAbsurdTimes checks that implausible samples are dropped and counted in both formats, and that
// the rest is stored.
func TestAbsurdTimes(t *testing.T) {
	col, s := newCollector(Options{})
	binary := traceBinary(t, "f", "", func(tr *trie.Trace) {
		tr.Context.Interval = 50_000_000
		node := tr.Samples[0].Node
		tr.Samples = nil
		for i := range int64(1000) {
			tr.Samples = append(tr.Samples, trie.Sample{Time: i * 150_000_000, Node: node})
		}
	})
	post(t, col, binary)
	got := traceOf(t, s.only(t))
	if n := len(got.Samples); n != 5 || got.Samples[4].Time != 600_000_000 {
		t.Errorf("binary: %d samples are stored", n)
	}
	var samples []string
	for i := range 1000 {
		samples = append(samples, fmt.Sprintf(`{"timestamp":%d,"stackId":0}`, i*150_000))
	}
	col, s = newCollector(Options{})
	post(t, col, `{"interval":50000,"trace":{"resources":[],"frames":[{"name":"f"}],"stacks":[{"frameId":0}],`+
		`"samples":[`+strings.Join(samples, ",")+`]}}`)
	if n := len(traceOf(t, s.only(t)).Samples); n != 5 {
		t.Errorf("JSON: %d samples are stored", n)
	}
	if n := s.metric(t, "cut_traces_total"); n != 1 {
		t.Errorf("%v traces are counted", n)
	}
	w := post(t, col, traceBinary(t, "f", "", func(tr *trie.Trace) { tr.Context.Interval = math.MaxUint32 }))
	if w.status != http.StatusUnprocessableEntity || !strings.Contains(fmt.Sprint(w.answer), "interval") {
		t.Errorf("an interval of an hour: got %d %+v", w.status, w.answer)
	}
}

// TestViewTimes checks that a page view with a thousand traces claims no more time than has passed,
// and that a view with a trace a minute gets all its time, also when it resends a trace.
func TestViewTimes(t *testing.T) {
	now := noon
	col, s := newCollector(Options{Now: func() time.Time { return now }})
	send := func(view string, chunk int, samples int) reply {
		t.Helper()
		return post(t, col, traceBinary(t, "f", "", func(tr *trie.Trace) {
			tr.Context.ViewID, tr.Context.Chunk, tr.Context.Interval = view, uint32(chunk), 10_000
			node := tr.Samples[0].Node
			tr.Samples = nil
			for i := range samples {
				tr.Samples = append(tr.Samples, trie.Sample{Time: int64(i) * 10_000, Node: node})
			}
		}))
	}
	claimed := func() (us int64) {
		for _, r := range s.records {
			tr := traceOf(t, r)
			_, spoken := believable(tr, math.MaxInt64)
			us += spoken
		}
		return us
	}
	for chunk := range 50 {
		send("greedy", chunk, 60_000)
	}
	now = now.Add(time.Minute)
	for chunk := range 50 {
		send("greedy", 50+chunk, 60_000)
	}
	if got, most := time.Duration(claimed())*time.Microsecond, 11*time.Minute; got > most || got < most-time.Second {
		t.Errorf("a view that began a minute ago covers %s, want %s", got, most)
	}
	clear(s.records)
	before := s.metric(t, "cut_traces_total")
	for chunk := range 60 {
		now = now.Add(time.Minute)
		s.fail = func([]store.Record) error { return store.ErrBusy }
		for range 20 {
			send("honest", chunk, 6001)
		}
		s.fail = nil
		for range 20 {
			if got := send("honest", chunk, 6001); got.status != http.StatusAccepted {
				t.Fatalf("chunk %d: %d %s", chunk, got.status, got.Error)
			}
		}
	}
	if got := time.Duration(claimed()) * time.Microsecond; got != time.Hour ||
		s.metric(t, "cut_traces_total") != before {
		t.Errorf("a view of an hour covers %s", got)
	}
	for i := range 3 * maxViewTimes {
		col.viewTimes.claim(viewOf(i), 1, now)
	}
	if n := len(col.viewTimes.now) + len(col.viewTimes.earlier); n > 2*maxViewTimes {
		t.Errorf("%d views are remembered", n)
	}
}

// viewOf returns the first chunk of the ith page view.
func viewOf(i int) (id store.ID) {
	binary.BigEndian.PutUint32(id.View[:], uint32(i))
	return id
}

// TestGiveBackAfterTurn tests giveBack for a chunk whose generation has rotated since its claim.
func TestGiveBackAfterTurn(t *testing.T) {
	var v viewTimes
	for i := range maxViewTimes {
		v.claim(viewOf(i), maxTraceTime, noon)
	}
	v.claim(viewOf(maxViewTimes), 1, noon)
	if len(v.now) != 1 {
		t.Fatalf("%d views are in the newer generation", len(v.now))
	}
	v.giveBack(viewOf(7), maxTraceTime)
	v.giveBack(viewOf(2*maxViewTimes), 1) // a view without a claim
	for i, want := range map[int]int64{7: maxTraceTime, 8: 0} {
		id := viewOf(i)
		id.Chunk = 1
		if got, _ := v.claim(id, maxTraceTime, noon); got != want {
			t.Errorf("view %d: got %d µs, want %d", i, got, want)
		}
	}
}

// TestRetriedChunkClaimsOnce checks that a chunk sent again claims its time once, since a bucket
// does not detect duplicates immediately, and that it claims no more than a new chunk.
func TestRetriedChunkClaimsOnce(t *testing.T) {
	var v viewTimes
	const minute = 60_000_000
	at := func(chunk uint32) store.ID {
		id := viewOf(1)
		id.Chunk = chunk
		return id
	}
	for chunk := range uint32(20) { // a view of 20 minutes; each response is lost once
		for try := range 3 {
			granted, added := v.claim(at(chunk), minute, noon.Add(time.Duration(chunk)*time.Minute))
			if want := int64(minute); granted != want || (added == want) != (try == 0) {
				t.Fatalf("chunk %d, try %d: got %d µs, %d of them new", chunk, try, granted, added)
			}
		}
	}
	now := noon.Add(19 * time.Minute)
	if granted, added := v.claim(at(19), 3*minute, now); granted != 3*minute || added != 2*minute {
		t.Errorf("a longer copy: got %d µs, %d of them new", granted, added)
	}
	v.giveBack(at(19), 2*minute)
	if granted, added := v.claim(at(19), minute, now); granted != minute || added != 0 {
		t.Errorf("after the longer copy was not stored: got %d µs, %d of them new", granted, added)
	}
	if granted, _ := v.claim(at(20), 60*minute, now); granted != 9*minute {
		t.Errorf("20 minutes were claimed, in 19: got %d µs more, want %d", granted, 9*minute)
	}
	v.giveBack(at(20), 9*minute)
	if granted, added := v.claim(at(20), minute, now); granted != minute || added != minute {
		t.Errorf("a chunk that was not stored: got %d µs, %d of them new", granted, added)
	}
	if granted, added := v.claim(at(2), minute, now); granted != minute || added != minute {
		t.Errorf("a forgotten chunk: got %d µs, %d of them new", granted, added)
	}
}
