package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/record"
)

// Limits on what a record may hold. They bound the size of keys and of one
// transaction; see [RecordError].
const (
	MaxPage     = record.MaxPage     // bytes of one page
	MaxPages    = record.MaxPages    // pages of one record
	MaxTags     = record.MaxTags     // tags of one record
	MaxTagKey   = record.MaxTagKey   // bytes of a tag's key
	MaxTagValue = record.MaxTagValue // bytes of a tag's value
)

// ErrDamaged is wrapped by every error about stored bytes that are not what was written.
var ErrDamaged = record.ErrDamaged

// ID names one delivered trace: a page view and the number of its chunk. It is the
// key of idempotence: what arrives twice under one ID is stored once.
type ID = record.ID

// Tag is a property of a trace that the catalogue counts: a feature, a release, an
// environment.
type Tag = record.Tag

// Record is one trace on its way into or out of the store.
type Record struct {
	ID       ID
	Pages    []string  // pages the trace has time on, at least one
	Tags     []Tag     // counted in the catalogue and not stored with the trace
	Received time.Time // set by the store, to the microsecond
	Payload  []byte    // opaque

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

// CheckPage returns what is wrong with the name of a page, or "".
func CheckPage(page string) string { return record.CheckPage(page) }

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
		if why := record.CheckPage(p); why != "" {
			return why
		}
	}
	for _, t := range r.Tags {
		if why := record.CheckTag(t); why != "" {
			return why
		}
	}
	return ""
}

// sortedSet returns the distinct strings of s in order, leaving s alone.
func sortedSet(s []string) []string {
	if len(s) == 1 {
		return s
	}
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}
