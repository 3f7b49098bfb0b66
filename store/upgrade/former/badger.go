package former

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/fieldtrie/fieldtrie/store"
)

const (
	memTable         = 8 << 20  // bytes of a memtable, at least
	valueLogFileSize = 64 << 20 // of logs, which stay empty
	indexCacheSize   = 16 << 20
)

// readOptions returns how a partition is opened that was closed.
func readOptions(dir string) badger.Options {
	return badger.DefaultOptions(dir).
		WithReadOnly(true).
		WithDetectConflicts(false).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithIndexCacheSize(indexCacheSize).
		WithMemTableSize(memTable).
		WithValueLogFileSize(valueLogFileSize).
		WithChecksumVerificationMode(options.NoVerification).
		WithMetricsEnabled(false).
		WithLogger(nil)
}

// replayOptions returns how a partition is opened to replay its logs, which were made with a memtable of so many bytes. It is not
// compacted: that would take as long again, and need room for a copy.
func replayOptions(dir string, memTable int64) badger.Options {
	return readOptions(dir).
		WithReadOnly(false).
		WithSyncWrites(true).
		WithMemTableSize(memTable).
		WithNumMemtables(3).
		WithCompactL0OnClose(false).
		WithNumCompactors(0).
		WithNumLevelZeroTablesStall(math.MaxInt32) // nobody would end the stall
}

// openBadger opens a partition. A panic of Badger becomes an error; [preflight] has to come first, because Badger panics about
// a table that is cut off in a goroutine of its own, where nobody can catch it.
func openBadger(o badger.Options) (db *badger.DB, err error) {
	err = guarded(func() error {
		db, err = badger.Open(o)
		return err
	})
	return db, err
}

// ofMachine reports whether an error says something about the machine and not about the data, so that another attempt may
// succeed. Badger flattens errors to text, so the text is all there is.
func ofMachine(err error) bool {
	if errors.Is(err, fs.ErrPermission) {
		return true
	}
	text := err.Error()
	for _, s := range []string{"too many open files", "no space left", "cannot allocate memory", "permission denied", "read-only file system", "directory lock", "disk quota exceeded"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// guarded runs f, which reads. A panic of Badger over damaged bytes becomes an error that wraps [store.ErrDamaged], and so does what
// is not about the machine.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: badger panicked: %v", store.ErrDamaged, r)
		}
	}()
	return asDamage(f())
}

// asDamage makes damage of an error that is not about the machine.
func asDamage(err error) error {
	if err == nil || isDamage(err) || ofMachine(err) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrDamaged, err)
}

// isDamage reports whether an error is about what is stored alone.
func isDamage(err error) bool { return errors.Is(err, store.ErrDamaged) }

// closeBadger closes a partition.
func closeBadger(db *badger.DB) error { return guarded(db.Close) }
