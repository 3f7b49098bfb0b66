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

// generation is a Badger database that takes commits for a limited time.
type generation struct {
	number int
	mark   mark
	path   string
	fs     disk.FS
	began  time.Time

	allocates bool       // whether to reserve disk space for logs
	reserving sync.Mutex // guards newestLog
	newestLog string     // the last log whose space is reserved

	scanning sync.Mutex    // held while its files are scanned
	ended    chan struct{} // closed once the generation is neither open nor closing

	// Guarded by the lock of the log:
	state state
	db    *badger.DB // nil if closed; stays open after its end if the disk has no space to close it
	bytes int64      // size of records that were put or are being put
	live  int        // commits that are not deleted; exact, because a log does not open if a scan fails
	users int        // writes and reads in progress that need Badger open
	// Keys of failed writes, which may be durable nevertheless.
	unsure map[string]bool
	// The number of the newest record, and the first numbers of writes that are in progress or have
	// failed.
	last    uint64
	writing map[uint64]bool
}

// Sizes for Badger. Memtables are small because they dominate the size of a log; values of
// [maxPart] bytes fit into them.
const (
	memTable   = 4 << 20
	memTables  = 2
	valueLog   = 1 << 20          // the value log stays empty
	maxInTable = maxPart + 16<<10 // larger values would go to the value log
	goneSuffix = ".gone"

	// Needs is how many bytes Badger may write when it is closed, or for a write of a few bytes.
	Needs        = 2 * memTables * memTable
	numberDigits = 8
)

// name returns the name of the generation's folder, which consists of its number and its mark.
func (g *generation) name() string {
	return fmt.Sprintf("%0*d-%s", numberDigits, g.number, hex.EncodeToString(g.mark[:]))
}

// parseName parses the name of a folder. It returns nil if it is not the name of a generation.
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

// create creates a generation that takes commits.
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
	if err == nil { // last, because opening and closing Badger leaves a folder without a log
		err = g.open(o.Warn)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("open badger in %s: %w", g.path, err), g.close(), g.remove())
		return nil, errors.Join(err, disk.RemoveTree(on, g.path+goneSuffix))
	}
	return g, nil
}

// open opens Badger. It disables compaction, because a generation is removed in one step, and
// checksums, because records have their own.
func (g *generation) open(warn func(error)) (err error) {
	defer guard("open badger", &err)()
	if err := disk.Fail(g.fs, "badger open", g.path); err != nil {
		return err
	}
	g.db, err = badger.Open(badger.DefaultOptions(g.path).
		WithSyncWrites(true).WithDetectConflicts(false).WithMetricsEnabled(false).
		WithMemTableSize(memTable).WithNumMemtables(memTables).WithValueThreshold(
		maxInTable).WithValueLogFileSize(valueLog).
		WithNumCompactors(0).WithNumLevelZeroTablesStall(math.MaxInt32).WithCompactL0OnClose(false).
		WithCompression(options.None).WithBlockCacheSize(0).WithIndexCacheSize(0).WithBloomFalsePositive(0.01).
		WithChecksumVerificationMode(options.NoVerification).WithLogger(badgerLog{warn}))
	return err
}

// guard returns a function to defer that converts a panic to an error. Badger panics on unexpected
// files. Until then, a memory fault in this goroutine is a panic instead of the end of the process;
// it occurs if a page of a mapped file cannot be read, or the disk has no space for it.
func guard(what string, err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}
}

// badgerKey returns the key of a part of a commit.
func badgerKey(key string, part int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(key), 0), uint32(part))
}

// probe waits until the file system accepts changes, by setting the time of the folder. Badger
// writes to mapped files: a thread that waits for the disk there cannot be stopped, so the garbage
// collector, which stops all threads, would block the whole process. A thread in a system call does
// not block others. Then probe reserves space for the logs.
func (g *generation) probe() error {
	now := time.Now()
	if err := g.fs.Chtimes(g.path, now, now); err != nil {
		return err
	}
	return g.reserve()
}

// reserve makes the names of new logs durable. It also allocates their space if the disk may become
// full, because a write to a mapped file without space on the disk ends the process.
func (g *generation) reserve() error {
	g.reserving.Lock()
	defer g.reserving.Unlock()
	list, err := g.fs.ReadDir(g.path)
	if err != nil {
		return err
	}
	newest := g.newestLog
	for _, e := range list { // sorted by name, so by age
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

// put stores records durably. It combines small records. If Badger starts a new log meanwhile, put
// makes its name durable as well.
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

// get reads a commit through Badger. Its errors never prove damage.
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
					return errors.New("not a valid record")
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

// end writes the last record and closes Badger, which moves all records to tables. Without that
// record, or after an error, the newest log stays relevant. The generation must have no users.
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
		return fmt.Errorf("close a generation: %w", err)
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

// remove deletes a generation. It renames the folder first, so a crash leaves either the complete
// generation or a folder that the next start removes. It can be called again after an error.
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

// badgerLog forwards warnings from Badger.
type badgerLog struct{ warn func(error) }

// Errorf implements [badger.Logger].
func (l badgerLog) Errorf(f string, a ...any) {
	l.warn(fmt.Errorf("badger: %s", strings.TrimSpace(fmt.Sprintf(f, a...))))
}

// Warningf implements [badger.Logger].
func (l badgerLog) Warningf(f string, a ...any) { l.Errorf(f, a...) }

// Infof implements [badger.Logger]. It discards the message, which is only useful for debugging
// Badger.
func (l badgerLog) Infof(string, ...any) {}

// Debugf implements [badger.Logger].
func (l badgerLog) Debugf(string, ...any) {}
