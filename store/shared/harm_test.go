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
	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// harm is a bucket whose objects are lost, damaged, doubled and put back, on a store and with machines whose clocks are wrong, that
// are told other retentions and are started again. Whatever happens: what a correct reader would keep is not deleted, nothing counts twice, and what is in no answer is said.
type harm struct {
	*testing.T
	rnd     *rand.Rand
	server  *fakebucket.Server
	b       *bucket.Bucket // of who does harm, and looks on
	r       *Reader        // as above, to parse what is there
	wrong   time.Duration  // of the clock of the store
	nodes   []*Node
	objects map[string][]byte       // that are there
	older   map[string][][]byte     // what they were
	parsed  map[string]*contents    // by key and body
	sent    map[store.ID]*sentTrace // acknowledged
	ruined  map[store.ID]bool       // of which the harm was to the traces themselves
	hurt    map[string]bool         // hours, days of shards in which there was harm
	log     []string
}

type sentTrace struct {
	at    time.Time // the true one
	wrong bool      // the machine took another one for that of the store
}

// contents is what an object has.
type contents struct {
	ids    []store.ID // of segments and runs
	traces uint64     // of sums
	sound  bool
}

// What the bucket is told to keep, and what some machine is.
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

// start starts a machine, if it can be.
func (h *harm) start(o Options, off time.Duration) *Node {
	o.Flush, o.Shards = time.Millisecond, 2
	n, err := Open(h.Context(), h.server.Client().Bucket(func() time.Time { return time.Now().Add(off) }), o)
	h.say("start with %v, clock off by %v: %v", o.Retention, off, err)
	if err != nil {
		return nil
	}
	return n
}

// look reads what is there. Of what was there before, machines change manifests alone.
func (h *harm) look(known map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for e, err := range h.b.List(h.Context(), "", "") {
		if err != nil {
			h.Fatal(err)
		}
		if strings.HasPrefix(e.Key, bucket.Probes) {
			continue
		}
		if body := known[e.Key]; body != nil && int64(len(body)) == e.Size && !strings.HasSuffix(e.Key, "MANIFEST") {
			out[e.Key] = body
			continue
		}
		got, err := h.b.Get(h.Context(), e.Key, maxObject, "")
		if err != nil {
			h.Fatal(err)
		}
		out[e.Key] = got.Body
		if last := h.older[e.Key]; len(last) == 0 || !bytes.Equal(last[len(last)-1], got.Body) {
			h.older[e.Key] = append(last[max(0, len(last)-9):], got.Body)
		}
	}
	return out
}

func (h *harm) parse(k string, body []byte) *contents {
	at := k + "\x00" + string(body)
	if x := h.parsed[at]; x != nil {
		return x
	}
	x := h.parseAgain(k, body)
	h.parsed[at] = x
	return x
}

func (h *harm) parseAgain(k string, body []byte) *contents {
	x := &contents{}
	o, err := h.r.parseSegment(k, body)
	if err != nil {
		return x
	}
	x.sound = true
	ctx := h.Context()
	switch kind, _, _ := strings.Cut(k, "/"); kind {
	case "seg", "bad":
		for shard := range 2 {
			b, err := h.r.shardOfSegment(ctx, o, shard)
			if x.sound = x.sound && err == nil; err != nil {
				continue
			}
			for i := range b.rows {
				x.ids = append(x.ids, b.rows[i].id)
			}
		}
	case "raw":
		err := merge(ctx, []*cursor{h.r.cursor(o, o.index.Kind(kindTraces), 1)}, func(r *row) error {
			x.ids = append(x.ids, r.id)
			return nil
		})
		x.sound = err == nil
	case "hours", "days":
		x.sound = h.r.checkSums(ctx, o) == nil
		for e := range o.index.All() {
			if e.Kind == kindCatalog {
				x.traces += uint64(e.Rows)
			}
		}
	}
	return x
}

// place names the hour or day of a shard that an object is of.
func place(k string) string {
	part := strings.Split(k, "/")
	return part[1] + "/" + part[2]
}

// do has machines do something, and looks on.
func (h *harm) do(what string, f func()) {
	h.Helper()
	was := h.objects
	f()
	h.objects = h.look(was)
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if h.objects[k] == nil {
			h.deleted(what, k, was[k])
		} else if !bytes.Equal(h.objects[k], was[k]) && !strings.HasSuffix(k, "MANIFEST") {
			h.fail("%s: %s is another one", what, k)
		}
	}
}

