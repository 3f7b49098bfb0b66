package layout

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// The keys of a page in a run are not bounded: an hour of a busy page has millions.
func TestRunOfBusyPage(t *testing.T) {
	if testing.Short() {
		t.Skip("this test takes several seconds")
	}
	b, err := Create(t.Context(), fakebucket.New(1).Client().Bucket(time.Now), Options{Shards: 1, GiveUp: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w := NewRunWriter(b.Codec)
	r := Row{Page: "/feed", Received: 1, Payload: []byte("x")}
	const rows = block.MaxBlock/17 + 1
	for i := range uint64(rows) {
		binary.BigEndian.PutUint64(r.ID.View[:], i)
		if err := w.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	body, err := w.Finish("raw/run")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), "raw/run", body, objects.Condition{}); err != nil {
		t.Fatal(err)
	}
	x, err := b.LoadKeys(t.Context(), "raw/run")
	if err != nil {
		t.Fatal(err)
	}
	var last, beyond [16]byte
	binary.BigEndian.PutUint64(last[:], rows-1)
	binary.BigEndian.PutUint64(beyond[:], rows)
	if p := x.pages[r.Page]; len(p.keys) != rows || !x.Has(r.Page, store.ID{View: last}) ||
		x.Has(r.Page, store.ID{View: beyond}) {
		t.Errorf("%d keys of %d traces, the last one %v", len(p.keys), rows, x.Has(r.Page, store.ID{View: last}))
	}
	if got, err := x.ReadViews(t.Context(), r.Page, [][16]byte{last}); err != nil || len(got) != 1 ||
		got[0].ID.View != last {
		t.Errorf("the last page view is not found: %v %v", got, err)
	}
}
