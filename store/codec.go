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

// maxKnown bounds the memory of a codec: that many dictionaries of at most
// dictionarySize bytes.
const maxKnown = 64

// Codec compresses and decompresses payloads. It is safe for concurrent use.
//
// Traces of one page repeat the same names and URLs, but each is too short to
// repeat itself much. A dictionary of other traces' payloads makes up for that; what
// is compressed with one names it, and can be read only with it.
type Codec struct {
	maxPayload int64
	plain      *dictionary
	current    atomic.Pointer[dictionary] // what Compress uses
	mu         sync.Mutex
	known      map[uint32]*dictionary
}

// NewCodec returns a codec without dictionaries that refuses to decompress to more
// than maxPayload bytes.
func NewCodec(maxPayload int64) (*Codec, error) {
	c := &Codec{maxPayload: maxPayload, known: make(map[uint32]*dictionary)}
	c.plain = newDictionary("", nil)
	if _, err := c.plain.reader(maxPayload); err != nil {
		return nil, err
	}
	c.current.Store(c.plain)
	return c, nil
}

// SetDictionary makes content the dictionary of what is compressed from now on.
func (c *Codec) SetDictionary(content []byte) error {
	d, err := c.learn(newDictionary("", content))
	if err == nil {
		c.current.Store(d)
	}
	return err
}

// learn makes d known, so that what was compressed with it can be read. It returns
// d, or one of the same content that was known before.
func (c *Codec) learn(d *dictionary) (*dictionary, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := c.known[d.id]; before != nil {
		return before, nil
	}
	if _, err := d.reader(c.maxPayload); err != nil {
		return nil, err
	}
	if len(c.known) >= maxKnown {
		clear(c.known) // those in use are learned again when they are needed
	}
	c.known[d.id] = d
	return d, nil
}

// Compress appends the compressed form of payload to dst.
func (c *Codec) Compress(dst, payload []byte) []byte {
	return c.current.Load().compress(dst, payload)
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
	dec, err := d.reader(c.maxPayload)
	if err != nil {
		return dst, err
	}
	out, err := dec.DecodeAll(compressed, dst)
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
		d.close()
	}
	c.plain.close()
}

// dictionary is a raw-content dictionary of zstd, and what works with it. The
// compressor takes over 1 MiB and the decompressor little beside the content, so each
// is made when it is first needed.
type dictionary struct {
	id      uint32 // 0 stands for none
	page    string // that content is of, "" if of several
	content []byte

	writing sync.Once
	enc     *zstd.Encoder
	reading sync.Once
	dec     *zstd.Decoder
	decErr  error
}

// newDictionary returns the dictionary of content, or none if that is empty.
func newDictionary(page string, content []byte) *dictionary {
	d := &dictionary{page: page, content: content}
	if len(content) > 0 {
		d.id = dictionaryID(content)
	}
	return d
}

// dictionaryID returns the id of a dictionary, made of its content so that it means
// the same everywhere. zstd keeps the ids below 2^15 and from 2^31 on for others.
func dictionaryID(content []byte) uint32 {
	return crc32.Checksum(content, castagnoli)&(1<<31-1) | 1<<30
}

// compress appends the compressed form of payload to dst.
func (d *dictionary) compress(dst, payload []byte) []byte {
	d.writing.Do(func() { d.enc = newEncoder(d) })
	return d.enc.EncodeAll(payload, dst)
}

// newEncoder panics only if the options below contradict each other.
func newEncoder(d *dictionary) *zstd.Encoder {
	options := []zstd.EOption{
		zstd.WithEncoderCRC(false), // the value has its own
		// Better levels cost several times the time for 5 % fewer bytes, and entropy
		// coding costs four times the time to read for 11 % fewer.
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithNoEntropyCompression(true),
		zstd.WithZeroFrames(true),
		zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
	}
	if d.id != 0 {
		options = append(options, zstd.WithEncoderDictRaw(d.id, d.content),
			zstd.WithWindowSize(2*dictionarySize)) // which a compressor has a buffer of
	}
	if d.page != "" { // there are many of these, and each is one among them
		options = append(options, zstd.WithEncoderConcurrency(1))
	}
	enc, err := zstd.NewWriter(nil, options...)
	if err != nil {
		panic(fmt.Sprintf("make compressor: %v", err))
	}
	return enc
}

// reader returns what decompresses to at most maxPayload bytes.
func (d *dictionary) reader(maxPayload int64) (*zstd.Decoder, error) {
	d.reading.Do(func() {
		options := []zstd.DOption{
			zstd.WithDecoderConcurrency(0), // as many as there are processors
			zstd.WithDecoderMaxMemory(uint64(max(maxPayload, 1))),
		}
		if d.id != 0 {
			options = append(options, zstd.WithDecoderDictRaw(d.id, d.content))
		}
		if d.dec, d.decErr = zstd.NewReader(nil, options...); d.decErr != nil {
			d.decErr = fmt.Errorf("make decompressor: %w", d.decErr)
		}
	})
	return d.dec, d.decErr
}

func (d *dictionary) close() {
	if d.dec != nil {
		d.dec.Close()
	}
}

