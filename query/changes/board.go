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
	Now func() time.Time // clock of receive times, default time.Now
	// From is the first hour to evaluate if the register is empty. The default is the last closed
	// hour.
	From time.Time
	// After is the delay between the end of an hour and its evaluation, default 5 minutes. Jitter
	// is the maximum random addition, so that one of several nodes comes first; default none.
	After, Jitter time.Duration
	// Explain returns the causes of a change, or a note if none is known. If it is nil, changes
	// have no causes.
	Explain func(context.Context, watch.Change) (causes []watch.Cause, note string, err error)
	// Releases returns the releases of a page that began in [since, until), in order of time. It
	// may be nil.
	Releases func(ctx context.Context, page string, since, until time.Time) ([]Release, error)
}

// Board keeps a register up to date that it shares with other nodes. It is safe for concurrent use
// by multiple goroutines, except that only one may call Evaluate.
type Board struct {
	doc      store.Document
	observer watch.Observer
	o        BoardOptions
	jitter   time.Duration
	detect   func(context.Context, watch.Observer, time.Time, watch.Settings, watch.Memory,
		[]watch.Change) (watch.Evaluation, error)

	mu       sync.Mutex
	settings watch.Settings
	last     *Register // latest loaded or saved register; immutable; may be nil
	loaded   time.Time // by the system clock
	turns    int64     // number of the latest operation on the document
	turn     int64     // operation that loaded or saved last
	health   Health
}

// Health is the state of a board.
type Health struct {
	Evaluated time.Time // latest known evaluation by any node; zero if none
	// Err is the error of the last evaluation by this node, or nil if it succeeded.
	Err error
	// Pages is the number of pages that failed in the last evaluation by this node. Example is one
	// of them with its error.
	Pages   int
	Example string
	// Aside lists the copies of unreadable registers that were replaced by new ones.
	Aside []string
	// Evaluations counts the saved evaluations of this node, Lost its evaluations that another node
	// saved first, and Failed its failed evaluations.
	Evaluations, Lost, Failed int64
}

// NewBoard returns a Board for the register in a document.
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

// SetSettings replaces the settings of the detectors.
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

// attempts is the maximum number of attempts to change a register that other nodes change, too.
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
		if b.last != nil { // the document is lost; the next change saves it again
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

// errNothing reports that the register does not change.
var errNothing = errors.New("nothing to change")

// change applies f to the register and saves it. It calls f again with the newest register if
// another node saved first. An unreadable register is quarantined and replaced. If f returns
// errNothing, change saves nothing and returns nil.
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

// save saves a register if the document still has the given version.
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

// know remembers a register loaded or saved by an operation, unless a newer one is known.
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

// fresh is the maximum age of a register in responses.
const fresh = 5 * time.Second

// Register returns the register, which may be some seconds old. The caller must not change it.
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

// Browsers returns the measured effects of browser versions on the pages for which takes returns
// true. It returns none while the register cannot be read.
func (b *Board) Browsers(ctx context.Context, takes func(page string) bool) browsers.Evidence {
	r, err := b.Register(ctx)
	if err != nil {
		return browsers.Evidence{}
	}
	return r.Memory.Browsers(takes)
}
