package layout

import (
	"crypto/sha256"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// Changes is where ChangesKey is, the object with what is known of changes, and copies of it that could not be read, see [ChangesQuarantineKey].
const (
	Changes    = "changes/"
	ChangesKey = Changes + "STATE"
)

// MaxChanges bounds that object, packed or not.
const MaxChanges = 32 << 20

// ChangesQuarantineKey returns the key of a copy that is quarantined. Equal ones have the same.
func ChangesQuarantineKey(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%sBAD-%x", Changes, sum[:8])
}

// EncodeChanges returns the object with a content.
func (b *Bucket) EncodeChanges(content []byte) ([]byte, error) {
	return b.encodeOne(kindChanges, ChangesKey, content, MaxChanges)
}

// DecodeChanges returns the content of the object.
func (b *Bucket) DecodeChanges(body []byte) ([]byte, error) {
	return b.decodeOne(kindChanges, ChangesKey, body, MaxChanges)
}

// encodeOne returns an object that carries a name and has one block, of at most so many bytes.
func (b *Bucket) encodeOne(kind byte, name string, content []byte, most int) ([]byte, error) {
	if len(content) > most {
		return nil, fmt.Errorf("encode %s: %d bytes, the most are %d", name, len(content), most)
	}
	w := block.NewWriter(b.Codec)
	if err := w.Add(kind, "", 1, content); err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return w.Finish(name), nil
}

// decodeOne returns the content of such an object.
func (b *Bucket) decodeOne(kind byte, name string, body []byte, most int) ([]byte, error) {
	x, err := b.Codec.ParseIndex(name, body, int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	list := x.Find(kind, "")
	if len(list) != 1 || list[0].Size > most {
		return nil, fmt.Errorf("read %s: %w: it has none", name, block.ErrDamaged)
	}
	content, err := x.Data(list[0], body[list[0].Offset:][:list[0].Length])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return content, nil
}
