package store

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Kinds of key. These constants are part of the data format and must not change.
// Badger keeps keys of its own under '!'.
const (
	kindTrace      = 't'
	kindID         = 'i'
	kindCatalog    = 'c'
	kindCommit     = 'n'
	kindDictionary = 'd'
	kindRollup     = 'r' // reserved: hourly rollups, r │ hour u32 │ page │ 0x00 │ label set
	kindSymbols    = 's' // reserved: symbol tables shared by rollups
)

const idSize = 16 + 4 // view, chunk

var errKey = errors.New("malformed key")

func appendID(dst []byte, id ID) []byte {
	dst = append(dst, id.View[:]...)
	return binary.BigEndian.AppendUint32(dst, id.Chunk)
}

func parseID(b []byte) (id ID) {
	copy(id.View[:], b)
	id.Chunk = binary.BigEndian.Uint32(b[16:])
	return id
}

// AppendTraceKey appends the key under which the trace id of page is stored.
// Traces of a page are together, and the chunks of a view are in order.
func AppendTraceKey(dst []byte, page string, id ID) []byte {
	return appendID(appendPagePrefix(dst, page), id)
}

// appendPagePrefix appends what all trace keys of page start with. The NUL keeps
// /a from being a prefix of /a/b.
func appendPagePrefix(dst []byte, page string) []byte {
	dst = append(dst, kindTrace)
	dst = append(dst, page...)
	return append(dst, 0)
}

// parseTraceKey returns the page (a part of key) and id of a trace key.
func parseTraceKey(key []byte) (page []byte, id ID, err error) {
	n := len(key) - idSize - 1
	if n < 2 || n > 1+MaxPage || key[0] != kindTrace || key[n] != 0 {
		return nil, ID{}, errKey
	}
	page = key[1:n]
	if bytes.IndexByte(page, 0) >= 0 {
		return nil, ID{}, errKey
	}
	return page, parseID(key[n+1:]), nil
}

func appendIDKey(dst []byte, id ID) []byte {
	return appendID(append(dst, kindID), id)
}

// appendCatalogKey appends the key of the count of page and tag; the zero tag
// stands for all traces of the page.
func appendCatalogKey(dst []byte, page string, t Tag) []byte {
	dst = append(dst, kindCatalog)
	dst = append(dst, page...)
	dst = append(dst, 0)
	dst = append(dst, t.Key...)
	dst = append(dst, 0)
	return append(dst, t.Value...)
}

func parseCatalogKey(key []byte) (page string, t Tag, err error) {
	if len(key) == 0 || key[0] != kindCatalog {
		return "", Tag{}, errKey
	}
	p, rest, ok := bytes.Cut(key[1:], []byte{0})
	k, v, ok2 := bytes.Cut(rest, []byte{0})
	page, t = string(p), Tag{string(k), string(v)}
	if !ok || !ok2 || checkPage(page) != "" {
		return "", Tag{}, errKey
	}
	if t != (Tag{}) && checkTag(t) != "" {
		return "", Tag{}, errKey
	}
	return page, t, nil
}

func appendCommitKey(dst []byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, kindCommit), number)
}

func parseCommitKey(key []byte) (uint64, error) {
	if len(key) != 9 || key[0] != kindCommit {
		return 0, errKey
	}
	return binary.BigEndian.Uint64(key[1:]), nil
}
