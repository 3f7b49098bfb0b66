package part

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/fieldtrie/fieldtrie/store"
)

const (
	// MaxValue is the most bytes of a value. It keeps every value out of Badger's value log, whose files lose
	// everything behind one flipped byte.
	MaxValue = 1<<20 - 64<<10

	valueLogFileSize = 64 << 20 // stays empty; the default makes sparse files of 2 GiB
	indexCacheSize   = 64 << 20
	sealedIndexCache = 16 << 20
)

// badgerOptions returns how a partition is opened. The reasons are in docs/storage.md.
func badgerOptions(dir string, memTable int64, readOnly bool, log *slog.Logger) badger.Options {
	o := badger.DefaultOptions(dir).
		WithSyncWrites(true).
		WithDetectConflicts(false).
		WithNumVersionsToKeep(1).
		WithMemTableSize(memTable).
		WithNumMemtables(3).
		WithNumCompactors(2).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithIndexCacheSize(indexCacheSize).
		WithValueLogFileSize(valueLogFileSize).
		WithChecksumVerificationMode(options.NoVerification).
		WithCompactL0OnClose(true).
		WithMetricsEnabled(true).
		WithLogger(badgerLog{log})
	if readOnly {
		o = o.WithReadOnly(true).WithMetricsEnabled(false).WithIndexCacheSize(sealedIndexCache)
	}
	return o
}

// openBadger opens a partition. A panic of Badger becomes an error; preflight has
// to come first, because Badger panics about a cut-off table in a goroutine of its
// own, where nobody can catch it.
func openBadger(o badger.Options) (db *badger.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("%w: badger panicked: %v", store.ErrDamaged, r)
		}
	}()
	if !o.ReadOnly {
		if err := sweep(o.Dir); err != nil {
			return nil, err
		}
	}
	db, err = badger.Open(o)
	if err != nil && !transient(err) {
		err = fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return db, err
}

// transient reports whether an error of Badger says something about the machine
// and not about the data. Badger flattens errors to text, so the text is all there is.
func transient(err error) bool {
	for _, e := range []error{fs.ErrPermission, fs.ErrNotExist} {
		if errors.Is(err, e) {
			return true
		}
	}
	text := err.Error()
	for _, s := range []string{
		"too many open files", "no space left", "cannot allocate memory", "permission denied",
		"input/output error", "read-only file system", "directory lock", "disk quota exceeded",
	} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// memTableFor returns the size to open dir with for writing: at least that with
// which its write-ahead logs were made, since Badger ends the process when a log
// does not fit. A log's file is made twice the size of its table.
func memTableFor(dir string, size int64) (int64, error) {
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		return 0, err
	}
	for _, l := range logs {
		fi, err := os.Stat(l)
		if err != nil {
			return 0, err
		}
		size = max(size, fi.Size()/2)
	}
	return size, nil
}

// badgerLog passes Badger's log lines on. What Badger calls info is of use only to
// someone looking into Badger.
type badgerLog struct{ log *slog.Logger }

func (l badgerLog) line(level slog.Level, format string, args []any) {
	if l.log.Enabled(context.Background(), level) {
		l.log.Log(context.Background(), level, "badger", "line", strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}

// Errorf implements badger.Logger.
func (l badgerLog) Errorf(f string, a ...any) { l.line(slog.LevelWarn, f, a) }

// Warningf implements badger.Logger.
func (l badgerLog) Warningf(f string, a ...any) { l.line(slog.LevelWarn, f, a) }

// Infof implements badger.Logger.
func (l badgerLog) Infof(f string, a ...any) { l.line(slog.LevelDebug, f, a) }

// Debugf implements badger.Logger.
func (l badgerLog) Debugf(f string, a ...any) { l.line(slog.LevelDebug, f, a) }
