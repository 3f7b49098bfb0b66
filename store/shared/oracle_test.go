package shared

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

type sentTrace struct {
	at    time.Time // the true time
	wrong bool      // the node had a wrong time of the store
}

// contents is the decoded content of an object.
type contents struct {
	ids    []store.ID // of segments and runs
	traces uint64     // number of traces in rollups
	sound  bool
}

// look reads all objects. Nodes change only manifests in place.
func (h *harm) look(known map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for e, err := range h.b.List(h.Context(), "", "") {
		if err != nil {
			h.Fatal(err)
		}
		if strings.HasPrefix(e.Key, objects.Probes) {
			continue
		}
		if body := known[e.Key]; body != nil && int64(len(body)) == e.Size && !strings.HasSuffix(e.Key, "MANIFEST") {
			out[e.Key] = body
			continue
		}
		got, err := h.b.Get(h.Context(), e.Key, 1<<30, "")
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
	o, err := h.r.b.ParseSegment(k, body)
	if err != nil {
		return x
	}
	x.sound = true
	ctx := h.Context()
	switch kind, _, _ := strings.Cut(k, "/"); kind {
	case "seg", "bad":
		for shard := range 2 {
			b, err := o.OfShard(ctx, shard)
			if x.sound = x.sound && err == nil; err != nil {
				continue
			}
			for i := range b.Rows {
				x.ids = append(x.ids, b.Rows[i].ID)
			}
		}
	case "raw":
		err := layout.Merge(ctx, []*layout.Cursor{o.Rows(1)}, func(r *layout.Row) error {
			x.ids = append(x.ids, r.ID)
			return nil
		})
		x.sound = err == nil
	case "hours", "days":
		x.sound = o.CheckRollups(ctx) == nil
		for _, page := range layout.PagesOf([]*layout.Object{o}) {
			x.traces += o.TracesOf(page)
		}
	}
	return x
}

// place returns the hour or day, with the shard, of an object.
func place(k string) string {
	part := strings.Split(k, "/")
	return part[1] + "/" + part[2]
}

// do performs an action of nodes, and checks what it deleted.
func (h *harm) do(what string, f func()) {
	h.Helper()
	was := h.objects
	f()
	h.objects = h.look(was)
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if h.objects[k] == nil {
			h.deleted(what, k, was[k])
		} else if !bytes.Equal(h.objects[k], was[k]) && !strings.HasSuffix(k, "MANIFEST") {
			h.fail("%s: %s was changed", what, k)
		}
	}
}

// deleted checks that a node was allowed to delete an object.
func (h *harm) deleted(what, k string, body []byte) {
	h.Helper()
	x := h.parse(k, body)
	kind, _, _ := strings.Cut(k, "/")
	if kind != "seg" {
		h.say("%s deletes %s (%d traces, %d in sums)", what, k, len(x.ids), x.traces)
	}
	switch kind {
	case "seg", "raw":
		if copied := h.objects[layout.Quarantine+strings.TrimPrefix(k, layout.Segments)]; bytes.Equal(copied, body) {
			return
		}
		if !x.sound && !h.hurt[place(k)] && kind == "raw" {
			h.fail("%s: %s was deleted although it cannot be read", what, k)
		}
		left := h.traces()
		for _, id := range x.ids {
			if s := h.sent[id]; s != nil && !left[id] && !h.ruined[id] && !s.wrong &&
				time.Since(s.at) < keptTrue.Retention-time.Hour {
				h.fail("%s: %s was deleted, but no other object has trace %x of %v ago", what, k, id.View[:2],
					time.Since(s.at))
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
			h.fail("%s: %s was deleted, and there are %d newer ones", what, k, newer)
		}
	default:
		h.fail("%s: %s was deleted", what, k)
	}
}

// deletedSums checks that deleted rollups are still represented by other objects.
func (h *harm) deletedSums(what, k string, x *contents) {
	h.Helper()
	at := place(k)
	kept, name := keptTrue.HourRetention, at[len("000/"):]
	if strings.HasPrefix(k, "days/") {
		kept, name = keptTrue.DayRetention, name+"T23"
	}
	start, err := layout.ParseHour(name)
	if err != nil || h.hurt[at] || h.hurt[at[:len("000/20000101")]] || time.Since(start) > kept ||
		x.traces == 0 || !x.sound {
		return
	}
	runs, hours := uint64(0), uint64(0)
	for other, body := range h.objects {
		kind, _, _ := strings.Cut(other, "/")
		if kind != "raw" && kind != "hours" && kind != "days" || !strings.HasPrefix(place(other), at) &&
			!strings.HasPrefix(at, place(other)) {
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
		h.fail("%s: %s was deleted, but no other object counts its %d traces", what, k, x.traces)
	}
}

// traces returns the traces in all objects.
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

// where returns the objects that contain a trace.
func (h *harm) where(id store.ID) (keys []string) {
	for k, body := range h.objects {
		if slices.Contains(h.parse(k, body).ids, id) {
			keys = append(keys, k)
		}
	}
	return keys
}

// answers checks the responses: no trace is returned twice, and missing traces are reported.
func (h *harm) answers(n *Node, when string, unharmed bool) {
	h.Helper()
	found := map[store.ID]int{}
	stats, err := n.Scan(h.Context(), store.Query{}, func(rec store.Record) error { found[rec.ID]++; return nil })
	v := verified(h, n)
	said := err != nil || !stats.Complete() || len(v.Findings) > 0 || n.Unready() != nil
	if said && unharmed {
		h.fail("%s: no harm was done, but got %v, %v, %+v, %v", when, err, stats.Unreadable, v.Findings, n.Unready())
	}
	there := h.traces()
	for id, s := range h.sent {
		switch {
		case found[id] > 1 && !(h.ruined[id] && said): // it may have become another object
			h.fail("%s: got trace %x of %v %d times; findings: %+v", when, id.View[:2], s.at, found[id], v.Findings)
		case found[id] == 0 && (there[id] || !h.ruined[id]) && !s.wrong &&
			time.Since(s.at) < keptTrue.Retention-time.Hour && !said:
			h.fail("%s: trace %x of %v is missing from responses without a report; it is in %v", when, id.View[:2],
				s.at, h.where(id))
		}
	}
}
