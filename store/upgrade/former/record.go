package former

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/fieldtrie/fieldtrie/store"
)

// Kinds of keys.
const (
	kindTrace      = 't'
	kindCatalog    = 'c'
	kindCommit     = 'n'
	kindDictionary = 'd'
	kindOutcome    = 'o'
	kindVitals     = 'v'
)

var errKey = errors.New("malformed key")

// castagnoli is read-only.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pageKey returns what all keys of a kind and page start with.
func pageKey(kind byte, page string) []byte {
	return append(append([]byte{kind}, page...), 0)
}

// afterPage returns the least key behind all keys of a kind and page. No page has a NUL.
func afterPage(kind byte, page string) []byte {
	key := pageKey(kind, page)
	key[len(key)-1] = 1
	return key
}

// pageOfKey returns the page of a key, and what follows it.
func pageOfKey(key []byte) (page string, rest []byte, err error) {
	if len(key) == 0 {
		return "", nil, errKey
	}
	p, rest, ok := bytes.Cut(key[1:], []byte{0})
	if page = string(p); !ok || store.CheckPage(page) != "" {
		return "", nil, errKey
	}
	return page, rest, nil
}

const idSize = 16 + 4 // view, chunk

// parseID returns the id that the key of a trace ends with.
func parseID(key []byte) (id store.ID, err error) {
	n := len(key) - idSize
	if n < 3 || key[n-1] != 0 || bytes.IndexByte(key[:n-1], 0) >= 0 {
		return id, errKey
	}
	copy(id.View[:], key[n:])
	id.Chunk = binary.BigEndian.Uint32(key[n+16:])
	return id, nil
}

// parseTag returns the tag in the key of a count, which has a page.
func parseTag(rest []byte) (t store.Tag, err error) {
	k, v, ok := bytes.Cut(rest, []byte{0})
	t = store.Tag{Key: string(k), Value: string(v)}
	if !ok || t != (store.Tag{}) && store.CheckTag(t) != "" {
		return store.Tag{}, errKey
	}
	return t, nil
}

// sumOK reports whether a value, which has at least four bytes, begins with its checksum.
func sumOK(key, b []byte) bool {
	return binary.BigEndian.Uint32(b) == crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, b[4:])
}

// value is a trace as it is stored.
type value struct {
	received   int64    // µs since the epoch
	others     []string // pages beside that of the key, sorted
	compressed []byte   // the payload
}

const valueHead = 1 + 4 + 8 // version, checksum, received

// parseValue takes the value of a trace apart. An error wraps [store.ErrDamaged].
func parseValue(key, b []byte) (v value, err error) {
	damaged := func(what string) (value, error) { return value{}, fmt.Errorf("%w trace: %s", store.ErrDamaged, what) }
	if len(b) < valueHead+1 {
		return damaged("too short")
	}
	sum := crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, b[:1])
	if binary.BigEndian.Uint32(b[1:]) != crc32.Update(sum, castagnoli, b[5:]) {
		return damaged("checksum mismatch")
	}
	if b[0] != 1 {
		return damaged(fmt.Sprintf("version %d", b[0]))
	}
	v.received = int64(binary.BigEndian.Uint64(b[5:]))
	rest := b[valueHead:]
	n, size := binary.Uvarint(rest)
	if size <= 0 || n >= store.MaxPages {
		return damaged("number of pages")
	}
	rest = rest[size:]
	for range n {
		var page string
		if page, rest, err = cutText(rest, store.MaxPage); err != nil {
			return damaged("length of a page")
		}
		v.others = append(v.others, page)
	}
	v.compressed = rest
	return v, nil
}

// cutText cuts a text off b, which begins with its length.
func cutText(b []byte, most uint64) (text string, rest []byte, err error) {
	length, size := binary.Uvarint(b)
	if size <= 0 || length > most || uint64(len(b)-size) < length {
		return "", nil, errKey
	}
	return string(b[size:][:length]), b[size+int(length):], nil
}

// Count says how many traces there are, and when the first and the last of them was received (µs since the epoch).
type Count struct {
	Traces      uint64
	First, Last int64
}

// plus returns the sum of two counts, of which x counts something.
func (c Count) plus(x Count) Count {
	if c.Traces == 0 {
		return x
	}
	return Count{c.Traces + x.Traces, min(c.First, x.First), max(c.Last, x.Last)}
}

const countSize = 4 + 8 + 8 + 8

// parseCount reads a count. An error wraps [store.ErrDamaged].
func parseCount(key, b []byte) (Count, error) {
	if len(b) != countSize || !sumOK(key, b) {
		return Count{}, fmt.Errorf("%w count", store.ErrDamaged)
	}
	return Count{binary.BigEndian.Uint64(b[4:]), int64(binary.BigEndian.Uint64(b[12:])), int64(binary.BigEndian.Uint64(b[20:]))}, nil
}

// commit is what a commit has stored.
type commit struct {
	number          uint64
	traces, entries uint32
	received        int64 // µs since the epoch
}

const commitSize = 4 + 4 + 4 + 8

// parseCommit reads a commit by its key and value.
func parseCommit(key, b []byte) (c commit, ok bool) {
	if len(key) != 9 || key[0] != kindCommit || len(b) != commitSize || !sumOK(key, b) {
		return c, false
	}
	return commit{binary.BigEndian.Uint64(key[1:]), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:]), int64(binary.BigEndian.Uint64(b[12:]))}, true
}
