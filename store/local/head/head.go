package head

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fresh"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Options are what a [Head] works with.
type Options struct {
	Shelf  *part.Shelf
	Codec  *record.Codec
	Packer *record.Packer
	Limits rollup.Limits // of rollups
	Size   int           // bytes of all stack tables and records that a Head keeps; [MaxSize] if it is zero
	Log    *slog.Logger
}

// Head has the running sums of pages. It is safe for concurrent use.
type Head struct {
	o         Options
	advanceBy uint64 // commits that a question sums up in one go

	mu    sync.Mutex
	pages map[key]*page
	size  int    // bytes of all pages
	tick  uint64 // counts uses

	ahead *fresh.Ahead // sums up before somebody asks: one page at a time, or all processors would be busy with it
}

type key struct {
	p    *part.Partition
	page string
}

// New returns a Head without sums.
func New(o Options) *Head {
	if o.Size == 0 {
		o.Size = MaxSize
	}
	return &Head{o: o, advanceBy: advanceBy, pages: make(map[key]*page), ahead: fresh.NewAhead(context.Background())}
}

const (
	// MaxSize bounds the memory of a Head, in bytes of all its stack tables and records. An
	// empty page takes pageSize.
	MaxSize  = 128 << 20
	pageSize = 2 << 10

	// watchedFor is how long after a question the decoded rollups of a page are kept.
	watchedFor = 5 * time.Minute
)

// page is the running sum of one page in one partition.
type page struct {
	key
	turn chan struct{} // holds one while somebody works on the fields below, up to last

	waiting atomic.Int64 // how many wait for the turn

	loaded  bool
	rows                     // as they are stored
	table   *trie.Trie       // rows.table, which grows with what is summed up
	upTo    uint64           // version of the newest trace in the sum
	recs    []*rollup.Record // of what came since the mark: each question adds one
	rolled  []*rollup.Record // the rollups that are stored, if keep is set
	keep    bool             // somebody asks for this page
	details bool             // what is in rolled has functions and outcomes, too
	renewed bool             // the table is another one than is stored, and all there is is in rolled
	traces  uint64           // in recs
	bytes   uint64           // stored size of these
	bad     []store.BadValue // met since the mark

	outcomes *rollup.Record // page views without a trace, as they were when somebody asked; may be nil

	last    lastAnswer
	used    uint64 // by the tick of the head
	size    int    // bytes, as the head counts them
	askedAt time.Time
}

// take returns the page, and waits for its turn.
func (h *Head) take(ctx context.Context, k key) (*page, error) {
	for {
		x := h.find(k, true)
		x.waiting.Add(1)
		select {
		case x.turn <- struct{}{}:
			x.waiting.Add(-1)
		case <-ctx.Done():
			x.waiting.Add(-1)
			return nil, context.Cause(ctx)
		}
		if h.find(k, false) == x {
			return x, nil
		}
		<-x.turn // it was dropped meanwhile
	}
}

// give ends a turn. drop forgets what the page has: it is read again the next time.
func (h *Head) give(x *page, drop bool) {
	size := x.measure()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pages[x.key] == x {
		h.size += size - x.size
		x.size = size
		if drop {
			h.remove(x)
		}
	}
	<-x.turn
	h.makeRoom()
}

// remove drops a page. It is called with the lock held.
func (h *Head) remove(x *page) {
	delete(h.pages, x.key)
	h.size -= x.size
}

// measure returns how many bytes the page takes. It is called by who has the turn.
func (x *page) measure() int {
	size := pageSize
	if x.table != nil {
		size += x.table.Size()
	}
	for _, recs := range [][]*rollup.Record{x.recs, x.rolled} {
		for _, rec := range recs {
			size += rec.Size()
		}
	}
	return size
}

// find returns a page, and makes it if it is not there and create is set.
func (h *Head) find(k key, create bool) *page {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.pages[k]
	if x == nil && create {
		h.makeRoom()
		x = &page{key: k, turn: make(chan struct{}, 1), size: pageSize}
		h.pages[k] = x
		h.size += x.size
	}
	if x != nil {
		h.tick++
		x.used = h.tick
	}
	return x
}

// makeRoom drops the pages that were not used for the longest time, if all take too much.
// What they had is in the partition. It is called with the lock held.
func (h *Head) makeRoom() {
	for h.size > h.o.Size {
		var oldest *page
		for _, x := range h.pages {
			if len(x.turn) == 0 && (oldest == nil || x.used < oldest.used) {
				oldest = x
			}
		}
		if oldest == nil {
			return // all are being worked on
		}
		h.remove(oldest)
	}
}

// Forget drops what there is of all partitions but those for which keep is true.
func (h *Head) Forget(keep func(*part.Partition) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, x := range h.pages {
		if !keep(k.p) {
			h.remove(x)
		}
	}
}

// load reads what the partition has of the page, unless that is known. It is called by who
// has the turn.
func (h *Head) load(txn *part.Txn, x *page) error {
	if x.loaded {
		return nil
	}
	r, err := h.o.readRows(txn, x.page)
	if err != nil {
		return err
	}
	x.rows, x.loaded = r, true
	x.table = r.table
	x.upTo = r.mark.version
	x.recs, x.rolled, x.keep, x.renewed, x.traces, x.bytes, x.bad = nil, nil, false, false, 0, 0, nil
	return nil
}
