package store

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// BackupStats say what a backup holds.
type BackupStats struct {
	Made       time.Time
	Partitions int
	Traces     uint64
	Bytes      int64    // of the contents of the stream
	Missing    []string // partitions that can not be read, each with its reason
}

// Backup writes all that is committed when it is called to w, while the store goes on: see
// [Restore]. It holds up rollups for as long as it takes to copy those that there are to a
// file without a name in the data directory, and deletions until it ends. Partitions that
// can not be read are left out and named. After an error the stream has no end, and Restore
// refuses it.
func (r *Reader) Backup(ctx context.Context, w io.Writer) (stats BackupStats, err error) {
	if err := r.enter(); err != nil {
		return stats, err
	}
	defer r.leave()
	b := &backup{r: r, ctx: ctx}
	spool, err := os.CreateTemp(r.dir, "backup-*.tmp")
	if err != nil {
		return stats, fmt.Errorf("back up: make a file for what changes: %w", err)
	}
	defer func() { _ = spool.Close() }()
	if err := os.Remove(spool.Name()); err != nil {
		return stats, fmt.Errorf("back up: %w", err)
	}
	head, err := b.copyChanging(spool)
	defer func() { r.shelf.unpin(slices.Concat(b.parts, b.sums)) }()
	if err == nil {
		err = b.send(w, spool)
	}
	if err != nil {
		return stats, fmt.Errorf("back up: %w", err)
	}
	stats = BackupStats{Made: head.Made, Partitions: len(head.Partitions), Traces: b.traces, Bytes: b.archive.bytes}
	for _, m := range head.Missing {
		stats.Missing = append(stats.Missing, m.Name+": "+m.Reason)
	}
	return stats, nil
}

// backup is a Backup on its way. What changes is copied to a spool first, at one moment:
//
//   - rollups, which are added to and made anew, so that they belong to the same traces.
//     Their partitions are leased together, so that none is opened or closed meanwhile. One
//     that is open for writing gets rollups of one stretch of time, which count when that is
//     whole, as after a crash;
//   - of the newest partition of traces, if it is not sealed, all but traces and ids.
//
// What is copied later, as fast as the reader of the stream takes it, does not change until
// it is deleted: the files of the other partitions, which are pinned, and the traces and ids
// of the newest, each of which is written once, so that its version tells which were there.
// A lease for longer would hold up sealing; hard links would not keep files, since Badger
// truncates what it deletes.
type backup struct {
	r       *Reader
	ctx     context.Context
	archive *archiveWriter
	sink    io.Writer // of the archive
	parts   []*partition
	sums    []*partition
	open    *partition // of parts, nil if all are final
	had     contents   // of open, or less
	version uint64     // of Badger, up to which open is copied
	piece   []byte
	pieces  int
	traces  uint64
}

func (b *backup) Write(p []byte) (int, error) { return b.sink.Write(p) }

// copyChanging pins what the backup is of, and writes what may change soon to the spool.
func (b *backup) copyChanging(spool *os.File) (head backupHead, err error) {
	head = b.pin()
	defer b.release()
	b.archive = newArchiveWriter(b, head.Made)
	if err := b.measure(&head); err != nil {
		return head, err
	}
	out := bufio.NewWriterSize(spool, 1<<20)
	b.sink = out
	text, err := json.Marshal(head)
	if err == nil {
		err = b.archive.putBytes(headEntry, text)
	}
	if err == nil {
		err = b.archive.endGroup()
	}
	for _, p := range b.sums {
		if err == nil {
			if p.writer { // and stays so while it is leased
				err = b.rollups(p)
			} else {
				err = b.files(p)
			}
		}
	}
	if err == nil && b.open != nil {
		err = b.changing()
	}
	return head, errors.Join(err, out.Flush())
}

// pin pins all partitions that can be read, and says which they are.
func (b *backup) pin() backupHead {
	sh := b.r.shelf
	head := backupHead{Backup: backupVersion, Format: FormatVersion, Made: b.r.opts.Now().UTC(), Partitions: []backupPart{}}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for slices.ContainsFunc(sh.sums, func(p *partition) bool { return p.busy }) {
		sh.calm.Wait()
	}
	for i := range sh.aside {
		a := &sh.aside[i]
		head.Missing = append(head.Missing, backupMissing{a.name, a.reason, a.contents})
	}
	for i, p := range slices.Concat(sh.parts, sh.sums) {
		open := p.span == traces && i == len(sh.parts)-1 && !p.Sealed
		switch {
		case p.fault != nil:
			head.Missing = append(head.Missing, backupMissing{head.aside(p.name), p.fault.Error(), p.contents})
			continue
		case p.blank() && !p.writer:
			continue // it was made, and got nothing yet
		case open:
			b.open, b.had = p, p.contents
		}
		p.pins++
		if p.span == traces {
			b.parts = append(b.parts, p)
			b.traces += p.Traces
		} else {
			p.leases++
			b.sums = append(b.sums, p)
			open = p.writer
		}
		head.Partitions = append(head.Partitions, backupPart{Name: p.name, Open: open})
	}
	if b.open != nil {
		b.traces -= b.had.Traces // they are counted
	}
	return head
}

