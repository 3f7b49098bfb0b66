package snapshot

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// Stats say what a backup holds.
type Stats struct {
	Made       time.Time
	Partitions int // and files of sums
	Traces     uint64
	Bytes      int64    // of the contents of the stream
	Missing    []string // partitions and files that can not be read, each with its reason
}

// Source is a data directory that is in use.
type Source struct {
	Dir    string
	Parts  *part.Shelf
	Sums   *rollups.Shelf
	Space  *disk.Space
	Format int // version of the directory
	Now    time.Time
}

// Backup writes all that is committed when it is called to w, while the store goes on: see
// [Restore]. It holds up deletions until it ends, and nothing else. What can not be read is
// left out and named. After an error the stream has no end, and Restore refuses it.
func Backup(ctx context.Context, w io.Writer, from Source) (stats Stats, err error) {
	b := &backup{Source: from, ctx: ctx}
	spool, err := unnamed(from.Dir)
	if err != nil {
		return stats, fmt.Errorf("back up: %w", err)
	}
	defer func() { _ = spool.Close() }()
	h, unpin := b.plan()
	defer unpin()
	if h.Symbols, err = symbolsBytes(from.Dir); err == nil {
		h.Bytes += h.Symbols
		if h.Symbols > 0 {
			h.Backup = version
		}
		err = b.copyChanging(h, spool)
	}
	if err == nil {
		err = b.send(w, h, spool)
	}
	if err != nil {
		return stats, fmt.Errorf("back up: %w", err)
	}
	stats = Stats{Made: h.Made, Partitions: len(h.Partitions) + len(h.Sums), Traces: b.traces, Bytes: b.archive.bytes}
	for _, m := range h.Missing {
		stats.Missing = append(stats.Missing, m.Name+": "+m.Reason)
	}
	return stats, nil
}

// unnamed makes a file without a name, which is gone when it is closed.
func unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "backup-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("make a file for what changes: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// backup is a Backup on its way. Files of sums and closed partitions do not change, and are
// copied as fast as the reader of the stream takes them. Of a partition that is open for
// writing, what changes is copied to a spool first, at one moment; its traces and ids are
// each written once, so that their versions tell which were there.
type backup struct {
	Source
	ctx     context.Context
	archive *archiveWriter
	sink    io.Writer // of the archive
	files   []*rollups.File
	closed  []part.Info
	open    []*opened
	piece   []byte
	pieces  int
	traces  uint64
}

// opened is a partition that may be written to meanwhile.
type opened struct {
	part.Moment
	version uint64 // up to which it is copied
}

func (b *backup) Write(p []byte) (int, error) { return b.sink.Write(p) }

// plan says what the backup is of, and keeps it until unpin is called.
func (b *backup) plan() (h head, unpin func()) {
	h = head{Backup: withoutSymbols, Format: b.Format, Made: b.Now.UTC(), Partitions: []member{}}
	// Sums come first: those that are made from now on may have more than the partitions had.
	b.files = b.Sums.Files()
	for _, f := range b.files {
		h.Sums = append(h.Sums, member{Name: f.Name(), Bytes: f.Size()})
	}
	for _, a := range b.Parts.Asides() {
		h.Missing = append(h.Missing, missing{Name: a.Name, Reason: a.Reason, Contents: a.Contents})
	}
	for _, a := range b.Sums.Aside() {
		h.Missing = append(h.Missing, missing{Name: a.Name, Reason: a.Reason, Sums: a.Sums})
	}
	for _, f := range b.Sums.Faulty() {
		h.Missing = append(h.Missing, missing{Name: h.aside(f.Name), Reason: f.Err.Error()})
	}
	pinned, unpin := b.Parts.Pin(func(p *part.Info) bool { return !p.Blank() || p.Writing })
	for _, p := range pinned {
		switch {
		case p.Fault != nil:
			h.Missing = append(h.Missing, missing{Name: h.aside(p.Name), Reason: p.Fault.Error(), Contents: p.Contents})
			continue
		case p.Unsettled:
			b.open = append(b.open, &opened{Moment: part.Moment{Info: p}})
		default:
			b.closed = append(b.closed, p)
			b.traces += p.Traces
		}
		h.Partitions = append(h.Partitions, member{Name: p.Name, Open: p.Unsettled, Bytes: disk.TreeBytes(p.Path())})
	}
	for _, m := range slices.Concat(h.Partitions, h.Sums) {
		h.Bytes += m.Bytes
	}
	return h, unpin
}

// aside returns the name that something would be set aside by.
func (h *head) aside(name string) string {
	return part.AsideName(name, func(to string) bool {
		return slices.ContainsFunc(h.Missing, func(m missing) bool { return m.Name == to })
	})
}

