package shared

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// harm is a bucket whose objects are lost, damaged, duplicated and restored. Its store and nodes
// have wrong clocks, and the nodes have different retentions and are restarted. In all cases no
// data is deleted that a correct node would keep, no trace counts twice, and missing traces are
// reported.
type harm struct {
	*testing.T
	rnd     *rand.Rand
	server  *fakebucket.Server
	b       objects.Store // for causing and observing the harm
	r       *Reader       // for decoding objects
	wrong   time.Duration // the error of the store's clock
	nodes   []*Node
	objects map[string][]byte       // current objects
	older   map[string][][]byte     // earlier versions of objects
	parsed  map[string]*contents    // by key and body
	sent    map[store.ID]*sentTrace // acknowledged
	ruined  map[store.ID]bool       // traces whose own objects were harmed
	hurt    map[string]bool         // hours and days of shards that were harmed
	log     []string
}

// The retention of the bucket, and a shorter one that some node has.
var (
	keptTrue  = Options{Retention: 30 * time.Hour, HourRetention: 60 * time.Hour, DayRetention: 200 * time.Hour}
	keptShort = Options{Retention: 4 * time.Hour, HourRetention: 6 * time.Hour, DayRetention: 30 * time.Hour}
)

func (h *harm) say(format string, args ...any) {
	h.log = append(h.log, time.Now().Format("02 15:04:05 ")+fmt.Sprintf(format, args...))
}

func (h *harm) fail(format string, args ...any) {
	h.Helper()
	h.Fatalf(format+"\n%s", append(args, strings.Join(h.log[max(0, len(h.log)-50):], "\n"))...)
}

// start starts a node, or returns nil if that fails.
func (h *harm) start(o Options, off time.Duration) *Node {
	o.Flush, o.Shards = time.Millisecond, 2
	n, err := Open(h.Context(), h.server.Client().Bucket(func() time.Time { return time.Now().Add(off) }), o)
	h.say("start with %v, clock off by %v: %v", o.Retention, off, err)
	if err != nil {
		return nil
	}
	return n
}

// send sends traces to a node.
func (h *harm) send(n *Node) {
	for range 1 + h.rnd.IntN(3) {
		wrong := time.Until(n.Now()).Abs() > 30*time.Minute
		rec := recordOf(idOf(h.rnd), h.rnd)
		at := time.Now()
		if _, err := n.Append(h.Context(), []store.Record{rec}); err == nil {
			h.sent[rec.ID] = &sentTrace{at, wrong}
		}
	}
}

// hurtSomething harms a random object.
func (h *harm) hurtSomething() {
	kinds := map[string][]string{}
	for k := range h.objects {
		kind, _, _ := strings.Cut(k, "/")
		if strings.Contains(k, "OLD-") {
			kind = "old"
		}
		kinds[kind] = append(kinds[kind], k)
	}
	kind := slices.Sorted(maps.Keys(kinds))[h.rnd.IntN(len(kinds))]
	slices.Sort(kinds[kind])
	k := kinds[kind][h.rnd.IntN(len(kinds[kind]))]
	body := h.objects[k]
	put := func(k string, body []byte) {
		if _, err := h.b.Put(h.Context(), k, body, objects.Condition{}); err != nil {
			h.Fatal(err)
		}
	}
	what := h.rnd.IntN(4)
	h.say("%s %s", []string{"delete", "damage", "restore", "duplicate"}[what], k)
	switch what {
	case 0:
		h.ruin(k, body)
		if err := h.b.Delete(h.Context(), k); err != nil {
			h.Fatal(err)
		}
	case 1:
		h.ruin(k, body)
		broken := bytes.Clone(body)
		broken[h.rnd.IntN(len(broken))] ^= 1 << h.rnd.IntN(8)
		put(k, broken)
	case 2: // any object, in any earlier version
		all := slices.Sorted(maps.Keys(h.older))
		k = all[h.rnd.IntN(len(all))]
		if strings.Contains(k, "MANIFEST") || h.rnd.IntN(3) > 0 {
			k = layout.ManifestKey(h.rnd.IntN(2))
		}
		old := h.older[k]
		body := old[h.rnd.IntN(len(old))]
		h.say("which is %s", k)
		h.ruin(k, h.objects[k])
		put(k, body)
	case 3:
		other := "" // another key of the same kind
		switch n := fmt.Sprintf("%08d", 1+h.rnd.IntN(1e8-1)); {
		case strings.HasSuffix(k, "MANIFEST"):
			other = layout.ManifestKey(h.rnd.IntN(2))
		case kind == "old":
			other = layout.OldKey(h.rnd.IntN(2), 1+h.rnd.Uint64N(20))
		case kind == "FORMAT":
			return
		case kind == "seg" || kind == "bad":
			other = k[:len(k)-len(n)] + n
		default:
			ext := k[strings.LastIndex(k, "."):]
			other = strings.TrimSuffix(k, ext) + n + ext
		}
		h.say("as %s", other)
		h.ruin(other, h.objects[other])
		h.hurtAt(other) // no reader uses it for another key
		put(other, body)
	}
	h.objects = h.look(nil)
}

// ruin records the traces of an object that is harmed.
func (h *harm) ruin(k string, body []byte) {
	if body == nil {
		return
	}
	for _, id := range h.parse(k, body).ids {
		h.ruined[id] = true
	}
	h.hurtAt(k)
}

