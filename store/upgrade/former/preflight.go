package former

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/store"
)

// preflight looks for the kinds of damage that Badger answers with the end of the process, or by deleting or leaving out
// tables. In a partition that was closed, tables must be the number noted then; -1 means that a crash may have left tables which
// nothing refers to.
func preflight(dir string, tables int) error {
	there, err := tableFiles(dir)
	if err != nil {
		return err
	}
	named, err := manifestTables(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if len(there) == 0 && tables <= 0 {
			return nil // not yet a partition
		}
		return fmt.Errorf("%w: no manifest", store.ErrDamaged)
	}
	if err != nil {
		return err
	}
	if tables >= 0 && (len(named) != tables || len(there) != tables) {
		return fmt.Errorf("%w: closed with %d tables, the manifest names %d and %d are there", store.ErrDamaged, tables, len(named), len(there))
	}
	for id := range named {
		if !there[id] {
			return fmt.Errorf("%w: table %d is missing", store.ErrDamaged, id)
		}
		if err := checkTable(table.NewFilename(id, dir)); err != nil {
			return fmt.Errorf("table %d: %w", id, err)
		}
	}
	return nil
}

// manifestTables returns the tables that the manifest in dir names.
func manifestTables(dir string) (map[uint64]bool, error) {
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		return nil, fmt.Errorf("%w: read manifest: %w", store.ErrDamaged, err)
	}
	ids := make(map[uint64]bool, len(m.Tables))
	for id := range m.Tables {
		ids[id] = true
	}
	return ids, nil
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
		return fmt.Errorf("%w: cut off", store.ErrDamaged)
	}
	index := take(length())
	if len(index) == 0 { // as where a file ends in zeros
		return fmt.Errorf("%w: cut off", store.ErrDamaged)
	}
	if err := y.VerifyChecksum(index, &sum); err != nil {
		return fmt.Errorf("%w: index checksum mismatch", store.ErrDamaged)
	}
	return nil
}
