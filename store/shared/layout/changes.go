package layout

import (
	"crypto/sha256"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// Changes is the folder of the state of change detection, which is the object ChangesKey, and of
// copies of it that could not be read, see [ChangesQuarantineKey].
const (
	Changes    = "changes/"
	ChangesKey = Changes + "STATE"
)

// MaxChanges bounds that object in bytes, compressed and decompressed.
const MaxChanges = 32 << 20

// ChangesQuarantineKey returns the key for an unreadable copy. It depends on the content only, so
// equal copies share a key.
func ChangesQuarantineKey(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%sBAD-%x", Changes, sum[:8])
}

// EncodeChanges returns the object for content.
func (b *Bucket) EncodeChanges(content []byte) ([]byte, error) {
	return b.encodeOne(kindChanges, ChangesKey, content, MaxChanges)
}

// DecodeChanges returns the content of the object.
func (b *Bucket) DecodeChanges(body []byte) ([]byte, error) {
	return b.decodeOne(kindChanges, ChangesKey, body, MaxChanges)
}

// encodeOne returns a file with a name and a single block of up to most bytes.
func (b *Bucket) encodeOne(kind byte, name string, content []byte, most int) ([]byte, error) {
	if len(content) > most {
		return nil, fmt.Errorf("encode %s: %d bytes, at most %d are allowed", name, len(content), most)
	}
	w := block.NewWriter(b.Codec)
	if err := w.Add(kind, "", 1, content); err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return w.Finish(name), nil
}

// decodeOne returns the content of a file that encodeOne returned.
func (b *Bucket) decodeOne(kind byte, name string, body []byte, most int) ([]byte, error) {
	x, err := b.Codec.ParseIndex(name, body, int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	list := x.Find(kind, "")
	if len(list) != 1 || list[0].Size > most {
		return nil, fmt.Errorf("read %s: %w: no valid content block", name, block.ErrDamaged)
	}
	content, err := x.Data(list[0], body[list[0].Offset:][:list[0].Length])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return content, nil
}
