package part

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// Moment is what has to be known of a partition that is open for writing to copy it as of one
// moment while commits go on. Traces and ids are written once, so their versions tell which
// were there.
type Moment struct {
	Info
	CommitsFile []byte // what COMMITS says of commits until then, and of those that are lost
}

// Moment returns the state of a partition now.
func (s *Shelf) Moment(p *Partition) (Moment, error) {
	m := Moment{Info: s.Lookup(p)}
	all, err := os.ReadFile(filepath.Join(p.path, commitsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	for ; len(all) >= commitsRecordSize; all = all[commitsRecordSize:] {
		if binary.BigEndian.Uint64(all) <= m.LastCommit {
			m.CommitsFile = append(m.CommitsFile, all[:commitsRecordSize]...)
		}
	}
	return m, nil
}

// CommitsFileName is the name of the file that [Moment.CommitsFile] is restored to.
const CommitsFileName = commitsFile

// Importer makes a partition of its entries.
type Importer struct {
	dir      string
	memTable int64
	log      *slog.Logger
	db       *badger.DB // nil when it is closed
	out      *badger.KVLoader
}

// pendingBatches bounds what Badger is given at once, in batches of 15 % of a memtable.
const pendingBatches = 4

// NewImporter returns what makes the partition in dir.
func NewImporter(dir string, memTable int64, log *slog.Logger) (*Importer, error) {
	// All is synced in the end; until then nobody relies on it.
	db, err := openBadger(badgerOptions(dir, memTable, false, log).WithSyncWrites(false))
	if err != nil {
		return nil, err
	}
	return &Importer{dir: dir, memTable: memTable, log: log, db: db, out: db.NewKVLoader(pendingBatches)}, nil
}

// Set adds an entry, of which it keeps key and value. Versions stay what they were: marks of
// how far a page is rolled up name them.
func (x *Importer) Set(key, value []byte, version uint64) error {
	return x.out.Set(&pb.KV{Key: key, Value: value, Version: version})
}

// Close makes the partition one that was closed cleanly, and durable.
func (x *Importer) Close() error {
	err := errors.Join(x.out.Finish(), closeBadger(x.db))
	x.db = nil
	if err == nil {
		_, err = recoverPartition(x.dir, x.memTable, x.log)
	}
	if err != nil {
		return err
	}
	return disk.SyncFiles(x.dir)
}

// Cancel gives up what was not closed.
func (x *Importer) Cancel() {
	if x.db != nil {
		_ = closeBadger(x.db) // it is deleted anyway
	}
}
