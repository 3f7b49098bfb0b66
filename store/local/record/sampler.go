package record

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
)

const (
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

// Sampler finds the dictionary that a payload is compressed with. A page of which a
// partition has many traces gets one of its own, made of some of them, and the other
// pages share one; each only if it saves more than it takes itself.
type Sampler struct {
	mu    sync.Mutex
	pages map[string]*material // "" stands for the pages without a dictionary of their own
	inUse int                  // pages with one, "" not counted
	size  int                  // bytes of all samples
	begun bool                 // Turn was called
}

// material is what a dictionary for a page is made of, and when.
type material struct {
	page    string
	dict    *Dictionary // nil if it has none
	worth   int         // after how many traces dict has paid for itself
	traces  int         // in this partition, as far as this process has seen
	try     int         // how many traces there are to be at the next try
	samples [][]byte    // oldest first
}

// Current returns the dictionary for page, nil if there is none.
func (s *Sampler) Current(page string) *Dictionary {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range []string{page, ""} {
		if m := s.pages[p]; m != nil && m.dict != nil {
			return m.dict
		}
	}
	return nil
}

// Observe shows the sampler a payload that was compressed with the dictionary used. Now
// and then that leads to a new one, which takes some milliseconds.
func (s *Sampler) Observe(page string, payload []byte, used *Dictionary) {
	s.mu.Lock()
	var tries []try
	if m := s.at(page); m != nil {
		tries = s.count(tries, m, payload, used)
	}
	if used.Page == "" {
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
func (s *Sampler) at(page string) *material {
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
func (s *Sampler) count(tries []try, m *material, payload []byte, used *Dictionary) []try {
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
	if samples := s.drain(m); len(samples) > triedTraces {
		tries = append(tries, try{m, m.traces, samples, used})
	}
	return tries
}

// room reports whether there can be a dictionary for m.
func (s *Sampler) room(m *material) bool {
	return m.dict != nil || m.page == "" || s.inUse < maxPageDictionaries
}

// drain removes the samples from m and returns them.
func (s *Sampler) drain(m *material) [][]byte {
	samples := m.samples
	m.samples = nil
	for _, p := range samples {
		s.size -= len(p)
	}
	return samples
}

// use makes d the dictionary of m, if there is room for it. A dictionary that takes
// the place of another is as much worth keeping as that.
func (s *Sampler) use(m *material, d *Dictionary, worth int) {
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

// Turn begins a partition, and reports whether it is the first. Dictionaries that
// would not have paid for themselves in the one before are dropped.
func (s *Sampler) Turn() (first bool) {
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

// InUse returns the dictionaries that would outlast a Turn now.
func (s *Sampler) InUse() (list []*Dictionary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.pages {
		if m.dict != nil && m.traces >= m.worth {
			list = append(list, m.dict)
		}
	}
	return list
}

// Restore takes dictionaries that a partition has for the pages that have none. What
// they were worth is not known; they are kept until the end of the next partition.
func (s *Sampler) Restore(stored []*Dictionary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range stored {
		if m := s.at(d.Page); m != nil && m.dict == nil {
			s.use(m, d, dictionaryAfter)
			s.drain(m)
			m.traces, m.try = dictionaryAfter, 2*dictionaryAfter
		}
	}
}

// try is what it takes to find out whether a dictionary is worth its space.
type try struct {
	m       *material
	traces  int
	samples [][]byte
	used    *Dictionary // so far
}

// dictionary returns a dictionary of the samples, and after how many traces it has
// saved what it takes.
func (t *try) dictionary() (d *Dictionary, worth int) {
	const never = 1<<31 - 1
	from, tests := t.samples[:len(t.samples)-triedTraces], t.samples[len(t.samples)-triedTraces:]
	size := pageDictionarySize
	if t.m.page == "" {
		size = dictionarySize
	}
	d = NewDictionary(t.m.page, distinct(from, size))
	saved := 0
	for _, p := range tests {
		saved += len(t.used.Compress(nil, p)) - len(d.Compress(nil, p))
	}
	if d.ID == 0 || saved <= 0 {
		return d, never
	}
	return d, DictionaryCopies * len(d.appendValue(nil)) * len(tests) / saved
}

// distinct returns up to size bytes of the last of the samples, without those that
// differ little from a later one. They keep their order, since zstd reaches the end of
// a dictionary best.
func distinct(samples [][]byte, size int) []byte {
	const word, alike = 8, 8 // bytes; alike are two of which less than one word in 8 differs
	seen := make(map[uint64]bool)
	var taken [][]byte
	room := size
	for _, p := range slices.Backward(samples) {
		fresh := 0
		for i := 0; i+word <= len(p); i++ {
			if w := binary.LittleEndian.Uint64(p[i:]); !seen[w] {
				seen[w] = true
				fresh++
			}
		}
		if fresh*alike < len(p) {
			continue
		}
		taken = append(taken, p)
		if room -= len(p); room <= 0 {
			break
		}
	}
	slices.Reverse(taken)
	content := bytes.Join(taken, nil)
	return content[max(0, len(content)-size):]
}
