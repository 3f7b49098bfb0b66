package part

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// A partition that was closed has a file CLEAN: its [Contents] as JSON, with a checksum, since
// queries leave a partition out and retention deletes it by what is there.
//
//	crc32c 1a2b3c4d {"traces":80,"entries":80,"commits":4,…}
const (
	cleanFile  = "CLEAN"
	cleanStart = "crc32c "
)

var errClean = errors.New("the checksum is wrong")

// castagnoli is read-only.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func cleanSum(contents []byte) string {
	return fmt.Sprintf("%s%08x ", cleanStart, crc32.Checksum(contents, castagnoli))
}

func appendClean(c Contents) ([]byte, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return append(append([]byte(cleanSum(b)), b...), '\n'), nil
}

func parseClean(b []byte) (c Contents, err error) {
	start := bytes.IndexByte(b, '{')
	contents, whole := bytes.CutSuffix(b[max(start, 0):], []byte("\n"))
	if start < 0 || !whole || string(b[:start]) != cleanSum(contents) {
		return Contents{}, errClean
	}
	d := json.NewDecoder(bytes.NewReader(contents))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Contents{}, err
	}
	if d.More() || c.Last < c.First {
		return Contents{}, errors.New("the contents can not be")
	}
	return c, nil
}

// readClean returns the CLEAN file of the partition in dir; an error means that
// the partition has to be recovered before it is read.
func readClean(dir string) (c Contents, err error) {
	b, err := os.ReadFile(filepath.Join(dir, cleanFile))
	if err != nil {
		return Contents{}, err
	}
	if c, err = parseClean(b); err != nil {
		return Contents{}, fmt.Errorf("read %s: %w", cleanFile, err)
	}
	return c, nil
}

// writeClean marks the partition in dir, which Badger has just closed, as clean. It
// returns c with the number of tables.
func writeClean(dir string, c Contents) (Contents, error) {
	tables, err := tableFiles(dir)
	if err != nil {
		return Contents{}, err
	}
	c.Tables = len(tables)
	b, err := appendClean(c)
	if err != nil {
		return Contents{}, err
	}
	return c, disk.WriteFile(filepath.Join(dir, cleanFile), b)
}

// removeClean takes the mark away, durably, before anything is written.
func removeClean(dir string) error {
	err := os.Remove(filepath.Join(dir, cleanFile))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return disk.SyncDir(dir)
}
