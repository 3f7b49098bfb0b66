package snapshot

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
)

// The entries of a partition that may be written to are in pieces of this form.

const (
	entriesPrefix = "ENTRIES."                         // and a number from 000001
	pieceSize     = 1 << 20                            // when it is full
	maxPiece      = pieceSize + part.MaxValue + 64<<10 // with the entry that filled it, and a checksum
	maxKey        = 1 + store.MaxPage + 2 + store.MaxTagKey + store.MaxTagValue + 64
)

// isPiece reports whether a file of a partition is a piece of its entries.
func isPiece(name string) bool { return strings.HasPrefix(name, entriesPrefix) }

// appendEntry appends an entry to a piece, which starts with room for its checksum: key
// length uvarint │ key │ version uvarint │ value length uvarint │ value.
func appendEntry(dst, key []byte, version uint64, value []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	dst = binary.AppendUvarint(dst, version)
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

var errEntry = errors.New("malformed entry")

// cutEntry takes the first entry off a piece. What it returns are parts of the piece.
func cutEntry(b []byte) (key []byte, version uint64, value, rest []byte, err error) {
	key, b, ok := cutBytes(b, maxKey)
	version, n := binary.Uvarint(b)
	if !ok || len(key) == 0 || n <= 0 || version == 0 {
		return nil, 0, nil, nil, errEntry
	}
	value, rest, ok = cutBytes(b[n:], part.MaxValue)
	if !ok {
		return nil, 0, nil, nil, errEntry
	}
	return key, version, value, rest, nil
}

func cutBytes(b []byte, most uint64) (field, rest []byte, ok bool) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > most || length > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n:][:length], b[n:][length:], true
}
