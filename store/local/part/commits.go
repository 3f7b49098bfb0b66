package part

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/store/local/record"
)

const (
	commitsFile       = "COMMITS"
	commitsRecordSize = 8 + record.CommitSize // number u64, then the value of the commit key

	// commitsSyncEvery is how many commits may be missing from the file after a
	// power cut. The file says how much was lost; it is not what makes a trace
	// durable, so it need not be synced with each commit.
	commitsSyncEvery = 16
)

// commitLog appends to the COMMITS file of the partition being written.
type commitLog struct {
	f        *os.File
	unsynced int
	buf      []byte
}

// openCommitLog opens the file for appending, and cuts off a torn last record.
func openCommitLog(dir string) (*commitLog, error) {
	f, err := os.OpenFile(filepath.Join(dir, commitsFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open commit log: %w", err)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size%commitsRecordSize != 0 {
		size -= size % commitsRecordSize
		if err = f.Truncate(size); err == nil {
			_, err = f.Seek(size, io.SeekStart)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open commit log: %w", errors.Join(err, f.Close()))
	}
	return &commitLog{f: f}, nil
}

// append notes that a commit is durable. It must not be called before that, or a
// crash in between would be reported as a loss.
func (l *commitLog) append(number uint64, key []byte, c record.Commit) error {
	l.buf = binary.BigEndian.AppendUint64(l.buf[:0], number)
	l.buf = record.AppendCommit(l.buf, key, c)
	if _, err := l.f.Write(l.buf); err != nil {
		return fmt.Errorf("append to commit log: %w", err)
	}
	if l.unsynced++; l.unsynced >= commitsSyncEvery {
		return l.sync()
	}
	return nil
}

func (l *commitLog) sync() error {
	l.unsynced = 0
	if err := l.f.Sync(); err != nil {
		return fmt.Errorf("sync commit log: %w", err)
	}
	return nil
}

// Close syncs and closes the file.
func (l *commitLog) Close() error { return errors.Join(l.sync(), l.f.Close()) }

// readCommits returns the commits the file of a partition knows, by number, and
// how many of its records are damaged.
func readCommits(dir string) (known map[uint64]record.Commit, damaged int, err error) {
	known = make(map[uint64]record.Commit)
	b, err := os.ReadFile(filepath.Join(dir, commitsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return known, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read commit log: %w", err)
	}
	var key []byte
	for ; len(b) >= commitsRecordSize; b = b[commitsRecordSize:] {
		number := binary.BigEndian.Uint64(b)
		key = record.AppendCommitKey(key[:0], number)
		c, err := record.ParseCommit(key, b[8:commitsRecordSize])
		if err != nil {
			damaged++
			continue
		}
		known[number] = c
	}
	return known, damaged, nil
}