// release gives the leases on rollups back.
func (b *backup) release() {
	sh := b.r.shelf
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, p := range b.sums {
		p.leases--
	}
	sh.calm.Broadcast()
}

// aside returns the name that a partition would be set aside by.
func (h *backupHead) aside(name string) string {
	to := name + corruptSuffix
	for n := 2; slices.ContainsFunc(h.Missing, func(m backupMissing) bool { return m.Name == to }); n++ {
		to = fmt.Sprintf("%s%s.%d", name, corruptSuffix, n)
	}
	return to
}

// measure notes the sizes of the partitions, and looks for room for the spool.
func (b *backup) measure(head *backupHead) error {
	room := max(0, b.r.space.writing())
	for i := range head.Partitions {
		p := &head.Partitions[i]
		p.Bytes = treeBytes(filepath.Join(b.r.dir, p.Name))
		head.Bytes += p.Bytes
		if sp, _, _ := parseSpan(p.Name); sp != traces {
			room += p.Bytes
		}
	}
	return b.r.space.room(room, 0)
}

// files writes a partition as its files.
func (b *backup) files(p *partition) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	b.archive.begin(p.name)
	err := b.archive.putFiles(p.path)
	if err == nil {
		err = b.archive.endGroup()
	}
	if err != nil {
		return fmt.Errorf("partition %s: %w", p.name, err)
	}
	return nil
}

// writtenOnce are the kinds of key whose values never change.
var writtenOnce = []byte{kindID, kindTrace}

// changing writes what changes of the open partition, as of one moment.
func (b *backup) changing() error {
	p := b.open
	b.archive.begin(p.name)
	if err := b.commits(); err != nil {
		return fmt.Errorf("partition %s: %w", p.name, err)
	}
	err := b.r.look(p, func(txn *badger.Txn) error {
		b.version = txn.ReadTs()
		return b.moment(txn)
	})
	if err != nil {
		return fmt.Errorf("partition %s: %w", p.name, err)
	}
	return nil
}

// rollups writes a partition of rollups that is open for writing, with what says what it
// had before that.
func (b *backup) rollups(p *partition) error {
	b.archive.begin(p.name)
	err := b.archive.putFile(filepath.Join(p.path, openedFile))
	if err == nil || errors.Is(err, errNotExist) { // it is new
		err = view(p.db, b.moment) // which is leased; another lease might wait for who waits for it
	}
	b.pieces = 0
	if err == nil {
		err = b.archive.endGroup()
	}
	return err
}

// moment writes the entries that txn sees, but those that are written once.
func (b *backup) moment(txn *badger.Txn) error {
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	for it.Rewind(); it.Valid(); {
		if kind := it.Item().Key()[0]; slices.Contains(writtenOnce, kind) {
			it.Seek([]byte{kind + 1})
			continue
		}
		if err := b.add(it.Item()); err != nil {
			return err
		}
		if err := b.flushPiece(pieceSize); err != nil {
			return err
		}
		it.Next()
	}
	return b.flushPiece(0)
}

// commits writes what COMMITS says of commits that the moment of the backup has, or that
// are lost.
func (b *backup) commits() error {
	all, err := os.ReadFile(filepath.Join(b.open.path, commitsFile))
	if err != nil && !errors.Is(err, errNotExist) {
		return err
	}
	var kept []byte
	for ; len(all) >= commitsRecordSize; all = all[commitsRecordSize:] {
		if binary.BigEndian.Uint64(all) <= b.had.LastCommit {
			kept = append(kept, all[:commitsRecordSize]...)
		}
	}
	return b.archive.putBytes(commitsFile, kept)
}

// add adds an entry to the piece.
func (b *backup) add(it *badger.Item) error {
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
	err := b.archive.putBytes(fmt.Sprintf("%s%06d", entriesPrefix, b.pieces), sumInto(b.piece, 0, nil))
	b.piece = b.piece[:0]
	return err
}

// send writes the stream: what is in the spool, and the rest.
func (b *backup) send(w io.Writer, spool *os.File) error {
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 256<<10)
	if _, err := io.Copy(out, &contextReader{b.ctx, spool}); err != nil {
		return err
	}
	b.sink = out
	if b.open != nil {
		for _, kind := range writtenOnce {
			if err := b.unchanging(kind); err != nil {
				return fmt.Errorf("partition %s: %w", b.open.name, err)
			}
		}
		if err := b.archive.endGroup(); err != nil {
			return err
		}
	}
	for _, p := range b.parts {
		if p != b.open {
			if err := b.files(p); err != nil {
				return err
			}
		}
	}
	if err := b.archive.close(b.traces); err != nil {
		return err
	}
	return out.Flush()
}

// unchanging writes the entries of a kind, of which each is written once, as far as they
// were there at the moment of the backup.
func (b *backup) unchanging(kind byte) error {
	next := []byte{kind}
	for done := false; !done; {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		err := b.r.look(b.open, func(txn *badger.Txn) error {
			it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}})
			defer it.Close()
			for it.Seek(next); it.Valid(); it.Next() {
				if len(b.piece) >= pieceSize {
					next = it.Item().KeyCopy(next)
					return nil
				}
				if it.Item().Version() > b.version {
					continue
				}
				if kind == kindID {
					b.traces++
				}
				if err := b.add(it.Item()); err != nil {
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

// contextReader ends when its context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
