package rollup

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/fieldtrie/fieldtrie/internal/wire"
	"github.com/fieldtrie/fieldtrie/trie"
)

// ErrMalformed is wrapped by every error about bytes that are not a valid record or stack table.
var ErrMalformed = errors.New("malformed rollup")

// Record is a decoded record. It shares memory with the encoded bytes.
type Record struct {
	Level         Level
	Cells         []Cell
	Touches       []Touch
	Distributions []Distribution
	Functions     []Functions // by release
	Outcomes      []Outcome
	Vitals        []Vital

	weights, reach []byte
	nodes, frames  uint64 // size of the stack table that it was checked against
}

// Cell is a set of labels under which time was spent.
type Cell struct {
	Labels trie.Labels
	Silence
}

// Touch is a set of cells, with the numbers of page views and traces that had time in exactly
// these.
type Touch struct {
	Cells         []int
	Views, Traces int64
}

// Functions are the functions of one release, sorted by frame.
type Functions struct {
	Release string
	Rest    Rest
	// Views are the moments of all time with a stack of the release's page views.
	Views Moments
	Of    []Function
}

// Outcome counts page views by the outcome of their profile: a reason why there is none,
// [OutcomeProfiled] or [OutcomeReported].
type Outcome struct {
	Reason string
	Views  int64
}

// Outcomes that are no reason. Profiles that were reported and have not arrived are lost.
const (
	OutcomeProfiled = "profiled" // its first trace has arrived
	OutcomeReported = "reported" // the browser has reported Web Vitals, and that it sends a profile
)

// reader decodes a record. After the first error it returns zeros.
type reader struct {
	wire.Reader
	texts []string

	buckets []bucket // memory for buckets of histograms: a record has thousands of small ones
}

func (r *reader) text() string {
	n := r.Uint()
	if n >= uint64(len(r.texts)) {
		r.Fail("a text is not in the table")
		return ""
	}
	return r.texts[n]
}

func (r *reader) labels() trie.Labels {
	n := r.Length(2)
	if n == 0 {
		return nil
	}
	l := make(trie.Labels, 0, n)
	for range n {
		l = append(l, trie.Label{Key: r.text(), Value: r.text()})
	}
	return l
}

func (r *reader) spread() (s Spread) {
	s.Moments = r.moments()
	s.Histogram = r.histogram()
	return s
}

func (r *reader) moments() Moments { return Moments{r.Int(), r.Int(), r.product()} }

func (r *reader) product() product { return product{uint64(r.Int()), r.Uint()} }

func (r *reader) histogram() (h Histogram) {
	n := r.Length(2)
	if n > len(r.buckets) {
		r.buckets = make([]bucket, max(n, min(r.Left()/4, 4096)))
	}
	h.buckets, r.buckets = r.buckets[:0:n], r.buckets[n:]
	b := uint64(0)
	for range n {
		b += r.Uint()
		if b > maxBucket {
			r.Fail("a bucket is out of range")
			return h
		}
		h.addBucket(int(b), r.Int())
	}
	return h
}

// Decode decodes a record. Its nodes and frames must be in stacks. Errors wrap [ErrMalformed].
func Decode(data []byte, stacks *trie.Trie) (*Record, error) {
	if len(data) < 2 {
		return nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(data))
	}
	if data[0] != Version {
		return nil, fmt.Errorf("%w: version %d, this program reads %d", ErrMalformed, data[0], Version)
	}
	rec := &Record{Level: Level(data[1]), nodes: uint64(len(stacks.Nodes)), frames: uint64(len(stacks.Frames))}
	r := &reader{Reader: wire.NewReader(data[2:], ErrMalformed)}
	for range r.Length(1) {
		r.texts = append(r.texts, string(r.Bytes(r.Length(1))))
	}
	for range r.Length(6) {
		rec.Cells = append(rec.Cells, Cell{r.labels(), Silence{r.Int(), r.Int(), r.Int(), r.Int(), r.Int()}})
	}
	for range r.Length(3) {
		rec.Touches = append(rec.Touches, r.touch(len(rec.Cells)))
	}
	rec.weights = r.rows(len(rec.Cells), 2, rec.nodes)
	rec.reach = r.rows(len(rec.Touches), 1, rec.nodes)
	for range r.Length(11) {
		rec.Distributions = append(rec.Distributions, Distribution{r.labels(), r.spread(), r.spread(),
			r.Int(), r.Int()})
	}
	for range r.Length(9) {
		rec.Functions = append(rec.Functions, r.functions(rec.frames))
	}
	for range r.Length(2) {
		rec.Outcomes = append(rec.Outcomes, Outcome{r.text(), r.Int()})
	}
	for range r.Length(8) {
		rec.Vitals = append(rec.Vitals, r.vital())
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	return rec, nil
}

