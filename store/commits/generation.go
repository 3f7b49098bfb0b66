package commits

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	began  time.Time

	db    *badger.DB    // nil if its files are read
	ended chan struct{} // closed when Badger is

	// Guarded by the lock of the log:
	bytes   int64 // that were put
	live    int   // commits that are not deleted
	users   int   // who keep it open
	failed  bool  // Badger returned an error, so it takes nothing more
	over    bool  // it takes nothing more
	closing bool  // nobody uses it any more, so Badger is being closed
	scanned bool  // its commits are read from its files
	open    bool  // although it takes nothing more, Badger is, as there was no room to close it
}

// Sizes of Badger. A table in memory is small, since it is the larger part of what a log takes; values of [maxPart] fit into it.
const (
	memTable   = 4 << 20
	memTables  = 4
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
	g := &generation{number: n, mark: mark(m), path: filepath.Join(dir, name)}
	if g.name() != name {
		return nil
	}
	return g
}

// create makes a generation that takes commits.
func create(dir string, number int, now time.Time, warn func(error)) (_ *generation, err error) {
	g := &generation{number: number, began: now, ended: make(chan struct{})}
	_, _ = rand.Read(g.mark[:]) // it never fails
	g.path = filepath.Join(dir, g.name())
	if err := os.Mkdir(g.path, 0o700); err != nil {
		return nil, err
	}
	// Nothing is compacted, however many tables there are: the generation goes whole. Badger verifies no checksums, since records have theirs.
	g.db, err = badger.Open(badger.DefaultOptions(g.path).
		WithSyncWrites(true).WithDetectConflicts(false).WithMetricsEnabled(false).
		WithMemTableSize(memTable).WithNumMemtables(memTables).WithValueThreshold(maxInTable).WithValueLogFileSize(valueLog).
		WithNumCompactors(0).WithNumLevelZeroTablesStall(math.MaxInt32).WithCompactL0OnClose(false).
		WithCompression(options.None).WithBlockCacheSize(0).WithIndexCacheSize(0).WithBloomFalsePositive(0.01).
		WithChecksumVerificationMode(options.NoVerification).WithLogger(badgerLog{warn}))
	if err == nil {
		err = disk.SyncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open badger in %s: %w", g.path, err), g.close(), os.RemoveAll(g.path))
	}
	return g, nil
}

// badgerKey returns the key of a part of a commit.
func badgerKey(key string, part int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(key), 0), uint32(part))
}

// knock waits until the file system takes changes, by one of the time of a folder. Badger writes to mapped files: a thread that waits for
// the disk there can not be stopped, so the garbage collector, which stops all, would hold up the whole process with it, while one in a system call
// keeps nobody waiting. So a disk that does not answer is met here.
func (g *generation) knock() error {
	now := time.Now()
	return os.Chtimes(g.path, now, now)
}

// put stores records, durably. Small ones are stored together.
func (g *generation) put(records ...record) error {
	for i := 0; i < len(records); {
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

// get returns a commit of so many parts. What Badger does not find, or panics about, is damaged.
func (g *generation) get(key string, parts int, size int64) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("get %s: %w: badger panicked: %v", key, ErrDamaged, r)
		}
	}()
	out = make([]byte, 0, size)
	err = g.db.View(func(txn *badger.Txn) error {
		for part := range parts {
			item, err := txn.Get(badgerKey(key, part))
			if errors.Is(err, badger.ErrKeyNotFound) {
				err = fmt.Errorf("part %d of %s is not there: %w", part, key, ErrDamaged)
			}
			if err != nil {
				return err
			}
			err = item.Value(func(v []byte) error {
				r, _, ok := decodeRecord(v)
				if !ok {
					return fmt.Errorf("part %d of %s: %w", part, key, ErrDamaged)
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
	return out, err
}

// close ends Badger. A panic of it becomes an error.
func (g *generation) close() (err error) {
	if g.db == nil {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("close badger: it panicked: %v", r)
		}
	}()
	return g.db.Close()
}

// remove deletes all of a generation. It is renamed first, so that a crash leaves all of it, or nothing that counts.
func (g *generation) remove() error {
	gone := g.path + goneSuffix
	if err := os.Rename(g.path, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(disk.SyncDir(filepath.Dir(g.path)), os.RemoveAll(gone))
}

// badgerLog passes on what Badger warns of.
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
