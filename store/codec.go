package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// errNoDictionary is wrapped by the error about a payload whose dictionary the codec
// does not know.
var errNoDictionary = errors.New("unknown dictionary")

// maxDictionaries bounds the memory of a codec; a partition seldom has more than two.
const maxDictionaries = 32

// Codec compresses and decompresses payloads. It is safe for concurrent use.
//
// Traces of one site repeat the same names and URLs, but each is too short to
// repeat itself much. A dictionary of other traces' payloads makes up for that; what
// is compressed with one names it, and can be read only with it.
type Codec struct {
	maxPayload int64
	plain      *dictionary
	current    atomic.Pointer[dictionary] // what Compress uses
	mu         sync.Mutex
	known      map[uint32]*dictionary
}

// dictionary is a raw-content dictionary of zstd, and what works with it.
type dictionary struct {
	id      uint32 // 0 stands for none
	content []byte
	enc     *zstd.Encoder
	dec     *zstd.Decoder
}

// NewCodec returns a codec without dictionaries that refuses to decompress to more
// than maxPayload bytes.
func NewCodec(maxPayload int64) (*Codec, error) {
	c := &Codec{maxPayload: maxPayload, known: make(map[uint32]*dictionary)}
	plain, err := c.newDictionary(nil)
	if err != nil {
		return nil, err
	}
	c.plain = plain
	c.current.Store(plain)
	return c, nil
}

// SetDictionary makes content the dictionary of what is compressed from now on.
func (c *Codec) SetDictionary(content []byte) error {
	d, err := c.learn(content)
	if err == nil {
		c.current.Store(d)
	}
	return err
}

// learn makes content known, so that what was compressed with it can be read.
func (c *Codec) learn(content []byte) (*dictionary, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.known[dictionaryID(content)]; d != nil {
		return d, nil
	}
	d, err := c.newDictionary(content)
	if err != nil {
		return nil, err
	}
	if len(c.known) >= maxDictionaries {
		clear(c.known) // the current one is learned again when it is needed
	}
	c.known[d.id] = d
	return d, nil
}

func (c *Codec) newDictionary(content []byte) (*dictionary, error) {
	d := &dictionary{content: content}
	encOptions := []zstd.EOption{
		zstd.WithEncoderCRC(false), // the value has its own
		zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
		// With a dictionary, better levels cost twice the time for 4 % fewer bytes, and
		// entropy coding costs four times the time to read for 11 % fewer.
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithNoEntropyCompression(true),
		zstd.WithZeroFrames(true),
	}
	decOptions := []zstd.DOption{
		zstd.WithDecoderConcurrency(0), // as many as there are processors
		zstd.WithDecoderMaxMemory(uint64(max(c.maxPayload, 1))),
	}
	if len(content) > 0 {
		d.id = dictionaryID(content)
		encOptions = append(encOptions, zstd.WithEncoderDictRaw(d.id, content))
		decOptions = append(decOptions, zstd.WithDecoderDictRaw(d.id, content))
	}
	var err error
	if d.enc, err = zstd.NewWriter(nil, encOptions...); err != nil {
		return nil, fmt.Errorf("make compressor: %w", err)
	}
	if d.dec, err = zstd.NewReader(nil, decOptions...); err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	return d, nil
}

// dictionaryID returns the id of a dictionary, made of its content so that it means
// the same everywhere. zstd keeps the ids below 2^15 and from 2^31 on for others.
func dictionaryID(content []byte) uint32 {
	return crc32.Checksum(content, castagnoli)&(1<<31-1) | 1<<30
}

// Compress appends the compressed form of payload to dst.
func (c *Codec) Compress(dst, payload []byte) []byte {
	return c.current.Load().enc.EncodeAll(payload, dst)
}

// Decompress appends the payload to dst. An error wraps [ErrDamaged].
func (c *Codec) Decompress(dst, compressed []byte) ([]byte, error) {
	d := c.plain
	if id := dictionaryOf(compressed); id != 0 {
		c.mu.Lock()
		d = c.known[id]
		c.mu.Unlock()
		if d == nil {
			return dst, fmt.Errorf("%w payload: %w %d", ErrDamaged, errNoDictionary, id)
		}
	}
	out, err := d.dec.DecodeAll(compressed, dst)
	if err != nil {
		return dst, fmt.Errorf("%w payload: %w", ErrDamaged, err)
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
		d.dec.Close()
	}
	c.plain.dec.Close()
}

const (
	dictionarySize = 112 << 10 // more gains nothing on real traces
	sampleSize     = 8 << 10   // of one payload
	sampleEvery    = 8         // traces, once the sample is full
)

// sampler keeps recent payloads to make a dictionary of.
type sampler struct {
	mu     sync.Mutex
	offers int
	recent [][]byte // oldest first
	size   int
}

// offer shows a payload to the sampler, which may copy it.
func (s *sampler) offer(payload []byte) {
	payload = payload[:min(len(payload), sampleSize)]
	if len(payload) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offers++; s.full() && s.offers%sampleEvery != 0 {
		return
	}
	s.recent = append(s.recent, append([]byte(nil), payload...))
	s.size += len(payload)
	for s.size-len(s.recent[0]) >= dictionarySize {
		s.size -= len(s.recent[0])
		s.recent = s.recent[1:]
	}
}

func (s *sampler) full() bool { return s.size >= dictionarySize }

// dictionary returns a dictionary of what was seen last, nil if that is too little.
func (s *sampler) dictionary() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.full() {
		return nil
	}
	d := make([]byte, 0, s.size)
	for _, p := range s.recent {
		d = append(d, p...)
	}
	return d[len(d)-dictionarySize:] // zstd reaches the end of it best
}
