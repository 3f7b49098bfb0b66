package shared

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// damagedStore is a bucket in which an object will be damaged. It has a closed day, closed hours,
// an open hour with several runs, waiting segments, a request to delete, and copies of manifests.
type damagedStore struct {
	*testing.T
	rnd     *rand.Rand
	s       *fakebucket.Server
	b       objects.Store // for causing the damage
	log     bytes.Buffer
	n       *Node
	next    uint64
	acked   map[store.ID]store.Record
	objects map[string][]byte // before the damage, by key
	harmed  []string          // keys
}

func (d *damagedStore) options() Options {
	return Options{Flush: time.Millisecond, Shards: 2, Retention: 72 * time.Hour,
		Logger: slog.New(slog.NewTextHandler(&d.log, nil))}
}

// send sends a trace, and fails the test unless it is acknowledged.
func (d *damagedStore) send() {
	d.Helper()
	var id store.ID
	d.next++
	binary.BigEndian.PutUint64(id.View[:], d.next/2*0x9E3779B97F4A7C15) // page views have two chunks
	id.Chunk = uint32(d.next % 2)
	rec := recordOf(id, d.rnd)
	if _, err := d.n.Append(d.Context(), []store.Record{rec}); err != nil {
		d.Fatal(err)
	}
	d.acked[id] = rec
}

func (d *damagedStore) rounds(count int) {
	for range count {
		d.n.round(d.Context(), roll.Work{Close: true, Sweep: true})
		time.Sleep(31 * time.Second)
	}
}

// fill fills the bucket.
func (d *damagedStore) fill() {
	d.n = openNode(d.T, d.s, d.options())
	for range 3 {
		d.send()
		d.send()
		d.rounds(1)
	}
	time.Sleep(25 * time.Hour)
	d.send()
	d.rounds(4) // closes the day
	time.Sleep(time.Hour)
	d.n.CountViews("/counted", "unsampled", 2)
	d.send()
	d.rounds(4)
	if _, err := d.n.Delete(d.Context(), deletion.Selection{Page: "/nowhere"}, "test", false); err != nil {
		d.Fatal(err)
	}
	for range 3 {
		d.send()
		d.rounds(1)
	}
	d.send() // not rolled up yet
}

// put writes an object directly.
func (d *damagedStore) put(key string, body []byte) {
	if _, err := d.b.Put(d.Context(), key, body, objects.Condition{}); err != nil {
		d.Fatal(err)
	}
}

// all returns all objects except probes.
func (d *damagedStore) all() map[string][]byte {
	out := map[string][]byte{}
	for e, err := range d.b.List(d.Context(), "", "") {
		if err != nil {
			d.Fatal(err)
		}
		if strings.HasPrefix(e.Key, objects.Probes) {
			continue
		}
		got, err := d.b.Get(d.Context(), e.Key, 1<<30, "")
		if err != nil {
			d.Fatal(err)
		}
		out[e.Key] = got.Body
	}
	return out
}

// damages are the kinds of damage. "swapped" affects two objects.
var damages = []string{"bit", "half", "empty", "deleted", "swapped", "older"}

// other returns the next object of the same kind, or the first one after the last, or "" if there
// is no other.
func (d *damagedStore) other(key string) string {
	kind, _, _ := strings.Cut(key, "/")
	var same []string
	for _, k := range slices.Sorted(maps.Keys(d.objects)) {
		if of, _, _ := strings.Cut(k, "/"); of == kind && strings.HasSuffix(k, "MANIFEST") == strings.HasSuffix(key,
			"MANIFEST") {
			same = append(same, k)
		}
	}
	if len(same) < 2 {
		return ""
	}
	return same[(slices.Index(same, key)+1)%len(same)]
}

// harm damages an object. It reports whether this kind of damage is possible for it.
func (d *damagedStore) harm(what, key string) bool {
	body := d.objects[key]
	d.harmed = []string{key}
	switch what {
	case "bit":
		body = bytes.Clone(body)
		body[len(body)/4] ^= 1
		d.put(key, body)
	case "half":
		d.put(key, body[:len(body)/2])
	case "empty":
		d.put(key, nil)
	case "deleted":
		if err := d.b.Delete(d.Context(), key); err != nil {
			d.Fatal(err)
		}
	case "swapped":
		with := d.other(key)
		if with == "" {
			return false
		}
		d.harmed = append(d.harmed, with)
		d.put(key, d.objects[with])
		d.put(with, body)
	case "older":
		old := ""
		for k := range d.objects {
			if strings.HasPrefix(k, strings.TrimSuffix(key, "MANIFEST")+"OLD-") {
				old = max(old, k)
			}
		}
		if !strings.HasSuffix(key, "MANIFEST") || old == "" || bytes.Equal(d.objects[old], body) {
			return false
		}
		d.put(key, d.objects[old])
	}
	return true
}

// found returns how many times each trace is in responses, and the number of traces in rollups by
// page.
func (d *damagedStore) found() (traces map[store.ID]int, pages map[string]uint64, complete bool) {
	traces, pages = map[store.ID]int{}, map[string]uint64{}
	st, err := d.n.Scan(d.Context(), store.Query{}, func(rec store.Record) error { traces[rec.ID]++; return nil })
	complete = err == nil && st.Complete()
	st, err = d.n.Select(d.Context(), store.Query{}, store.Wanted{}, func(rec store.Record) error {
		pages[rec.Page]++
		return nil
	}, func(r store.Rolled) error {
		_, n := r.Record.Views()
		pages[r.Page] += uint64(n)
		return nil
	})
	return traces, pages, complete && err == nil && st.Complete()
}

