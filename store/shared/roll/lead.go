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

// Roller rolls up the shards of a bucket, as one instance of many. It is safe for concurrent use by multiple
// goroutines.
type Roller struct {
	rounds chan struct{} // holds one during a round

	Bucket       *layout.Bucket
	opts         Options
	instance     string
	Shards       []*Shard
	told         sync.Once // that the bucket keeps what it has for longer
	keeps        atomic.Pointer[RetentionPolicy]
	bad          badSegments
	saidLate     time.Time               // when it was logged that shards have not been rolled up for long
	inQuarantine map[layout.Segment]bool // segments that this instance quarantined
	failing      failing
	onDelete     func(gone func(page string) bool)
	seen         map[string]bool // ids of deletions that onDelete has received
	erased       atomic.Bool     // a shard has carried out a deletion since the last purge

	did struct { // since the start
		rolled, duplicates, unreadable, lost, quarantined, gone atomic.Uint64
	}
}

// Options say how shards are rolled up.
type Options struct {
	TakeOver        time.Duration // how long a shard is left to another instance that has stopped
	Rows            int           // how many traces of a shard are rolled up at once
	RetentionPolicy               // at the start
	Shorten         bool          // although another instance was told to keep it for longer
	Erase           Erase         // carries out requests to delete; nil for none
	Logger          *slog.Logger
}

// RetentionPolicy says what is kept.
type RetentionPolicy struct {
	Retention layout.Retention // how long
	MaxDisk   int64            // bytes that all takes, 0 for no bound; only where this process is alone
}

// SetRetentionPolicy says what is kept from now on.
func (n *Roller) SetRetentionPolicy(k RetentionPolicy) { n.keeps.Store(&k) }

// perShard is how much longer a node leaves a shard alone for each one that it rolls up already, so that they are
// spread over nodes: 5 s.
func (o *Options) perShard() time.Duration { return o.TakeOver / 6 }

// kept returns how long a shard keeps what it has.
func (n *Roller) kept(m *layout.Manifest) layout.Retention {
	own := n.keeps.Load().Retention
	if n.opts.Shorten {
		return own
	}
	return m.Longest(own)
}

// New returns who rolls up the shards of a bucket. An instance is named once and never again.
func New(b *layout.Bucket, instance string, o Options) *Roller {
	n := &Roller{Bucket: b, opts: o, instance: instance, rounds: make(chan struct{}, 1)}
	n.SetRetentionPolicy(o.RetentionPolicy)
	for shard := range b.Shards {
		n.Shards = append(n.Shards, &Shard{roller: n, Bucket: b, Number: shard})
	}
	return n
}

// Detached returns a roller of a shard for something that is done once: it does not keep the shard for itself.
func (n *Roller) Detached(shard int) *Shard {
	return &Shard{roller: n, Bucket: n.Bucket, Number: shard, keys: map[string]*layout.RunKeys{}, released: true}
}

// seenState is what a node saw of the manifest of a shard, and since when by its own clock. Clocks
// of different nodes are never compared.
type seenState struct {
	nonce string
	since time.Time
}

// Work says what is done in a round beside rolling up.
type Work struct {
	Close, Sweep bool
	// Stored are segments that were acknowledged before the round. A segment that is neither listed nor rolled up is
	// lost. Done receives the segments that are rolled up by all shards, or lost.
	Stored []layout.Segment
	Done   func([]layout.Segment)
}

