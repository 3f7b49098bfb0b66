package metamorphic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// directory is the home of a store on one machine.
type directory struct {
	base string // the data directories of the run are in it
	dirs int
	dir  string
	opts local.Options
}

func newDirectory(r *rand.Rand, c *clock, base string) *directory {
	d := &directory{base: base, opts: local.Options{
		Program:        "metamorphic",
		MemTableSize:   8 << 20,
		Now:            c.Now,
		Partition:      []time.Duration{time.Hour, 15 * time.Minute}[r.IntN(2)],
		RollEvery:      []time.Duration{time.Nanosecond, 30 * time.Second}[r.IntN(2)],
		RollTraces:     []int{1, 50, 1 << 15}[r.IntN(3)],
		GroupTraces:    []int{4, 32, 256}[r.IntN(3)],
		OpenPartitions: []int{1, 2, 8}[r.IntN(3)],
	}}
	d.opts.Retention = []time.Duration{0, 12 * d.opts.Partition, 26 * time.Hour}[r.IntN(3)]
	d.dir = d.newDir()
	return d
}

func (d *directory) String() string {
	o := &d.opts
	return fmt.Sprintf("directory: partition %v, retention %v, roll every %v or %d traces, groups of %d, %d open",
		o.Partition, o.Retention, o.RollEvery, o.RollTraces, o.GroupTraces, o.OpenPartitions)
}

func (d *directory) traits() traits {
	return traits{width: d.opts.Partition, retention: d.opts.Retention}
}

// newDir returns the name of a directory that does not exist.
func (d *directory) newDir() string {
	d.dirs++
	return filepath.Join(d.base, fmt.Sprint(d.dirs))
}

func (d *directory) open(context.Context) (engine, error) { return local.Open(d.dir, d.opts) }

func (d *directory) read(_ context.Context, f func(reader) error) error { return d.readFrom(d.dir, f) }

func (d *directory) readFrom(dir string, f func(reader) error) error {
	r, err := local.OpenReader(dir, d.opts)
	if err != nil {
		return err
	}
	return errors.Join(f(r), r.Close())
}

// crash copies what a crash would leave, and goes on with that.
func (d *directory) crash(_ context.Context, s engine) error {
	to := d.newDir()
	if err := crashCopy(d.dir, to); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return d.goOn(to)
}

// goOn puts another directory in the place of the one that was closed.
func (d *directory) goOn(to string) error {
	err := os.RemoveAll(d.dir)
	d.dir = to
	return err
}

func (d *directory) failing(error) bool { return false }

func (d *directory) remove() error { return os.RemoveAll(d.dir) }

// sound checks what is said of partitions.
func (d *directory) sound(_ context.Context, r reader, m *model) error {
	st, err := r.(interface{ Status() (local.Status, error) }).Status()
	if err != nil || st.Lost+st.Damaged+st.Missing > 0 {
		return fmt.Errorf("status: %+v, %w", st, err)
	}
	of := map[string]uint64{}
	for _, x := range m.instances {
		of[x.partition]++
	}
	for _, p := range st.Partitions {
		if p.State != local.Writing && p.State != local.Closed {
			return fmt.Errorf("partition %s is %s: %s", p.Name, p.State, p.Reason)
		}
		if p.Holds == "traces" && p.Traces != of[p.Name] {
			return fmt.Errorf("partition %s: got %d traces, want %d", p.Name, p.Traces, of[p.Name])
		}
	}
	return nil
}

// glance asks what else there is to ask, while others work.
func (d *directory) glance(s engine) error {
	l := s.(*local.Store)
	l.Counters()
	l.Space()
	l.Version(time.Time{}, time.Time{})
	st, err := l.Status()
	if st.Lost+st.Damaged+st.Missing > 0 {
		err = fmt.Errorf("status: %+v", st)
	}
	return err
}

// What follows is done to directories alone.

// inDirectory returns the home of the run and its store.
func (x *run) inDirectory() (*directory, *local.Store) {
	return x.home.(*directory), x.s.(*local.Store)
}

// backup makes a backup, and looks into it or goes on with it.
func (x *run) backup(ctx context.Context) error {
	d, s := x.inDirectory()
	replace := x.r.IntN(2) == 0
	x.note("backup, replace %v", replace)
	var b bytes.Buffer
	if err := x.watch.do("backup", func() error { _, err := s.Backup(ctx, &b); return err }); err != nil {
		return err
	}
	to := d.newDir()
	if err := x.restore(ctx, &b, to); err != nil {
		return err
	}
	if replace {
		if err := errors.Join(x.watch.do("close", x.s.Close), d.goOn(to)); err != nil {
			return err
		}
		return x.goOn(ctx)
	}
	return errors.Join(x.look(d, to, func(r reader) error { return x.model.everything(ctx, x.home, r) }), os.RemoveAll(to))
}

func (x *run) restore(ctx context.Context, b *bytes.Buffer, to string) error {
	return x.watch.do("restore", func() error {
		_, err := local.Restore(ctx, b, to, x.home.(*directory).opts, nil)
		return err
	})
}

func (x *run) look(d *directory, dir string, f func(reader) error) error {
	return x.watch.do("read", func() error { return d.readFrom(dir, f) })
}

// fullDisk opens the store where there is no room for anything. It refuses traces, and
// answers.
func (x *run) fullDisk(ctx context.Context) error {
	d, _ := x.inDirectory()
	x.note("full disk")
	if err := x.close(); err != nil {
		return err
	}
	before := d.opts.MinFree
	d.opts.MinFree = 1 << 60
	if err := x.open(ctx); err != nil {
		return err
	}
	if err := x.send(ctx, x.maker.batch(3)); !errors.Is(err, store.ErrNoSpace) {
		return fmt.Errorf("append to a full disk: got %v, want %v", err, store.ErrNoSpace)
	}
	for _, do := range []func(context.Context) error{x.roll, x.maintain} {
		if err := do(ctx); err != nil && !errors.Is(err, store.ErrNoSpace) {
			return err
		}
	}
	err := errors.Join(x.everything(ctx), x.watch.do("close", x.s.Close))
	d.opts.MinFree = before
	return errors.Join(err, x.open(ctx))
}

// backupOf is a backup that is made while others work.
type backupOf struct {
	*run
	slow   bool            // the reader of the stream waits
	others <-chan struct{} // closed when all others are done
	buf    bytes.Buffer
	begun  bool
	lower  sums
	upper  sums
}

// Write takes the stream. When the first of it comes, the moment of the backup is over.
func (b *backupOf) Write(p []byte) (int, error) {
	if !b.begun {
		b.begun, b.upper = true, b.model.begunBy()
		if b.slow {
			<-b.others
		}
	}
	return b.buf.Write(p)
}

func (b *backupOf) make(ctx context.Context) error {
	_, s := b.inDirectory()
	b.lower = b.model.ackedAt(time.Now())
	do := func() error { _, err := s.Backup(ctx, b); return err }
	if b.slow { // what it waits for is watched
		return do()
	}
	return b.watch.do("backup", do)
}

// check restores the backup and looks into it.
func (b *backupOf) check(ctx context.Context) error {
	d, _ := b.inDirectory()
	to := d.newDir()
	if err := b.restore(ctx, &b.buf, to); err != nil {
		return err
	}
	return b.look(d, to, func(r reader) error {
		got, err := ask(ctx, r, all)
		if err != nil {
			return err
		}
		if err := got.within(all, b.lower, b.upper); err != nil || d.opts.Retention > 0 {
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
