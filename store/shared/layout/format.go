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
	// Check is a checksum of the other fields: a node that assumes fewer shards deletes segments that other shards need. It is 0 in a
	// format that an operator wrote.
	Check uint32 `json:"check,omitempty"`
}

const formatVersion = 1

// putFormatBack is the advice to an operator whose FORMAT is lost or damaged.
const putFormatBack = `Restore it from a copy, or write this line to it: {"format":1,"shards":N}, where N is the number of folders in shard/`

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
	switch err := json.Unmarshal(text, &f); {
	case err == nil && f.Format > formatVersion:
		return f, &VersionError{name + objects.Marker, f.Format}
	case err != nil || f.Check != 0 && f.Check != f.check() || f.Format < 1 || f.Shards < 1 || f.Shards > 999:
		return f, fmt.Errorf("%s%s is damaged: %.100q. %s", name, objects.Marker, text, putFormatBack)
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
			return fmt.Errorf("%s%s is lost: there is %s. %s", b.Name(), objects.Marker, e.Key, putFormatBack)
		}
	}
	return nil
}
