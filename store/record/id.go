package record

import (
	"fmt"
	"strings"
)

// Limits on what a record may hold. They bound the size of keys and of one
// transaction.
const (
	MaxPage     = 1024 // bytes of one page
	MaxPages    = 64   // pages of one record
	MaxTags     = 32   // tags of one record
	MaxTagKey   = 128  // bytes of a tag's key
	MaxTagValue = 512  // bytes of a tag's value
)

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

// CheckPage returns what is wrong with a page, or "".
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
