package loadgen

import (
	"maps"
	"sync"
	"time"
)

// fate is the outcome of a delivery.
type fate int

const (
	refused fate = iota // certainly not stored
	unclear             // possibly stored
	acked               // certainly stored
)

// Counts count requests and outcomes so far.
type Counts struct {
	Traces       uint64         // sent, or about to be, repeats included; not counting further attempts
	Unsent       uint64         // traces due before the end of the load while all connections were busy
	Requests     uint64         // sent, further attempts included
	Acknowledged uint64         // traces accepted according to the responses
	Duplicates   uint64         // of these, duplicates according to the responses
	Rejected     uint64         // traces of accepted requests rejected according to the responses
	Refused      map[int]uint64 // requests by the status of their response
	Broken       uint64         // requests with a connection that broke before the response
	Unconnected  uint64         // requests without a connection
	Retries      uint64         // attempts after the first
	GivenUp      uint64         // traces not accepted at the last attempt
	Bytes        uint64         // of bodies sent
}

// tally is everything that equal views have in common: their page, their content and
// their outcome.
type tally struct {
	rank, variant int
	acked         chunkSet // stored chunks
	unclear       chunkSet // further chunks that may be stored
	split         bool     // chunks may be in different hours, so the view may count twice
}

// ledger records the outcome of each trace. It keeps the unfinished views, and counts finished ones
// by tally.
type ledger struct {
	mu      sync.Mutex
	counts  Counts
	views   map[tally]uint64
	traces  uint64 // distinct, certainly stored
	unclear uint64 // distinct, possibly stored
	doubted uint64 // traces with an earlier attempt of unclear outcome
}

func newLedger() *ledger {
	return &ledger{views: map[tally]uint64{}, counts: Counts{Refused: map[int]uint64{}}}
}

// count changes the counts.
func (l *ledger) count(f func(*Counts)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.counts)
}

// Counts returns the counts so far.
func (l *ledger) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.counts
	c.Refused = maps.Clone(c.Refused)
	return c
}

// open records that n more traces of v will be sent.
func (l *ledger) open(v *view, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.open += n
}

// settle records the outcome of a delivery that began and ended at the given times. last reports
// whether it was the final attempt.
func (l *ledger) settle(d delivery, f fate, began, ended time.Time, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, bit := d.view, chunkNumber(d.number)
	switch f {
	case acked:
		v.acked |= bit
	case unclear:
		v.unclear |= bit
	}
	if f != refused {
		if v.first.IsZero() || began.Before(v.first) {
			v.first = began
		}
		if ended.After(v.last) {
			v.last = ended
		}
	}
	if last {
		l.close(v)
	}
}

// drop records that a delivery will not be sent after all.
func (l *ledger) drop(d delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close(d.view)
}

// close records that one delivery of v is over.
func (l *ledger) close(v *view) {
	if v.open--; v.open > 0 {
		return
	}
	l.doubted += uint64(members(v.unclear & v.acked))
	v.unclear &^= v.acked
	if v.acked|v.unclear == 0 {
		return
	}
	t := tally{rank: v.rank, variant: v.variant, acked: v.acked, unclear: v.unclear}
	t.split = members(v.acked|v.unclear) > 1 && !v.first.Truncate(time.Hour).Equal(v.last.Truncate(time.Hour))
	l.views[t]++
	l.traces += uint64(members(v.acked))
	l.unclear += uint64(members(v.unclear))
}

// stored returns how many distinct traces are certainly stored, and how many more may
// be. Of the certain ones, doubted may have been stored before the response that
// confirmed it.
func (l *ledger) stored() (sure, more, doubted uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.traces, l.unclear, l.doubted
}

// tallies returns the finished views, by the rank of their first page.
func (l *ledger) tallies() map[int]map[tally]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[int]map[tally]uint64{}
	for t, n := range l.views {
		if out[t.rank] == nil {
			out[t.rank] = map[tally]uint64{}
		}
		out[t.rank][t] = n
	}
	return out
}
