package record

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/store"
)

// maxKnown bounds the memory of a codec: that many dictionaries of at most
// dictionarySize bytes.
const maxKnown = 64

// Codec decompresses payloads. It is safe for concurrent use.
//
// Traces of one page repeat the same names and URLs, but each is too short to
// repeat itself much. A dictionary of other traces' payloads makes up for that; what
// is compressed with one names it, and can be read only with it.
type Codec struct {
	maxPayload int64
	plain      *Dictionary
	mu         sync.Mutex
	known      map[uint32]*Dictionary
}

// NewCodec returns a codec that refuses to decompress to more than maxPayload bytes.
func NewCodec(maxPayload int64) (*Codec, error) {
	c := &Codec{maxPayload: maxPayload, known: make(map[uint32]*Dictionary), plain: NewDictionary("", nil)}
	if _, err := c.plain.reader(maxPayload); err != nil {
		return nil, err
	}
	return c, nil
}

// Plain returns the dictionary that is none.
func (c *Codec) Plain() *Dictionary { return c.plain }

// Learn makes d known, so that what was compressed with it can be read. It returns
// d, or one of the same content that was known before.
func (c *Codec) Learn(d *Dictionary) (*Dictionary, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := c.known[d.ID]; before != nil {
		return before, nil
	}
	if _, err := d.reader(c.maxPayload); err != nil {
		return nil, err
	}
	if len(c.known) >= maxKnown {
		clear(c.known) // those in use are learned again when they are needed
	}
	c.known[d.ID] = d
	return d, nil
}

// Decompress appends the payload to dst. If it needs a dictionary that is not known, find
// returns it. An error of the bytes wraps [store.ErrDamaged].
func (c *Codec) Decompress(dst, compressed []byte, find func(id uint32) (*Dictionary, error)) ([]byte, error) {
	d := c.plain
	if id := dictionaryOf(compressed); id != 0 {
		c.mu.Lock()
		d = c.known[id]
		c.mu.Unlock()
		if d == nil {
			var err error
			if d, err = find(id); err == nil {
				d, err = c.Learn(d)
			}
			if err != nil {
				return dst, err
			}
		}
	}
	dec, err := d.reader(c.maxPayload)
	if err != nil {
		return dst, err
	}
	out, err := dec.DecodeAll(compressed, dst)
	if err != nil {
		return dst, fmt.Errorf("%w payload: %w", store.ErrDamaged, err)
	}
	return out, nil
}

// dictionaryOf returns the id of the dictionary that compressed needs, 0 if none.
func dictionaryOf(compressed []byte) uint32 {
	var h zstd.Header
	if h.Decode(compressed) != nil {
		return 0 // the decoder will say what is wrong
	}
	return h.DictionaryID
}

// Close releases what the codec holds.
func (c *Codec) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.known {
		d.close()
	}
	c.plain.close()
}

// MissingDictionary returns the error about a dictionary that is not stored.
func MissingDictionary(id uint32) error {
	return fmt.Errorf("%w: dictionary %d is missing", store.ErrDamaged, id)
}