func (r *reader) touch(cells int) (t Touch) {
	at := uint64(0)
	for range r.Length(1) {
		if at += r.Uint(); at >= uint64(cells) {
			r.Fail("a touch has an unknown cell")
			return t
		}
		t.Cells = append(t.Cells, int(at))
	}
	t.Views, t.Traces = r.Int(), r.Int()
	return t
}

// rows checks the encoded rows of n cells or touches, and returns them still encoded.
func (r *reader) rows(n, numbers int, nodes uint64) []byte {
	begin := r.Rest()
	for range n {
		at := uint64(0)
		for range r.Length(1 + numbers) {
			if at += r.Uint(); at >= nodes {
				r.Fail("a node is not in the stack table")
				return nil
			}
			for range numbers {
				r.Int()
			}
		}
	}
	return begin[:len(begin)-r.Left()]
}

func (r *reader) functions(frames uint64) (f Functions) {
	f.Release = r.text()
	f.Rest = Rest{r.Int(), r.Int(), r.Int()}
	f.Views = r.moments()
	at, n := uint64(0), r.Length(13)
	f.Of = make([]Function, 0, n)
	for range n {
		if at += r.Uint(); at >= frames {
			r.Fail("a function is not in the stack table")
			return f
		}
		f.Of = append(f.Of, Function{trie.FrameID(at), r.spread(), r.spread(), r.product()})
	}
	return f
}

// eachRow calls f with each row of checked rows.
func eachRow(rows []byte, n int, two bool, f func(of int, node trie.NodeID, a, b int64)) {
	r := wire.NewReader(rows, ErrMalformed)
	for of := range n {
		at := uint64(0)
		for range r.Uint() {
			at += r.Uint()
			a, b := r.Int(), int64(0)
			if two {
				b = r.Int()
			}
			f(of, trie.NodeID(at), a, b)
		}
	}
}

// EachWeight calls f with the self time (µs) and samples of each node that has any, ordered by cell
// and node.
func (r *Record) EachWeight(f func(cell int, n trie.NodeID, self, samples int64)) {
	eachRow(r.weights, len(r.Cells), true, f)
}

// EachReach calls f with the number of page views at a node in exactly the cells of a touch,
// ordered by touch and node.
func (r *Record) EachReach(f func(touch int, n trie.NodeID, views int64)) {
	eachRow(r.reach, len(r.Touches), false, func(t int, n trie.NodeID, v, _ int64) { f(t, n, v) })
}

// Views returns the number of page views and traces in the record.
func (r *Record) Views() (views, traces int64) {
	for _, t := range r.Touches {
		views, traces = views+t.Views, traces+t.Traces
	}
	return views, traces
}

// Size returns the approximate size of r in bytes.
func (r *Record) Size() int {
	const entry = 64 // a cell, touch or distribution without referenced data
	size := len(r.weights) + len(r.reach) + entry*(len(r.Cells)+len(r.Touches)+len(r.Distributions))
	for _, c := range r.Cells {
		size += len(c.Labels) * int(unsafe.Sizeof(trie.Label{}))
	}
	for _, t := range r.Touches {
		size += len(t.Cells) * pointerSize
	}
	for i := range r.Distributions {
		size += r.Distributions[i].Time.size() + r.Distributions[i].Long.size()
	}
	for i := range r.Vitals {
		size += r.Vitals[i].size()
	}
	for _, f := range r.Functions {
		for i := range f.Of {
			size += f.Of[i].Self.size() + f.Of[i].Total.size() + pointerSize
		}
	}
	return size
}

// Folded returns how many page views lost a label with one of these keys because of limits: in one
// of their cells, the value or all labels are (other).
func (r *Record) Folded(keys []string) (views int64) {
	if len(keys) == 0 {
		return 0
	}
	folded := func(l trie.Label) bool {
		return l.Key == trie.FrameOther || l.Value == trie.FrameOther && slices.Contains(keys, l.Key)
	}
	for _, t := range r.Touches {
		if slices.ContainsFunc(t.Cells, func(c int) bool { return slices.ContainsFunc(r.Cells[c].Labels, folded) }) {
			views += t.Views
		}
	}
	return views
}

