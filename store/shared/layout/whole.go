package layout

import (
	"context"
	"fmt"
	"iter"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Symbols is the folder of symbols. tables/ and uploads/ are shared by all sites; sites/ has the
// same two folders for each site.
const Symbols = "symbols/"

// NamesTables reports whether a key below [Symbols] is an upload, which names tables.
func NamesTables(key string) bool { return strings.HasSuffix(key, ".json") }

// Restoring is the key of an object that exists while a backup is being restored. It is written
// first, and FORMAT is written last.
const Restoring = "RESTORING"

// RestoringError is returned if a place contains an incomplete restore of a backup.
type RestoringError struct{ Place string }

func (e *RestoringError) Error() string {
	return fmt.Sprintf("%s contains an incomplete restore of a backup; if the restore is not running any more, "+
		"delete all objects and restore again", e.Place)
}

// keyForm matches all keys of objects, except keys of the whole place such as FORMAT. A restore
// rejects all other keys.
var keyForm = regexp.MustCompile(`^(?:(?:seg|quarantine)/\d{8}T\d{2}/[0-9A-Za-z]{1,64}-\d{8,20}` +
	`|shard/(\d{3})/(?:MANIFEST|OLD-\d{16,20})` +
	`|raw/(\d{3})/\d{8}T\d{2}/[0-9A-Za-z]{1,64}\.run` +
	`|hours/(\d{3})/\d{8}T\d{2}/[0-9A-Za-z]{1,64}\.sums` +
	`|days/(\d{3})/\d{8}/[0-9A-Za-z]{1,64}\.sums` +
	`|changes/(?:STATE|BAD-[0-9a-f]{16})` +
	`|deletions/(?:open|open/dry|done)/[0-9A-Za-z]{1,64}` +
	`|symbols/(?:sites/[0-9a-z_-]{1,32}/)?(?:tables/[0-9a-f]{2}/[0-9a-f]{64}|uploads/[0-9A-Za-z.-]{1,80}\.json))$`)

// ListNamed lists the objects of a shard that its manifest may name.
func (b *Bucket) ListNamed(ctx context.Context, shard int) iter.Seq2[objects.Entry, error] {
	return func(yield func(objects.Entry, error) bool) {
		for _, kind := range []string{"raw/", "hours/", "days/"} {
			for e, err := range b.List(ctx, kind+ShardName(shard)+"/", "") {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// maxSymbols bounds an object of symbols, in bytes.
const maxSymbols = 32 << 20

// Place returns the shard of an object, or -1 if it belongs to none, and its maximum size in bytes.
// It returns false if the key is not valid in this bucket.
func (b *Bucket) Place(key string) (shard int, most int64, ok bool) {
	found := keyForm.FindStringSubmatch(key)
	if found == nil {
		return -1, 0, false
	}
	shard = -1
	if number := strings.Join(found[1:], ""); number != "" {
		shard, _ = strconv.Atoi(number) // the pattern matches three digits
	}
	switch kind, _, _ := strings.Cut(key, "/"); kind {
	case "seg", "quarantine":
		most = MaxSegment
	case "shard":
		most = MaxManifest
	case "changes":
		most = MaxChanges
	case "deletions":
		most = MaxDeletion
	case "symbols":
		most = maxSymbols
	default:
		most = maxObject
	}
	return shard, most, shard < b.Shards
}

// Check verifies the checksums of an object. Quarantined objects and symbols can have any content.
func (b *Bucket) Check(key string, body []byte) error {
	shard, _, _ := b.Place(key)
	switch kind, _, _ := strings.Cut(key, "/"); kind {
	case "quarantine", "symbols":
		return nil
	case "changes":
		if key != ChangesKey {
			return nil
		}
		_, err := b.DecodeChanges(body)
		return err
	case "deletions":
		_, err := b.DecodeDeletion(path.Base(key), body)
		return err
	case "shard":
		_, err := b.DecodeManifest(shard, body)
		return err
	}
	o, err := b.ParseSegment(key, body)
	if err != nil {
		return err
	}
	for e := range o.index.All() {
		if _, err := o.index.Data(e, body[e.Offset:][:e.Length]); err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
	}
	return nil
}

// Unmade returns a bucket that does not exist yet, with the format in text. It makes no requests.
func Unmade(b objects.Store, o Options, text []byte) (*Bucket, error) {
	f, err := parseFormat("", text)
	if err != nil {
		return nil, err
	}
	return newView(b, o, f)
}
