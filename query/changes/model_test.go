package changes

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

func TestMain(m *testing.M) {
	fakebucket.Env(func(key, value string) { _ = os.Setenv(key, value) }) // os.Setenv of these variables cannot fail
	os.Exit(m.Run())
}

// errKilled is the error of all requests of a killed node.
var errKilled = errors.New("killed")

// killable is the connection of a node to the store. It fails after left requests, as if the node
// were killed; lose selects whether the last request still takes effect. Other nodes act between
// requests.
type killable struct {
	objects.Store
	left    int // remaining requests; negative: no limit
	lose    bool
	between func()
}

func (k *killable) request(do func() error) error {
	if k.between != nil {
		k.between()
	}
	switch {
	case k.left == 0:
		return errKilled
	case k.left == 1:
		k.left = 0
		if !k.lose {
			_ = do() // the result is lost
		}
		return errKilled
	case k.left > 0:
		k.left--
	}
	return do()
}

func (k *killable) Get(ctx context.Context, key string, most int64, known objects.Tag) (o *objects.Object, err error) {
	err = k.request(func() error { o, err = k.Store.Get(ctx, key, most, known); return err })
	return o, err
}

func (k *killable) Put(ctx context.Context, key string, body []byte, c objects.Condition) (t objects.Tag, err error) {
	err = k.request(func() error { t, err = k.Store.Put(ctx, key, body, c); return err })
	return t, err
}

// fleet is two nodes that evaluate, send notifications, handle changes for users, and are killed
// repeatedly.
type fleet struct {
	*testing.T
	rnd   *rand.Rand
	now   time.Time
	home  objects.Store
	look  store.Document // for the test itself
	nodes [2]*Board
	ways  [2]*killable
	inner bool // a node acts between requests of the other

	tellable map[string]bool          // ids of all notifications that were saved
	heard    map[string][]string      // ids by channel, in order of arrival
	repeats  map[string]int           // by channel and id: how often a node was killed after sending
	events   map[string]Notification  // by id
	handled  map[string]watch.Handled // by change: the latest successful one
	unsure   map[string]bool          // changes with a failed request, which may have taken effect
	hour     time.Time                // end of the latest evaluated hour
	memory   string                   // expected memory of the detectors, if each hour was evaluated once
	log      []string
}

var channels = []string{"slack", "pager"}

