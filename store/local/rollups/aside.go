package rollups

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

const (
	asideSuffix  = ".corrupt" // NAME.corrupt, NAME.corrupt.2 and so on
	reasonSuffix = ".reason"  // of the file that says why
	maxReason    = 4 << 10
)

// asideName matches the names of files that were set aside.
var asideName = regexp.MustCompile(`^(.+\.sums)\.corrupt(?:\.[0-9]+)?$`)

// Aside is a file that was set aside because it is damaged. It is there for people to look
// at; nothing reads it any more.
type Aside struct {
	Name   string // as it is now
	Of     string // as it was
	Span   Span
	Start  time.Time // of the time of the file
	Reason string
	Size   int64 // bytes
	Sums   []Sum // what it had, as far as that could still be read
}

// ParseAsideName returns the name that a file had before it was set aside as name.
func ParseAsideName(name string) (of string, ok bool) {
	m := asideName.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	_, _, ok = ParseName(m[1])
	return m[1], ok
}

// loadAside returns what is known about a file that was set aside.
func loadAside(dir, name, of string) Aside {
	a := Aside{Name: name, Of: of, Reason: "unknown"}
	a.Span, a.Start, _ = ParseName(of)
	path := filepath.Join(dir, name)
	if b, err := os.ReadFile(path + reasonSuffix); err == nil {
		a.Reason = string(b[:min(len(b), maxReason)])
	}
	if info, err := os.Stat(path); err == nil {
		a.Size = info.Size()
	}
	a.Sums = rescueSums(path, identity{a.Span, Minutes(a.Start)})
	return a
}

// rescueSums returns what sums a damaged file had, as far as its end or its header says so.
func rescueSums(path string, id identity) []Sum {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	if f, err := NewFile(file, info.Size(), path, nil); err == nil && f.identity == id {
		return f.index.sums
	}
	start := make([]byte, headSize)
	if n, _ := file.ReadAt(start, 0); n < headSize {
		return nil
	}
	length := int64(binary.BigEndian.Uint32(start[headSize-4:]))
	if length > maxTimes || length > info.Size() {
		return nil
	}
	header := make([]byte, int64(headSize)+length+4)
	if n, _ := file.ReadAt(header, 0); n < len(header) {
		return nil
	}
	of, sums, err := parseHeader(header)
	if err != nil || of != id {
		return nil
	}
	return sums
}

// setAside renames a file that is damaged, and writes the reason into a file beside it. The
// reason is written first, so that no file is without one.
func setAside(dir, name string, reason error) (Aside, error) {
	to := name + asideSuffix
	for n := 2; ; n++ {
		_, err := os.Lstat(filepath.Join(dir, to))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return Aside{}, fmt.Errorf("set %s aside: %w", name, err)
		}
		to = fmt.Sprintf("%s%s.%d", name, asideSuffix, n)
	}
	text := reason.Error()
	err := os.WriteFile(filepath.Join(dir, to+reasonSuffix), []byte(text[:min(len(text), maxReason)]), 0o600)
	if err == nil {
		err = os.Rename(filepath.Join(dir, name), filepath.Join(dir, to))
	}
	if err == nil {
		err = disk.SyncDir(dir)
	}
	if err != nil {
		return Aside{}, fmt.Errorf("set %s aside: %w", name, err)
	}
	return loadAside(dir, to, name), nil
}

// WriteAside makes what looks like a file called name that was set aside in dir and of which
// only its list of times could still be read: for a copy of a directory from which such a
// file was left out.
func WriteAside(dir, name, reason string, sums []Sum) error {
	of, ok := ParseAsideName(name)
	if !ok {
		return fmt.Errorf("%q is not the name of a file that was set aside", name)
	}
	span, start, _ := ParseName(of)
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+reasonSuffix, []byte(reason[:min(len(reason), maxReason)]), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(path, appendHeader(nil, identity{span, Minutes(start)}, sums), 0o600); err != nil {
		return err
	}
	return disk.SyncDir(dir)
}