// deleted judges that a machine has deleted an object.
func (h *harm) deleted(what, k string, body []byte) {
	h.Helper()
	x := h.parse(k, body)
	kind, _, _ := strings.Cut(k, "/")
	if kind != "seg" {
		h.say("%s deletes %s (%d traces, %d in sums)", what, k, len(x.ids), x.traces)
	}
	switch kind {
	case "seg", "raw":
		if copied := h.objects[aside+strings.TrimPrefix(k, segments)]; bytes.Equal(copied, body) {
			return
		}
		if !x.sound && !h.hurt[place(k)] && kind == "raw" {
			h.fail("%s: %s is deleted, which can not be read", what, k)
		}
		left := h.traces()
		for _, id := range x.ids {
			if s := h.sent[id]; s != nil && !left[id] && !h.ruined[id] && !s.wrong && time.Since(s.at) < keptTrue.Retention-time.Hour {
				h.fail("%s: %s is deleted, and trace %x of %v ago is nowhere else", what, k, id.View[:2], time.Since(s.at))
			}
		}
	case "hours", "days":
		h.deletedSums(what, k, x)
	case "shard":
		newer := 0
		for other := range h.objects {
			if strings.HasPrefix(other, k[:len("shard/000/OLD-")]) && other > k {
				newer++
			}
		}
		if strings.HasSuffix(k, "MANIFEST") || newer < 4 {
			h.fail("%s: %s is deleted, and there are %d newer ones", what, k, newer)
		}
	default:
		h.fail("%s: %s is deleted", what, k)
	}
}

// deletedSums judges that sums were deleted: something else has to tell what they said.
func (h *harm) deletedSums(what, k string, x *contents) {
	h.Helper()
	at := place(k)
	kept, name := keptTrue.HourRetention, at[len("000/"):]
	if strings.HasPrefix(k, "days/") {
		kept, name = keptTrue.DayRetention, name+"T23"
	}
	start, err := parseHour(name)
	if err != nil || h.hurt[at] || h.hurt[at[:len("000/20000101")]] || time.Since(start) > kept || x.traces == 0 || !x.sound {
		return
	}
	runs, hours := uint64(0), uint64(0)
	for other, body := range h.objects {
		kind, _, _ := strings.Cut(other, "/")
		if kind != "raw" && kind != "hours" && kind != "days" || !strings.HasPrefix(place(other), at) && !strings.HasPrefix(at, place(other)) {
			continue
		}
		y := h.parse(other, body)
		switch {
		case y.traces >= x.traces:
			return
		case kind == "raw":
			runs += uint64(len(y.ids))
		case kind == "hours":
			hours += y.traces
		}
	}
	if max(runs, hours) < x.traces {
		h.fail("%s: %s is deleted, which has %d traces, and nothing tells of them", what, k, x.traces)
	}
}

// traces returns the traces that are there.
func (h *harm) traces() map[store.ID]bool {
	out := map[store.ID]bool{}
	for k, body := range h.objects {
		if kind, _, _ := strings.Cut(k, "/"); kind == "seg" || kind == "raw" || kind == "bad" {
			for _, id := range h.parse(k, body).ids {
				out[id] = true
			}
		}
	}
	return out
}

// where returns the objects that have a trace.
func (h *harm) where(id store.ID) (keys []string) {
	for k, body := range h.objects {
		if slices.Contains(h.parse(k, body).ids, id) {
			keys = append(keys, k)
		}
	}
	return keys
}

// send sends traces to a machine.
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

// hurtSomething does harm to an object.
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
		if _, err := h.b.Put(h.Context(), k, body, bucket.Condition{}); err != nil {
			h.Fatal(err)
		}
	}
	what := h.rnd.IntN(4)
	h.say("%s %s", []string{"delete", "damage", "put back", "double"}[what], k)
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
	case 2: // anything, as it was at any time
		all := slices.Sorted(maps.Keys(h.older))
		k = all[h.rnd.IntN(len(all))]
		if strings.Contains(k, "MANIFEST") || h.rnd.IntN(3) > 0 {
			k = manifestKey(h.rnd.IntN(2))
		}
		old := h.older[k]
		body := old[h.rnd.IntN(len(old))]
		h.say("which is %s", k)
		h.ruin(k, h.objects[k])
		put(k, body)
	case 3:
		other := "" // another name of the same kind
		switch n := fmt.Sprintf("%08d", 1+h.rnd.IntN(1e8-1)); {
		case strings.HasSuffix(k, "MANIFEST"):
			other = manifestKey(h.rnd.IntN(2))
		case kind == "old":
			other = oldKey(h.rnd.IntN(2), 1+h.rnd.Uint64N(20))
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
		put(other, body)
	}
	h.objects = h.look(nil)
}

