package layout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// format is what the object [objects.Marker] says.
type format struct {
	Format int `json:"format"`
	Shards int `json:"shards"`
	// Check is a checksum of the others: who takes a bucket for one of fewer shards deletes segments that the others need.
	Check uint32 `json:"check,omitempty"`
}

const formatVersion = 1

// IsFormat reports whether a text is what the object FORMAT says.
func IsFormat(text []byte) bool {
	var f format
	return json.Unmarshal(text, &f) == nil && f.Shards > 0
}

// readFormat reads how a bucket is laid out.
func readFormat(ctx context.Context, b objects.Store) (f format, err error) {
	got, err := b.Get(ctx, objects.Marker, 1<<10, "")
	if err != nil {
		return f, fmt.Errorf("read the format: %w", err)
	}
	return parseFormat(b.Name(), got.Body)
}

// parseFormat reads the text of the format of what has a name.
func parseFormat(name string, text []byte) (f format, err error) {
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("read the format of %s: %w", name, err)
	}
	switch {
	case f.Format > formatVersion:
		return f, &VersionError{name + objects.Marker, f.Format}
	case f.Check != 0 && f.Check != f.check():
		return f, fmt.Errorf("%s%s is damaged: %q; put it back, from a replica or an older version of the object", name, objects.Marker, text)
	case f.Format < 1 || f.Shards < 1 || f.Shards > 999:
		return f, fmt.Errorf("read the format of %s: format %d of %d shards can not be", name, f.Format, f.Shards)
	}
	return f, nil
}

// ensureFormat reads the format of a bucket, and makes an empty one ours.
func ensureFormat(ctx context.Context, b objects.Store, shards int) (format, error) {
	f, err := readFormat(ctx, b)
	if !errors.Is(err, objects.ErrNotFound) {
		return f, err
	}
	if lost := formatLost(ctx, b); lost != nil {
		if f, err := readFormat(ctx, b); err == nil {
			return f, nil // another node was first
		}
		return f, lost
	}
	f = format{Format: formatVersion, Shards: shards}
	f.Check = f.check()
	text, err := json.Marshal(f)
	if err != nil {
		return f, fmt.Errorf("write the format: %w", err)
	}
	// Whoever is first decides, and a lost answer does no harm.
	if _, err := b.Put(ctx, objects.Marker, text, objects.Absent); err != nil && !errors.Is(err, objects.ErrConflict) {
		if f, e := readFormat(ctx, b); e == nil {
			return f, nil
		}
		return f, fmt.Errorf("write the format: %w", err)
	}
	return readFormat(ctx, b)
}

// check returns the checksum of f, which is not 0.
func (f format) check() uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%d %d", f.Format, f.Shards)) | 1
}

// formatLost returns an error if there is anything but a format: then that is lost.
func formatLost(ctx context.Context, b objects.Store) error {
	for e, err := range b.List(ctx, "", "") {
		if err != nil {
			return fmt.Errorf("look whether %s is new: %w", b.Name(), err)
		}
		if e.Key == Restoring {
			return &RestoringError{b.Name()}
		}
		if !strings.HasPrefix(e.Key, objects.Probes) && e.Key != objects.Marker {
			return fmt.Errorf("%s%s is lost: there is %s. Put it back, from a replica or an older version of the object; it is {\"format\":%d,\"shards\":N}, where N is how many folders there are in shard/",
				b.Name(), objects.Marker, e.Key, formatVersion)
		}
	}
	return nil
}
