package store

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Limits of a record. They bound the size of keys and of one transaction; see [RecordError].
const (
	MaxPage     = 1024 // bytes of a page
	MaxPages    = 64   // pages of a record
	MaxTags     = 32   // tags of a record
	MaxTagKey   = 128  // bytes of a tag's key
	MaxTagValue = 512  // bytes of a tag's value
)

// ErrDamaged is wrapped by all errors about damaged stored data.
var ErrDamaged = errors.New("damaged")

// ID identifies a delivered trace by its page view and chunk. Traces with the same ID are stored
// once.
type ID struct {
	View  [16]byte
	Chunk uint32
}

// String returns the view in hexadecimal and the chunk, joined by a slash.
func (id ID) String() string { return fmt.Sprintf("%x/%d", id.View, id.Chunk) }

// Tag is a property of a trace that the catalogue counts, such as a feature, a release or an
// environment.
type Tag struct {
	Key, Value string
}

// CompareTags orders tags by key, then by value.
func CompareTags(a, b Tag) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
}

// Record is a trace that is stored or returned.
type Record struct {
	ID       ID
	Pages    []string  // pages on which the trace has time, at least one
	Tags     []Tag     // counted in the catalogue, but not stored with the trace
	Received time.Time // set by the store, to the microsecond
	Payload  []byte    // the trace in the binary format; Append does not decode it
	// Trace is the decoded trace, if [Reader.Select] has it; then there may be no payload. It must
	// not be changed.
	Trace *trie.Trace

	// Page and Partition are where the trace was found. Append ignores them.
	Page, Partition string
}

// RecordError is returned if a record cannot be stored. Retrying does not help.
type RecordError struct {
	Index  int // position of the record in the call to Append
	ID     ID
	Reason string
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("record %d (%s): %s", e.Index, e.ID, e.Reason)
}

// Check returns why a record is invalid, or "". Its payload may have at most maxPayload bytes.
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

// CheckPage returns why the name of a page is invalid, or "".
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

// CheckTag returns why a tag is invalid, or "".
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