// hurtAt records that the hour or day of an object was harmed.
func (h *harm) hurtAt(k string) {
	if kind, _, _ := strings.Cut(k, "/"); kind == "raw" || kind == "hours" || kind == "days" {
		h.hurt[place(k)], h.hurt[place(k)[:len("000/20000101")]] = true, true
	}
}

var wrongClocks = []time.Duration{time.Minute, 8 * time.Minute, 25 * time.Minute, 3 * time.Hour, 40 * time.Hour,
	9 * 24 * time.Hour, 400 * 24 * time.Hour, 730 * 24 * time.Hour}

func (h *harm) off() time.Duration {
	return wrongClocks[h.rnd.IntN(len(wrongClocks))] * time.Duration(1-2*h.rnd.IntN(2))
}

// step performs one random action.
func (h *harm) step(unharmed bool) {
	i := h.rnd.IntN(len(h.nodes))
	switch h.rnd.IntN(14) {
	case 0, 1, 2, 3:
		if n := h.nodes[i]; n != nil {
			h.do("append", func() { h.send(n) })
		}
	case 4, 5, 6:
		time.Sleep([]time.Duration{20 * time.Second, 4 * time.Minute, 30 * time.Minute, time.Hour,
			9 * time.Hour}[h.rnd.IntN(5)])
	case 7:
		if !unharmed {
			h.hurtSomething()
		}
	case 8:
		if h.wrong = 0; h.rnd.IntN(2) == 0 {
			h.wrong = h.off()
		}
		h.say("the clock of the store is off by %v", h.wrong)
	case 9:
		if h.nodes[i] != nil && h.rnd.IntN(2) == 0 {
			h.do("release", h.nodes[i].roller.Release)
		}
		o, off := []Options{keptTrue, keptShort}[h.rnd.IntN(2)], time.Duration(0)
		if h.wrong == 0 && h.rnd.IntN(3) == 0 {
			off = h.off()
		}
		o.TakeOver, o.RollRows = time.Duration(1+h.rnd.IntN(60))*time.Second, 1+h.rnd.IntN(20)
		h.do("start", func() { h.nodes[i] = h.start(o, off) })
	default:
		if n := h.nodes[i]; n != nil {
			h.do(fmt.Sprintf("round of node %d", i), func() { h.rounds(n, 1+h.rnd.IntN(12)) })
		}
	}
}

func (h *harm) rounds(n *Node, count int) {
	for range count {
		n.round(h.Context(), roll.Work{Close: true, Sweep: h.rnd.IntN(3) == 0})
		time.Sleep(30 * time.Second)
	}
}

// end restores what an operator would, and checks the responses.
func (h *harm) end(unharmed bool) {
	h.wrong = 0
	h.nodes = nil
	if f := h.older["FORMAT"][0]; !bytes.Equal(h.objects["FORMAT"], f) {
		if _, err := h.b.Put(h.Context(), "FORMAT", f, objects.Condition{}); err != nil {
			h.Fatal(err)
		}
	}
	h.objects = h.look(nil)
	var n *Node
	h.do("start", func() { n = h.start(keptTrue, 0) })
	if n == nil {
		h.fail("the node does not start")
	}
	wait := func() {
		for range 7 {
			h.do("the end", func() { h.rounds(n, 2) })
			time.Sleep(20 * time.Minute)
		}
	}
	wait()
	h.answers(n, "at the end", unharmed)
	v := verified(h, n)
	h.do("repair", func() {
		errand := h.start(Options{}, 0)
		mended, err := errand.Repair(h.Context(), v)
		h.say("repair: %d of %+v, %v", mended, v.Findings, err)
	})
	wait()
	h.answers(n, "after repair", unharmed)
}

// TestHarm causes random harm. SEEDS is the number of runs, and SEED selects one.
func TestHarm(t *testing.T) {
	seeds, first := uint64(8), uint64(0)
	if s := os.Getenv("SEEDS"); s != "" {
		seeds, _ = strconv.ParseUint(s, 10, 64)
	}
	if s := os.Getenv("SEED"); s != "" {
		first, _ = strconv.ParseUint(s, 10, 64)
		seeds = 1
	}
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { doHarm(t, seed) })
		})
	}
}

func doHarm(t *testing.T, seed uint64) {
	h := &harm{T: t, rnd: rand.New(rand.NewPCG(seed, 3)), server: fakebucket.New(seed), older: map[string][][]byte{},
		parsed: map[string]*contents{},
		sent:   map[store.ID]*sentTrace{}, ruined: map[store.ID]bool{}, hurt: map[string]bool{}}
	h.server.Now = func() time.Time { return time.Now().Add(h.wrong) }
	h.b = h.server.Client().Bucket(time.Now)
	for range 2 {
		h.nodes = append(h.nodes, h.start(keptTrue, 0))
	}
	var err error
	if h.r, err = OpenReader(t.Context(), h.b, Options{}); err != nil {
		t.Fatal(err)
	}
	h.do("begin", func() {
		for range 4 {
			h.send(h.nodes[0])
			h.rounds(h.nodes[0], 2)
			time.Sleep(time.Hour)
		}
	})
	h.older = map[string][][]byte{}
	h.objects = h.look(nil)
	for range 60 {
		h.step(seed%4 == 0)
	}
	h.end(seed%4 == 0)
}
