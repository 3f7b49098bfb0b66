package backup

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
	"time"
)

// endEntry is the name of the last entry. A backup without it is truncated.
const endEntry = "END.json"

// version is increased if older programs cannot restore what newer programs write.
const version = 1

// Maximum sizes of entries, in bytes.
const (
	maxFormat = 1 << 10
	maxEnd    = 16 << 20
)

// end is the content of [endEntry].
type end struct {
	Backup  int       `json:"backup"` // version of the stream
	Made    time.Time `json:"made"`
	Objects int       `json:"objects"` // number of objects before it
	Bytes   int64     `json:"bytes"`   // their total size
	Traces  uint64    `json:"traces"`
	SHA256  string    `json:"sha256"` // of the key, size and content of each object
	Wrong   []Wrong   `json:"wrong,omitempty"`
}

// account counts the objects of a backup, when writing and when reading.
type account struct {
	objects int
	bytes   int64
	sum     hash.Hash
}

func (a *account) note(key string, body []byte) {
	a.objects++
	a.bytes += int64(len(body))
	fmt.Fprintf(a.sum, "%s %d\n", key, len(body)) // a hash never returns an error
	_, _ = a.sum.Write(body)
}

// total returns e with the counts.
func (a *account) total(e end) end {
	e.Objects, e.Bytes, e.SHA256 = a.objects, a.bytes, hex.EncodeToString(a.sum.Sum(nil))
	return e
}

// writer writes the entries of a backup.
type writer struct {
	account
	tar  *tar.Writer
	made time.Time
}

func newWriter(w io.Writer, made time.Time) *writer {
	return &writer{account{sum: sha256.New()}, tar.NewWriter(w), made.UTC().Truncate(time.Second)}
}

// put writes an object, and counts it.
func (w *writer) put(key string, body []byte) error {
	w.note(key, body)
	return w.raw(key, body)
}

func (w *writer) raw(name string, body []byte) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(body)), Mode: 0o600, ModTime: w.made}
	err := w.tar.WriteHeader(h)
	if err == nil {
		_, err = w.tar.Write(body)
	}
	if err != nil {
		return fmt.Errorf("write entry %s: %w", name, err)
	}
	return nil
}

// close writes the last entry.
func (w *writer) close(e end) error {
	e.Backup, e.Made = version, w.made
	text, err := json.Marshal(w.total(e))
	if err != nil {
		return fmt.Errorf("write %s: %w", endEntry, err)
	}
	if err := w.raw(endEntry, text); err != nil {
		return err
	}
	if err := w.tar.Close(); err != nil {
		return fmt.Errorf("write %s: %w", endEntry, err)
	}
	return nil
}

// errBackup is wrapped by errors about a damaged stream.
var errBackup = errors.New("the backup is damaged or truncated")

// reader reads the entries of a backup.
type reader struct {
	account
	raw  io.Reader
	tar  *tar.Reader
	last string // name of the current entry, for errors
	size int64
}

func newReader(r io.Reader) *reader {
	return &reader{account: account{sum: sha256.New()}, raw: r, tar: tar.NewReader(r), last: "its start"}
}

// next advances to the next entry, and returns its name.
func (r *reader) next() (name string, err error) {
	h, err := r.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return "", fmt.Errorf("%w: it ends after %s, without %s", errBackup, r.last, endEntry)
	case err != nil:
		return "", fmt.Errorf("%w: after %s: %w", errBackup, r.last, err)
	case h.Typeflag != tar.TypeReg:
		return "", fmt.Errorf("%w: entry %q after %s is not a file", errBackup, h.Name, r.last)
	}
	r.last, r.size = h.Name, h.Size
	return h.Name, nil
}

// atOnce bounds the memory that is allocated for an entry before it is read, because the size in
// its header may be wrong.
const atOnce = 1 << 20

// content returns the current entry, which may have up to most bytes.
func (r *reader) content(most int64) ([]byte, error) {
	if r.size < 0 || r.size > most {
		return nil, fmt.Errorf("%w: entry %s has %d bytes, at most %d are allowed", errBackup, r.last, r.size, most)
	}
	var b bytes.Buffer
	b.Grow(int(min(r.size+bytes.MinRead, atOnce))) // ReadFrom needs that much more space to detect the end
	n, err := b.ReadFrom(io.LimitReader(r.tar, r.size))
	if err == nil && n < r.size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%w: entry %s: %w", errBackup, r.last, err)
	}
	return b.Bytes(), nil
}

// end reads the last entry, and compares its counts with the entries that were read.
func (r *reader) end() (e end, err error) {
	text, err := r.content(maxEnd)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("%w: entry %s: %w", errBackup, endEntry, err)
	}
	if e.Backup > version {
		return e, fmt.Errorf("the backup has version %d, this release supports up to %d; use a newer release",
			e.Backup, version)
	}
	if is := r.total(e); is.Objects != e.Objects || is.Bytes != e.Bytes || is.SHA256 != e.SHA256 {
		return e, fmt.Errorf("%w: %s does not match the entries before it", errBackup, endEntry)
	}
	if _, err := r.tar.Next(); !errors.Is(err, io.EOF) {
		return e, fmt.Errorf("%w: more entries follow %s", errBackup, endEntry)
	}
	return e, r.padding()
}

// padding reads the rest of the stream, which must consist of zero bytes: tar pads its end, and
// [tar.Reader] ignores it.
func (r *reader) padding() error {
	b := make([]byte, 32<<10)
	for {
		n, err := r.raw.Read(b)
		if len(bytes.Trim(b[:n], "\x00")) > 0 {
			return fmt.Errorf("%w: more data follows %s, such as a second backup; restore one backup at a time",
				errBackup, endEntry)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: after %s: %w", errBackup, endEntry, err)
		}
	}
}
