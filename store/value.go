package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// ErrDamaged is wrapped by every error about stored bytes that are not what was
// written.
var ErrDamaged = errors.New("damaged")

const (
	valueVersion = 1
	valueHeader  = 1 + 4 + 8 // version, checksum, received
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
// value. An error wraps [ErrDamaged].
func UnpackValue(key, value []byte) (Value, error) {
	if len(value) < valueHeader+1 {
		return Value{}, fmt.Errorf("%w value: %d bytes", ErrDamaged, len(value))
	}
	if binary.BigEndian.Uint32(value[1:]) != valueSum(key, value) {
		return Value{}, fmt.Errorf("%w value: checksum mismatch", ErrDamaged)
	}
	if value[0] != valueVersion {
		return Value{}, fmt.Errorf("%w value: version %d, this program reads %d", ErrDamaged, value[0], valueVersion)
	}
	v := Value{Received: time.UnixMicro(int64(binary.BigEndian.Uint64(value[5:]))).UTC()}
	rest := value[valueHeader:]
	n, size := binary.Uvarint(rest)
	if size <= 0 || n >= MaxPages {
		return Value{}, fmt.Errorf("%w value: page count", ErrDamaged)
	}
	rest = rest[size:]
	for range n {
		length, size := binary.Uvarint(rest)
		if size <= 0 || length > MaxPage || uint64(len(rest)-size) < length {
			return Value{}, fmt.Errorf("%w value: page length", ErrDamaged)
		}
		v.Others = append(v.Others, string(rest[size:size+int(length)]))
		rest = rest[size+int(length):]
	}
	v.Compressed = rest
	return v, nil
}

// count is the value of a catalogue key: how many traces, and when.
type count struct {
	traces      uint64
	first, last int64 // µs since the epoch
}

const countSize = 4 + 8 + 8 + 8

// appendCount appends crc32c u32 (of key and the rest) │ traces u64 │ first µs i64 │ last µs i64.
func appendCount(dst, key []byte, c count) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, c.traces)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.first))
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.last))
	return sumInto(dst, start, key)
}

func parseCount(key, b []byte) (count, error) {
	if len(b) != countSize || !sumOK(key, b) {
		return count{}, fmt.Errorf("%w catalogue entry", ErrDamaged)
	}
	return count{
		traces: binary.BigEndian.Uint64(b[4:]),
		first:  int64(binary.BigEndian.Uint64(b[12:])),
		last:   int64(binary.BigEndian.Uint64(b[20:])),
	}, nil
}

// commit is the value of a commit key, and of a record of the COMMITS file.
type commit struct {
	traces   uint32
	entries  uint32 // trace keys: a trace of two pages has two
	received int64  // µs since the epoch
}

const commitSize = 4 + 4 + 4 + 8

// appendCommit appends crc32c u32 (of key and the rest) │ traces u32 │ entries u32 │ received µs i64.
func appendCommit(dst, key []byte, c commit) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, c.traces)
	dst = binary.BigEndian.AppendUint32(dst, c.entries)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.received))
	return sumInto(dst, start, key)
}

func parseCommit(key, b []byte) (commit, error) {
	if len(b) != commitSize || !sumOK(key, b) {
		return commit{}, fmt.Errorf("%w commit record", ErrDamaged)
	}
	return commit{
		traces:   binary.BigEndian.Uint32(b[4:]),
		entries:  binary.BigEndian.Uint32(b[8:]),
		received: int64(binary.BigEndian.Uint64(b[12:])),
	}, nil
}

// sumInto fills in the checksum of what was appended to dst from start on.
func sumInto(dst []byte, start int, key []byte) []byte {
	sum := crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, dst[start+4:])
	binary.BigEndian.PutUint32(dst[start:], sum)
	return dst
}

func sumOK(key, b []byte) bool {
	return binary.BigEndian.Uint32(b) == crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, b[4:])
}
