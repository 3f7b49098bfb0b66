package commits

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// generation is a store of Badger that takes commits for a while.
type generation struct {
	number int
	mark   mark
	path   string
	fs     disk.FS
	began  time.Time

	allocates bool       // space for logs
	reserving sync.Mutex // guards newestLog
	newestLog string     // whose space is reserved

	scanning sync.Mutex    // held while its files are scanned
	ended    chan struct{} // closed when it is no longer open or closing

	// Guarded by the lock of the log:
	state state
	db    *badger.DB // nil if it is closed. It stays open after its end if the disk has no room to close it
	bytes int64      // of records that were put, or are being put
	live  int        // commits that are not deleted; exact, since a log does not open if a scan fails
	users int        // writes and reads that need Badger open
	// Keys of writes that failed, and may be durable all the same.
	unsure map[string]bool
	// The number of the newest record, and the first numbers of writes that are in progress or
	// failed.
	last    uint64
	writing map[uint64]bool
}

// Sizes of Badger. A table in memory is small, since it is the larger part of what a log takes; values of [maxPart] fit into it.
const (
	memTable   = 4 << 20
	memTables  = 2
	valueLog   = 1 << 20          // which stays empty
	maxInTable = maxPart + 16<<10 // values of more bytes would go there
	goneSuffix = ".gone"

	// Needs is how many bytes Badger may write when it is closed, or when it takes a few bytes more.
	Needs        = 2 * memTables * memTable
	numberDigits = 8
)

// name returns the name of the folder of a generation: its number, and its mark.
func (g *generation) name() string {
	return fmt.Sprintf("%0*d-%s", numberDigits, g.number, hex.EncodeToString(g.mark[:]))
}

// parseName reads the name of a folder; nil if it is another's.
func parseName(dir, name string) *generation {
	number, text, ok := strings.Cut(name, "-")
	n, err := strconv.Atoi(number)
	m, merr := hex.DecodeString(text)
	if !ok || err != nil || merr != nil || len(m) != markSize {
		return nil
	}
	g := &generation{number: n, mark: mark(m), path: filepath.Join(dir, name), fs: disk.OS, state: unread}
	if g.name() != name {
		return nil
	}
	return g
}

// create makes a generation that takes commits.
func create(dir string, number int, o *Options) (*generation, error) {
	on := o.FS
	g := &generation{
		number: number, fs: on, allocates: o.Allocate, began: o.Now(),
		ended: make(chan struct{}), writing: map[uint64]bool{}, unsure: map[string]bool{},
	}
	_, _ = rand.Read(g.mark[:]) // it never fails
	g.path = filepath.Join(dir, g.name())
	if err := on.Mkdir(g.path, 0o700); err != nil {
		return nil, err
	}
	err := disk.SyncDirOf(on, dir)
	if err == nil { // at last, as an open Badger that is closed again leaves a folder without a log
		err = g.open(o.Warn)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("open badger in %s: %w", g.path, err), g.close(), g.remove())
		return nil, errors.Join(err, disk.RemoveTree(on, g.path+goneSuffix))
	}
	return g, nil
}

// open opens Badger. Nothing is compacted, however many tables there are, because a generation is
// removed in one step. Badger verifies no checksums, since records have their own.
func (g *generation) open(warn func(error)) (err error) {
	defer guard("open badger", &err)()
	if err := disk.Fail(g.fs, "badger open", g.path); err != nil {
		return err
	}
	g.db, err = badger.Open(badger.DefaultOptions(g.path).
		WithSyncWrites(true).WithDetectConflicts(false).WithMetricsEnabled(false).
		WithMemTableSize(memTable).WithNumMemtables(memTables).WithValueThreshold(maxInTable).WithValueLogFileSize(valueLog).
		WithNumCompactors(0).WithNumLevelZeroTablesStall(math.MaxInt32).WithCompactL0OnClose(false).
		WithCompression(options.None).WithBlockCacheSize(0).WithIndexCacheSize(0).WithBloomFalsePositive(0.01).
		WithChecksumVerificationMode(options.NoVerification).WithLogger(badgerLog{warn}))
	return err
}

// guard returns a function to defer that makes an error of a panic. Badger panics about files that
// are not as it expects. Access to a mapped file whose page cannot be read, or has no room on the
// disk, is a panic as well until then, instead of the end of the process, though only in this
// goroutine.
func guard(what string, err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = fmt.Errorf("%s: it panicked: %v", what, r)
		}
	}
}

// badgerKey returns the key of a part of a commit.
func badgerKey(key string, part int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(key), 0), uint32(part))
}

