package record

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/store"
)

// Pair is a key and value to be written; a nil value deletes the key.
type Pair struct{ Key, Value []byte }

// PerEntry is what Badger adds to a key and value, generously, in bytes.
const PerEntry = 64

// Cost is about how many bytes the pair adds to a transaction.
func (p Pair) Cost() int { return len(p.Key) + len(p.Value) + PerEntry }

// Packer turns long values into compressed parts of which each is checked on its own:
//
//	┌────────────┬───────────┬───────┐
//	│ crc32c u32 │ parts u16 │ bytes │    key: that of the value │ part u16
//	└────────────┴───────────┴───────┘
//
// They stay out of Badger's value log like that, and one does not fill a transaction. A
// Packer is safe for concurrent use.
type Packer struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

const (
	packedPart = 384 << 10
	packedHead = 4 + 2
	maxPacked  = 256 << 20 // decompressed
)

// NewPacker returns a Packer, which has to be closed.
func NewPacker() (*Packer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, fmt.Errorf("make compressor: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPacked))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	return &Packer{enc, dec}, nil
}

// Close releases what the packer holds.
func (p *Packer) Close() { p.dec.Close() }

// Pack returns the parts of value, the first one last: without it the value is not there, so
// the parts may be written one after the other.
func (p *Packer) Pack(key, value []byte) ([]Pair, error) {
	packed := p.enc.EncodeAll(value, nil)
	n := max(1, (len(packed)+packedPart-1)/packedPart)
	if len(value) > maxPacked || n > 1<<16-1 {
		return nil, fmt.Errorf("value of %d bytes is too long", len(value))
	}
	var out []Pair
	for part := n - 1; part >= 0; part-- {
		piece := packed[part*packedPart : min((part+1)*packedPart, len(packed))]
		k := binary.BigEndian.AppendUint16(append([]byte(nil), key...), uint16(part))
		v := make([]byte, packedHead, packedHead+len(piece))
		binary.BigEndian.PutUint16(v[4:], uint16(n))
		out = append(out, Pair{k, SumInto(append(v, piece...), 0, k)})
	}
	return out, nil
}

// Unpack returns the value under key, nil if there is none. get calls its function with the
// value under a key, and reports whether there is one. An error of the bytes wraps
// [store.ErrDamaged].
func (p *Packer) Unpack(key []byte, get func(key []byte, f func([]byte) error) (bool, error)) ([]byte, error) {
	var packed []byte
	for part, n := uint16(0), uint16(1); part < n; part++ {
		k := binary.BigEndian.AppendUint16(append([]byte(nil), key...), part)
		found, err := get(k, func(v []byte) error {
			if len(v) < packedHead || !SumOK(k, v) {
				return fmt.Errorf("%w: checksum mismatch in part %d", store.ErrDamaged, part+1)
			}
			n = binary.BigEndian.Uint16(v[4:])
			packed = append(packed, v[packedHead:]...)
			return nil
		})
		switch {
		case err != nil:
			return nil, err
		case !found && part == 0:
			return nil, nil
		case !found:
			return nil, fmt.Errorf("%w: part %d of %d is missing", store.ErrDamaged, part+1, n)
		}
	}
	value, err := p.dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return value, nil
}

// Removal returns the pairs that delete a value of that many parts.
func Removal(key []byte, parts int) (out []Pair) {
	for part := range parts {
		out = append(out, Pair{Key: binary.BigEndian.AppendUint16(append([]byte(nil), key...), uint16(part))})
	}
	return out
}
