package layout

import (
	"crypto/sha256"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// Changes is where ChangesKey is, the object with what is known of changes, and copies of it that could not be read, see [ChangesAsideKey].
const (
	Changes    = "changes/"
	ChangesKey = Changes + "STATE"
)

// MaxChanges bounds that object, packed or not.
const MaxChanges = 32 << 20

// ChangesAsideKey returns the key of a copy that is set aside. Equal ones have the same.
func ChangesAsideKey(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%sBAD-%x", Changes, sum[:8])
}

// EncodeChanges returns the object with a content.
func (b *Bucket) EncodeChanges(content []byte) ([]byte, error) {
	if len(content) > MaxChanges {
		return nil, fmt.Errorf("encode changes: %d bytes, the most are %d", len(content), MaxChanges)
	}
	w := block.NewWriter(b.Codec)
	if err := w.Add(kindChanges, "", 1, content); err != nil {
		return nil, fmt.Errorf("encode changes: %w", err)
	}
	return w.Finish(), nil
}

// DecodeChanges returns the content of the object.
func (b *Bucket) DecodeChanges(body []byte) ([]byte, error) {
	x, err := b.Codec.ParseIndex(body, int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	list := x.Find(kindChanges, "")
	if len(list) != 1 {
		return nil, fmt.Errorf("read changes: %w: it has none", block.ErrDamaged)
	}
	content, err := x.Data(list[0], body[list[0].Offset:][:list[0].Length])
	if err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	return content, nil
}
