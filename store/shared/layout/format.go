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

// format is the content of the object [objects.Marker].
type format struct {
	Format int `json:"format"`
	Shards int `json:"shards"`
	// Check is a checksum of the other fields, because a node that assumes too few shards would
	// delete segments that other shards need. It is 0 if an operator wrote the object by hand.
	Check uint32 `json:"check,omitempty"`
}

const formatVersion = 1

// putFormatBack is the advice to an operator whose FORMAT is lost or damaged.
const putFormatBack = `Restore it from a copy, or write this line to it: {"format":1,"shards":N}, where N is the ` +
	`number of folders in shard/`

// readFormat reads the format of a bucket.
func readFormat(ctx context.Context, b objects.Store) (f format, err error) {
	got, err := b.Get(ctx, objects.Marker, 1<<10, "")
	if err != nil {
		return f, fmt.Errorf("read the format: %w", err)
	}
	return parseFormat(b.Name(), got.Body)
}

// parseFormat parses the format of the place with a name.
func parseFormat(name string, text []byte) (f format, err error) {
	switch err := json.Unmarshal(text, &f); {
	case err == nil && f.Format > formatVersion:
		return f, &VersionError{name + objects.Marker, f.Format}
	case err != nil || f.Check != 0 && f.Check != f.check() || f.Format < 1 || f.Shards < 1 || f.Shards > 999:
		return f, fmt.Errorf("%s%s is damaged: %.100q. %s", name, objects.Marker, text, putFormatBack)
	}
	return f, nil
}

// ensureFormat reads the format of a bucket, and writes one if the bucket is empty.
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
	// The first writer wins. If the answer is lost, the format is read again.
	if _, err := b.Put(ctx, objects.Marker, text, objects.Absent); err != nil && !errors.Is(err, objects.ErrConflict) {
		if f, e := readFormat(ctx, b); e == nil {
			return f, nil
		}
		return f, fmt.Errorf("write the format: %w", err)
	}
	return readFormat(ctx, b)
}

// check returns the checksum of f, which is never 0.
func (f format) check() uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%d %d", f.Format, f.Shards)) | 1
}

// formatLost returns an error if the bucket has objects but no format: the format was lost.
func formatLost(ctx context.Context, b objects.Store) error {
	for e, err := range b.List(ctx, "", "") {
		if err != nil {
			return fmt.Errorf("check whether %s is empty: %w", b.Name(), err)
		}
		if e.Key == Restoring {
			return &RestoringError{b.Name()}
		}
		if !strings.HasPrefix(e.Key, objects.Probes) && e.Key != objects.Marker {
			return fmt.Errorf("%s%s is missing, but %s exists. %s", b.Name(), objects.Marker, e.Key, putFormatBack)
		}
	}
	return nil
}
