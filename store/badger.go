package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"
)

const (
	// maxValue keeps every value out of Badger's value log, whose files lose
	// everything behind one flipped byte.
	maxValue = 1<<20 - 64<<10

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
			db, err = nil, fmt.Errorf("%w: badger panicked: %v", ErrDamaged, r)
		}
	}()
	if !o.ReadOnly {
		if err := sweep(o.Dir); err != nil {
			return nil, err
		}
	}
	db, err = badger.Open(o)
	if err != nil && !transient(err) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
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

// preflight looks for the kinds of damage that Badger answers with the end of the
// process, or by deleting or leaving out tables. In a directory that was closed cleanly, tables must be the number noted then;
// -1 means that a crash may have left tables which nothing refers to.
func preflight(dir string, tables int) error {
	there, err := tableFiles(dir)
	if err != nil {
		return err
	}
	named, err := manifestTables(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if len(there) == 0 && tables <= 0 {
			return nil // not yet a Badger directory
		}
		return fmt.Errorf("%w: no manifest", ErrDamaged)
	}
	if err != nil {
		return err
	}
	if tables >= 0 && (len(named) != tables || len(there) != tables) {
		return fmt.Errorf("%w: closed with %d tables, the manifest names %d and %d are there",
			ErrDamaged, tables, len(named), len(there))
	}
	for id := range named {
		if !there[id] {
			return fmt.Errorf("%w: table %d is missing", ErrDamaged, id)
		}
		if err := checkTable(table.NewFilename(id, dir)); err != nil {
			return fmt.Errorf("table %d: %w", id, err)
		}
	}
	return nil
}

// errBlocks is wrapped by an error about damage inside tables. It costs a reader what is in
// the damaged block. To a writer it is deadly: Badger compacts tables in goroutines of its
// own, where nobody can catch a panic over a damaged block.
var errBlocks = errors.New("a table has a damaged block")

// verifyBlocks checks the checksum of each block of the tables in dir, which nobody has
// open and which was closed cleanly.
func verifyBlocks(dir string, o Options) error {
	db, err := openBadger(badgerOptions(dir, o.MemTableSize, true, o.Logger))
	if err != nil {
		return err
	}
	err = guarded(db.VerifyChecksum)
	if err != nil && !transient(err) {
		err = fmt.Errorf("%w: %w: %w", ErrDamaged, errBlocks, err)
	}
	return errors.Join(err, closeBadger(db))
}

// manifestTables returns the tables that the manifest in dir names, and their levels.
func manifestTables(dir string) (map[uint64]uint8, error) {
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		return nil, fmt.Errorf("%w: read manifest: %w", ErrDamaged, err)
	}
	levels := make(map[uint64]uint8, len(m.Tables))
	for id, t := range m.Tables {
		levels[id] = t.Level
	}
	return levels, nil
}

// tableFiles returns the ids of the tables in dir.
func tableFiles(dir string) (map[uint64]bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	ids := make(map[uint64]bool)
	for _, e := range entries {
		if id, ok := table.ParseFileID(e.Name()); ok {
			ids[id] = true
		}
	}
	return ids, nil
}

// checkTable verifies the end of a table: index │ u32 its length │ checksum │ u32 its length.
func checkTable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	end := fi.Size()
	take := func(n int64) []byte { // reads backwards, nil if there is not enough
		if n < 0 || n > end {
			return nil
		}
		end -= n
		b := make([]byte, n)
		if _, err := f.ReadAt(b, end); err != nil {
			return nil
		}
		return b
	}
	length := func() int64 {
		if b := take(4); b != nil {
			return int64(binary.BigEndian.Uint32(b))
		}
		return -1
	}
	var sum pb.Checksum
	b := take(length())
	if b == nil || proto.Unmarshal(b, &sum) != nil {
		return fmt.Errorf("%w: cut off", ErrDamaged)
	}
	index := take(length())
	if index == nil {
		return fmt.Errorf("%w: cut off", ErrDamaged)
	}
	if err := y.VerifyChecksum(index, &sum); err != nil {
		return fmt.Errorf("%w: index checksum mismatch", ErrDamaged)
	}
	return nil
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
