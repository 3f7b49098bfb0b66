package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"
)

// packer stores long values, compressed, as parts of which each is checked on its own:
//
//	┌────────────┬───────────┬───────┐
//	│ crc32c u32 │ parts u16 │ bytes │    key: that of the value │ part u16
//	└────────────┴───────────┴───────┘
//
// They stay out of Badger's value log like that, and one does not fill a transaction.
type packer struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

const (
	packedPart = 384 << 10
	packedHead = 4 + 2
	maxPacked  = 256 << 20 // decompressed
)

func newPacker() (*packer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, fmt.Errorf("make compressor: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPacked))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	return &packer{enc, dec}, nil
}

func (p *packer) close() { p.dec.Close() }

// pair is a key and value to be written; a nil value deletes the key.
type pair struct{ key, value []byte }

func (p pair) cost() int { return len(p.key) + len(p.value) + perEntry }

// pack returns the parts of value, the first one last: without it the value is not there, so
// the parts may be written one after the other.
func (p *packer) pack(key, value []byte) ([]pair, error) {
	packed := p.enc.EncodeAll(value, nil)
	n := max(1, (len(packed)+packedPart-1)/packedPart)
	if len(value) > maxPacked || n > 1<<16-1 {
		return nil, fmt.Errorf("value of %d bytes is too long", len(value))
	}
	var out []pair
	for part := n - 1; part >= 0; part-- {
		piece := packed[part*packedPart : min((part+1)*packedPart, len(packed))]
		k := binary.BigEndian.AppendUint16(append([]byte(nil), key...), uint16(part))
		v := make([]byte, packedHead, packedHead+len(piece))
		binary.BigEndian.PutUint16(v[4:], uint16(n))
		out = append(out, pair{k, sumInto(append(v, piece...), 0, k)})
	}
	return out, nil
}

// unpack returns the value under key, nil if there is none.
func (p *packer) unpack(txn *badger.Txn, key []byte) ([]byte, error) {
	var packed []byte
	for part, n := uint16(0), uint16(1); part < n; part++ {
		k := binary.BigEndian.AppendUint16(append([]byte(nil), key...), part)
		item, err := txn.Get(k)
		if errors.Is(err, badger.ErrKeyNotFound) {
			if part == 0 {
				return nil, nil
			}
			return nil, fmt.Errorf("%w: part %d of %d is missing", ErrDamaged, part+1, n)
		}
		if err != nil {
			return nil, err
		}
		err = item.Value(func(v []byte) error {
			if len(v) < packedHead || !sumOK(k, v) {
				return fmt.Errorf("%w: checksum mismatch in part %d", ErrDamaged, part+1)
			}
			n = binary.BigEndian.Uint16(v[4:])
			packed = append(packed, v[packedHead:]...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	value, err := p.dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return value, nil
}

// removed returns what deletes a value of that many parts.
func removed(key []byte, parts int) (out []pair) {
	for part := range parts {
		out = append(out, pair{key: binary.BigEndian.AppendUint16(append([]byte(nil), key...), uint16(part))})
	}
	return out
}
