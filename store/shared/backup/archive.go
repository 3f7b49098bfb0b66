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

// endEntry is the last entry, without which a backup is cut off.
const endEntry = "END.json"

// version goes up when older programs could not restore what newer ones write.
const version = 1

// Bounds of what is read.
const (
	maxFormat = 1 << 10
	maxEnd    = 16 << 20
)

// end is the content of [endEntry].
type end struct {
	Backup  int       `json:"backup"` // version of the stream
	Made    time.Time `json:"made"`
	Objects int       `json:"objects"` // before it
	Bytes   int64     `json:"bytes"`   // of them
	Traces  uint64    `json:"traces"`
	SHA256  string    `json:"sha256"` // of each key, size and content
	Wrong   []Wrong   `json:"wrong,omitempty"`
}

// account is what both sides of a backup count.
type account struct {
	objects int
	bytes   int64
	sum     hash.Hash
}

func (a *account) note(key string, body []byte) {
	a.objects++
	a.bytes += int64(len(body))
	fmt.Fprintf(a.sum, "%s %d\n", key, len(body)) // a hash takes everything
	_, _ = a.sum.Write(body)
}

// total fills in what was counted.
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

// put writes an object.
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

// close writes the end.
func (w *writer) close(e end) error {
	e.Backup, e.Made = version, w.made
	text, err := json.Marshal(w.total(e))
	if err != nil {
		return fmt.Errorf("write the end: %w", err)
	}
	if err := w.raw(endEntry, text); err != nil {
		return err
	}
	if err := w.tar.Close(); err != nil {
		return fmt.Errorf("write the end: %w", err)
	}
	return nil
}

// errBackup is wrapped by the errors of a stream that is not what was written.
var errBackup = errors.New("the backup is damaged or cut off")

// reader reads the entries of a backup.
type reader struct {
	account
	raw  io.Reader
	tar  *tar.Reader
	last string // the present entry, which errors name
	size int64
}

func newReader(r io.Reader) *reader {
	return &reader{account: account{sum: sha256.New()}, raw: r, tar: tar.NewReader(r), last: "its start"}
}

// next goes to the next entry, and returns its name.
func (r *reader) next() (name string, err error) {
	h, err := r.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return "", fmt.Errorf("%w: it ends after %s, without %s", errBackup, r.last, endEntry)
	case err != nil:
		return "", fmt.Errorf("%w: behind %s: %w", errBackup, r.last, err)
	case h.Typeflag != tar.TypeReg:
		return "", fmt.Errorf("%w: entry %q, behind %s, is no file", errBackup, h.Name, r.last)
	}
	r.last, r.size = h.Name, h.Size
	return h.Name, nil
}

// atOnce is how much room is made for an entry before it is read: what its header says may be a lie.
const atOnce = 1 << 20

// content returns the present entry, which is not longer than most.
func (r *reader) content(most int64) ([]byte, error) {
	if r.size < 0 || r.size > most {
		return nil, fmt.Errorf("%w: entry %s has %d bytes, at most %d are possible", errBackup, r.last, r.size, most)
	}
	var b bytes.Buffer
	b.Grow(int(min(r.size+bytes.MinRead, atOnce))) // ReadFrom wants so much more to see the end
	n, err := b.ReadFrom(io.LimitReader(r.tar, r.size))
	if err == nil && n < r.size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%w: entry %s: %w", errBackup, r.last, err)
	}
	return b.Bytes(), nil
}

// end reads the present entry, which is the end, and compares it with what was read.
func (r *reader) end() (e end, err error) {
	text, err := r.content(maxEnd)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("%w: entry %s: %w", errBackup, endEntry, err)
	}
	if e.Backup > version {
		return e, fmt.Errorf("the backup is of version %d, this program reads up to %d: use a newer release", e.Backup, version)
	}
	if is := r.total(e); is.Objects != e.Objects || is.Bytes != e.Bytes || is.SHA256 != e.SHA256 {
		return e, fmt.Errorf("%w: %s does not count what came before it", errBackup, endEntry)
	}
	if _, err := r.tar.Next(); !errors.Is(err, io.EOF) {
		return e, fmt.Errorf("%w: more entries follow %s", errBackup, endEntry)
	}
	return e, r.padding()
}

// padding reads the rest of the stream, of which all bytes are zero: tar pads its end, and
// [tar.Reader] ignores what follows.
func (r *reader) padding() error {
	b := make([]byte, 32<<10)
	for {
		n, err := r.raw.Read(b)
		if len(bytes.Trim(b[:n], "\x00")) > 0 {
			return fmt.Errorf("%w: more data follows %s, such as a second backup: restore one backup at a time",
				errBackup, endEntry)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: behind %s: %w", errBackup, endEntry, err)
		}
	}
}
