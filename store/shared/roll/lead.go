package roll

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Roller rolls up the shards of a bucket, as one of many instances. It is safe for concurrent use
// by multiple goroutines.
type Roller struct {
	rounds chan struct{} // a mutex: holds a value during a round

	Bucket        *layout.Bucket
	opts          Options
	instance      string
	Shards        []*Shard
	warnRetention sync.Once // logs once that the bucket has a longer retention
	keeps         atomic.Pointer[RetentionPolicy]
	bad           badSegments
	lateWarned    time.Time               // when late shards were last logged
	inQuarantine  map[layout.Segment]bool // segments that this instance quarantined
	failing       failing
	onDelete      func(gone func(page string) bool)
	seen          map[string]bool // ids of deletions that were passed to onDelete
	erased        atomic.Bool     // a deletion was applied since the last purge

	did struct { // counters since the start
		rolled, duplicates, unreadable, lost, quarantined, gone atomic.Uint64
	}
}

// Options configures a [Roller].
type Options struct {
	TakeOver        time.Duration // how long to wait for the instance that owns a shard if it makes no progress
	Rows            int           // maximum number of traces per shard and cycle
	RetentionPolicy               // initial value, see [Roller.SetRetentionPolicy]
	Shorten         bool          // use this retention even if another instance was configured with a longer one
	Erase           Erase         // applies requests to delete; may be nil
	Logger          *slog.Logger
}

// RetentionPolicy is how much data is kept.
type RetentionPolicy struct {
	Retention layout.Retention // by age
	MaxDisk   int64            // maximum size in bytes, 0 for no limit; only for a process with exclusive access
}

// SetRetentionPolicy sets the retention policy for the following rounds.
func (n *Roller) SetRetentionPolicy(k RetentionPolicy) { n.keeps.Store(&k) }

// perShard is the additional time for which a node leaves a shard alone for each shard that it
// already rolls up. This spreads shards over the nodes. It is 5 s by default.
func (o *Options) perShard() time.Duration { return o.TakeOver / 6 }

// kept returns the retention of a shard.
func (n *Roller) kept(m *layout.Manifest) layout.Retention {
	own := n.keeps.Load().Retention
	if n.opts.Shorten {
		return own
	}
	return m.Longest(own)
}

// New returns a Roller for the shards of a bucket. Instance ids must not be reused.
func New(b *layout.Bucket, instance string, o Options) *Roller {
	n := &Roller{Bucket: b, opts: o, instance: instance, rounds: make(chan struct{}, 1)}
	n.SetRetentionPolicy(o.RetentionPolicy)
	for shard := range b.Shards {
		n.Shards = append(n.Shards, &Shard{roller: n, Bucket: b, Number: shard})
	}
	return n
}

// Detached returns a shard for a single task. Its commits do not claim the shard for this instance.
func (n *Roller) Detached(shard int) *Shard {
	return &Shard{roller: n, Bucket: n.Bucket, Number: shard, keys: map[string]*layout.RunKeys{}, released: true}
}

// seenState is the version of a manifest that a node saw, and since when by the node's own clock.
// Clocks of different nodes are never compared.
type seenState struct {
	nonce string
	since time.Time
}

// Work is what to do in a round besides rolling up.
type Work struct {
	Close, Sweep bool
	// Stored are segments that were acknowledged before the round. A segment that is neither listed
	// nor rolled up is lost. Done is called with the segments that all shards have rolled up, and
	// with the lost ones.
	Stored []layout.Segment
	Done   func([]layout.Segment)
}

// Round rolls up all shards of this instance once, and does the other work of w. It logs errors.
func (n *Roller) Round(ctx context.Context, w Work) {
	select {
	case n.rounds <- struct{}{}:
		defer func() { <-n.rounds }()
	case <-ctx.Done():
		return
	}
	l, err := n.Bucket.ListSegments(ctx)
	if err != nil {
		n.warn(ctx, "segments cannot be listed; nothing is rolled up", -1, err)
		return
	}
	n.Bucket.KeepListing(l)
	n.failing.begin()
	defer func() { n.failing.end(n.opts.Logger) }()
	var open []*deletion.Request
	if w.Close || n.Bucket.Exclusive() {
		if open, err = n.openDeletions(ctx); err != nil {
			n.warn(ctx, "requests to delete cannot be listed; nothing is deleted", -1, err)
			w.Close = false // keep the progress of deletions in the manifests
		} else {
			n.notifyDeleted(open)
		}
	}
	n.look(ctx)
	var group sync.WaitGroup
	slots := make(chan struct{}, n.together(l))
	for _, r := range n.Shards {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() == nil {
				n.shardRound(ctx, r, l, w, open)
			}
		})
	}
	group.Wait()
	n.quarantineSegments(ctx, l)
	if len(w.Stored) > 0 {
		w.Done(n.gone(l, w.Stored))
	}
	n.warnLate(ctx)
	l.LetGo()
	if len(open) > 0 && n.leads(0) {
		if err := n.recordDeletions(ctx, open); err != nil {
			n.warn(ctx, "deletions cannot be recorded as done", -1, err)
		}
	}
	n.leave(ctx, l)
	// Where disk space may be scarce, rolled-up segments are deleted after every round, to make
	// room for new ones.
	if (w.Close || n.Bucket.Exclusive()) && ctx.Err() == nil && n.leads(0) {
		if err := n.SweepSegments(ctx, l); err != nil {
			n.warn(ctx, "segments cannot be deleted", -1, err)
		}
	}
	if p, ok := n.Bucket.Store.(objects.Purger); ok {
		p.Purge(n.erased.Swap(false))
	}
	if most := n.keeps.Load().MaxDisk; w.Close && most > 0 && ctx.Err() == nil && n.Bucket.Clock().Doubt() == nil {
		if err := n.keepWithin(ctx, most); err != nil {
			n.warn(ctx, "--max-disk cannot be enforced", -1, err)
		}
	}
}

