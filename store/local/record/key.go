package record

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/fieldtrie/fieldtrie/store"
)

// Kinds of key. These constants are part of the data format and must not change.
// Badger keeps keys of its own under '!'.
const (
	KindTrace      = 't'
	KindID         = 'i'
	KindCatalog    = 'c'
	KindCommit     = 'n'
	KindDictionary = 'd'
	KindRollup     = 'r' // r │ page │ 0x00 │ start u32 │ level │ part u16: what was received, summed up
	KindStacks     = 's' // s │ page │ 0x00 │ piece u32 │ part u16: stacks that the rollups of a page share
	KindMark       = 'w' // w │ page: how far the traces of a page are rolled up
	KindOutcome    = 'o' // o │ page │ 0x00 │ outcome: page views without a trace
	KindVitals     = 'v' // v │ page │ 0x00 │ label set: Web Vitals that page views reported
)

// IDSize is how many bytes an id takes in a key.
const IDSize = 16 + 4 // view, chunk

// ErrKey says that a key is not one of the format.
var ErrKey = errors.New("malformed key")

// AppendID appends the bytes of id: view │ chunk u32.
func AppendID(dst []byte, id store.ID) []byte {
	dst = append(dst, id.View[:]...)
	return binary.BigEndian.AppendUint32(dst, id.Chunk)
}

// ParseID is the reverse of AppendID. b has at least [IDSize] bytes.
func ParseID(b []byte) (id store.ID) {
	copy(id.View[:], b)
	id.Chunk = binary.BigEndian.Uint32(b[16:])
	return id
}

// AppendTraceKey appends the key under which the trace id of page is stored.
// Traces of a page are together, and the chunks of a view are in order.
func AppendTraceKey(dst []byte, page string, id store.ID) []byte {
	return AppendID(AppendPagePrefix(dst, page), id)
}

// AppendPagePrefix appends what all trace keys of page start with. The NUL keeps
// /a from being a prefix of /a/b.
func AppendPagePrefix(dst []byte, page string) []byte {
	dst = append(dst, KindTrace)
	dst = append(dst, page...)
	return append(dst, 0)
}

// ParseTraceKey returns the page (a part of key) and id of a trace key.
func ParseTraceKey(key []byte) (page []byte, id store.ID, err error) {
	n := len(key) - IDSize - 1
	if n < 2 || n > 1+store.MaxPage || key[0] != KindTrace || key[n] != 0 {
		return nil, store.ID{}, ErrKey
	}
	page = key[1:n]
	if bytes.IndexByte(page, 0) >= 0 {
		return nil, store.ID{}, ErrKey
	}
	return page, ParseID(key[n+1:]), nil
}

// AppendIDKey appends the key that says that the trace id is in a partition.
func AppendIDKey(dst []byte, id store.ID) []byte {
	return AppendID(append(dst, KindID), id)
}

// AppendCatalogKey appends the key of the count of page and tag; the zero tag
// stands for all traces of the page.
func AppendCatalogKey(dst []byte, page string, t store.Tag) []byte {
	dst = append(dst, KindCatalog)
	dst = append(dst, page...)
	dst = append(dst, 0)
	dst = append(dst, t.Key...)
	dst = append(dst, 0)
	return append(dst, t.Value...)
}

// ParseCatalogKey is the reverse of AppendCatalogKey.
func ParseCatalogKey(key []byte) (page string, t store.Tag, err error) {
	if len(key) == 0 || key[0] != KindCatalog {
		return "", store.Tag{}, ErrKey
	}
	p, rest, ok := bytes.Cut(key[1:], []byte{0})
	k, v, ok2 := bytes.Cut(rest, []byte{0})
	page, t = string(p), store.Tag{Key: string(k), Value: string(v)}
	if !ok || !ok2 || store.CheckPage(page) != "" {
		return "", store.Tag{}, ErrKey
	}
	if t != (store.Tag{}) && store.CheckTag(t) != "" {
		return "", store.Tag{}, ErrKey
	}
	return page, t, nil
}

// AppendCommitKey appends the key of the commit number.
func AppendCommitKey(dst []byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, KindCommit), number)
}

// ParseCommitKey is the reverse of AppendCommitKey.
func ParseCommitKey(key []byte) (uint64, error) {
	if len(key) != 9 || key[0] != KindCommit {
		return 0, ErrKey
	}
	return binary.BigEndian.Uint64(key[1:]), nil
}

// AppendPageKey appends what all keys of a kind and page start with.
func AppendPageKey(dst []byte, kind byte, page string) []byte {
	dst = append(dst, kind)
	dst = append(dst, page...)
	return append(dst, 0)
}

// AfterPage returns the least key behind all keys of a kind and page. No page has a NUL.
func AfterPage(kind byte, page string) []byte {
	key := AppendPageKey(nil, kind, page)
	key[len(key)-1] = 1
	return key
}

// PageOfKey returns the page of a key of AppendPageKey, and what follows it.
func PageOfKey(key []byte) (page string, rest []byte, err error) {
	if len(key) == 0 {
		return "", nil, ErrKey
	}
	p, rest, ok := bytes.Cut(key[1:], []byte{0})
	if page = string(p); !ok || store.CheckPage(page) != "" {
		return "", nil, ErrKey
	}
	return page, rest, nil
}

// RollupKey is the key of a rollup, without its part. Start numbers the rollups of a page.
type RollupKey struct {
	Page  string
	Start uint32
	Level byte
}

const rollupRest = 4 + 1 + 2 // start, level, part

// Append appends the key.
func (k RollupKey) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(AppendPageKey(dst, KindRollup, k.Page), k.Start)
	return append(dst, k.Level)
}

// ParseRollupKey is the reverse of Append, with the part behind it.
func ParseRollupKey(key []byte) (k RollupKey, part uint16, err error) {
	page, rest, err := PageOfKey(key)
	if err != nil || key[0] != KindRollup || len(rest) != rollupRest {
		return k, 0, ErrKey
	}
	return RollupKey{page, binary.BigEndian.Uint32(rest), rest[4]}, binary.BigEndian.Uint16(rest[5:]), nil
}

// AppendStacksKey appends the key of a piece of the stack table of page, without its part.
func AppendStacksKey(dst []byte, page string, piece uint32) []byte {
	return binary.BigEndian.AppendUint32(AppendPageKey(dst, KindStacks, page), piece)
}

// AppendMarkKey appends the key of the mark of page.
func AppendMarkKey(dst []byte, page string) []byte {
	return append(append(dst, KindMark), page...)
}

// AppendOutcomeKey appends the key of the count of page views of page that have no trace, by the reason.
func AppendOutcomeKey(dst []byte, page, outcome string) []byte {
	return append(AppendPageKey(dst, KindOutcome, page), outcome...)
}
