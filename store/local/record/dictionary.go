package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/store"
)

// Dictionary is a raw-content dictionary of zstd, and what works with it. The
// compressor takes over 1 MiB and the decompressor little beside the content, so each
// is made when it is first needed.
type Dictionary struct {
	ID      uint32 // 0 stands for none
	Page    string // that content is of, "" if of several
	content []byte

	writing sync.Once
	enc     *zstd.Encoder
	reading sync.Once
	dec     *zstd.Decoder
	decErr  error
}

// NewDictionary returns the dictionary of content, or none if that is empty.
func NewDictionary(page string, content []byte) *Dictionary {
	d := &Dictionary{Page: page, content: content}
	if len(content) > 0 {
		d.ID = dictionaryID(content)
	}
	return d
}

// dictionaryID returns the id of a dictionary, made of its content so that it means
// the same everywhere. zstd keeps the ids below 2^15 and from 2^31 on for others.
func dictionaryID(content []byte) uint32 {
	return crc32.Checksum(content, castagnoli)&(1<<31-1) | 1<<30
}

// Compress appends the compressed form of payload to dst.
func (d *Dictionary) Compress(dst, payload []byte) []byte {
	d.writing.Do(func() { d.enc = newEncoder(d) })
	return d.enc.EncodeAll(payload, dst)
}

// newEncoder panics only if the options below contradict each other.
func newEncoder(d *Dictionary) *zstd.Encoder {
	options := []zstd.EOption{
		zstd.WithEncoderCRC(false), // the value has its own
		// Better levels cost several times the time for 5 % fewer bytes, and entropy
		// coding costs four times the time to read for 11 % fewer.
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithNoEntropyCompression(true),
		zstd.WithZeroFrames(true),
		zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
	}
	if d.ID != 0 {
		options = append(options, zstd.WithEncoderDictRaw(d.ID, d.content),
			zstd.WithWindowSize(2*dictionarySize)) // which a compressor has a buffer of
	}
	if d.Page != "" { // there are many of these, and each is one among them
		options = append(options, zstd.WithEncoderConcurrency(1))
	}
	enc, err := zstd.NewWriter(nil, options...)
	if err != nil {
		panic(fmt.Sprintf("make compressor: %v", err))
	}
	return enc
}

// reader returns what decompresses to at most maxPayload bytes.
func (d *Dictionary) reader(maxPayload int64) (*zstd.Decoder, error) {
	d.reading.Do(func() {
		options := []zstd.DOption{
			zstd.WithDecoderConcurrency(0), // as many as there are processors
			zstd.WithDecoderMaxMemory(uint64(max(maxPayload, 1))),
		}
		if d.ID != 0 {
			options = append(options, zstd.WithDecoderDictRaw(d.ID, d.content))
		}
		if d.dec, d.decErr = zstd.NewReader(nil, options...); d.decErr != nil {
			d.decErr = fmt.Errorf("make decompressor: %w", d.decErr)
		}
	})
	return d.dec, d.decErr
}

func (d *Dictionary) close() {
	if d.dec != nil {
		d.dec.Close()
	}
}

// appendValue appends the stored form without its checksum: length of the page
// uvarint │ page │ zstd(content).
func (d *Dictionary) appendValue(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(d.Page)))
	dst = append(dst, d.Page...)
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(2*dictionarySize))
	if err != nil {
		panic(fmt.Sprintf("make compressor: %v", err)) // the options contradict each other
	}
	return enc.EncodeAll(d.content, dst)
}

// parseDictionary is the reverse of appendValue. The form of earlier releases is the
// content alone; the id, which is made of the content, tells which it is.
func parseDictionary(id uint32, b []byte) (*Dictionary, error) {
	if d := NewDictionary("", b); d.ID == id {
		d.content = bytes.Clone(b)
		return d, nil
	}
	length, size := binary.Uvarint(b)
	if size <= 0 || length > store.MaxPage || uint64(len(b)-size) < length {
		return nil, fmt.Errorf("%w: dictionary %d: page length", store.ErrDamaged, id)
	}
	page, packed := string(b[size:size+int(length)]), b[size+int(length):]
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*dictionarySize))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	defer dec.Close()
	content, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: dictionary %d: %w", store.ErrDamaged, id, err)
	}
	d := NewDictionary(page, content)
	if d.ID != id {
		return nil, fmt.Errorf("%w: dictionary %d has the content of %d", store.ErrDamaged, id, d.ID)
	}
	return d, nil
}

const (
	// dictionarySize is the most bytes of a dictionary. More gains next to nothing on
	// real traces, and for those of one page half of it does as well.
	dictionarySize     = 128 << 10
	pageDictionarySize = 64 << 10
)

// DictionaryCopies is how often a dictionary is stored: a flipped byte in one copy
// must not cost all traces that were compressed with it.
const DictionaryCopies = 2

// AppendDictionaryKey appends the key of a copy, from 0, of the dictionary id.
func AppendDictionaryKey(dst []byte, id uint32, copy byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, KindDictionary), id)
	return append(dst, copy)
}

// ParseDictionaryKey returns the id in a key of AppendDictionaryKey.
func ParseDictionaryKey(key []byte) (id uint32, ok bool) {
	if len(key) != 6 || key[0] != KindDictionary {
		return 0, false
	}
	return binary.BigEndian.Uint32(key[1:]), true
}

// Stored returns the stored form of d under key, with its checksum.
func (d *Dictionary) Stored(key []byte) []byte {
	return SumInto(d.appendValue(make([]byte, 4)), 0, key)
}

// Pairs returns all copies of d as they are stored.
func (d *Dictionary) Pairs() (pairs []Pair) {
	for n := range byte(DictionaryCopies) {
		key := AppendDictionaryKey(nil, d.ID, n)
		pairs = append(pairs, Pair{Key: key, Value: d.Stored(key)})
	}
	return pairs
}

// UnpackDictionary returns the dictionary id from its stored form under key. An error wraps
// [store.ErrDamaged].
func UnpackDictionary(id uint32, key, b []byte) (*Dictionary, error) {
	if len(b) <= 4 || !SumOK(key, b) {
		return nil, fmt.Errorf("%w: dictionary %d: checksum mismatch", store.ErrDamaged, id)
	}
	return parseDictionary(id, b[4:])
}
