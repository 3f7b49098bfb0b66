package encode

import (
	"bytes"
	"hash/maphash"

	"github.com/fieldtrie/fieldtrie/trie"
)

// stringTable numbers texts by their content, like the string table of a trie.
type stringTable struct {
	all   []byte   // the texts, one after the other
	ends  []int    // where each text ends in all; text 0 is ""
	slots []uint32 // a hash table of numbers, 0 for free
}

// hashSeed differs in each process, so that nobody can send texts that collide.
var hashSeed = maphash.MakeSeed()

func (s *stringTable) reset() {
	s.all, s.ends = s.all[:0], append(s.ends[:0], 0)
	if s.slots == nil {
		s.slots = make([]uint32, 1024)
	}
	s.slots = s.slots[:1024]
	clear(s.slots)
}

func (s *stringTable) at(id uint32) []byte { return s.all[s.ends[id-1]:s.ends[id]] }

func (s *stringTable) slot(text []byte) *uint32 {
	mask := uint64(len(s.slots) - 1)
	for i := maphash.Bytes(hashSeed, text); ; i++ {
		if p := &s.slots[i&mask]; *p == 0 || bytes.Equal(s.at(*p), text) {
			return p
		}
	}
}

// intern returns the number of text, and adds it if it is new.
func (s *stringTable) intern(text []byte) trie.StringID {
	if len(text) == 0 {
		return 0
	}
	p := s.slot(text)
	if *p != 0 {
		return trie.StringID(*p)
	}
	id := uint32(len(s.ends))
	*p = id
	s.all, s.ends = append(s.all, text...), append(s.ends, len(s.all)+len(text))
	if 2*len(s.ends) > len(s.slots) {
		s.slots = make([]uint32, 2*len(s.slots))
		for i := uint32(1); i <= id; i++ {
			*s.slot(s.at(i)) = i
		}
	}
	return trie.StringID(id)
}

// texts returns all texts, by number.
func (s *stringTable) texts() []string {
	all := string(s.all)
	texts := make([]string, len(s.ends))
	for i := 1; i < len(texts); i++ {
		texts[i] = all[s.ends[i-1]:s.ends[i]]
	}
	return texts
}

// text returns the text with a number. It is good until the next text is added.
func (s *stringTable) text(id trie.StringID) []byte {
	if id == 0 {
		return nil
	}
	return s.at(uint32(id))
}