// look reads all manifests, so that a shard that another node has taken is not counted as this
// node's when it decides which shards to take.
func (n *Roller) look(ctx context.Context) {
	if n.Bucket.Exclusive() {
		return
	}
	for shard := range n.Shards {
		_, _, _ = n.Bucket.Manifest(ctx, shard, 0) // an error is reported when the shard is processed
	}
}

// maxAge is how long segments may wait while the roller leaves half of the processors to requests.
const maxAge = time.Minute

// together returns how many shards are rolled up in parallel. A process with exclusive access uses
// half of the processors, or requests would wait; it uses all of them once a segment is older than
// maxAge.
func (n *Roller) together(l *layout.Listing) int {
	all := runtime.GOMAXPROCS(0)
	if n.Bucket.Exclusive() && (len(l.List) == 0 || l.At.Sub(l.List[0].Modified) < maxAge) {
		return max(1, all/2)
	}
	return all
}

// Keys of log attributes.
const (
	logErr   = "err"
	logShard = "shard"
)

// warn logs an error. It ignores a lost race for a manifest, unless an object is missing: that may
// be permanent.
func (n *Roller) warn(ctx context.Context, what string, shard int, err error) {
	lost := errors.Is(err, ErrLost) && !errors.Is(err, objects.ErrNotFound)
	if ctx.Err() == nil && !lost && !n.failing.note(what, shard, err) {
		n.opts.Logger.Warn(what, logShard, shard, logErr, err)
	}
}

// Warn logs an error of the shard. It ignores a lost race with another instance.
func (r *Shard) Warn(ctx context.Context, what string, err error) {
	r.roller.warn(ctx, what, r.Number, err)
}

// cycleAttempts is how many times a round tries to roll up a shard if it loses the race for the
// manifest.
const cycleAttempts = 3

// shardRound rolls up a shard if it belongs to this node.
func (n *Roller) shardRound(ctx context.Context, r *Shard, l *layout.Listing, w Work, open []*deletion.Request) {
	shard := r.Number
	for attempt := 1; ; attempt++ {
		mine, err := r.mine(ctx, l, w, open)
		if err != nil {
			n.warn(ctx, "manifest cannot be read", shard, err)
			return
		}
		if !mine {
			return
		}
		r.quarantineDue(ctx)
		if err = r.cycles(ctx, l); err == nil {
			break
		}
		r.note(ctx, l, err)
		if !errors.Is(err, ErrLost) || attempt == cycleAttempts || ctx.Err() != nil {
			n.warn(ctx, "shard cannot be rolled up", shard, err)
			return
		}
	}
	if n.opts.Erase != nil && (len(open) > 0 || w.Close) {
		if err := n.opts.Erase(ctx, r, open, l); err != nil {
			n.warn(ctx, "a deletion is not complete", shard, err)
		}
	}
	if doubt := n.Bucket.Clock().Doubt(); doubt != nil && (w.Close || w.Sweep) {
		n.warn(ctx, "the clock is in doubt; nothing is closed or deleted", shard, doubt)
		return
	}
	if w.Close {
		if err := r.CloseTimes(ctx, l); err != nil {
			n.warn(ctx, "hours cannot be closed", shard, err)
		}
	}
	if w.Sweep {
		if err := r.Sweep(ctx); err != nil {
			n.warn(ctx, "shard cannot be swept", shard, err)
		}
	}
}

// cycles rolls up all segments of a listing.
func (r *Shard) cycles(ctx context.Context, l *layout.Listing) error {
	for more := true; more && ctx.Err() == nil; {
		var err error
		if more, err = r.Cycle(ctx, l); err != nil {
			if errors.Is(err, ErrLost) {
				r.roller.did.lost.Add(1)
			}
			return err
		}
	}
	return nil
}