func (f *fleet) start(i int) {
	way := &killable{Store: f.home, left: -1}
	r, err := shared.OpenReader(f.Context(), way, shared.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.ways[i] = way
	f.nodes[i] = NewBoard(r.Changes(), nil, watch.Settings{}, BoardOptions{Now: func() time.Time { return f.now }})
	f.nodes[i].detect = detect
}

// detect is a pure function, like the detectors. Its memory encodes the hours that it was called
// for, in order.
func detect(_ context.Context, _ watch.Observer, now time.Time, _ watch.Settings, m watch.Memory,
	known []watch.Change) (watch.Evaluation, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", m.Pages["/"].Release, now.Unix()))
	e := watch.Evaluation{Memory: watch.Memory{Pages: map[string]watch.PageMemory{"/": {Release: fmt.Sprintf("%x",
		sum)}}}}
	rnd := rand.New(rand.NewPCG(uint64(now.Unix()), 0))
	for _, c := range known {
		if c.State != watch.Resolved && rnd.IntN(6) == 0 {
			c.State, c.Resolution, c.Resolved = watch.Resolved, watch.Back, now
		}
		e.Known = append(e.Known, c)
		if c.State == watch.Resolved && c.Resolution == watch.Back && rnd.IntN(8) == 0 {
			e.Found = append(e.Found, c)
		}
	}
	for range rnd.IntN(3) {
		e.Found = append(e.Found, testChange(rnd))
	}
	return e, nil
}

func testChange(rnd *rand.Rand) watch.Change {
	kinds := []watch.Direction{watch.Slower, watch.Slower, watch.Faster}
	return watch.Change{ID: fmt.Sprintf("%016x", rnd.Uint64()), Direction: kinds[rnd.IntN(3)],
		Detector: watch.ByRelease, Release: "B", CompareRelease: "A",
		What: watch.What{Kind: watch.OfFunction, Metric: "self", Function: &compare.Place{Name: "f",
			Resource: "/a.js"}},
		Pages: []watch.PageChange{{Page: "/", Value: compare.Pair{A: 1, B: 2}, Change: compare.Estimate{Value: 1}}}}
}

// observe reads and checks the saved register.
func (f *fleet) observe() *Register {
	f.Helper()
	text, version, err := f.look.Load(f.Context())
	for errors.Is(err, context.DeadlineExceeded) || err != nil && version == "" { // a simulated fault of the bucket
		text, version, err = f.look.Load(f.Context())
	}
	if version == "" {
		return NewRegister()
	}
	r, err := DecodeRegister(text)
	if err != nil {
		f.Fatal(err)
	}
	if r.Hour.After(f.hour) {
		f.hour = r.Hour
		f.memory = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", f.memory, f.hour.Unix())))
	}
	if got := r.Memory.Pages["/"].Release; !r.Hour.Equal(f.hour) || got != f.memory {
		f.Fatalf("up to %s: the memory is %s, want %s up to %s", r.Hour, got, f.memory, f.hour)
	}
	for _, n := range r.Outbox {
		if old, ok := f.events[n.ID]; ok && (old.Change != n.Change || old.Event != n.Event) {
			f.Fatalf("two notifications have the id %s", n.ID)
		}
		f.tellable[n.ID], f.events[n.ID] = true, n
	}
	return r
}

// tell sends the due notifications from a node to the channels.
func (f *fleet) tell(b *Board, way *killable) error {
	plan := func(r *Register, now time.Time) (all []Attempt) {
		for _, c := range channels {
			for _, n := range r.Due(c, now) {
				all = append(all, Attempt{n.ID, c})
			}
		}
		return all
	}
	taken, _, err := b.Take(f.Context(), plan)
	f.observe()
	if err != nil || len(taken) == 0 {
		return err
	}
	var out []Outcome
	for _, a := range taken {
		o := Outcome{Attempt: a}
		switch {
		case way.left == 0: // killed before sending
			return errKilled
		case f.rnd.IntN(5) == 0:
			o.Failed, o.Next = errors.New("busy"), f.now.Add(time.Minute)
		default:
			f.heard[a.Channel] = append(f.heard[a.Channel], a.Notification)
		}
		out = append(out, o)
	}
	if err = b.Note(f.Context(), out, channels); err != nil {
		for _, o := range out {
			if o.Failed == nil {
				f.repeats[o.Channel+o.Notification]++
			}
		}
	}
	return err
}

func (f *fleet) handle(b *Board) error {
	r := f.observe()
	if len(r.Changes) == 0 {
		return nil
	}
	c := r.Changes[f.rnd.IntN(min(len(r.Changes), 5))]
	h := Handling{State: []watch.State{watch.Acknowledged, watch.Expected, watch.Resolved, watch.Open}[f.rnd.IntN(4)],
		Note: fmt.Sprint(f.rnd.Uint64())}
	if h.State == watch.Expected {
		h.Until = f.now.Add(time.Duration(1+f.rnd.IntN(8)) * time.Hour)
	}
	f.unsure[c.ID] = true
	got, err := b.Handle(f.Context(), c.ID, h, "ann")
	if err == nil && !f.inner && f.ways[0].between == nil && f.ways[1].between == nil {
		f.handled[c.ID] = *got.Handled
		delete(f.unsure, c.ID)
	}
	return err
}

// step makes a random node take a random action.
func (f *fleet) step() {
	i := f.rnd.IntN(2)
	b, way := f.nodes[i], f.ways[i]
	if !f.inner {
		way.left, way.lose = -1, f.rnd.IntN(2) == 0
		if f.rnd.IntN(3) == 0 {
			way.left = 1 + f.rnd.IntN(6)
		}
		if way.between = nil; f.rnd.IntN(3) == 0 {
			way.between = f.meanwhile(1 - i)
		}
	}
	var err error
	what := f.rnd.IntN(6)
	switch what {
	case 0, 1:
		err = b.Evaluate(f.Context())
	case 2, 3:
		err = f.tell(b, way)
	case 4:
		err = f.handle(b)
	case 5:
		f.now = f.now.Add(time.Duration(f.rnd.IntN(70)) * time.Minute)
	}
	f.observe()
	f.log = append(f.log, fmt.Sprintf("%s node %d, action %d: %v", f.now.Format("02 15:04"), i, what, err))
	if way.left == 0 && !f.inner {
		f.start(i)
	}
}

// meanwhile returns the actions of node i between requests of the other node.
func (f *fleet) meanwhile(i int) func() {
	left := 2
	return func() {
		if f.inner || left == 0 || f.rnd.IntN(2) == 0 {
			return
		}
		left--
		f.inner = true
		defer func() { f.inner = false }()
		f.ways[i].left = -1
		_ = f.nodes[i].Evaluate(f.Context())
		f.observe()
		_ = f.tell(f.nodes[i], f.ways[i])
		f.observe()
	}
}

// Nodes are killed at any request, and the other node acts between any requests. Each hour is
// evaluated once, in order. Each notification is delivered under one id, and repeated only if a
// node was killed after sending. Handlings by users are not lost.
func TestFleet(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 6
	}
	for _, kind := range []string{"directory", "bucket"} {
		for seed := range seeds {
			t.Run(fmt.Sprint(kind, " ", seed), func(t *testing.T) {
				t.Parallel()
				f := &fleet{T: t, rnd: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 11, 1, 10, 20, 0,
					0, time.UTC),
					tellable: map[string]bool{}, heard: map[string][]string{}, repeats: map[string]int{},
					events:  map[string]Notification{},
					handled: map[string]watch.Handled{}, unsure: map[string]bool{}}
				f.open(kind, seed)
				for range 150 {
					f.step()
				}
				f.settle()
				f.check()
			})
		}
	}
}

