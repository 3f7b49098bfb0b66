package shared

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // cannot fail for these names
	os.Exit(m.Run())
}

// world is a set of nodes on a bucket with failing requests, and a model of what must be true.
// Everything runs in one goroutine: before each request of a node another node may act, so a seed
// determines the whole run.
type world struct {
	t       testing.TB
	rnd     *rand.Rand
	now     time.Time
	server  *fakebucket.Server
	nodes   []*actor
	busy    map[*roll.Shard]bool
	blind   bool // the store ignores conditions
	started int  // number of nodes so far
	depth   int  // nesting depth of nodes that act before a request of another

	sent  []store.Record
	acked map[store.ID][]time.Time // receive times of acknowledged traces
	maybe map[store.ID]bool        // unacknowledged traces, which may be stored as well
	views map[lostView][2]int64    // page views without a trace: minimum and maximum
	log   []string
}

// lostView is a page, and why a page view of it has no trace.
type lostView struct{ page, reason string }

// actor is a node. After a crash another node replaces it.
type actor struct {
	client  *fakebucket.Client
	node    *Node
	off     time.Duration      // error of its clock
	pending map[lostView]int64 // counted, and not known to be stored
	counts  bool               // it is storing counts
	name    string
	seq     uint64 // of its last segment
}

var testPages = []string{"/feed", "/item/:id", "/cart", "/search", "/about", "/login", "/help"}

func newWorld(t testing.TB, seed uint64, faults float64) *world {
	w := &world{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC),
		server: fakebucket.New(seed), acked: map[store.ID][]time.Time{}, maybe: map[store.ID]bool{},
		busy: map[*roll.Shard]bool{}, views: map[lostView][2]int64{}}
	w.server.Now = func() time.Time { return w.now }
	for range 3 {
		w.nodes = append(w.nodes, w.start())
	}
	w.server.Faults = faults
	return w
}

// start starts a node.
func (w *world) start() *actor {
	faults := w.server.Faults
	w.server.Faults, w.server.Blind = 0, false // without faults, or starting would fail
	defer func() { w.server.Faults, w.server.Blind = faults, w.blind }()
	a := &actor{client: w.server.Client(), off: time.Duration(w.rnd.IntN(1198)-599) * time.Second,
		pending: map[lostView]int64{}}
	w.started++
	a.name = fmt.Sprintf("%012x", w.started)
	a.client.Before = func(*http.Request) { w.interrupt(a) }
	b := a.client.Bucket(func() time.Time { return w.now.Add(a.off) })
	n, err := Open(w.t.Context(), b, Options{Shards: 2, RollRows: 1 + w.rnd.IntN(60), Retention: 30 * time.Hour})
	if err != nil {
		w.t.Fatal(err)
	}
	n.b.Together = 1
	n.b.Pause = func(_ context.Context, attempts int, _ time.Duration) error {
		if attempts > 2 {
			return errors.New("no time")
		}
		return nil
	}
	a.node = n
	return a
}

// interrupt lets another node act before a request of the given one.
func (w *world) interrupt(of *actor) {
	if w.depth == 0 || w.depth > 2 || w.rnd.IntN(25) > 0 {
		return
	}
	others := slices.DeleteFunc(slices.Clone(w.nodes), func(a *actor) bool { return a == of })
	w.act(others[w.rnd.IntN(len(others))])
}

// step performs one random action.
func (w *world) step() {
	switch i := w.rnd.IntN(len(w.nodes)); w.rnd.IntN(20) {
	case 0:
		w.crash(i)
	case 1, 2:
		w.server.Deliver() // longer delays would violate the guarantees of the store
		w.advance()
	default:
		w.act(w.nodes[i])
	}
}

func (w *world) advance() {
	d := []time.Duration{time.Second, 20 * time.Second, 5 * time.Minute, 20 * time.Minute, time.Hour,
		7 * time.Hour}[w.rnd.IntN(6)]
	w.now = w.now.Add(time.Duration(w.rnd.Float64() * float64(d)))
	w.say("it is %v", w.now)
}

func (w *world) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%*s"+format, append([]any{2 * w.depth, ""}, args...)...))
}

// crash stops a node at a random point, and starts another one in its place.
func (w *world) crash(i int) {
	w.say("node %s crashes", w.nodes[i].name)
	w.nodes[i].client.CutAfter(w.rnd.IntN(7))
	w.act(w.nodes[i])
	w.nodes[i] = w.start()
}

