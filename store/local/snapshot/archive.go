package snapshot

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// The version of the stream goes up only when older programs could not restore what newer ones
// write. 3 is 2 with symbols. No release has written 1.
const (
	version        = 3
	withoutSymbols = 2
)

const (
	headEntry = "backup.json"
	sumsEntry = "SHA256SUMS"
	endEntry  = "END.json"
	sumsGroup = "sums"   // the files of sums
	ofObjects = "FORMAT" // begins the backup of objects, which is restored elsewhere

	maxHead = 64 << 20 // bytes of backup.json and SHA256SUMS
)

// head is the content of backup.json.
type head struct {
	Backup     int       `json:"backup"` // version of the stream
	Format     int       `json:"format"` // version of the data directory
	Made       time.Time `json:"made"`
	Bytes      int64     `json:"bytes"` // that it takes on disk
	Partitions []member  `json:"partitions"`
	Sums       []member  `json:"sums,omitempty"`
	Symbols    int64     `json:"symbols,omitempty"` // bytes, 0 if there are none
	Missing    []missing `json:"missing,omitempty"`
}

// member is a partition or file of sums in a backup.
type member struct {
	Name  string `json:"name"`
	Open  bool   `json:"open,omitempty"` // as entries, not as files
	Bytes int64  `json:"bytes"`          // on disk
}

// missing is what can not be read and is left out of a backup. A directory that is restored
// from it says so to queries, as the original does.
type missing struct {
	Name     string        `json:"name"` // NAME.corrupt
	Reason   string        `json:"reason"`
	Contents part.Contents `json:"contents"`       // of a partition, as far as they are known
	Sums     []rollups.Sum `json:"sums,omitempty"` // of a file of sums, as far as they are known
}

// end is the content of END.json.
type end struct {
	Entries int    `json:"entries"` // before this one
	Bytes   int64  `json:"bytes"`   // of their contents
	Traces  uint64 `json:"traces"`
	SHA256  string `json:"sha256"` // of the contents of all SHA256SUMS, one after the other
}

// account is what both sides of a backup count, for the sums and the end.
type account struct {
	entries int
	bytes   int64
	sums    bytes.Buffer // of the group so far
	all     hash.Hash    // of all groups
}

func newAccount() account { return account{all: sha256.New()} }

func (a *account) note(name string, size int64, sum []byte) {
	a.entries++
	a.bytes += size
	fmt.Fprintf(&a.sums, "%s  %s\n", hex.EncodeToString(sum), name)
}

// endGroup returns the content of SHA256SUMS, which counts in the sum of all.
func (a *account) endGroup() []byte {
	b := bytes.Clone(a.sums.Bytes())
	a.sums.Reset()
	a.all.Write(b)
	return b
}

func (a *account) total(traces uint64) end {
	return end{a.entries, a.bytes, traces, hex.EncodeToString(a.all.Sum(nil))}
}

// archiveWriter writes the entries of a backup.
type archiveWriter struct {
	account
	tar  *tar.Writer
	made time.Time
	dir  string // of the group
}

func newArchiveWriter(w io.Writer, made time.Time) *archiveWriter {
	return &archiveWriter{account: newAccount(), tar: tar.NewWriter(w), made: made}
}

// begin begins a group.
func (a *archiveWriter) begin(dir string) { a.dir = dir }

// put writes an entry of the group.
func (a *archiveWriter) put(name string, size int64, r io.Reader) error {
	name = path.Join(a.dir, name)
	sum := sha256.New()
	err := a.raw(name, size, io.TeeReader(r, sum))
	if err == nil {
		a.note(name, size, sum.Sum(nil))
	}
	return err
}

// raw writes an entry that is in no sum.
func (a *archiveWriter) raw(name string, size int64, r io.Reader) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: a.made.Truncate(time.Second)}
	if err := a.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("write entry %s: %w", name, err)
	}
	if _, err := io.CopyN(a.tar, r, size); err != nil {
		return fmt.Errorf("write entry %s: %w", name, err)
	}
	return nil
}

func (a *archiveWriter) putBytes(name string, b []byte) error {
	return a.put(name, int64(len(b)), bytes.NewReader(b))
}

