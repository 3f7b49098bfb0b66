package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
)

// In a backup, the entries of a partition that may be written to are in pieces of this form.

const (
	entriesPrefix = "ENTRIES."                    // and a number from 000001
	pieceSize     = 1 << 20                       // when it is full
	maxPiece      = pieceSize + maxValue + 64<<10 // with the entry that filled it, and a checksum
	maxKey        = 1 + MaxPage + 2 + MaxTagKey + MaxTagValue + 64
)

// isPiece reports whether a file of a partition is a piece of its entries.
func isPiece(name string) bool { return strings.HasPrefix(name, entriesPrefix) }

// appendEntry appends an entry of Badger to a piece of ENTRIES, which starts with room for
// its checksum: key length uvarint │ key │ version uvarint │ value length uvarint │ value.
func appendEntry(dst, key []byte, version uint64, value []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	dst = binary.AppendUvarint(dst, version)
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

// cutEntry takes the first entry off a piece. What it returns are parts of the piece.
func cutEntry(b []byte) (key []byte, version uint64, value, rest []byte, err error) {
	key, b, ok := cutBytes(b, maxKey)
	version, n := binary.Uvarint(b)
	if !ok || len(key) == 0 || n <= 0 || version == 0 {
		return nil, 0, nil, nil, errKey
	}
	value, rest, ok = cutBytes(b[n:], maxValue)
	if !ok {
		return nil, 0, nil, nil, errKey
	}
	return key, version, value, rest, nil
}

func cutBytes(b []byte, most uint64) (field, rest []byte, ok bool) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > most || length > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n:][:length], b[n:][length:], true
}

// entriesWriter makes a partition of its entries.
type entriesWriter struct {
	dir  string
	opts Options
	db   *badger.DB // nil when it is closed
	out  *badger.KVLoader
}

// pendingBatches bounds what Badger is given at once, in batches of 15 % of a memtable.
const pendingBatches = 4

func newEntriesWriter(dir string, o Options) (*entriesWriter, error) {
	// All is synced in the end; until then nobody relies on it.
	db, err := openBadger(badgerOptions(dir, o.MemTableSize, false, o.Logger).WithSyncWrites(false))
	if err != nil {
		return nil, err
	}
	return &entriesWriter{dir: dir, opts: o, db: db, out: db.NewKVLoader(pendingBatches)}, nil
}

// write writes a piece, of which it keeps parts. Versions stay what they were: the marks of
// rollups name them.
func (e *entriesWriter) write(piece []byte) error {
	for len(piece) > 0 {
		key, version, value, rest, err := cutEntry(piece)
		if err == nil {
			err = e.out.Set(&pb.KV{Key: key, Value: value, Version: version})
		} else {
			err = fmt.Errorf("%w: %w", errBackup, err)
		}
		if err != nil {
			return err
		}
		piece = rest
	}
	return nil
}

// close makes the partition one that was closed cleanly.
func (e *entriesWriter) close() error {
	err := e.out.Finish()
	err = errors.Join(err, closeBadger(e.db))
	e.db = nil
	recover := recoverPartition
	if sp, _, _ := parseSpan(filepath.Base(e.dir)); sp != traces {
		recover = recoverRollups
	}
	if err == nil {
		_, err = recover(e.dir, e.opts.MemTableSize, e.opts.Logger)
	}
	if err != nil {
		return err
	}
	return syncFiles(e.dir)
}

// cancel gives up what was not closed.
func (e *entriesWriter) cancel() {
	if e.db != nil {
		_ = closeBadger(e.db) // it is deleted anyway
	}
}

// syncFiles makes the files in dir durable.
func syncFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		var f *os.File
		if err == nil {
			f, err = os.Open(filepath.Join(dir, e.Name()))
		}
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
	}
	return err
}