// act performs a random action of a node. It ignores errors; the final check shows what was stored.
func (w *world) act(a *actor) {
	w.depth++
	defer func() { w.depth-- }()
	n := a.node
	r := n.roller.Shards[w.rnd.IntN(len(n.roller.Shards))]
	if w.busy[r] {
		return // StoreCounts is for one goroutine
	}
	ctx := w.t.Context()
	var err error
	var what string
	switch w.rnd.IntN(12) {
	case 0, 1, 2, 3, 4:
		what, err = "append", w.append(ctx, a)
	case 5:
		if a.counts {
			return // this is for one goroutine as well
		}
		a.counts = true
		what, err = "count", w.count(ctx, a)
		a.counts = false
	case 6, 7, 8:
		what = "roll"
		err = w.withListing(ctx, n, r, func(l *layout.Listing) error {
			_, err := r.Cycle(ctx, l)
			return err
		})
	case 9:
		what = "close"
		err = w.withListing(ctx, n, r, func(l *layout.Listing) error { return r.CloseTimes(ctx, l) })
	case 10:
		what, err = "sweep", r.Sweep(ctx)
	case 11:
		what = "sweep segments"
		err = w.withListing(ctx, n, r, func(l *layout.Listing) error { return n.roller.SweepSegments(ctx, l) })
	}
	w.say("%s %s of shard %d: %v", a.name, what, r.Number, err)
}

func (w *world) withListing(ctx context.Context, n *Node, r *roll.Shard, f func(*layout.Listing) error) error {
	w.busy[r] = true
	defer delete(w.busy, r)
	l, err := n.b.ListSegments(ctx)
	if err != nil {
		return err
	}
	return f(l)
}

// append sends new and repeated traces.
func (w *world) append(ctx context.Context, a *actor) error {
	b := &layout.Batch{}
	var ids []store.ID
	for range 1 + w.rnd.IntN(8) {
		rec := w.record()
		ids = append(ids, rec.ID)
		b.Rows = append(b.Rows, layout.RowsOf(&rec, 0)...)
	}
	for _, id := range ids {
		w.maybe[id] = true
	}
	a.seq++
	k, body := segmentWith(w.t, a.node, a.name, a.seq, b)
	at := time.UnixMicro(b.Rows[0].Received)
	if d := at.Sub(w.now).Abs(); d > 2*time.Second {
		w.t.Fatalf("a node whose clock is off by %v accepts traces at an offset of %v", a.off, d)
	}
	if err := a.node.b.PutObject(ctx, k, body); err != nil {
		return err
	}
	for _, id := range ids {
		w.acked[id] = append(w.acked[id], at)
	}
	return nil
}

// segmentWith returns a segment that a node has just received, and its key.
func segmentWith(t testing.TB, n *Node, instance string, seq uint64, b *layout.Batch) (k string, body []byte) {
	t.Helper()
	now := n.Now()
	for i := range b.Rows {
		b.Rows[i].Received = now.UnixMicro()
	}
	k = layout.Segment{Hour: layout.HourOf(now), Instance: instance, Seq: seq}.Key()
	body, err := layout.EncodeSegment(n.b.Codec, k, b, n.b.Shards)
	if err != nil {
		t.Fatal(err)
	}
	return k, body
}

// record returns a new trace, or one that was sent before.
func (w *world) record() store.Record {
	if len(w.sent) > 0 && w.rnd.IntN(3) == 0 {
		recent := w.sent[max(0, len(w.sent)-40):]
		return recent[w.rnd.IntN(len(recent))]
	}
	var id store.ID
	binary.BigEndian.PutUint64(id.View[:], uint64(len(w.sent)/9)*0x9E3779B97F4A7C15) // a view has several chunks
	id.Chunk = uint32(len(w.sent) * 7919 % 9)
	rec := recordOf(id, w.rnd)
	w.sent = append(w.sent, rec)
	return rec
}

