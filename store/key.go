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
	kindRollup     = 'r' // r │ page │ 0x00 │ start u32 │ level │ part u16: what was received, summed up
	kindStacks     = 's' // s │ page │ 0x00 │ piece u32 │ part u16: stacks that the rollups of a page share
	kindMark       = 'w' // w │ page: how far the traces of a page are rolled up
	kindOutcome    = 'o' // o │ page │ 0x00 │ outcome: page views without a trace
	kindRolled     = 'h' // h │ start u32: what a rollup partition has of one stretch of time
	kindCounts     = 'k' // k │ start u32 │ page │ 0x00 │ tag key │ 0x00 │ tag value: its catalogue
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

// appendPageKey appends what all keys of a kind and page start with.
func appendPageKey(dst []byte, kind byte, page string) []byte {
	dst = append(dst, kind)
	dst = append(dst, page...)
	return append(dst, 0)
}

// afterPage returns the least key behind all keys of a kind and page. No page has a NUL.
func afterPage(kind byte, page string) []byte {
	key := appendPageKey(nil, kind, page)
	key[len(key)-1] = 1
	return key
}

// pageOfKey returns the page of a key of appendPageKey, and what follows it.
func pageOfKey(key []byte) (page string, rest []byte, err error) {
	if len(key) == 0 {
		return "", nil, errKey
	}
	p, rest, ok := bytes.Cut(key[1:], []byte{0})
	if page = string(p); !ok || checkPage(page) != "" {
		return "", nil, errKey
	}
	return page, rest, nil
}

// rollupKey is the key of a rollup, without its part. Within a partition of traces, start
// numbers the rollups of a page; elsewhere it is when their time begins, in minutes since
// the epoch.
type rollupKey struct {
	page  string
	start uint32
	level byte
}

const rollupRest = 4 + 1 + 2 // start, level, part

func (k rollupKey) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(appendPageKey(dst, kindRollup, k.page), k.start)
	return append(dst, k.level)
}

func parseRollupKey(key []byte) (k rollupKey, part uint16, err error) {
	page, rest, err := pageOfKey(key)
	if err != nil || key[0] != kindRollup || len(rest) != rollupRest {
		return k, 0, errKey
	}
	return rollupKey{page, binary.BigEndian.Uint32(rest), rest[4]}, binary.BigEndian.Uint16(rest[5:]), nil
}

func appendStacksKey(dst []byte, page string, piece uint32) []byte {
	return binary.BigEndian.AppendUint32(appendPageKey(dst, kindStacks, page), piece)
}

func appendMarkKey(dst []byte, page string) []byte {
	return append(append(dst, kindMark), page...)
}

func appendOutcomeKey(dst []byte, page, outcome string) []byte {
	return append(appendPageKey(dst, kindOutcome, page), outcome...)
}

func appendRolledKey(dst []byte, start uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, kindRolled), start)
}

// appendCountsKey appends the key of a copy of the catalogue entry of page and tag.
func appendCountsKey(dst []byte, start uint32, page string, t Tag) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, kindCounts), start)
	return append(dst, appendCatalogKey(nil, page, t)[1:]...)
}

func parseCountsKey(key []byte) (page string, t Tag, err error) {
	if len(key) < 5 || key[0] != kindCounts {
		return "", Tag{}, errKey
	}
	return parseCatalogKey(append([]byte{kindCatalog}, key[5:]...))
}