// endGroup writes the sums of the group.
func (a *archiveWriter) endGroup() error {
	b := a.account.endGroup()
	return a.raw(path.Join(a.dir, sumsEntry), int64(len(b)), bytes.NewReader(b))
}

// close writes the end.
func (a *archiveWriter) close(traces uint64) error {
	b, err := json.Marshal(a.total(traces))
	if err != nil {
		return err
	}
	if err := a.raw(endEntry, int64(len(b)), bytes.NewReader(b)); err != nil {
		return err
	}
	return a.tar.Close()
}

// putFiles writes the files of a closed partition.
func (a *archiveWriter) putFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !backupFile(e.Name()) {
			continue
		}
		if err := a.putFile(filepath.Join(dir, e.Name()), e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// putFile writes a file as an entry of the group.
func (a *archiveWriter) putFile(file, name string) (err error) {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	return a.put(name, fi.Size(), f)
}

var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,80}$`)

// backupFile reports whether a file of a partition belongs in a backup.
func backupFile(name string) bool {
	return fileName.MatchString(name) && name != disk.LockFile && name != sumsEntry && filepath.Ext(name) != ".tmp"
}

// archiveReader reads the entries of a backup. Errors name the entry.
type archiveReader struct {
	account
	tar  *tar.Reader
	name string // of the entry
	size int64
	last string // the entry before
	hash hash.Hash
}

func newArchiveReader(r io.Reader) *archiveReader {
	return &archiveReader{account: newAccount(), tar: tar.NewReader(r), last: "its start"}
}

// errBackup is wrapped by the errors of a stream that is not what was written.
var errBackup = errors.New("the backup is damaged or cut off")

// next goes to the next entry.
func (a *archiveReader) next() error {
	h, err := a.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it ends after %s, without %s", errBackup, a.last, endEntry)
	case err != nil:
		return fmt.Errorf("%w: behind %s: %w", errBackup, a.last, err)
	case h.Typeflag != tar.TypeReg || h.Size < 0 || path.Clean(h.Name) != h.Name:
		return fmt.Errorf("%w: entry %q, behind %s, is not one of a backup", errBackup, h.Name, a.last)
	}
	a.name, a.size, a.last, a.hash = h.Name, h.Size, h.Name, sha256.New()
	return nil
}

// Read reads the present entry.
func (a *archiveReader) Read(b []byte) (int, error) {
	n, err := a.tar.Read(b)
	a.hash.Write(b[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: entry %s: %w", errBackup, a.name, err)
	}
	return n, err
}

// done counts the present entry, which was read to its end.
func (a *archiveReader) done() { a.note(a.name, a.size, a.hash.Sum(nil)) }

// content returns the present entry, which is not longer than most.
func (a *archiveReader) content(most int64) ([]byte, error) {
	if a.size > most {
		return nil, fmt.Errorf("%w: entry %s has %d bytes, at most %d are possible", errBackup, a.name, a.size, most)
	}
	b := make([]byte, a.size)
	_, err := io.ReadFull(a, b)
	return b, err
}

// sums compares the present entry, which is SHA256SUMS, with what was read of the group.
func (a *archiveReader) sums(dir string) error {
	want := a.account.endGroup()
	b, err := a.content(maxHead)
	if err != nil || bytes.Equal(b, want) {
		return err
	}
	was, is := bytes.Split(want, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range was {
		if i >= len(is) || !bytes.Equal(was[i], is[i]) {
			if _, name, ok := bytes.Cut(was[i], []byte("  ")); ok {
				return fmt.Errorf("%w: entry %s does not have the checksum that %s gives", errBackup, name, a.name)
			}
			break
		}
	}
	return fmt.Errorf("%w: %s names entries that are not there", errBackup, path.Join(dir, sumsEntry))
}

// end compares the present entry, which is END.json, with what was read.
func (a *archiveReader) end() (e end, err error) {
	b, err := a.content(4 << 10)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, fmt.Errorf("%w: entry %s: %w", errBackup, endEntry, err)
	}
	if e != a.account.total(e.Traces) {
		return e, fmt.Errorf("%w: %s does not count what came before it", errBackup, endEntry)
	}
	return e, nil
}
