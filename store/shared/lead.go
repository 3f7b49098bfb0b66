package shared

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// perShard is how much longer a machine leaves a shard alone for each one that it rolls up already, so that they are
// spread over machines: 5 s.
func (o *Options) perShard() time.Duration { return o.TakeOver / 6 }

// Times between rounds of what is done now and then, and the least between rounds that somebody waits for.
const (
	wantedEvery = time.Second
	closeEvery  = 30 * time.Second
	sweepEvery  = 30 * time.Minute
)

// seenState is what a machine saw of the manifest of a shard, and since when by its own clock. Clocks
// of different machines are never compared.
type seenState struct {
	nonce string
	since time.Time
}

// Run rolls up the shards that this machine has, or takes over, and tidies up, until ctx ends. Then others may
// have the shards at once. What goes wrong is logged, and done again.
func (n *Node) Run(ctx context.Context) {
	tick := time.NewTicker(n.opts.RollEvery)
	defer tick.Stop()
	var closed, swept time.Time
	for {
		work := work{close: time.Since(closed) >= closeEvery, sweep: time.Since(swept) >= sweepEvery}
		n.round(ctx, work)
		if work.close {
			closed = time.Now()
		}
		if work.sweep {
			swept = time.Now()
		}
		if !n.rest(ctx, tick.C) {
			n.release()
			return
		}
	}
}

// rest waits until it is time for another round, or somebody waits for one. It returns false when ctx ends.
func (n *Node) rest(ctx context.Context, tick <-chan time.Time) bool {
	soon := time.After(wantedEvery)
	select {
	case <-ctx.Done():
		return false
	case <-tick:
		return true
	case <-n.want:
	}
	select {
	case <-ctx.Done():
		return false
	case <-tick:
	case <-soon:
	}
	return true
}

// RollUp does once what [Node.Run] does again and again, and waits for it: it is for tools that do not run for long.
func (n *Node) RollUp(ctx context.Context) { n.round(ctx, work{close: true, sweep: true}) }

// work says what is done in a round beside rolling up.
type work struct{ close, sweep bool }

// round does what is to be done.
func (n *Node) round(ctx context.Context, w work) {
	if err := n.StoreCounts(ctx); err != nil && ctx.Err() == nil {
		n.opts.Logger.Warn("page views without a trace are not stored yet", logErr, err)
	}
	n.unspoolFor(ctx, n.opts.RollEvery)
	l, err := n.listSegments(ctx)
	if err != nil {
		n.warn(ctx, "nothing is rolled up", -1, err)
		return
	}
	n.keepListing(l)
	n.failing.begin()
	defer func() { n.failing.end(n.opts.Logger) }()
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for shard, r := range n.rollers {
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
func (n *Node) warn(ctx context.Context, what string, shard int, err error) {
	lost := errors.Is(err, errLost) && !errors.Is(err, bucket.ErrNotFound)
	if ctx.Err() == nil && !lost && !n.failing.note(what, shard, err) {
		n.opts.Logger.Warn(what, logShard, shard, logErr, err)
	}
}

// shardRound rolls up a shard, if it is for this machine to do.
func (n *Node) shardRound(ctx context.Context, r *roller, shard int, l *listing, w work) {
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
	m, tag, err := r.n.manifest(ctx, r.shard, 0)
	if err != nil {
		return false, err
	}
	if m.Owner == r.n.boot || m.Owner == "" && r.n.led() < r.n.share(l) {
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
func (n *Node) share(l *listing) int {
	boots := map[string]bool{n.boot: true}
	for _, s := range l.list {
		if l.at.Sub(s.modified) < aliveFor {
			boots[s.boot] = true
		}
	}
	return (n.shards + len(boots) - 1) / len(boots)
}

// leave leaves a shard to others, if this machine has more than its share.
func (n *Node) leave(ctx context.Context, l *listing) {
	if n.led() <= n.share(l) {
		return
	}
	for shard := range n.rollers {
		if n.leads(shard) {
			n.releaseShard(ctx, shard)
			return
		}
	}
}

// leads reports whether this machine wrote the newest manifest of a shard that it knows.
func (n *Node) leads(shard int) bool {
	n.Reader.mu.Lock()
	defer n.Reader.mu.Unlock()
	m := n.states[shard].m
	return m != nil && m.Owner == n.boot
}

// led returns how many shards this machine rolls up.
func (n *Node) led() (count int) {
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
func (n *Node) release() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseWait)
	defer cancel()
	for shard := range n.rollers {
		if n.leads(shard) {
			n.releaseShard(ctx, shard)
		}
	}
}

func (n *Node) releaseShard(ctx context.Context, shard int) {
	r := n.rollers[shard]
	err := r.load(ctx)
	if err == nil {
		r.began, r.released = time.Time{}, true
		err = r.commit(ctx, r.m.clone())
		r.released = false
	}
	if err != nil {
		r.forget()
		n.warn(ctx, "others have to wait for a shard", shard, err)
	}
}

// Close stores what waits, and what is in the spool, as far as there is time. Nothing may be appended after that.
func (n *Node) Close(ctx context.Context) error {
	n.writing.mu.Lock()
	n.closing = true
	if n.open != nil {
		n.flushLocked(n.open)
	}
	n.writing.mu.Unlock()
	done := make(chan struct{})
	go func() {
		n.group.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := n.StoreCounts(ctx)
	if uerr := n.Unspool(ctx); uerr != nil {
		segments, bytes := n.spool.size()
		n.opts.Logger.Warn("segments stay in the spool of this machine, until it is used again", "segments", segments, "bytes", bytes, logErr, uerr)
	}
	return err
}
