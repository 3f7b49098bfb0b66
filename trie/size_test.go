package trie

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// The size of a profile is close to the growth of the process's memory.
func TestProfileSize(t *testing.T) {
	for _, groups := range []int{1, 30} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		p := NewProfile()
		for i := range 20_000 {
			n := p.Insert(Frame{Name: "main"}, Frame{Name: strings.Repeat("f", i%100) + fmt.Sprint(i)},
				Frame{Name: "leaf", Line: uint32(i)})
			p.Add(MakeLabels("group", fmt.Sprint(i%groups)), n, Weight{Self: 1})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		got, want := p.Size(), int(after.HeapAlloc-before.HeapAlloc)
		if got < want/2 || got > want*2 {
			t.Errorf("%d groups: got a size of %d bytes, want about %d", groups, got, want)
		}
		read := &Profile{Trie: Trie{Strings: p.Strings, Frames: p.Frames, Nodes: p.Nodes}, Groups: p.Groups}
		if read.Size() != got {
			t.Errorf("%d groups: got %d bytes for decoded tables, want %d", groups, read.Size(), got)
		}
	}
}