// probe waits until the file system accepts changes, by setting the time of the folder. Badger
// writes to mapped files: a thread that waits for the disk there cannot be stopped, so the garbage
// collector, which stops all threads, would block the whole process, while a thread in a system
// call blocks no other. Then it reserves space for the logs.
func (g *generation) probe() error {
	now := time.Now()
	if err := g.fs.Chtimes(g.path, now, now); err != nil {
		return err
	}
	return g.reserve()
}

// reserve makes the names of new logs durable, and allocates their space if the disk may be full: a
// write to a mapped file whose page has no room on the disk ends the process.
func (g *generation) reserve() error {
	g.reserving.Lock()
	defer g.reserving.Unlock()
	list, err := g.fs.ReadDir(g.path)
	if err != nil {
		return err
	}
	newest := g.newestLog
	for _, e := range list { // sorted by name, which is by age
		if filepath.Ext(e.Name()) != logSuffix || e.Name() <= newest {
			continue
		}
		newest = e.Name()
		if !g.allocates {
			continue
		}
		if err := disk.Fail(g.fs, "allocate", g.path); err != nil {
			return err
		}
		if err := disk.Allocate(filepath.Join(g.path, newest), logBytes); err != nil {
			return err
		}
	}
	if newest != g.newestLog {
		if err := disk.SyncDirOf(g.fs, g.path); err != nil {
			return err
		}
	}
	g.newestLog = newest
	return nil
}

// put stores records, durably. Small ones are stored together. If Badger begins another log
// meanwhile, its name is durable, too.
func (g *generation) put(records ...record) error {
	if err := g.update(records); err != nil {
		return err
	}
	return g.reserve()
}

func (g *generation) update(records []record) error {
	for i := 0; i < len(records); {
		if err := disk.Fail(g.fs, "badger update", g.path); err != nil {
			return err
		}
		err := g.db.Update(func(txn *badger.Txn) error {
			for size := 0; i < len(records) && (size == 0 || size+len(records[i].body) <= maxPart); i++ {
				r := &records[i]
				if err := txn.Set(badgerKey(r.key, r.part), r.encode(g.mark)); err != nil {
					if errors.Is(err, badger.ErrTxnTooBig) && size > 0 {
						return nil
					}
					return err
				}
				size += headSize + len(r.body)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// get returns a commit of so many parts through Badger. No error of it is a proof of damage.
func (g *generation) get(key string, parts int, size int64) (out []byte, err error) {
	defer guard("read through badger", &err)()
	if err := disk.Fail(g.fs, "badger view", g.path); err != nil {
		return nil, err
	}
	out = make([]byte, 0, size)
	err = g.db.View(func(txn *badger.Txn) error {
		for part := range parts {
			item, err := txn.Get(badgerKey(key, part))
			if err != nil {
				return err
			}
			err = item.Value(func(v []byte) error {
				r, _, ok := decodeRecord(v)
				if !ok {
					return errors.New("it is not what was put")
				}
				out = append(out, r.body...)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("get part of %s through badger: %w", key, err)
	}
	return out, err
}

// end writes the last record and closes Badger, which then has all in tables. Without that record,
// or after an error, its newest log counts. The generation has no users.
func (g *generation) end() error {
	if g.db == nil {
		return nil
	}
	err := g.probe()
	if err == nil {
		last := []record{{at: g.began}}
		g.assign(last)
		err = g.put(last...)
	}
	if err != nil {
		return fmt.Errorf("end commits: %w", err)
	}
	return g.close()
}

// close closes Badger.
func (g *generation) close() (err error) {
	if g.db == nil {
		return nil
	}
	defer guard("close badger", &err)()
	db := g.db
	g.db = nil
	return errors.Join(db.Close(), disk.Fail(g.fs, "badger close", g.path))
}

// remove deletes a generation. It is renamed first, so that a crash leaves either all of it, or a
// folder that the next start removes. After an error it can be called again.
func (g *generation) remove() error {
	err := g.fs.Rename(g.path, g.path+goneSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // an earlier call has renamed it
	}
	if err == nil {
		err = disk.SyncDirOf(g.fs, filepath.Dir(g.path))
	}
	return err
}

// badgerLog passes on warnings of Badger.
type badgerLog struct{ warn func(error) }

// Errorf implements [badger.Logger].
func (l badgerLog) Errorf(f string, a ...any) {
	l.warn(fmt.Errorf("badger: %s", strings.TrimSpace(fmt.Sprintf(f, a...))))
}

// Warningf implements [badger.Logger].
func (l badgerLog) Warningf(f string, a ...any) { l.Errorf(f, a...) }

// Infof implements [badger.Logger]: of use only to someone who looks into Badger.
func (l badgerLog) Infof(string, ...any) {}

// Debugf implements [badger.Logger].
func (l badgerLog) Debugf(string, ...any) {}
