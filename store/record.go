package store

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Limits on what a record may hold. They bound the size of keys and of one
// transaction; see [RecordError].
const (
	MaxPage     = 1024 // bytes of one page
	MaxPages    = 64   // pages of one record
	MaxTags     = 32   // tags of one record
	MaxTagKey   = 128  // bytes of a tag's key
	MaxTagValue = 512  // bytes of a tag's value
)

// ErrDamaged is wrapped by every error about stored bytes that are not what was written.
var ErrDamaged = errors.New("damaged")

// ID names one delivered trace: a page view and the number of its chunk. It is the
// key of idempotence: what arrives twice under one ID is stored once.
type ID struct {
	View  [16]byte
	Chunk uint32
}

// String returns the view in hexadecimal and the chunk, joined by a slash.
func (id ID) String() string { return fmt.Sprintf("%x/%d", id.View, id.Chunk) }

// Tag is a property of a trace that the catalogue counts: a feature, a release, an
// environment.
type Tag struct {
	Key, Value string
}

// CompareTags orders tags: by key, then by value.
func CompareTags(a, b Tag) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
}

// Record is one trace on its way into or out of the store.
type Record struct {
	ID       ID
	Pages    []string  // pages the trace has time on, at least one
	Tags     []Tag     // counted in the catalogue and not stored with the trace
	Received time.Time // set by the store, to the microsecond
	Payload  []byte    // the trace in the binary format; opaque for the store that it is appended to
	// Trace is the trace, which must not be changed, where [Reader.Select] has it decoded; then there may be no payload.
	Trace *trie.Trace

	// Page and Partition are where it was found. They are not looked at when it is stored.
	Page, Partition string
}

// RecordError says why a record cannot be stored. Trying again does not help.
type RecordError struct {
	Index  int // position of the record in the call to Append
	ID     ID
	Reason string
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("record %d (%s): %s", e.Index, e.ID, e.Reason)
}

// Check returns what is wrong with a record whose payload may have so many bytes, or "".
func (r *Record) Check(maxPayload int64) string {
	switch {
	case len(r.Pages) == 0:
		return "no page"
	case len(r.Pages) > MaxPages:
		return fmt.Sprintf("%d pages, at most %d are allowed", len(r.Pages), MaxPages)
	case len(r.Tags) > MaxTags:
		return fmt.Sprintf("%d tags, at most %d are allowed", len(r.Tags), MaxTags)
	case int64(len(r.Payload)) > maxPayload:
		return fmt.Sprintf("payload of %d bytes, at most %d are allowed", len(r.Payload), maxPayload)
	}
	for _, p := range r.Pages {
		if why := CheckPage(p); why != "" {
			return why
		}
	}
	for _, t := range r.Tags {
		if why := CheckTag(t); why != "" {
			return why
		}
	}
	return ""
}

// CheckPage returns what is wrong with the name of a page, or "".
func CheckPage(page string) string {
	switch {
	case page == "":
		return "empty page"
	case len(page) > MaxPage:
		return fmt.Sprintf("page of %d bytes, at most %d are allowed", len(page), MaxPage)
	case strings.IndexByte(page, 0) >= 0:
		return "page holds a NUL byte"
	}
	return ""
}

// CheckTag returns what is wrong with a tag, or "".
func CheckTag(t Tag) string {
	switch {
	case t.Key == "":
		return "tag without a key"
	case len(t.Key) > MaxTagKey:
		return fmt.Sprintf("tag key of %d bytes, at most %d are allowed", len(t.Key), MaxTagKey)
	case len(t.Value) > MaxTagValue:
		return fmt.Sprintf("tag value of %d bytes, at most %d are allowed", len(t.Value), MaxTagValue)
	case strings.IndexByte(t.Key, 0) >= 0 || strings.IndexByte(t.Value, 0) >= 0:
		return "tag holds a NUL byte"
	}
	return ""
}
