package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// TestSampler checks what bounds the memory and the space for dictionaries.
func TestSampler(t *testing.T) {
	var s Sampler
	plain := NewDictionary("", nil)
	offer := func(page string, n int, payload func(int) []byte) {
		for i := range n {
			d := s.Current(page)
			if d == nil {
				d = plain
			}
			s.Observe(page, payload(i), d)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	offer("/noise", 2*dictionaryAfter, func(int) []byte {
		b := make([]byte, 1000)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	})
	offer("/empty", 2*dictionaryAfter, func(int) []byte { return nil })
	if s.Current("/noise") != nil || s.Current("/empty") != nil {
		t.Error("there is a dictionary that saves nothing")
	}
	for p := range 2 * maxPageDictionaries {
		page := fmt.Sprintf("/%04d", p)
		offer(page, dictionaryAfter, func(i int) []byte { return pagePayload(page, i) })
	}
	if s.inUse != maxPageDictionaries {
		t.Errorf("%d pages have dictionaries, want %d", s.inUse, maxPageDictionaries)
	}
	large := func(int) []byte { return make([]byte, 2*sampleSize) }
	for p := range maxSampledPages {
		offer(fmt.Sprintf("/many/%d", p), 1, large)
	}
	s.Turn()
	if len(s.pages) > maxPageDictionaries+1 || s.size != 0 {
		t.Errorf("after a turn there are %d pages and %d bytes of samples", len(s.pages), s.size)
	}
	s.Turn() // no traces since
	if len(s.pages) > 0 || s.inUse != 0 {
		t.Errorf("%d dictionaries are kept that nobody needs", s.inUse)
	}
	for p := range 2 * maxSampledPages {
		offer(fmt.Sprintf("/many/%d", p), dictionaryAfter-1, large)
	}
	if len(s.pages) > maxSampledPages+1 || s.size > maxSamples {
		t.Errorf("there are %d pages and %d bytes of samples", len(s.pages), s.size)
	}
}

func TestDistinct(t *testing.T) {
	one, two := pagePayload("/ones", 1), pagePayload("/twos", 2)
	alike := bytes.Clone(one)
	copy(alike[100:], "another view id ")
	got := distinct([][]byte{one, two, alike, nil, []byte("short"), alike}, dictionarySize)
	if want := append(bytes.Clone(two), alike...); !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, want the second and the last sample, %d bytes", len(got), len(want))
	}
	if got := distinct([][]byte{one, two}, 50); !bytes.Equal(got, two[len(two)-50:]) {
		t.Errorf("got %d bytes, want the last 50", len(got))
	}
}

// TestSamplerShared has a sampler used as by requests, many at once.
func TestSamplerShared(t *testing.T) {
	codec, err := NewCodec(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer codec.Close()
	var s Sampler
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 3 * dictionaryAfter {
				page := fmt.Sprintf("/%04d", n%3)
				payload := pagePayload(page, n*4+g)
				d := s.Current(page)
				if d == nil {
					d = codec.Plain()
				} else if _, err := codec.Learn(d); err != nil {
					t.Error(err)
				}
				compressed := d.Compress(nil, payload)
				s.Observe(page, payload, d)
				if got, err := codec.Decompress(nil, compressed, missing); err != nil || !bytes.Equal(got, payload) {
					t.Errorf("trace %d came back changed: %v", n, err)
				}
				if n%100 == 0 {
					s.Turn()
				}
			}
		})
	}
	wg.Wait()
}

// TestRestore takes dictionaries that a partition has, and drops them with the next but one.
func TestRestore(t *testing.T) {
	var s Sampler
	if !s.Turn() {
		t.Error("the first turn is not the first")
	}
	feed, others := NewDictionary("/feed", pagePayload("/feed", 1)), NewDictionary("", pagePayload("/", 1))
	older := NewDictionary("/feed", pagePayload("/feed", 2))
	s.Restore([]*Dictionary{feed, others, older})
	if got := s.Current("/feed"); got != feed {
		t.Errorf("got dictionary %v of /feed, want the newest", got)
	}
	if got := s.Current("/other"); got != others {
		t.Errorf("got dictionary %v of another page, want that of all", got)
	}
	if s.Turn() || s.Current("/feed") != feed {
		t.Error("the next partition does not go on with it")
	}
	s.Turn()
	if got := s.Current("/feed"); got != nil {
		t.Errorf("dictionary %d is kept, and nobody needs it", got.ID)
	}
}