// Round does what is to be done.
func (n *Roller) Round(ctx context.Context, w Work) {
	select {
	case n.rounds <- struct{}{}:
		defer func() { <-n.rounds }()
	case <-ctx.Done():
		return
	}
	l, err := n.Bucket.ListSegments(ctx)
	if err != nil {
		n.warn(ctx, "nothing is rolled up", -1, err)
		return
	}
	n.Bucket.KeepListing(l)
	n.failing.begin()
	defer func() { n.failing.end(n.opts.Logger) }()
	var open []*deletion.Request
	if w.Close || n.Bucket.Exclusive() {
		if open, err = n.openDeletions(ctx); err != nil {
			n.warn(ctx, "nothing is deleted", -1, err)
			w.Close = false // what is known of deletions that are done stays
		} else {
			n.sayDeleted(open)
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
	n.sayLate(ctx)
	l.LetGo()
	if len(open) > 0 && n.leads(0) {
		if err := n.recordDeletions(ctx, open); err != nil {
			n.warn(ctx, "no record is made of deletions", -1, err)
		}
	}
	n.leave(ctx, l)
	// Where room may be scarce, what is rolled up makes room for what is not.
	if (w.Close || n.Bucket.Exclusive()) && ctx.Err() == nil && n.leads(0) {
		if err := n.SweepSegments(ctx, l); err != nil {
			n.warn(ctx, "segments are not deleted", -1, err)
		}
	}
	if p, ok := n.Bucket.Store.(objects.Purger); ok {
		p.Purge(n.erased.Swap(false))
	}
	if most := n.keeps.Load().MaxDisk; w.Close && most > 0 && ctx.Err() == nil && n.Bucket.Clock().Doubt() == nil {
		if err := n.keepWithin(ctx, most); err != nil {
			n.warn(ctx, "more than --max-disk may be taken", -1, err)
		}
	}
}

// look reads all manifests, so that a shard that another node has taken does not count as led when it is decided which
// shards to take.
func (n *Roller) look(ctx context.Context) {
	if n.Bucket.Exclusive() {
		return
	}
	for shard := range n.Shards {
		_, _, _ = n.Bucket.Manifest(ctx, shard, 0) // an error shows when the shard has its turn
	}
}

// maxAge is how old what waits may be before it is rolled up whatever else waits for a processor.
const maxAge = time.Minute

// together returns how many shards are rolled up at once. Where this process takes all that comes, it leaves half of the
// processors to that, or else requests wait for their turn.
func (n *Roller) together(l *layout.Listing) int {
	all := runtime.GOMAXPROCS(0)
	if n.Bucket.Exclusive() && (len(l.List) == 0 || l.At.Sub(l.List[0].Modified) < maxAge) {
		return max(1, all/2)
	}
	return all
}

// logErr and logShard are keys of log lines.
const (
	logErr   = "err"
	logShard = "shard"
)

// warn says what went wrong. A lost race is not that, unless an object is missing: then it may be so for ever.
func (n *Roller) warn(ctx context.Context, what string, shard int, err error) {
	lost := errors.Is(err, ErrLost) && !errors.Is(err, objects.ErrNotFound)
	if ctx.Err() == nil && !lost && !n.failing.note(what, shard, err) {
		n.opts.Logger.Warn(what, logShard, shard, logErr, err)
	}
}

// Warn logs an error of the shard, except a lost race with another instance.
func (r *Shard) Warn(ctx context.Context, what string, err error) {
	r.roller.warn(ctx, what, r.Number, err)
}

// cycleAttempts is how often a shard is rolled up in a round that loses the race for the manifest.
const cycleAttempts = 3

// shardRound rolls up a shard, if it is for this node to do.
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
			n.warn(ctx, "shard is not rolled up", shard, err)
			return
		}
	}
	if n.opts.Erase != nil && (len(open) > 0 || w.Close) {
		if err := n.opts.Erase(ctx, r, open, l); err != nil {
			n.warn(ctx, "a deletion is not carried out yet", shard, err)
		}
	}
	if doubt := n.Bucket.Clock().Doubt(); doubt != nil && (w.Close || w.Sweep) {
		n.warn(ctx, "nothing is closed or deleted while the time is not sure", shard, doubt)
		return
	}
	if w.Close {
		if err := r.CloseTimes(ctx, l); err != nil {
			n.warn(ctx, "hours are not closed", shard, err)
		}
	}
	if w.Sweep {
		if err := r.Sweep(ctx); err != nil {
			n.warn(ctx, "shard is not tidied up", shard, err)
		}
	}
}

// cycles rolls up all that a listing has.
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

// mine reports whether this node should roll up the shard: it owns it, no node does, or the owner made no progress for
// TakeOver although segments or deletions wait, or an hour has to be closed or expires. Shards without an owner go
// first to nodes that have less than their share.
func (r *Shard) mine(ctx context.Context, l *layout.Listing, w Work, open []*deletion.Request) (bool, error) {
	m, tag, err := r.Bucket.Manifest(ctx, r.Number, 0)
	if err != nil {
		return false, err
	}
	if r.Bucket.Exclusive() || m.Owner == r.roller.instance || m.Owner == "" && r.roller.led() < r.roller.share(l) {
		if r.Manifest != nil && r.Manifest.Nonce != m.Nonce {
			r.Manifest, r.tag = m, tag // a repair has changed it, which leaves it to this node
		}
		if r.Manifest == nil && tag != "" { // the commit fails if another node takes the shard from now on
			r.Manifest, r.tag, r.keys = m, tag, map[string]*layout.RunKeys{}
		}
		return true, nil
	}
	r.Forget() // it is another's
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

// ownerCloses is how long an owner that is alive may take to close an hour, or to delete what has expired.
const ownerCloses = 2 * time.Minute

// due reports whether at a time something of a shard was to be closed or deleted.
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

// aliveFor is for how long a node is taken for alive after it has stored a segment.
const aliveFor = 90 * time.Second

// share returns how many shards are for this node to roll up. Nodes know of each other by their segments; if they
// do not know the same, shards wander for a while, and no more.
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

// leave leaves a shard to others, if this node has more than its share.
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

// leads reports whether this node wrote the newest manifest of a shard that it knows.
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

// releaseWait bounds how long it takes to leave shards to others.
const releaseWait = 5 * time.Second

// Release leaves the shards to others.
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
		n.warn(ctx, "others have to wait for a shard", shard, err)
	}
}
