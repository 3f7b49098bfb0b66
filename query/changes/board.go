package changes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store"
)

// BoardOptions configures a [Board]. Zero fields mean the defaults in the comments.
type BoardOptions struct {
	Now func() time.Time // the clock by which page views are received: time.Now
	// From is the hour from which the pages of an empty register are evaluated hour by hour: the
	// last one alone.
	From time.Time
	// After is how long after its end an hour is evaluated, when it is closed: 5 minutes. Jitter is
	// up to how much longer, at random, so that of several nodes one is first: none.
	After, Jitter time.Duration
	// Explain returns the causes of a change, or a note why none is known. nil looks for no causes.
	Explain func(context.Context, watch.Change) (causes []watch.Cause, note string, err error)
	// Releases returns the releases of a page that began in [since, until), by time; nil: unknown.
	Releases func(ctx context.Context, page string, since, until time.Time) ([]Release, error)
}

// Board keeps a register up to date, which it shares with other nodes. It may be used by several
// goroutines, but only one evaluates.
type Board struct {
	doc      store.Document
	observer watch.Observer
	o        BoardOptions
	jitter   time.Duration
	detect   func(context.Context, watch.Observer, time.Time, watch.Settings, watch.Memory,
		[]watch.Change) (watch.Evaluation, error)

	mu       sync.Mutex
	settings watch.Settings
	last     *Register // that was loaded or saved last; it does not change. nil: none
	loaded   time.Time // by the clock of the machine
	turns    int64     // number of the latest operation on the document
	turn     int64     // in which last was
	health   Health
}

// Health is the state of a board.
type Health struct {
	Evaluated time.Time // when pages were evaluated last, by any node, as far as is known; zero: never
	// Err is the error of the last evaluation by this node; nil if it succeeded.
	Err error
	// Pages are the pages that the last evaluation by this node could not look at, and Example one
	// of them and why.
	Pages   int
	Example string
	// Aside names the copies of registers that could not be read, and in whose place others were
	// begun.
	Aside []string
	// Evaluations counts those of this node that were saved, Lost those in which another node was
	// first, and Failed those that failed.
	Evaluations, Lost, Failed int64
}

// NewBoard returns a board of the changes in a document.
func NewBoard(doc store.Document, observer watch.Observer, s watch.Settings, o BoardOptions) *Board {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == 0 {
		o.After = 5 * time.Minute
	}
	b := &Board{doc: doc, observer: observer, o: o, settings: s, detect: watch.Evaluate}
	if o.Jitter > 0 {
		b.jitter = rand.N(o.Jitter)
	}
	return b
}

// SetSettings replaces what is looked for.
func (b *Board) SetSettings(s watch.Settings) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settings = s
}

// Health returns the state of the board.
func (b *Board) Health() Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.health
	if b.last != nil {
		h.Evaluated = b.last.Evaluated
	}
	return h
}

// attempts is how often a change of the register is tried that others change, too.
const attempts = 20

// load reads the register and its version. An unreadable register is an error, with its version.
func (b *Board) load(ctx context.Context) (*Register, string, error) {
	turn := b.take()
	text, version, err := b.doc.Load(ctx)
	if err != nil {
		return nil, version, err
	}
	if version == "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.last != nil { // it was there: it is saved again, with what changes next
			return b.last.clone(), "", nil
		}
		return NewRegister(), "", nil
	}
	r, err := DecodeRegister(text)
	if err != nil {
		return nil, version, err
	}
	b.know(r, turn)
	return r.clone(), version, nil
}

// clone returns a copy that may be changed, by replacing the values that it points to.
func (r *Register) clone() *Register {
	out := *r
	out.Changes, out.Outbox, out.Brakes = slices.Clone(r.Changes), slices.Clone(r.Outbox), slices.Clone(r.Brakes)
	for i := range out.Outbox {
		out.Outbox[i].Channels = maps.Clone(r.Outbox[i].Channels)
	}
	out.Memory.Pages = maps.Clone(r.Memory.Pages)
	return &out
}

// errNothing reports that a register stays unchanged.
var errNothing = errors.New("there is nothing to be done")

// change changes the register by f, which may be called several times, each time with the newest
// one. A register that cannot be read is quarantined before another one takes its place. If f
// returns that nothing is to be done, nothing is saved, and there is no register.
func (b *Board) change(ctx context.Context, f func(*Register) error) (*Register, error) {
	for attempt := 0; ; attempt++ {
		r, version, err := b.load(ctx)
		newer, ok := errors.AsType[*VersionError](err)
		switch {
		case ok:
			return nil, newer
		case err != nil && version != "":
			name, failed := b.doc.Quarantine(ctx, version)
			if failed != nil {
				return nil, errors.Join(err, failed)
			}
			b.noteAside(fmt.Sprintf("%s (%v)", name, err))
			r = NewRegister()
		case err != nil:
			return nil, err
		}
		switch err := f(r); {
		case errors.Is(err, errNothing):
			return nil, nil
		case err != nil:
			return nil, err
		}
		err = b.save(ctx, r, version)
		if !errors.Is(err, store.ErrReplaced) || attempt == attempts {
			return r, err
		}
		if err := pause(ctx, rand.N(time.Duration(attempt+1)*20*time.Millisecond)); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// save saves a register in the place of a version.
func (b *Board) save(ctx context.Context, r *Register, over string) error {
	r.Saves++
	text, err := r.Encode(b.o.Now())
	if err != nil {
		return err
	}
	turn := b.take()
	if _, err = b.doc.Save(ctx, text, over); err != nil {
		return err
	}
	b.know(r, turn)
	return nil
}

// take returns the number of an operation on the document, larger than all earlier numbers.
func (b *Board) take() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns++
	return b.turns
}

// know remembers a register that was there in a turn, unless a newer one is known.
func (b *Board) know(r *Register, turn int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if turn > b.turn {
		b.last, b.turn, b.loaded = r, turn, time.Now()
	}
}

func (b *Board) noteAside(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const most = 10
	if len(b.health.Aside) < most {
		b.health.Aside = append(b.health.Aside, name)
	}
}

// fresh is how old a register may be that is shown.
const fresh = 5 * time.Second

// Register returns the register, up to some seconds old. It must not be changed.
func (b *Board) Register(ctx context.Context) (*Register, error) {
	b.mu.Lock()
	last, age := b.last, time.Since(b.loaded)
	b.mu.Unlock()
	if last != nil && age < fresh {
		return last, nil
	}
	r, _, err := b.load(ctx)
	return r, err
}

// Browsers adds up what is known about browser versions on the pages that takes reports. It returns
// no evidence while the register cannot be read.
func (b *Board) Browsers(ctx context.Context, takes func(page string) bool) browsers.Evidence {
	r, err := b.Register(ctx)
	if err != nil {
		return browsers.Evidence{}
	}
	return r.Memory.Browsers(takes)
}
