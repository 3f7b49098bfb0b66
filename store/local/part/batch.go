package part

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// Commit puts what f sets into one transaction, with a number and a count of what it holds,
// and returns when it is durable. If f returns false nothing is written. An error that wraps
// [ErrUnknown] leaves open whether it is.
func (w *Writer) Commit(f func(*Batch) (bool, error)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w in partition %s: badger panicked: %v", ErrUnknown, w.p.Name, r)
		}
	}()
	b := &Batch{w: w, txn: w.p.db.NewTransaction(true)}
	defer b.end()
	if ok, err := f(b); err != nil || !ok {
		return err
	}
	key := record.AppendCommitKey(nil, w.next)
	if err := b.txn.Set(key, record.AppendCommit(nil, key, b.Count)); err != nil {
		return fmt.Errorf("write to partition %s: %w", w.p.Name, err)
	}
	if err := w.knock(); err != nil {
		return err
	}
	if err := b.txn.Commit(); err != nil {
		return fmt.Errorf("%w: commit to partition %s: %w", ErrUnknown, w.p.Name, err)
	}
	number := w.next
	w.next++
	w.s.mu.Lock()
	w.p.contents.add(number, b.Count)
	w.s.mu.Unlock()
	if err := w.p.commits.append(number, key, b.Count); err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return nil
}

// Put writes pairs in one transaction without a number: what can be made again. After an
// error that does not wrap [ErrUnknown] nothing was written.
func (w *Writer) Put(pairs []record.Pair) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w in partition %s: badger panicked: %v", ErrUnknown, w.p.Name, r)
		}
	}()
	txn := w.p.db.NewTransaction(true)
	defer txn.Discard()
	for _, p := range pairs {
		if p.Value == nil {
			err = txn.Delete(p.Key)
		} else {
			err = txn.Set(p.Key, p.Value)
		}
		if err != nil {
			return fmt.Errorf("write to partition %s: %w", w.p.Name, err)
		}
	}
	if err := w.knock(); err != nil {
		return err
	}
	if err := txn.Commit(); err != nil {
		return fmt.Errorf("%w: write to partition %s: %w", ErrUnknown, w.p.Name, err)
	}
	return nil
}

// knock waits until the filesystem takes changes, by one of the time of a file. Badger writes to
// mapped files. A thread that waits for the disk there can not be stopped, and the garbage
// collector, which stops all, would hold up the whole process with it; one in a system call
// keeps nobody waiting. So a disk that does not answer should be met here.
func (w *Writer) knock() error {
	now := time.Now()
	if err := os.Chtimes(filepath.Join(w.p.path, commitsFile), now, now); err != nil {
		return fmt.Errorf("reach partition %s: %w", w.p.Name, err)
	}
	return nil
}

// Batch is a commit in the making.
type Batch struct {
	Count record.Commit // what it holds, set by who fills it

	w      *Writer
	txn    *badger.Txn
	before *badger.Txn // of the partition before; nil if it is not read
	looked bool        // it was tried to read that
}

// Set sets a key. Neither key nor value may be changed before the commit.
func (b *Batch) Set(key, value []byte) error { return b.txn.Set(key, value) }

// Txn reads the partition as it is with what the batch has set.
func (b *Batch) Txn() *Txn { return &Txn{b.txn} }

// Known reports whether there is a key in the partition, in the batch, or in the partition
// before. One that can not be looked for, since something is damaged, is taken as unknown: a
// repeat is then stored again, which is better than refusing what is new.
func (b *Batch) Known(key []byte) bool {
	if b.w.has(b.txn, key) {
		return true
	}
	if !b.looked {
		b.looked = true
		b.openBefore()
	}
	return b.before != nil && b.w.has(b.before, key)
}

func (b *Batch) openBefore() {
	w := b.w
	if w.before == nil {
		return
	}
	db, err := w.s.enter(context.Background(), w.before)
	if err != nil {
		if errors.Is(err, store.ErrDamaged) || errors.Is(err, ErrGone) {
			w.before = nil // it will not get better
		}
		w.s.o.Log.Warn("no look for repeats in the partition before", "err", err)
		return
	}
	b.before = db.NewTransaction(false)
}

func (b *Batch) end() {
	b.txn.Discard()
	if b.before != nil {
		b.before.Discard()
		b.w.s.leave(b.w.before)
	}
}

func (w *Writer) has(txn *badger.Txn, key []byte) (found bool) {
	err := guarded(func() error {
		_, err := txn.Get(key)
		found = err == nil
		return err
	})
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		w.s.o.Log.Warn("look for repeats", "partition", w.p.Name, "err", err)
	}
	return found
}
