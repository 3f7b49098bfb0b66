package commits

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// Limits of a commit. A commit larger than maxPart bytes is stored as several values, because
// Badger limits the size of values in its tables.
const (
	maxPart   = 512 << 10
	maxParts  = 1 << 10 // of a commit
	maxKey    = 1 << 10 // bytes
	maxNumber = 1 << 31
	markSize  = 16
	headSize  = markSize + 4 + 3*8 + 4*4
	maxCommit = maxPart * maxParts
)

// mark starts each record of a generation. It is random and never leaves the machine, so no trace
// can look like a record.
type mark [markSize]byte

// record is a part of a commit. A record without parts is the deletion of a commit or, without a
// key, the end of its generation.
type record struct {
	key         string
	at          time.Time // when it was put, in microseconds
	number      uint64    // within its generation, from 1
	durable     uint64    // all records up to this number were acknowledged before
	part, parts int
	body        []byte
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the bytes of a record: the mark, the CRC-32C of the rest, and the rest.
func (r *record) encode(m mark) []byte {
	out := make([]byte, headSize, headSize+len(r.key)+len(r.body))
	copy(out, m[:])
	binary.LittleEndian.PutUint64(out[20:], uint64(r.at.UnixMicro()))
	binary.LittleEndian.PutUint64(out[28:], r.number)
	binary.LittleEndian.PutUint64(out[36:], r.durable)
	for i, n := range []int{r.part, r.parts, len(r.key), len(r.body)} {
		binary.LittleEndian.PutUint32(out[44+4*i:], uint32(n))
	}
	out = append(append(out, r.key...), r.body...)
	binary.LittleEndian.PutUint32(out[markSize:], crc32.Checksum(out[20:], castagnoli))
	return out
}

// decodeRecord decodes the record at the start of data, which must start with its mark, and returns
// its length. If the record is damaged, ok is false, and r and n have the values in its bytes as
// far as possible, or are zero. The body is a part of data.
func decodeRecord(data []byte) (r record, n int, ok bool) {
	if len(data) < headSize {
		return r, 0, false
	}
	number := func(i int) int { return int(binary.LittleEndian.Uint32(data[44+4*i:])) }
	keyLen, bodyLen := number(2), number(3)
	if keyLen > maxKey || bodyLen > maxPart || headSize+keyLen+bodyLen > len(data) {
		return r, 0, false
	}
	n = headSize + keyLen + bodyLen
	r = record{
		key: string(data[headSize:][:keyLen]), at: time.UnixMicro(int64(binary.LittleEndian.Uint64(data[20:]))),
		number: binary.LittleEndian.Uint64(data[28:]), durable: binary.LittleEndian.Uint64(data[36:]),
		part: number(0), parts: number(1), body: data[headSize+keyLen : n],
	}
	ok = crc32.Checksum(data[20:n], castagnoli) == binary.LittleEndian.Uint32(data[markSize:]) &&
		(r.parts == 0 || r.parts <= maxParts && r.part < r.parts) && r.number <= maxNumber
	return r, n, ok
}
