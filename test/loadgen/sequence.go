package loadgen

import (
	crand "crypto/rand"
	"math/rand/v2"
	"time"
)

// view is a page view being sent.
type view struct {
	stamp
	rank    int // of its page
	variant int

	// The ledger's fields: the outcome of the chunks, as bits of sets.
	open        int // deliveries without an outcome
	acked       chunkSet
	unclear     chunkSet  // possibly stored without an acknowledgement
	first, last time.Time // between which all chunks were received
}

// delivery is one trace in one request.
type delivery struct {
	view   *view
	chunk  *chunk
	number int // of the chunk
}

// append appends the encoded trace to dst.
func (d delivery) append(dst []byte) []byte {
	s := d.view.stamp
	s.number = d.number
	return d.chunk.append(dst, s)
}

// request is one request, which may be sent more than once.
type request struct {
	traces  []delivery
	due     time.Time // when it was first due
	at      time.Time // when it is due again
	attempt int       // from 0
	node    int       // to which it, or its twin, was sent last; or none
	twin    *request  // its repeat, until that is sent
}

// none stands for no node.
const none = -1

// later is the number of traces after which the repeat of a request follows, or the next
// chunk of a view.
const later = 50

// sequence makes requests one after the other. It is not safe for concurrent use.
type sequence struct {
	rnd      *rand.Rand
	ids      *rand.ChaCha8
	zipf     *rand.Zipf
	pages    []string
	variants []variant
	batch    int
	repeat   float64  // share of requests that are delivered twice
	rollout  *rollout // of a site

	made    int // traces
	again   *request
	chunks  queue[delivery]
	repeats queue[*request]
}

// queue holds deliveries for later requests, in order.
type queue[E any] []struct {
	at   int // number of the trace after which it is due
	what E
}

func (q *queue[E]) push(at int, what E) {
	*q = append(*q, struct {
		at   int
		what E
	}{at, what})
}

// pop returns the first entry of q if it is due.
func (q *queue[E]) pop(now int) (what E, ok bool) {
	if len(*q) == 0 || (*q)[0].at > now {
		return what, false
	}
	what, *q = (*q)[0].what, (*q)[1:]
	return what, true
}

// newSequence returns a sequence that is the same for equal options, except for view ids, which
// differ between runs.
func newSequence(o Options, variants []variant, rnd *rand.Rand) *sequence {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // never fails
	s := &sequence{
		rnd: rnd, ids: rand.NewChaCha8(seed), zipf: newZipf(rnd, o.Zipf, o.Pages), pages: pageNames(o.Pages),
		variants: variants, batch: o.Batch, repeat: o.Repeat,
	}
	if o.Site {
		s.rollout = &rollout{releases: len(site().releases), of: o.traces()}
	}
	return s
}

// next returns the next request. For each new view it first calls open with the view and its number
// of traces.
func (s *sequence) next(now time.Time, open func(*view, int)) *request {
	s.made += s.batch
	if r := s.again; r != nil {
		s.again = nil
		return r
	}
	if r, ok := s.repeats.pop(s.made); ok {
		return r
	}
	r := &request{node: none}
	for len(r.traces) < s.batch {
		d, ok := s.chunks.pop(s.made)
		if !ok {
			d = s.newView(now, open)
		}
		if chunks, next := s.variants[d.view.variant].chunks, d.number+1; next < len(chunks) {
			s.chunks.push(s.made+later, delivery{d.view, &chunks[next], next})
		}
		r.traces = append(r.traces, d)
	}
	if s.rnd.Float64() < s.repeat {
		for _, d := range r.traces {
			open(d.view, 1)
		}
		twin := &request{traces: r.traces, node: none}
		r.twin = twin
		if s.rnd.IntN(2) == 0 { // both may be in flight concurrently
			s.again = twin
		} else {
			s.repeats.push(s.made+later, twin)
		}
	}
	return r
}

// newView returns the first delivery of a new page view.
func (s *sequence) newView(now time.Time, open func(*view, int)) delivery {
	v := &view{rank: int(s.zipf.Uint64()), variant: s.drawVariant()}
	x := &s.variants[v.variant]
	v.page = s.pages[v.rank]
	_, _ = s.ids.Read(v.stamp.view[:]) // never fails
	v.origin = now.UnixMicro() - x.length
	open(v, len(x.chunks))
	return delivery{v, &x.chunks[0], 0}
}

// drawVariant returns the number of a variant; for a site, one of a current release.
func (s *sequence) drawVariant() int {
	if s.rollout == nil {
		return s.rnd.IntN(len(s.variants))
	}
	each := len(s.variants) / s.rollout.releases
	return s.rollout.release(s.rnd, s.made)*each + s.rnd.IntN(each)
}

// rest returns the remaining deliveries.
func (s *sequence) rest() []delivery {
	var out []delivery
	for _, x := range s.chunks {
		d := x.what
		for chunks := s.variants[d.view.variant].chunks; d.number < len(chunks); d.number++ {
			out = append(out, delivery{d.view, &chunks[d.number], d.number})
		}
	}
	if s.again != nil {
		out = append(out, s.again.traces...)
	}
	for _, x := range s.repeats {
		out = append(out, x.what.traces...)
	}
	s.chunks, s.again, s.repeats = nil, nil, nil
	return out
}