// AddRecord adds a record, whose nodes and frames are numbers in stacks. It does not change them.
func (b *Builder) AddRecord(rec *Record, stacks *trie.Trie) {
	nodes, frames := b.translate(rec, stacks)
	defer b.relieve()
	cells := make([]int, len(rec.Cells))
	for i, c := range rec.Cells {
		cells[i] = b.cellOf(c.Labels)
		b.cells[cells[i]].add(c.Silence, 1)
	}
	touches := make([]int, len(rec.Touches))
	var set []int
	for i, t := range rec.Touches {
		set = set[:0]
		for _, c := range t.Cells {
			set = append(set, cells[c])
		}
		touches[i] = b.touchOf(sortedSet(set))
		b.touches[touches[i]].views += t.Views
		b.touches[touches[i]].traces += t.Traces
	}
	rec.EachWeight(func(c int, n trie.NodeID, self, samples int64) {
		w := b.weights.at(cells[c], nodes(n))
		w.self += self
		w.samples += samples
	})
	rec.EachReach(func(t int, n trie.NodeID, views int64) {
		*b.reach.at(touches[t], nodes(n)) += views
	})
	for i := range rec.Distributions {
		d := &rec.Distributions[i]
		b.dists[b.distOf(d.Labels)].AddAll(d)
	}
	for i := range rec.Functions {
		from := &rec.Functions[i]
		to := b.functionsOf(from.Release)
		to.rest.Add(from.Rest)
		to.views.AddAll(from.Views)
		for k := range from.Of {
			b.function(from.Release, frames(from.Of[k].Frame)).AddAll(&from.Of[k])
		}
	}
	for _, o := range rec.Outcomes {
		b.outcomes[o.Reason] += o.Views
	}
	for i := range rec.Vitals {
		b.AddVital(&rec.Vitals[i])
	}
}

// translate returns the numbers in b's stack table for nodes and frames of another table.
func (b *Builder) translate(rec *Record, stacks *trie.Trie) (nodes func(trie.NodeID) trie.NodeID,
	frames func(trie.FrameID) trie.FrameID) {
	if b.whole {
		return b.take(rec, stacks)
	}
	if stacks == b.stacks {
		return func(n trie.NodeID) trie.NodeID { return n }, func(f trie.FrameID) trie.FrameID { return f }
	}
	to := make([]trie.NodeID, len(stacks.Nodes))
	b.graftFrom(stacks)
	for i := range to {
		to[i] = b.graft.Node(trie.NodeID(i))
	}
	return func(n trie.NodeID) trie.NodeID { return to[n] }, b.graft.Frame
}

// take copies the nodes and frames of a record from a stack table, which others may share, to b's
// own, and returns their new numbers.
func (b *Builder) take(rec *Record, stacks *trie.Trie) (nodes func(trie.NodeID) trie.NodeID,
	frames func(trie.FrameID) trie.FrameID) {
	used := make([]bool, len(stacks.Nodes))
	rec.EachWeight(func(_ int, n trie.NodeID, _, _ int64) { used[n] = true })
	rec.EachReach(func(_ int, n trie.NodeID, _ int64) { used[n] = true })
	for i := len(used) - 1; i > 0; i-- {
		up := stacks.Nodes[i].Parent
		used[up] = used[up] || used[i]
	}
	to := make([]trie.NodeID, len(used))
	frameTo := make([]trie.FrameID, len(stacks.Frames)) // number plus one; 0 is unknown
	frame := func(f trie.FrameID) trie.FrameID {
		if frameTo[f] == 0 {
			frameTo[f] = b.stacks.Intern(stacks.FrameOf(f)) + 1
		}
		return frameTo[f] - 1
	}
	for i := 1; i < len(used); i++ {
		if used[i] {
			to[i] = b.stacks.Child(to[stacks.Nodes[i].Parent], frame(stacks.Nodes[i].Frame))
		}
	}
	return func(n trie.NodeID) trie.NodeID { return to[n] }, frame
}

func sortedSet(s []int) []int {
	slices.Sort(s)
	return slices.Compact(s)
}
