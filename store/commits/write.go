package commits

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// maxWrites is the maximum number of concurrent writes. Badger combines them.
const maxWrites = 32

// write stores records, and then calls note with the generation that contains them. On a failing
// disk the write may take forever, but write returns when ctx ends.
func (l *Log) write(ctx context.Context, records []record, note func(g *generation)) error {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.mu.Lock()
	l.writes[&records] = time.Now()
	l.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		defer l.written(&records)
		done <- l.store(records, note)
	}()
	select {
	case err := <-done:
		if err != nil {
			err = fmt.Errorf("commit: %w", err)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// written ends a write.
func (l *Log) written(records *[]record) {
	l.mu.Lock()
	delete(l.writes, records)
	l.mu.Unlock()
	<-l.slots
}

// Waits returns how long the oldest write has been in progress, or 0 if there is none.
func (l *Log) Waits() (oldest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, began := range l.writes {
		oldest = max(oldest, time.Since(began))
	}
	return oldest
}

// entryBytes is the minimum overhead of a record in Badger's logs and memtables.
const entryBytes = 256

// store writes records to a generation and then calls note with the lock held. After a failed write
// it is unknown whether the records are stored. failure keeps the error.
func (l *Log) store(records []record, note func(g *generation)) (err error) {
	size := int64(0)
	for i := range records {
		size += int64(headSize + len(records[i].key) + len(records[i].body) + entryBytes)
	}
	g, err := l.writable(size)
	if errors.Is(err, errClosed) {
		return err
	}
	wrote := false
	if err == nil {
		err = g.probe()
	}
	if err == nil {
		wrote = true
		l.mu.Lock()
		g.assign(records)
		l.mu.Unlock()
		err = g.put(records...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure = err
	if err != nil {
		l.failedAt = time.Now()
	}
	switch {
	case g == nil:
		return err
	case err == nil:
		g.acknowledged(records)
		note(g)
	case wrote:
		if g.state == active {
			g.to(failed)
		}
		for i := range records {
			g.unsure[records[i].key] = true
		}
	}
	l.release(g)
	return err
}

// assign numbers records. The caller holds the lock of the log.
func (g *generation) assign(records []record) {
	durable := g.durable()
	g.writing[g.last+1] = true
	for i := range records {
		g.last++
		records[i].number, records[i].durable = g.last, durable
	}
}

// acknowledged marks records as durable. The caller holds the lock of the log.
func (g *generation) acknowledged(records []record) { delete(g.writing, records[0].number) }

// durable returns the number up to which all records are durable. The caller holds the lock of the
// log.
func (g *generation) durable() uint64 {
	least := g.last + 1
	for first := range g.writing {
		least = min(least, first)
	}
	return least - 1
}

// retryAfter is how long after a failed write [Log.Failure] starts another one.
const retryAfter = 30 * time.Second

// Failure returns the error of the newest write, or nil if it succeeded. Callers that know of a
// failure may stop writing, so 30 s after a failure Failure starts a write of its own, which has no
// effect.
func (l *Log) Failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure != nil && !l.retrying && time.Since(l.failedAt) >= l.opts.RetryAfter {
		l.retrying = true
		go l.retry()
	}
	return l.failure
}

// retry writes the deletion of a commit that does not exist.
func (l *Log) retry() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = l.write(ctx, []record{{key: "retry", at: l.opts.Now()}}, func(*generation) {}) // Failure returns the error
	l.mu.Lock()
	l.retrying = false
	l.mu.Unlock()
}
