package html

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// threadsOf returns n threads and a function that returns a thread's profile with the given number
// of frames.
func threadsOf(n, frames int) (output.Threads, func(string) *trie.Profile) {
	var threads output.Threads
	for i := range n {
		threads = append(threads, output.Thread{Key: strconv.Itoa(i), Recording: "a.json", ID: int64(i), Sampled: true,
			Shown: i == 1})
	}
	return threads, func(key string) *trie.Profile {
		p := trie.NewProfile()
		for i := range frames {
			p.Add(nil, p.Insert(trie.Frame{Name: fmt.Sprint(key, strings.Repeat("x", i%7), i)}),
				trie.Weight{Self: 1000})
		}
		return p
	}
}

// The shown thread comes first and has the tree of the document; the others have separate trees.
func TestThreads(t *testing.T) {
	threads, of := threadsOf(3, 2)
	_, d := written(t, of("1"), output.Options{Threads: threads, OfThread: of})
	got := ""
	for _, thread := range d.Threads {
		got += thread.Key
		tree := thread.Tree
		if tree == nil {
			got += " of the document"
			tree = &d.Tree
		}
		got += fmt.Sprintf(": %d µs, %s\n", tree.Total, tree.Strings[len(tree.Strings)-1])
	}
	if want := "1 of the document: 2000 µs, 1x1\n0: 2000 µs, 0x1\n2: 2000 µs, 2x1\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	// In a sum, each thread has a separate tree.
	threads[0].Shown = true
	_, d = written(t, of("1"), output.Options{Threads: threads, OfThread: of})
	for _, thread := range d.Threads {
		if thread.Tree == nil {
			t.Errorf("thread %s of a sum has no tree", thread.Key)
		}
	}
	// A comparison offers no choice of threads.
	_, d = written(t, of("1"), output.Options{Threads: threads, Base: of("0"), BaseThreads: threads[:1]})
	if len(d.Threads) != 2 || d.Threads[0].Tree != nil || len(d.BaseThreads) != 1 {
		t.Errorf("a comparison: %+v, %+v", d.Threads, d.BaseThreads)
	}
}

// Neither many threads nor many calls make a large file.
func TestManyThreads(t *testing.T) {
	threads, of := threadsOf(maxThreads+50, 2000)
	threads[0].Name = strings.Repeat("n", 1<<16)
	_, d := written(t, of("1"), output.Options{Threads: threads, OfThread: of})
	if len(d.Threads) != maxThreads || d.Others != 50 {
		t.Errorf("%d threads, %d others", len(d.Threads), d.Others)
	}
	nodes := 0
	for _, thread := range d.Threads {
		if len(thread.Name) > maxText {
			t.Errorf("a name has %d bytes", len(thread.Name))
		}
		if thread.Tree == nil {
			continue
		}
		nodes += len(thread.Tree.Label)
		if thread.Tree.Total != 2_000_000 || thread.Tree.Pruned.Nodes == 0 {
			t.Errorf("thread %s: %d µs, %+v", thread.Key, thread.Tree.Total, thread.Tree.Pruned)
		}
	}
	if nodes == 0 || nodes > maxThreadNodes+maxThreads {
		t.Errorf("%d nodes", nodes)
	}
}
