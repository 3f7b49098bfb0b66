package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

const (
	valueVersion = 1
	// ValueHeader is how many bytes of a value come before its pages: version, checksum, received.
	ValueHeader = 1 + 4 + 8
)

// castagnoli is read-only.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Value is a trace in its stored form, taken apart.
type Value struct {
	Received   time.Time // to the microsecond
	Others     []string  // pages of the trace besides that of the key, sorted
	Compressed []byte    // the payload; see [Codec]
}

// PackValue appends the stored form of v under key. The checksum covers the key as
// well, so that a value that turns up under another key is found out.
//
//	┌───────────┬────────────┬─────────────────┬────────────────────────────┬────────────────┐
//	│ version 1 │ crc32c u32 │ received µs i64 │ n uvarint, n × (len, page) │ zstd(payload)  │
//	└───────────┴────────────┴─────────────────┴────────────────────────────┴────────────────┘
func PackValue(dst, key []byte, v Value) []byte {
	start := len(dst)
	dst = append(dst, valueVersion, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, uint64(v.Received.UnixMicro()))
	dst = binary.AppendUvarint(dst, uint64(len(v.Others)))
	for _, p := range v.Others {
		dst = binary.AppendUvarint(dst, uint64(len(p)))
		dst = append(dst, p...)
	}
	dst = append(dst, v.Compressed...)
	binary.BigEndian.PutUint32(dst[start+1:], valueSum(key, dst[start:]))
	return dst
}

// valueSum returns the checksum of key and all of value but the checksum itself.
func valueSum(key, value []byte) uint32 {
	sum := crc32.Update(0, castagnoli, key)
	sum = crc32.Update(sum, castagnoli, value[:1])
	return crc32.Update(sum, castagnoli, value[5:])
}

// UnpackValue takes the stored form under key apart. Compressed is a part of
// value. An error wraps [store.ErrDamaged].
func UnpackValue(key, value []byte) (Value, error) {
	if len(value) < ValueHeader+1 {
		return Value{}, fmt.Errorf("%w value: %d bytes", store.ErrDamaged, len(value))
	}
	if binary.BigEndian.Uint32(value[1:]) != valueSum(key, value) {
		return Value{}, fmt.Errorf("%w value: checksum mismatch", store.ErrDamaged)
	}
	if value[0] != valueVersion {
		return Value{}, fmt.Errorf("%w value: version %d, this program reads %d", store.ErrDamaged, value[0], valueVersion)
	}
	v := Value{Received: time.UnixMicro(int64(binary.BigEndian.Uint64(value[5:]))).UTC()}
	rest := value[ValueHeader:]
	n, size := binary.Uvarint(rest)
	if size <= 0 || n >= store.MaxPages {
		return Value{}, fmt.Errorf("%w value: page count", store.ErrDamaged)
	}
	rest = rest[size:]
	for range n {
		length, size := binary.Uvarint(rest)
		if size <= 0 || length > store.MaxPage || uint64(len(rest)-size) < length {
			return Value{}, fmt.Errorf("%w value: page length", store.ErrDamaged)
		}
		v.Others = append(v.Others, string(rest[size:size+int(length)]))
		rest = rest[size+int(length):]
	}
	v.Compressed = rest
	return v, nil
}

// Count is the value of a catalogue key: how many traces, and when.
type Count struct {
	Traces      uint64
	First, Last int64 // receive times, µs since the epoch
}

// Plus returns the sum of two counts, of which x counts something.
func (c Count) Plus(x Count) Count {
	if c.Traces == 0 {
		return x
	}
	return Count{Traces: c.Traces + x.Traces, First: min(c.First, x.First), Last: max(c.Last, x.Last)}
}

// CountSize is how many bytes a [Count] takes.
const CountSize = 4 + 8 + 8 + 8

// AppendCount appends crc32c u32 (of key and the rest) │ traces u64 │ first µs i64 │ last µs i64.
func AppendCount(dst, key []byte, c Count) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, c.Traces)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.First))
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Last))
	return SumInto(dst, start, key)
}

// ParseCount is the reverse of AppendCount. An error wraps [store.ErrDamaged].
func ParseCount(key, b []byte) (Count, error) {
	if len(b) != CountSize || !SumOK(key, b) {
		return Count{}, fmt.Errorf("%w catalogue entry", store.ErrDamaged)
	}
	return Count{
		Traces: binary.BigEndian.Uint64(b[4:]),
		First:  int64(binary.BigEndian.Uint64(b[12:])),
		Last:   int64(binary.BigEndian.Uint64(b[20:])),
	}, nil
}

// Commit is the value of a commit key, and of a record of the COMMITS file.
type Commit struct {
	Traces   uint32
	Entries  uint32 // trace keys: a trace of two pages has two
	Received int64  // µs since the epoch
}

// CommitSize is how many bytes a [Commit] takes.
const CommitSize = 4 + 4 + 4 + 8

// AppendCommit appends crc32c u32 (of key and the rest) │ traces u32 │ entries u32 │ received µs i64.
func AppendCommit(dst, key []byte, c Commit) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, c.Traces)
	dst = binary.BigEndian.AppendUint32(dst, c.Entries)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Received))
	return SumInto(dst, start, key)
}

// ParseCommit is the reverse of AppendCommit. An error wraps [store.ErrDamaged].
func ParseCommit(key, b []byte) (Commit, error) {
	if len(b) != CommitSize || !SumOK(key, b) {
		return Commit{}, fmt.Errorf("%w commit record", store.ErrDamaged)
	}
	return Commit{
		Traces:   binary.BigEndian.Uint32(b[4:]),
		Entries:  binary.BigEndian.Uint32(b[8:]),
		Received: int64(binary.BigEndian.Uint64(b[12:])),
	}, nil
}

// SumInto fills in the checksum of what was appended to dst from start on.
func SumInto(dst []byte, start int, key []byte) []byte {
	sum := crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, dst[start+4:])
	binary.BigEndian.PutUint32(dst[start:], sum)
	return dst
}

// SumOK reports whether b, which has at least four bytes, begins with its checksum under key.
func SumOK(key, b []byte) bool {
	return binary.BigEndian.Uint32(b) == crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, b[4:])
}
