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

// Symbols is where symbols are: tables/ and uploads/ of those that all sites share, and sites/ with the same below the name of each
// site.
const Symbols = "symbols/"

// NamesTables reports whether a key of Symbols is that of an upload, which names tables.
func NamesTables(key string) bool { return strings.HasSuffix(key, ".json") }

// Restoring is the key of an object that is there while a place is made of a backup, before all others. The format comes last.
const Restoring = "RESTORING"

// RestoringError says that a place has a part of a backup.
type RestoringError struct{ Place string }

func (e *RestoringError) Error() string {
	return fmt.Sprintf("%s has a part of a backup: it is being restored, or that was interrupted; then delete all of it, and restore it again", e.Place)
}

// keyForm matches the keys of objects, but for those of a place as a whole. What comes from outside is put under no other key.
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

// maxSymbols bounds a file of symbols.
const maxSymbols = 32 << 20

// Place returns the shard that an object is of, -1 if it is of none, and how many bytes it has at most. It is not ok if
// there is no such object in a bucket.
func (b *Bucket) Place(key string) (shard int, most int64, ok bool) {
	found := keyForm.FindStringSubmatch(key)
	if found == nil {
		return -1, 0, false
	}
	shard = -1
	if number := strings.Join(found[1:], ""); number != "" {
		shard, _ = strconv.Atoi(number) // it is three digits
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

// Check reports what is wrong with an object by its checksums. What is quarantined, and symbols, can be anything.
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

// Unmade returns a bucket that is to become one, as the text of its format says. It does not ask for anything.
func Unmade(b objects.Store, o Options, text []byte) (*Bucket, error) {
	f, err := parseFormat("", text)
	if err != nil {
		return nil, err
	}
	return newView(b, o, f)
}