const (
	// dictionarySize is the most bytes of a dictionary. More gains next to nothing on
	// real traces, and for those of one page half of it does as well.
	dictionarySize     = 128 << 10
	pageDictionarySize = 64 << 10

	// dictionaryAfter is after how many traces of a page in a partition a dictionary is
	// tried for the first time; then after twice as many, and so on.
	dictionaryAfter = 128

	maxPageDictionaries = 24      // in use at once; a compressor takes over 1 MiB
	maxSampledPages     = 4096    // looked at one by one, the others only together
	sampledTraces       = 64      // the last before a try
	triedTraces         = 8       // of these, what a dictionary is tried on, and not made of
	sampleSize          = 8 << 10 // bytes kept of one payload
	maxSamples          = 8 << 20 // bytes kept of all pages together
)

// sampler finds the dictionary that a payload is compressed with. A page of which a
// partition has many traces gets one of its own, made of some of them, and the other
// pages share one; each only if it saves more than it takes itself.
type sampler struct {
	mu    sync.Mutex
	pages map[string]*material // "" stands for the pages without a dictionary of their own
	inUse int                  // pages with one, "" not counted
	size  int                  // bytes of all samples
	begun bool                 // turn was called
}

// material is what a dictionary for a page is made of, and when.
type material struct {
	page    string
	dict    *dictionary // nil if it has none
	worth   int         // after how many traces dict has paid for itself
	traces  int         // in this partition, as far as this process has seen
	try     int         // how many traces there are to be at the next try
	samples [][]byte    // oldest first
}

// current returns the dictionary for page, nil if there is none.
func (s *sampler) current(page string) *dictionary {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range []string{page, ""} {
		if m := s.pages[p]; m != nil && m.dict != nil {
			return m.dict
		}
	}
	return nil
}

// observe shows the sampler a payload that was compressed with the dictionary used. Now
// and then that leads to a new one, which takes some milliseconds.
func (s *sampler) observe(page string, payload []byte, used *dictionary) {
	s.mu.Lock()
	var tries []try
	if m := s.at(page); m != nil {
		tries = s.count(tries, m, payload, used)
	}
	if used.page == "" {
		tries = s.count(tries, s.at(""), payload, used)
	}
	s.mu.Unlock()
	for _, t := range tries {
		if d, worth := t.dictionary(); worth <= t.traces {
			s.mu.Lock()
			if s.pages[t.m.page] == t.m { // the partition has not turned meanwhile
				s.use(t.m, d, worth)
			}
			s.mu.Unlock()
		}
	}
}

// at returns the material of page, nil if there are too many pages.
func (s *sampler) at(page string) *material {
	m := s.pages[page]
	if m == nil && (page == "" || len(s.pages) < maxSampledPages) {
		if s.pages == nil {
			s.pages = make(map[string]*material)
		}
		m = &material{page: page, try: dictionaryAfter}
		s.pages[page] = m
	}
	return m
}

// count counts a payload in, and adds to tries when it is time for one.
func (s *sampler) count(tries []try, m *material, payload []byte, used *dictionary) []try {
	m.traces++
	if payload = payload[:min(len(payload), sampleSize)]; m.traces+sampledTraces > m.try &&
		len(payload) > 0 && s.room(m) && s.size+len(payload) <= maxSamples {
		m.samples = append(m.samples, append([]byte(nil), payload...))
		s.size += len(payload)
	}
	if m.traces < m.try {
		return tries
	}
	m.try *= 2
	if samples := s.take(m); len(samples) > triedTraces {
		tries = append(tries, try{m, m.traces, samples, used})
	}
	return tries
}

// room reports whether there can be a dictionary for m.
func (s *sampler) room(m *material) bool {
	return m.dict != nil || m.page == "" || s.inUse < maxPageDictionaries
}

// take removes the samples from m and returns them.
func (s *sampler) take(m *material) [][]byte {
	samples := m.samples
	m.samples = nil
	for _, p := range samples {
		s.size -= len(p)
	}
	return samples
}

// use makes d the dictionary of m, if there is room for it. A dictionary that takes
// the place of another is as much worth keeping as that.
func (s *sampler) use(m *material, d *dictionary, worth int) {
	if !s.room(m) {
		return
	}
	if m.dict == nil {
		m.worth = worth
		if m.page != "" {
			s.inUse++
		}
	}
	m.dict = d
}

// turn begins a partition, and reports whether it is the first. Dictionaries that
// would not have paid for themselves in the one before are dropped.
func (s *sampler) turn() (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, s.begun = !s.begun, true
	old := s.pages
	s.pages, s.inUse, s.size = nil, 0, 0
	for page, m := range old {
		if m.dict != nil && m.traces >= m.worth {
			s.use(s.at(page), m.dict, m.worth)
		}
	}
	return first
}

// restore takes dictionaries that a partition has for the pages that have none. What
// they were worth is not known; they are kept until the end of the next partition.
func (s *sampler) restore(stored []*dictionary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range stored {
		if m := s.at(d.page); m != nil && m.dict == nil {
			s.use(m, d, dictionaryAfter)
			s.take(m)
			m.traces, m.try = dictionaryAfter, 2*dictionaryAfter
		}
	}
}
