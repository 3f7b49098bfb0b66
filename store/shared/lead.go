package shared

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// rollers rolls up the shards of a bucket, as one instance of many. It is safe for concurrent use, but for its rounds.
type rollers struct {
	b        *view
	opts     rollOptions
	instance string
	shards   []*roller
	told     sync.Once // that the bucket keeps what it has for longer
	bad      badSegments
	failing  failing

	did struct { // since the start
		rolled, duplicates, unreadable, lost, setAside atomic.Uint64
	}
}

// rollOptions say how shards are rolled up.
type rollOptions struct {
	TakeOver time.Duration // how long a shard is left to another instance that has stopped
	Rows     int           // how many traces of a shard are rolled up at once
	Keep     kept          // how long it is kept
	Shorten  bool          // although another instance was told to keep it for longer
	Logger   *slog.Logger
}

// perShard is how much longer a machine leaves a shard alone for each one that it rolls up already, so that they are
// spread over machines: 5 s.
func (o *rollOptions) perShard() time.Duration { return o.TakeOver / 6 }

// kept returns how long a shard keeps what it has.
func (o *rollOptions) kept(m *manifest) kept {
	if o.Shorten {
		return o.Keep
	}
	return m.longest(o.Keep)
}

// newRollers returns who rolls up the shards of a bucket. An instance is named once and never again.
func newRollers(b *view, instance string, o rollOptions) *rollers {
	n := &rollers{b: b, opts: o, instance: instance}
	for shard := range b.shards {
		n.shards = append(n.shards, &roller{n: n, b: b, shard: shard})
	}
	return n
}

// errand returns a roller of a shard for something that is done once: it does not keep the shard for itself.
func (n *rollers) errand(shard int) *roller {
	return &roller{n: n, b: n.b, shard: shard, keys: map[string]*runKeys{}, released: true}
}

// seenState is what a machine saw of the manifest of a shard, and since when by its own clock. Clocks
// of different machines are never compared.
type seenState struct {
	nonce string
	since time.Time
}

// work says what is done in a round beside rolling up.
type work struct{ close, sweep bool }

// round does what is to be done.
func (n *rollers) round(ctx context.Context, w work) {
	l, err := n.b.listSegments(ctx)
	if err != nil {
		n.warn(ctx, "nothing is rolled up", -1, err)
		return
	}
	n.b.keepListing(l)
	n.failing.begin()
	defer func() { n.failing.end(n.opts.Logger) }()
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for shard, r := range n.shards {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() == nil {
				n.shardRound(ctx, r, shard, l, w)
			}
		})
	}
	group.Wait()
	n.setAside(ctx, l)
	l.letGo()
	n.leave(ctx, l)
	if w.close && ctx.Err() == nil && n.leads(0) {
		if err := n.sweepSegments(ctx, l); err != nil {
			n.warn(ctx, "segments are not deleted", -1, err)
		}
	}
}

// logErr and logShard are keys of log lines.
const (
	logErr   = "err"
	logShard = "shard"
)

// warn says what went wrong. A lost race is not that, unless an object is missing: then it may be so for ever.
func (n *rollers) warn(ctx context.Context, what string, shard int, err error) {
	lost := errors.Is(err, errLost) && !errors.Is(err, bucket.ErrNotFound)
	if ctx.Err() == nil && !lost && !n.failing.note(what, shard, err) {
		n.opts.Logger.Warn(what, logShard, shard, logErr, err)
	}
}

