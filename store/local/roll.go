package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/local/head"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// rolling belongs to [Store.Roll].
type rolling struct {
	turn  chan struct{} // holds one while a Roll goes on
	stint time.Duration // a call of Roll goes on with one thing for so long, then the others get their turn

	notBefore map[uint32]time.Time // when what could not be rolled up is tried again, by its start
	commits   uint64               // that there had been when it worked last
	resumed   bool                 // what was there when the store was opened is known
}

func newRolling() rolling {
	return rolling{turn: make(chan struct{}, 1), stint: time.Second, notBefore: make(map[uint32]time.Time)}
}

// retryRolling is how long what could not be rolled up is left alone.
const retryRolling = 5 * time.Minute

// Roll adds what was committed to the rollups, if there is enough of it or it has waited
// for long enough, see [Options]; then it adds up partitions and days that are over. Call
// it every second or so, beside everything else. It does nothing that a crash in the middle
// could spoil, and what it did not come to it does the next time.
func (s *Store) Roll(ctx context.Context) error {
	return s.roll(ctx, func(w *waiting) error {
		return errors.Join(s.storeOutcomes(ctx, s.opts.RollEvery), s.resume(ctx), s.rollHead(ctx, s.roller(w)), s.rollParts(ctx, w), s.rollDays(ctx, w))
	})
}

// RollUp adds all that was committed to the rollups, as fast as it can. A process that is about to end calls it, so that the
// next one answers at once.
func (s *Store) RollUp(ctx context.Context) error {
	return s.roll(ctx, func(w *waiting) error {
		r := s.roller(w)
		r.Longest, r.Stint, r.Pages, r.Fold, r.Pace = 0, math.MaxInt64, runtime.GOMAXPROCS(0), true, func(time.Duration) { w.goOn() }
		return errors.Join(s.storeOutcomes(ctx, 0), s.resume(ctx), s.rollHead(ctx, r))
	})
}

// roll has work done while no other roll goes on, and measures what it takes.
func (s *Store) roll(ctx context.Context, work func(*waiting) error) error {
	if err := s.life.Enter(); err != nil {
		return err
	}
	defer s.life.Leave()
	w := s.watch.begin("rolling up", stepLimit)
	defer w.end()
	w.step("waiting for another roll")
	select {
	case s.rolling.turn <- struct{}{}:
		w.step("")
		defer func() { <-s.rolling.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	w.step("at work")
	runtime.LockOSThread() // to know the time it takes
	defer runtime.UnlockOSThread()
	begin := disk.ThreadCPU()
	defer func() { s.rollCPU.Add(int64(disk.ThreadCPU() - begin)) }()
	if err := s.Err(); err != nil {
		return err
	}
	return work(w)
}

// roller says how the partition that is written to is rolled up.
func (s *Store) roller(w *waiting) *head.Roller {
	return &head.Roller{
		Pending: &s.pending, Most: s.opts.RollTraces, Longest: s.opts.RollEvery, Stint: s.rolling.stint, Now: s.opts.Now(),
		Put: s.putRollups, MaxCost: int(s.opts.maxCost() / 2), Pace: s.paced(w), Progress: w.step,
		Rolled: func(traces uint64, damaged int) { s.countRolled(traces, damaged) },
	}
}

// rollHead rolls up what the partition that is written to has got.
func (s *Store) rollHead(ctx context.Context, r *head.Roller) error {
	var p *part.Partition
	if writer := s.parts.Current(); writer != nil {
		p = writer.Partition()
	}
	return s.head.Roll(ctx, p, r)
}

// resume sees to what was there when the store was opened and is in no rollup yet: it is counted, and the partition that an
// earlier process has written to last is written to again, since it is rolled up with or without another commit.
func (s *Store) resume(ctx context.Context) error {
	if s.rolling.resumed {
		return nil
	}
	if s.parts.Resumable(s.opts.Now()) {
		err := s.control(ctx, "going on with the newest partition", func(w *waiting) error {
			if !s.parts.Resumable(s.opts.Now()) {
				return nil
			}
			_, err := s.readyToWrite(s.opts.Now(), w)
			return err
		})
		if err != nil {
			return fmt.Errorf("go on with the newest partition: %w", err)
		}
	}
	s.rolling.resumed = true
	summed, _ := rollups.StartsOf(s.sums.Files())
	parts, unpin := s.parts.Pin(func(p *part.Info) bool { return p.Fault == nil && !p.Blank() && !summed[rollups.Minutes(p.Start)] })
	defer unpin()
	writer := s.parts.Current()
	for i := range parts {
		p, upTo := parts[i].Partition, uint64(part.AllVersions)
		if writer != nil && writer.Partition() == p {
			upTo = writer.Since() // the others were counted when they were committed
		}
		n, err := s.head.Unrolled(ctx, p, upTo)
		if err != nil {
			s.opts.Logger.Warn("it is not known how many traces are to be rolled up", logPartition, p.Name, logErr, err)
			continue
		}
		s.pending.Coming(n)
	}
	if writer != nil {
		s.pending.Everything(time.Unix(1, 0)) // nobody knows since when: at once
	}
	return nil
}

// countRolled counts what went into a rollup.
func (s *Store) countRolled(traces uint64, damaged int) {
	s.found.Damaged.Add(uint64(damaged))
	s.rolledUp.Add(traces)
	s.pending.Rolled(int(traces))
}

// pace makes rolling up wait as long as it worked while there are commits, which come first:
// it gets half a processor then. Nobody waits for it.
func (s *Store) pace(worked time.Duration) {
	if n := s.commits.Load(); n != s.rolling.commits {
		s.rolling.commits = n
		time.Sleep(min(worked, time.Second/10))
	}
}

// paced returns [Store.pace] for work that w is about: each stretch of it is progress, also
// where one page takes minutes on a machine that has too much to do.
func (s *Store) paced(w *waiting) func(worked time.Duration) {
	return func(worked time.Duration) {
		w.goOn()
		s.pace(worked)
	}
}

// putRollups has the committer write to p, if that is still the partition that is written to.
func (s *Store) putRollups(ctx context.Context, p *part.Partition, pairs []record.Pair) error {
	return s.control(ctx, "writing rollups", func(*waiting) error {
		if err := s.Err(); err != nil {
			return err
		}
		w := s.parts.Current()
		if w == nil || w.Partition() != p {
			return head.ErrMoved
		}
		if err := s.admit(0); err != nil {
			return err
		}
		err := w.Put(pairs)
		if err != nil {
			err = fmt.Errorf("write rollups to partition %s: %w", p.Name, err)
		}
		if errors.Is(err, part.ErrUnknown) {
			s.fail(err)
		}
		return err
	})
}