// ruin notes what an object has that something is done to.
func (h *harm) ruin(k string, body []byte) {
	if body == nil {
		return
	}
	for _, id := range h.parse(k, body).ids {
		h.ruined[id] = true
	}
	if kind, _, _ := strings.Cut(k, "/"); kind == "raw" || kind == "hours" || kind == "days" {
		h.hurt[place(k)], h.hurt[place(k)[:len("000/20000101")]] = true, true
	}
}

var wrongClocks = []time.Duration{time.Minute, 8 * time.Minute, 25 * time.Minute, 3 * time.Hour, 40 * time.Hour, 9 * 24 * time.Hour, 400 * 24 * time.Hour, 730 * 24 * time.Hour}

func (h *harm) off() time.Duration {
	return wrongClocks[h.rnd.IntN(len(wrongClocks))] * time.Duration(1-2*h.rnd.IntN(2))
}

// step does something.
func (h *harm) step(unharmed bool) {
	i := h.rnd.IntN(len(h.nodes))
	switch h.rnd.IntN(14) {
	case 0, 1, 2, 3:
		if n := h.nodes[i]; n != nil {
			h.do("append", func() { h.send(n) })
		}
	case 4, 5, 6:
		time.Sleep([]time.Duration{20 * time.Second, 4 * time.Minute, 30 * time.Minute, time.Hour, 9 * time.Hour}[h.rnd.IntN(5)])
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
			h.do("release", h.nodes[i].release)
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
		n.round(h.Context(), work{close: true, sweep: h.rnd.IntN(3) == 0})
		time.Sleep(30 * time.Second)
	}
}

// end sets all right that somebody would, and asks.
func (h *harm) end(unharmed bool) {
	h.wrong = 0
	h.nodes = nil
	if f := h.older[formatKey][0]; !bytes.Equal(h.objects[formatKey], f) {
		if _, err := h.b.Put(h.Context(), formatKey, f, bucket.Condition{}); err != nil {
			h.Fatal(err)
		}
	}
	h.objects = h.look(nil)
	var n *Node
	h.do("start", func() { n = h.start(keptTrue, 0) })
	if n == nil {
		h.fail("it does not start")
	}
	wait := func() {
		for range 7 {
			h.do("the end", func() { h.rounds(n, 2) })
			time.Sleep(20 * time.Minute)
		}
	}
	wait()
	h.answers(n, "in the end", unharmed)
	v := verify(h, n)
	h.do("repair", func() {
		errand := h.start(Options{}, 0)
		mended, err := errand.Repair(h.Context(), v)
		h.say("repair: %d of %+v, %v", mended, v.Findings, err)
	})
	wait()
	h.answers(n, "after repair", unharmed)
}

// answers checks what is answered: nothing twice, and all that is there, or something is said.
func (h *harm) answers(n *Node, when string, unharmed bool) {
	h.Helper()
	found := map[store.ID]int{}
	stats, err := n.Scan(h.Context(), store.Query{}, func(rec store.Record) error { found[rec.ID]++; return nil })
	v := verify(h, n)
	said := err != nil || !stats.Complete() || len(v.Findings) > 0 || n.Unready() != nil
	if said && unharmed {
		h.fail("%s: nothing is wrong, but: %v, %v, %+v, %v", when, err, stats.Unreadable, v.Findings, n.Unready())
	}
	there := h.traces()
	for id, s := range h.sent {
		switch {
		case found[id] > 1 && !(h.ruined[id] && said): // it may have become another object
			h.fail("%s: trace %x of %v is there %d times; findings: %+v", when, id.View[:2], s.at, found[id], v.Findings)
		case found[id] == 0 && (there[id] || !h.ruined[id]) && !s.wrong && time.Since(s.at) < keptTrue.Retention-time.Hour && !said:
			h.fail("%s: trace %x of %v is in no answer, and nothing is said; it is in %v", when, id.View[:2], s.at, h.where(id))
		}
	}
}

// TestHarm does harm. SEEDS says how often, SEED which.
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
	h := &harm{T: t, rnd: rand.New(rand.NewPCG(seed, 3)), server: fakebucket.New(seed), older: map[string][][]byte{}, parsed: map[string]*contents{},
		sent: map[store.ID]*sentTrace{}, ruined: map[store.ID]bool{}, hurt: map[string]bool{}}
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