// shardRound rolls up a shard, if it is for this machine to do.
func (n *rollers) shardRound(ctx context.Context, r *roller, shard int, l *listing, w work) {
	mine, err := r.mine(ctx, l)
	if err != nil {
		n.warn(ctx, "manifest can not be read", shard, err)
		return
	}
	if !mine {
		return
	}
	for more := true; more && ctx.Err() == nil; {
		if more, err = r.cycle(ctx, l); err != nil {
			if errors.Is(err, errLost) {
				n.did.lost.Add(1)
			}
			n.warn(ctx, "shard is not rolled up", shard, err)
			return
		}
	}
	if doubt := n.b.Clock().Doubt(); doubt != nil && (w.close || w.sweep) {
		n.warn(ctx, "nothing is closed or deleted while the time is not sure", shard, doubt)
		return
	}
	if w.close {
		if err := r.closeTimes(ctx, l); err != nil {
			n.warn(ctx, "hours are not closed", shard, err)
		}
	}
	if w.sweep {
		if err := r.sweep(ctx); err != nil {
			n.warn(ctx, "shard is not tidied up", shard, err)
		}
	}
}

// mine reports whether this machine is to roll up the shard: it did so last, nobody does, or whoever did has not for
// a while although there is something to do. What nobody does is for those that do less than their share, and after a
// while for all.
func (r *roller) mine(ctx context.Context, l *listing) (bool, error) {
	m, tag, err := r.b.manifest(ctx, r.shard, 0)
	if err != nil {
		return false, err
	}
	if m.Owner == r.n.instance || m.Owner == "" && r.n.led() < r.n.share(l) {
		if r.m != nil && r.m.Nonce != m.Nonce {
			r.m, r.tag = m, tag // an import has changed it, which leaves it to this machine
		}
		return true, nil
	}
	r.forget() // it is another's
	if r.seen.nonce != m.Nonce || r.seen.since.IsZero() {
		r.seen = seenState{m.Nonce, time.Now()}
	}
	if m.Owner == "" {
		return time.Since(r.seen.since) >= time.Duration(r.n.led())*r.n.opts.perShard(), nil
	}
	for _, s := range l.list {
		if !m.has(s.segmentName) {
			return time.Since(r.seen.since) >= r.n.opts.TakeOver+time.Duration(r.n.led())*r.n.opts.perShard(), nil
		}
	}
	return false, nil
}

// aliveFor is for how long a machine is taken for alive after it has stored a segment.
const aliveFor = 90 * time.Second

// share returns how many shards are for this machine to roll up. Machines know of each other by their segments; if they
// do not know the same, shards wander for a while, and no more.
func (n *rollers) share(l *listing) int {
	boots := map[string]bool{n.instance: true}
	for _, s := range l.list {
		if l.at.Sub(s.modified) < aliveFor {
			boots[s.boot] = true
		}
	}
	return (n.b.shards + len(boots) - 1) / len(boots)
}

// leave leaves a shard to others, if this machine has more than its share.
func (n *rollers) leave(ctx context.Context, l *listing) {
	if n.led() <= n.share(l) {
		return
	}
	for shard := range n.shards {
		if n.leads(shard) {
			n.releaseShard(ctx, shard)
			return
		}
	}
}

// leads reports whether this machine wrote the newest manifest of a shard that it knows.
func (n *rollers) leads(shard int) bool {
	m, _ := n.b.newestKnown(shard)
	return m != nil && m.Owner == n.instance
}

// led returns how many shards this machine rolls up.
func (n *rollers) led() (count int) {
	for shard := range n.shards {
		if n.leads(shard) {
			count++
		}
	}
	return count
}

// releaseWait bounds how long it takes to leave shards to others.
const releaseWait = 5 * time.Second

// release leaves the shards to others.
func (n *rollers) release() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseWait)
	defer cancel()
	for shard := range n.shards {
		if n.leads(shard) {
			n.releaseShard(ctx, shard)
		}
	}
}

func (n *rollers) releaseShard(ctx context.Context, shard int) {
	r := n.shards[shard]
	err := r.begin(ctx)
	if err == nil {
		r.released = true
		err = r.commit(ctx, r.m.clone())
		r.released = false
	}
	if err != nil {
		r.forget()
		n.warn(ctx, "others have to wait for a shard", shard, err)
	}
}