func (f *fleet) open(kind string, seed uint64) {
	now := func() time.Time { return f.now }
	if kind == "directory" {
		d, err := directory.Open(filepath.Join(f.TempDir(), "data"), directory.Options{MinFree: -1, Now: now})
		if err != nil {
			f.Fatal(err)
		}
		f.home = d
	} else {
		s := fakebucket.New(seed)
		s.Now = now
		f.home = s.Client().Bucket(now)
		defer func() { s.Faults = 0.05 }()
	}
	n, err := shared.Open(f.Context(), f.home, shared.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.look = n.Changes()
	f.start(0)
	f.start(1)
}

// settle lets the nodes finish all work without being killed.
func (f *fleet) settle() {
	for _, w := range f.ways {
		w.left, w.between = -1, nil
	}
	f.now = f.now.Add(2 * time.Hour)
	for range 200 {
		_ = f.nodes[0].Evaluate(f.Context())
		_ = f.tell(f.nodes[1], f.ways[1])
		f.now = f.now.Add(2 * time.Second)
		if f.rnd.IntN(4) == 0 {
			f.now = f.now.Add(time.Minute)
		}
	}
	for try := 0; len(f.observe().Outbox) > 0 && try < 100; try++ {
		f.now = f.now.Add(5 * time.Minute)
		_ = f.tell(f.nodes[1], f.ways[1])
	}
}

func (f *fleet) check() {
	r := f.observe()
	fail := func(format string, args ...any) {
		f.Helper()
		f.Errorf(format+"\n%s", append(args, strings.Join(f.log[max(0, len(f.log)-40):], "\n"))...)
	}
	if len(r.Outbox) > 0 {
		fail("%d notifications were not delivered", len(r.Outbox))
	}
	for _, c := range channels {
		count := map[string]int{}
		for _, id := range f.heard[c] {
			count[id]++
		}
		for id := range f.tellable {
			if count[id] == 0 {
				fail("%s never received %s", c, id)
			}
		}
		for id, n := range count {
			if !f.tellable[id] || n > 1+f.repeats[c+id] {
				fail("%s received %s %d times, want at most %d", c, id, n, 1+f.repeats[c+id])
			}
		}
		f.checkOrder(c, r, fail)
	}
	for _, id := range slices.Sorted(maps.Keys(f.handled)) {
		i := slices.IndexFunc(r.Changes, func(c watch.Change) bool { return c.ID == id })
		if h := f.handled[id]; !f.unsure[id] && r.Changes[i].Handled != nil && r.Changes[i].Handled.Note != h.Note {
			fail("%s: handled as %+v, want %+v", id, r.Changes[i].Handled, h)
		}
	}
}

// checkOrder checks that a channel never receives two resolutions of a change in a row, and that
// the last event matches the final state.
func (f *fleet) checkOrder(c string, r *Register, fail func(string, ...any)) {
	last := map[string]Event{}
	seen := map[string]bool{}
	for _, id := range f.heard[c] {
		n := f.events[id]
		if !seen[id] && last[n.Change] == n.Event && n.Event == EventResolved {
			fail("%s: two events in a row for %s: %s", c, n.Change, n.Event)
		}
		if !seen[id] {
			last[n.Change] = n.Event
		}
		seen[id] = true
	}
	for _, x := range r.Changes {
		if e := last[x.ID]; x.State == watch.Resolved && e == EventFound && !expectedEnd(&x) || x.State == watch.Open &&
			x.Handled == nil && e != EventFound {
			fail("%s: the last event of %s is %q, its state is %s", c, x.ID, e, x.State)
		}
	}
}

// expectedEnd reports whether a change ended while it was expected.
func expectedEnd(c *watch.Change) bool {
	return c.Handled != nil && !c.Handled.Until.IsZero() && c.Resolved.Before(c.Handled.Until)
}