// copyChanging writes what may change soon to the spool.
func (b *backup) copyChanging(h head, spool *os.File) error {
	var room int64
	for _, o := range b.open {
		room += disk.TreeBytes(o.Path())
	}
	if err := b.Space.Room(max(0, b.Space.Writing())+room, 0); err != nil {
		return err
	}
	b.archive = newArchiveWriter(b, h.Made)
	out := bufio.NewWriterSize(spool, 1<<20)
	b.sink = out
	text, err := json.Marshal(h)
	if err == nil {
		err = b.archive.putBytes(headEntry, text)
	}
	if err == nil {
		err = b.archive.endGroup()
	}
	for i, o := range b.open {
		if err == nil {
			err = b.moment(o)
		}
		if err == nil && i < len(b.open)-1 { // the last one's group goes on in the stream
			err = b.rest(o)
		}
		if err != nil {
			return fmt.Errorf("partition %s: %w", o.Name, err)
		}
	}
	return errors.Join(err, out.Flush())
}

// writtenOnce are the kinds of key whose values never change.
var writtenOnce = []byte{record.KindID, record.KindTrace}

// moment writes what changes of an open partition, as of one moment.
func (b *backup) moment(o *opened) (err error) {
	if o.Moment, err = b.Parts.Moment(o.Partition); err != nil {
		return err
	}
	b.archive.begin(o.Name)
	b.pieces = 0
	if err := b.archive.putBytes(part.CommitsFileName, o.CommitsFile); err != nil {
		return err
	}
	return b.Parts.Read(b.ctx, o.Partition, func(txn *part.Txn) error {
		o.version = txn.Version()
		it := txn.Iterate(nil, 0)
		defer it.Close()
		for it.Rewind(); it.Valid(); {
			if kind := it.Key()[0]; slices.Contains(writtenOnce, kind) {
				it.Seek([]byte{kind + 1})
				continue
			}
			if err := b.add(it); err != nil {
				return err
			}
			if err := b.flushPiece(pieceSize); err != nil {
				return err
			}
			it.Next()
		}
		return b.flushPiece(0)
	})
}

// rest writes what is written once of an open partition, as far as it was there at its
// moment, and ends its group.
func (b *backup) rest(o *opened) error {
	for _, kind := range writtenOnce {
		if err := b.unchanging(o, kind); err != nil {
			return err
		}
	}
	return b.archive.endGroup()
}

func (b *backup) unchanging(o *opened, kind byte) error {
	next := []byte{kind}
	for done := false; !done; {
		if err := b.ctx.Err(); err != nil {
			return context.Cause(b.ctx)
		}
		err := b.Parts.Read(b.ctx, o.Partition, func(txn *part.Txn) error {
			it := txn.Iterate([]byte{kind}, 0)
			defer it.Close()
			for it.Seek(next); it.Valid(); it.Next() {
				if len(b.piece) >= pieceSize {
					next = append(next[:0], it.Key()...)
					return nil
				}
				if it.Version() > o.version {
					continue
				}
				if kind == record.KindID {
					b.traces++
				}
				if err := b.add(it); err != nil {
					return err
				}
			}
			done = true
			return nil
		})
		if err == nil {
			err = b.flushPiece(0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds an entry to the piece.
func (b *backup) add(it part.Iterator) error {
	if len(b.piece) == 0 {
		b.piece = append(b.piece, 0, 0, 0, 0)
	}
	return it.Value(func(v []byte) error {
		b.piece = appendEntry(b.piece, it.Key(), it.Version(), v)
		return nil
	})
}

// flushPiece writes the piece if it is at least that long.
func (b *backup) flushPiece(size int) error {
	if len(b.piece) == 0 || len(b.piece) < size {
		return nil
	}
	b.pieces++
	err := b.archive.putBytes(fmt.Sprintf("%s%06d", entriesPrefix, b.pieces), record.SumInto(b.piece, 0, nil))
	b.piece = b.piece[:0]
	return err
}

// send writes the stream: what is in the spool, and the rest.
func (b *backup) send(w io.Writer, h head, spool *os.File) error {
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 256<<10)
	if _, err := io.Copy(out, &contextReader{b.ctx, spool}); err != nil {
		return err
	}
	b.sink = out
	if n := len(b.open); n > 0 {
		if err := b.rest(b.open[n-1]); err != nil {
			return fmt.Errorf("partition %s: %w", b.open[n-1].Name, err)
		}
	}
	for _, p := range b.closed {
		if err := b.group(p); err != nil {
			return fmt.Errorf("partition %s: %w", p.Name, err)
		}
	}
	if err := b.sums(); err != nil {
		return err
	}
	if err := b.symbols(h); err != nil {
		return err
	}
	if err := b.archive.close(b.traces); err != nil {
		return err
	}
	return out.Flush()
}

// group writes a closed partition as its files.
func (b *backup) group(p part.Info) error {
	if err := b.ctx.Err(); err != nil {
		return context.Cause(b.ctx)
	}
	b.archive.begin(p.Name)
	if err := b.archive.putFiles(p.Path()); err != nil {
		return err
	}
	return b.archive.endGroup()
}

// sums writes the files of sums, also those that others have taken the place of meanwhile.
func (b *backup) sums() error {
	if len(b.files) == 0 {
		return nil
	}
	b.archive.begin(sumsGroup)
	for _, f := range b.files {
		r := &contextReader{b.ctx, f.Bytes()}
		if err := b.archive.put(f.Name(), f.Size(), r); err != nil {
			return fmt.Errorf("sums %s: %w", f.Name(), err)
		}
	}
	return b.archive.endGroup()
}

// contextReader ends when its context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}