// recordOf returns a trace with time on one or two pages.
func recordOf(id store.ID, rnd *rand.Rand) store.Record {
	t := &trie.Trace{Trie: *trie.New()}
	var nodes []trie.NodeID
	for range 1 + rnd.IntN(5) {
		var stack []trie.Frame
		for range 1 + rnd.IntN(4) {
			stack = append(stack, trie.Frame{Name: "f" + strconv.Itoa(rnd.IntN(9)),
				Resource: "https://x.example/app.js", Line: uint32(1 + rnd.IntN(3))})
		}
		nodes = append(nodes, t.Insert(stack...))
	}
	c := &t.Context
	c.Page, c.ViewID, c.Chunk, c.Interval = testPages[rnd.IntN(len(testPages))], string(id.View[:]), id.Chunk, 10_000
	c.Release = []string{"r1", "r2"}[rnd.IntN(2)]
	at := int64(0)
	for range 1 + rnd.IntN(10) {
		at += int64(rnd.IntN(40_000))
		t.Samples = append(t.Samples, trie.Sample{Time: at, Node: nodes[rnd.IntN(len(nodes))]})
	}
	if rnd.IntN(3) == 0 {
		c.Spans = append(c.Spans, trie.Span{Kind: trie.SpanPage, Name: testPages[rnd.IntN(len(testPages))],
			Start: rnd.Int64N(at + 1), Length: 1 + rnd.Int64N(at+1)})
	}
	payload, err := encode.EncodeTrace(t)
	if err != nil {
		panic(err) // not a valid trace
	}
	return store.Record{ID: id, Pages: t.Pages(), Tags: []store.Tag{{Key: "release", Value: c.Release}},
		Payload: payload}
}

// count counts page views without a trace.
func (w *world) count(ctx context.Context, a *actor) error {
	o := lostView{testPages[w.rnd.IntN(len(testPages))], "unsampled"}
	n := int64(1 + w.rnd.IntN(5))
	a.node.CountViews(o.page, o.reason, n)
	x := w.views[o]
	w.views[o] = [2]int64{x[0], x[1] + n}
	a.pending[o] += n
	if err := a.node.StoreCounts(ctx); err != nil {
		return err
	}
	for o, n := range a.pending {
		x := w.views[o]
		w.views[o] = [2]int64{x[0] + n, x[1]}
	}
	clear(a.pending)
	return nil
}

// settle stops all faults, and lets a node finish its work.
func (w *world) settle() *Node {
	w.server.Faults = 0
	w.server.Deliver()
	w.nodes = w.nodes[:1]
	n := w.start().node
	w.settleNode(n)
	return n
}

// settleNode lets a node finish its work.
func (w *world) settleNode(n *Node) {
	w.t.Helper()
	ctx := w.t.Context()
	for round := 0; ; round++ {
		l, err := n.b.ListSegments(ctx)
		if err != nil {
			w.fail("list: %v", err)
		}
		busy := false
		for _, r := range n.roller.Shards {
			more, err := r.Cycle(ctx, l)
			if err != nil && !errors.Is(err, roll.ErrLost) {
				w.fail("roll up shard %d: %v", r.Number, err)
			}
			busy = busy || more || err != nil
		}
		if !busy {
			break
		}
		if round > 1000 {
			w.fail("the roll-up does not end")
		}
	}
	for _, r := range n.roller.Shards {
		for range 2 {
			l, err := n.b.ListSegments(ctx)
			if err == nil {
				err = r.CloseTimes(ctx, l)
			}
			if err != nil && !errors.Is(err, roll.ErrLost) {
				w.fail("close times of shard %d: %v", r.Number, err)
			}
		}
	}
}

// failure is a violation that ends a run.
type failure string