// said reports whether the damage was reported anywhere.
func (d *damagedStore) said(complete bool) bool {
	if !complete || d.n.Unready() != nil || len(d.n.Warnings()) > 0 {
		return true
	}
	if v, err := d.n.Verify(d.Context(), quietly); err != nil || len(v.Findings) > 0 {
		return true
	}
	return slices.ContainsFunc(d.harmed, func(k string) bool { return strings.Contains(d.log.String(), k) })
}

// compare checks that no trace is returned twice, and that missing traces are reported.
func (d *damagedStore) compare(when string, want map[store.ID]store.Record) (traces int) {
	d.Helper()
	found, pages, complete := d.found()
	expected := map[string]uint64{}
	for id, rec := range want {
		switch {
		case found[id] > 1:
			d.Errorf("%s: got trace %x %d times, want once", when, id.View[:2], found[id])
		case found[id] == 0 && !d.said(complete):
			d.Errorf("%s: trace %x is missing from responses without a report", when, id.View[:2])
		}
		for _, page := range rec.Pages {
			expected[page]++
		}
	}
	for page, n := range expected {
		if pages[page] > n {
			d.Errorf("%s: the rollups of %s have %d traces instead of %d", when, page, pages[page], n)
		}
		if pages[page] < n && !d.said(complete) {
			d.Errorf("%s: the rollups of %s have %d traces instead of %d without a report", when, page, pages[page], n)
		}
	}
	return len(found)
}

// mayBlock reports whether the damage may block a shard until it is repaired; /readyz reports this.
func (d *damagedStore) mayBlock() bool {
	return slices.ContainsFunc(d.harmed, func(k string) bool {
		return strings.HasSuffix(k, "MANIFEST") || k == objects.Marker
	})
}

// damageOne damages one object, continues, repairs what it can, restores the object and repairs
// again.
func (d *damagedStore) damageOne(what, key string, running bool) {
	if running {
		d.found() // fills the caches
	}
	if !d.harm(what, key) {
		return
	}
	if kind, _, _ := strings.Cut(key, "/"); kind == "seg" && what == "deleted" && !running {
		return // a deletion before any node has seen the bucket cannot be detected
	}
	if !running {
		n, err := Open(d.Context(), d.s.Client().Bucket(time.Now), d.options())
		if err != nil {
			if key == objects.Marker {
				return // the error names FORMAT, and nothing was changed
			}
			d.Fatalf("the node does not start: %v", err)
		}
		d.n = n
	}
	old := maps.Clone(d.acked)
	for range 4 {
		d.send()
		d.rounds(3)
	}
	traces, _, _ := d.found()
	for id := range d.acked {
		if _, before := old[id]; !before && traces[id] == 0 && !(d.mayBlock() && d.n.Unready() != nil) {
			d.Errorf("a later trace is missing from responses: a shard is stuck")
		}
	}
	d.compare("after the damage", d.acked)
	if key == objects.Marker {
		d.put(key, d.objects[key]) // no other node starts without it
	}
	d.n = openNode(d.T, d.s, d.options()) // with empty caches
	before := d.compare("after a start", d.acked)
	d.repair()
	if after := d.compare("after a repair", d.acked); after < before {
		d.Errorf("after a repair %d of %d traces are left", after, before)
	}
	d.putBack(what)
	d.repair()
	d.rounds(2)
	if after := d.compare("after everything", d.acked); after < len(d.acked) {
		v, _ := d.n.Verify(d.Context(), quietly)
		d.Errorf("after restoring the object, got %d of %d traces; %+v", after, len(d.acked), v.Findings)
	}
	if d.Failed() {
		d.Logf("%v\n%s", d.harmed, d.log.String())
	}
}

func (d *damagedStore) repair() {
	d.Helper()
	d.n = openNode(d.T, d.s, d.options())
	if _, err := d.n.Repair(d.Context(), verified(d.T, d.n)); err != nil {
		d.Errorf("repair: %v", err)
	}
	d.rounds(2)
}

// putBack restores intact copies of the objects that are still missing, as an operator would.
func (d *damagedStore) putBack(what string) {
	for _, k := range d.harmed {
		switch kind, _, _ := strings.Cut(k, "/"); kind {
		case "shard", objects.Marker:
			continue // a repair has restored it
		case "seg":
			aside := layout.Quarantine + strings.TrimPrefix(k, layout.Segments)
			if err := d.b.Delete(d.Context(), aside); err != nil {
				d.Fatal(err)
			}
		}
		d.put(k, d.objects[k])
	}
}

// Any object may be damaged, lost, swapped with another of its kind or replaced by an older copy,
// before a node starts or while it runs. In all cases the shards continue, missing traces are
// reported, a repair removes nothing, and restoring the object brings all traces back.
func TestDamageOfEachObject(t *testing.T) {
	newStore := func(t *testing.T) *damagedStore {
		s := fakebucket.New(1)
		d := &damagedStore{T: t, rnd: rand.New(rand.NewPCG(5, 6)), s: s, b: s.Client().Bucket(time.Now),
			acked: map[store.ID]store.Record{}}
		d.fill()
		d.objects = d.all()
		return d
	}
	count := 0
	synctest.Test(t, func(t *testing.T) { count = len(newStore(t).objects) })
	cases := count * len(damages) * 2
	list := sweepOf(cases, 60)
	t.Logf("%d objects, %d cases, %d of them tried", count, cases, len(list))
	for _, i := range list {
		i--
		n, what, running := i/2/len(damages), damages[i/2%len(damages)], i%2 == 1
		ok := t.Run(fmt.Sprintf("%d, %s, %v", n, what, running), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newStore(t)
				d.damageOne(what, slices.Sorted(maps.Keys(d.objects))[n], running)
			})
		})
		if !ok {
			return
		}
	}
}