// mine reports whether this node should roll up the shard. That is the case if the node owns it, if
// no node does, or if its owner made no progress for TakeOver although segments or deletions wait,
// or an hour has to be closed or expires. Shards without an owner go first to nodes that have less
// than their share.
func (r *Shard) mine(ctx context.Context, l *layout.Listing, w Work, open []*deletion.Request) (bool, error) {
	m, tag, err := r.Bucket.Manifest(ctx, r.Number, 0)
	if err != nil {
		return false, err
	}
	if r.Bucket.Exclusive() || m.Owner == r.roller.instance || m.Owner == "" && r.roller.led() < r.roller.share(l) {
		if r.Manifest != nil && r.Manifest.Nonce != m.Nonce {
			r.Manifest, r.tag = m, tag // a repair replaced the manifest, and left the shard to this node
		}
		if r.Manifest == nil && tag != "" { // the commit will fail if another node takes the shard after this
			r.Manifest, r.tag, r.keys = m, tag, map[string]*layout.RunKeys{}
		}
		return true, nil
	}
	r.Forget() // another node owns it
	if r.seen.nonce != m.Nonce || r.seen.since.IsZero() {
		r.seen = seenState{m.Nonce, time.Now()}
	}
	if m.Owner == "" {
		return time.Since(r.seen.since) >= time.Duration(r.roller.led())*r.roller.opts.perShard(), nil
	}
	patience := r.roller.opts.TakeOver + time.Duration(r.roller.led())*r.roller.opts.perShard()
	if time.Since(r.seen.since) < patience {
		return false, nil
	}
	waits := slices.ContainsFunc(l.List, func(s layout.Listed) bool { return !m.Has(s.Segment) }) ||
		slices.ContainsFunc(open, func(req *deletion.Request) bool { return m.Deletions[req.ID].Done == 0 })
	return waits || w.Close && r.due(m, l.At.Add(-patience-ownerCloses)), nil
}

// ownerCloses is how long a live owner may take to close an hour, or to delete expired data.
const ownerCloses = 2 * time.Minute

// due reports whether the shard had to close or delete something at the given time.
func (r *Shard) due(m *layout.Manifest, at time.Time) bool {
	kept := r.roller.kept(m)
	for name, h := range m.Hours {
		day := layout.DayOf(name)
		switch {
		case !h.Sealed && layout.IsOver(name, sealAfter, at),
			len(h.Runs) > 0 && layout.Expired(name, time.Duration(kept.Traces), at),
			m.Days[day] == nil && layout.IsOver(day+"T23", dayAfter, at),
			layout.Expired(day+"T23", time.Duration(kept.Hours), at):
			return true
		}
	}
	for name := range m.Days {
		if layout.Expired(name+"T23", time.Duration(kept.Days), at) {
			return true
		}
	}
	return slices.ContainsFunc(m.Removed, func(x layout.Removed) bool {
		return at.Sub(time.UnixMicro(x.At)) > deleteAfter
	})
}

// aliveFor is how long a node counts as alive after it stored a segment.
const aliveFor = 90 * time.Second

// share returns how many shards this node should roll up. Nodes learn of each other from their
// segments. If their listings differ, shards only move between nodes for a while.
func (n *Roller) share(l *layout.Listing) int {
	if n.Bucket.Exclusive() {
		return n.Bucket.Shards
	}
	instances := map[string]bool{n.instance: true}
	for _, s := range l.List {
		if l.At.Sub(s.Modified) < aliveFor {
			instances[s.Instance] = true
		}
	}
	return (n.Bucket.Shards + len(instances) - 1) / len(instances)
}

// leave releases one shard if this node has more than its share.
func (n *Roller) leave(ctx context.Context, l *layout.Listing) {
	if n.led() <= n.share(l) {
		return
	}
	for shard := range n.Shards {
		if n.leads(shard) {
			n.releaseShard(ctx, shard)
			return
		}
	}
}

// leads reports whether the newest known manifest of a shard names this node as the owner.
func (n *Roller) leads(shard int) bool {
	m, _ := n.Bucket.NewestKnown(shard)
	return m != nil && m.Owner == n.instance
}

// led returns how many shards this node rolls up.
func (n *Roller) led() (count int) {
	for shard := range n.Shards {
		if n.leads(shard) {
			count++
		}
	}
	return count
}

// releaseWait bounds how long releasing shards may take.
const releaseWait = 5 * time.Second

// Release releases all shards of this node, so that other nodes need not wait for TakeOver.
func (n *Roller) Release() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseWait)
	defer cancel()
	select {
	case n.rounds <- struct{}{}:
		defer func() { <-n.rounds }()
	case <-ctx.Done():
		return
	}
	for shard := range n.Shards {
		if n.leads(shard) {
			n.releaseShard(ctx, shard)
		}
	}
}

func (n *Roller) releaseShard(ctx context.Context, shard int) {
	r := n.Shards[shard]
	err := r.Begin(ctx)
	if err == nil {
		r.released = true
		err = r.Commit(ctx, r.Manifest.Clone())
		r.released = false
	}
	if err != nil {
		r.Forget()
		n.warn(ctx, "shard cannot be released; other nodes have to wait for it", shard, err)
	}
}
