package metamorphic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/shared/backup"
)

// backup makes a backup, and either checks it or continues with it.
func (x *run) backup(ctx context.Context) error {
	replace := x.r.IntN(2) == 0
	x.note("backup, replace %v", replace)
	var b bytes.Buffer
	if err := x.watch.do("backup", func() error { _, err := x.s.Backup(ctx, &b); return err }); err != nil {
		return err
	}
	to, err := x.restore(ctx, &b)
	if err != nil {
		return err
	}
	if replace {
		if err := errors.Join(x.watch.do("close", x.s.Close), x.home.goOn(to)); err != nil {
			return err
		}
		return x.goOn(ctx)
	}
	return x.look(ctx, to, func(r reader) error { return x.model.everything(ctx, x.home, r) })
}

// restore restores a backup to a new target.
func (x *run) restore(ctx context.Context, b *bytes.Buffer) (to target, err error) {
	defer x.home.works()()
	to = x.home.empty()
	return to, x.watch.do("restore", func() error {
		from, err := backup.Open(b)
		if err != nil {
			return err
		}
		place, _, err := x.home.connect(to, false)
		if err != nil {
			return err
		}
		st, err := shared.Restore(ctx, from, place, x.home.opts, func(string) {})
		if err == nil && len(st.Wrong) > 0 {
			err = fmt.Errorf("restored: %+v", st.Wrong)
		}
		if c, ok := place.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
		return err
	})
}

// look opens another target than the run's, calls f, and removes the target.
func (x *run) look(ctx context.Context, at target, f func(reader) error) error {
	return x.watch.do("look", func() error {
		s, err := x.home.openAt(ctx, at)
		if err != nil {
			return err
		}
		return errors.Join(f(s), s.Close(), at.remove())
	})
}

// fullDisk opens the store on a full disk. The store rejects traces, and answers queries.
func (x *run) fullDisk(ctx context.Context) error {
	x.note("full disk")
	if err := x.close(); err != nil {
		return err
	}
	before := x.home.minFree
	x.home.minFree = 1 << 60
	if err := x.open(ctx); err != nil {
		return err
	}
	if err := x.send(ctx, x.maker.batch(3)); !errors.Is(err, store.ErrNoSpace) {
		return fmt.Errorf("append to a full disk: got %v, want %v", err, store.ErrNoSpace)
	}
	err := errors.Join(x.roll(ctx), x.maintain(ctx), x.everything(ctx), x.watch.do("close", x.s.Close))
	x.home.minFree = before
	return errors.Join(err, x.open(ctx))
}

// backupOf is a backup that is made concurrently with other work.
type backupOf struct {
	*run
	slow   bool            // the reader of the stream waits
	others <-chan struct{} // closed when all other workers are done
	buf    bytes.Buffer
	begun  bool
	lower  sums
	upper  sums
}

// Write receives the stream.
func (b *backupOf) Write(p []byte) (int, error) {
	if !b.begun && b.slow {
		<-b.others
	}
	b.begun = true
	return b.buf.Write(p)
}

func (b *backupOf) make(ctx context.Context) error {
	b.lower = b.model.ackedAt(time.Now())
	do := func() error { _, err := b.s.Backup(ctx, b); return err }
	if b.slow { // the operation that it waits for is watched
		return do()
	}
	return b.watch.do("backup", do)
}

// check restores the backup and checks it. It may have traces that arrived while it was made.
func (b *backupOf) check(ctx context.Context) error {
	b.upper = b.model.begunBy()
	to, err := b.restore(ctx, &b.buf)
	if err != nil {
		return err
	}
	return b.look(ctx, to, func(r reader) error {
		got, err := ask(ctx, r, all)
		if err != nil {
			return err
		}
		if err := got.within(all, b.lower, b.upper); err != nil || b.traits.retention > 0 {
			return err
		}
		q := all
		q.None = true
		byTraces, err := ask(ctx, r, q)
		if err != nil {
			return err
		}
		return sameProfiles(got.pages, byTraces.pages)
	})
}
