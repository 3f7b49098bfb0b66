package input

import (
	"bytes"
	"hash/maphash"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Strings numbers texts by their content, like the string table of a trie.
type Strings struct {
	all   []byte   // the texts, one after the other
	Ends  []int    // where each text ends in all; text 0 is ""
	slots []uint32 // a hash table of numbers, 0 for free
}

// hashSeed differs in each process, so that clients cannot send texts that collide.
var hashSeed = maphash.MakeSeed()

// Reset makes s empty. It keeps the memory.
func (s *Strings) Reset() {
	s.all, s.Ends = s.all[:0], append(s.Ends[:0], 0)
	if s.slots == nil {
		s.slots = make([]uint32, 1024)
	}
	s.slots = s.slots[:1024]
	clear(s.slots)
}

func (s *Strings) at(id uint32) []byte { return s.all[s.Ends[id-1]:s.Ends[id]] }

func (s *Strings) slot(text []byte) *uint32 {
	mask := uint64(len(s.slots) - 1)
	for i := maphash.Bytes(hashSeed, text); ; i++ {
		if p := &s.slots[i&mask]; *p == 0 || bytes.Equal(s.at(*p), text) {
			return p
		}
	}
}

// Intern returns the number of text, and adds it if it is new.
func (s *Strings) Intern(text []byte) trie.StringID {
	if len(text) == 0 {
		return 0
	}
	p := s.slot(text)
	if *p != 0 {
		return trie.StringID(*p)
	}
	id := uint32(len(s.Ends))
	*p = id
	s.all, s.Ends = append(s.all, text...), append(s.Ends, len(s.all)+len(text))
	if 2*len(s.Ends) > len(s.slots) {
		s.slots = make([]uint32, 2*len(s.slots))
		for i := uint32(1); i <= id; i++ {
			*s.slot(s.at(i)) = i
		}
	}
	return trie.StringID(id)
}

// Texts returns all texts, by number.
func (s *Strings) Texts() []string {
	all := string(s.all)
	texts := make([]string, len(s.Ends))
	for i := 1; i < len(texts); i++ {
		texts[i] = all[s.Ends[i-1]:s.Ends[i]]
	}
	return texts
}

// Text returns the text with a number. It is valid until the next text is added.
func (s *Strings) Text(id trie.StringID) []byte {
	if id == 0 {
		return nil
	}
	return s.at(uint32(id))
}