func (w *world) fail(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// check compares the stored data with what was sent.
func (w *world) check(n *Node) {
	w.t.Helper()
	ctx := w.t.Context()
	type stored struct {
		page string
		id   store.ID
	}
	found := map[stored][]time.Time{}
	raw := map[string]*merged{} // merged traces, by hour and page
	var last, lastView string
	stats, err := n.Select(ctx, store.Query{}, store.Wanted{None: true}, func(rec store.Record) error {
		found[stored{rec.Page, rec.ID}] = append(found[stored{rec.Page, rec.ID}], rec.Received)
		if key := rec.Partition + " " + rec.Page; key != last {
			if raw[key] != nil {
				w.fail("%s is passed in two parts", key)
			}
			raw[key], last, lastView = newMerged(rec.Page), key, ""
		}
		if view := string(rec.ID.View[:]); view != lastView {
			raw[last].view()
			lastView = view
		}
		raw[last].add(&rec)
		return nil
	}, nil)
	if err != nil || len(stats.Unreadable) > 0 {
		w.fail("read traces: %v %v", err, stats.Unreadable)
	}
	for at, times := range found {
		if !w.maybe[at.id] {
			w.fail("%v was never sent", at)
		}
		slices.SortFunc(times, time.Time.Compare)
		for i := 1; i < len(times); i++ {
			if times[i].Truncate(time.Hour).Sub(times[i-1].Truncate(time.Hour)) <= time.Hour {
				w.fail("%s of %s is stored twice, at %v", at.id, at.page, times)
			}
		}
	}
	oldest := w.now.Add(-29 * time.Hour) // the retention, plus the hour that may already have had data
	for _, rec := range w.sent {
		for _, at := range w.acked[rec.ID] {
			for _, page := range rec.Pages {
				kept := slices.ContainsFunc(found[stored{page, rec.ID}], func(t time.Time) bool {
					return t.Sub(at).Abs() <= 2*time.Hour
				})
				if !kept && at.After(oldest) {
					w.fail("%s of %s was acknowledged at %v, but is missing; got %v", rec.ID, page, at,
						found[stored{page, rec.ID}])
				}
			}
		}
	}
	w.checkSums(n, raw)
}

// checkSums compares the rollups of hours and days with their sources.
func (w *world) checkSums(n *Node, raw map[string]*merged) {
	ctx := w.t.Context()
	views := map[lostView]int64{}
	for shard := range n.b.Shards {
		m, _, err := n.b.Manifest(ctx, shard, 0)
		if err != nil {
			w.fail("%v", err)
		}
		ofDays := map[string]map[string]*layout.Page{}
		for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
			h := m.Hours[name]
			pages := map[string]*layout.Page{}
			for _, f := range h.Rollups {
				for _, to := range []map[string]*layout.Page{pages, sumsOf(ofDays, layout.DayOf(name))} {
					if err := n.b.AddRollups(ctx, layout.HourKey(shard, name, f.ID), to); err != nil {
						w.fail("%v", err)
					}
				}
			}
			traces := uint64(0)
			for page, p := range pages {
				of := raw[name+" "+page]
				if of == nil {
					of = newMerged(page)
				}
				traces += uint64(p.Counts[store.Tag{}].Traces)
				if len(h.Runs) > 0 {
					w.same("hour "+name+" of "+page, p, of)
				}
			}
			if traces != h.Traces {
				w.fail("hour %s has %d traces, its rollups %d", name, h.Traces, traces)
			}
			if m.Days[layout.DayOf(name)] == nil {
				countOutcomes(views, pages)
			}
		}
		for name, d := range m.Days {
			pages := map[string]*layout.Page{}
			for _, f := range d.Rollups {
				if err := n.b.AddRollups(ctx, layout.DayKey(shard, name, f.ID), pages); err != nil {
					w.fail("%v", err)
				}
			}
			countOutcomes(views, pages)
			for page, p := range pages {
				if got, want := recordText(p), recordText(ofDays[name][page]); got != want {
					w.fail("day %s of %s:\n%s\nits hours:\n%s", name, page, got, want)
				}
			}
		}
	}
	for o, x := range w.views {
		if views[o] < x[0] || views[o] > x[1] {
			w.fail("%v: %d page views are counted, want %d to %d", o, views[o], x[0], x[1])
		}
	}
}

func sumsOf(days map[string]map[string]*layout.Page, day string) map[string]*layout.Page {
	if days[day] == nil {
		days[day] = map[string]*layout.Page{}
	}
	return days[day]
}

func countOutcomes(views map[lostView]int64, pages map[string]*layout.Page) {
	for page, p := range pages {
		rec, err := p.Record()
		if err != nil {
			panic(err) // all nodes are in its own stack table
		}
		for _, o := range rec.Outcomes {
			views[lostView{page, o.Reason}] += o.Views
		}
	}
}

// same compares a rollup with the merge of its traces.
func (w *world) same(what string, p *layout.Page, of *merged) {
	w.t.Helper()
	of.end()
	rec, err := p.Record()
	if err != nil {
		w.fail("%s: %v", what, err)
	}
	sum := rollup.NewSum(func(trie.Labels) (trie.Labels, bool) { return nil, true })
	if err := sum.Add(rec, p.Stacks()); err != nil {
		w.fail("%s: %v", what, err)
	}
	rawRec, err := of.builder.Record()
	if err != nil {
		w.fail("%s: %v", what, err)
	}
	rawSum := rollup.NewSum(func(trie.Labels) (trie.Labels, bool) { return nil, true })
	if err := rawSum.Add(rawRec, of.builder.Stacks()); err != nil {
		w.fail("%s: %v", what, err)
	}
	if !sum.Profile().Equal(rawSum.Profile()) {
		w.fail("%s: the sums and the traces differ", what)
	}
	gotViews, gotTraces := rec.Views()
	wantViews, wantTraces := rawRec.Views()
	if gotViews != wantViews || gotTraces != wantTraces {
		w.fail("%s: %d views, %d traces, want %d and %d", what, gotViews, gotTraces, wantViews, wantTraces)
	}
}

// recordText returns the content of a rollup as text, independent of the order of additions.
func recordText(p *layout.Page) string {
	if p == nil {
		return "nothing"
	}
	rec, err := p.Record()
	if err != nil {
		return err.Error()
	}
	views, traces := rec.Views()
	sum := rollup.NewSum(func(trie.Labels) (trie.Labels, bool) { return nil, true })
	if err := sum.Add(rec, p.Stacks()); err != nil {
		return err.Error()
	}
	data, err := encode.EncodeProfile(sum.Profile())
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d views, %d traces, %x, %v", views, traces, data, p.Counts)
}

// merged is the merge of the traces of a page in an hour.
type merged struct {
	builder *rollup.Builder
	rows    []*trie.Trace
}

func newMerged(page string) *merged {
	return &merged{builder: rollup.NewWholeBuilder(page, rollup.Limits{})}
}

// view starts the next page view.
func (m *merged) view() { m.end() }

// end finishes the current page view.
func (m *merged) end() {
	if len(m.rows) == 0 {
		return
	}
	slices.SortFunc(m.rows, func(a, b *trie.Trace) int { return cmp.Compare(a.Context.Chunk, b.Context.Chunk) })
	m.builder.Begin(1)
	for _, t := range m.rows {
		m.builder.Add(t)
	}
	m.builder.End()
	m.rows = nil
}

func (m *merged) add(rec *store.Record) {
	if rec.Trace != nil { // from a packed run
		m.rows = append(m.rows, rec.Trace)
		return
	}
	doc, err := encode.DecodeBinary(rec.Payload, encode.FileLimits())
	if err != nil {
		panic(err) // it was encoded by this test
	}
	m.rows = append(m.rows, doc.Trace)
}

// TestInterleavings performs random actions in random order: nodes append, repeat, roll up, close,
// sweep and crash at any request, while the store rejects, truncates and delays requests, and loses
// responses.
func TestInterleavings(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 12
	}
	if s := os.Getenv("SEEDS"); s != "" {
		seeds, _ = strconv.ParseUint(s, 10, 64)
	}
	first := uint64(0)
	if s := os.Getenv("SEED"); s != "" {
		first, _ = strconv.ParseUint(s, 10, 64)
		seeds = 1
	}
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if wrong, log := run(t, seed, false); wrong != "" {
				t.Errorf("%s\n%s", wrong, strings.Join(log[max(0, len(log)-60):], "\n"))
			}
		})
	}
}

// caught converts a failure panic to its text and the log of actions. It must be deferred.
func (w *world) caught(wrong *string, log *[]string) {
	switch x := recover().(type) {
	case nil:
	case failure:
		*wrong, *log = string(x), w.log
	default:
		panic(x)
	}
}

// run runs a seed. It returns the violation, or "" if there is none, and the log of actions.
func run(t testing.TB, seed uint64, blind bool) (wrong string, log []string) {
	w := newWorld(t, seed, []float64{0, 0.02, 0.1, 0.3}[seed%4])
	w.blind, w.server.Blind = blind, blind
	defer w.caught(&wrong, &log)
	for range 150 {
		w.step()
	}
	w.check(w.settle())
	return "", nil
}

// TestControl disables the conditions of the store. If that caused no violation, TestInterleavings
// would prove nothing.
func TestControl(t *testing.T) {
	for seed := range uint64(40) {
		if wrong, _ := run(t, seed, true); wrong != "" {
			t.Logf("seed %d: %.300s", seed, wrong)
			return
		}
	}
	t.Error("nodes overwrite each other's manifests without a violation")
}
