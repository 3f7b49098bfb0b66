package file

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
)

// recordings returns the recordings of this repository, and one whose functions are named by its
// own source maps.
func recordings(t *testing.T) (files []Input) {
	t.Helper()
	names, err := filepath.Glob("../../testdata/recordings/*.gz")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, name := range append(names, "testdata/enhanced.json") {
		files = append(files, Input{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }})
	}
	return files
}

// Separate threads add up to the merged profile, with and without events.
func TestApartAddsUp(t *testing.T) {
	files := recordings(t)
	for _, pick := range []Pick{{}, {Events: true}, {Idle: true}, {Parts: selection.Parts{By: "file"}}} {
		whole, err := Merge(t.Context(), files, selection.Selection{}, pick, nil)
		if err != nil {
			t.Fatal(err)
		}
		pick.Apart = true
		apart, err := Merge(t.Context(), files, selection.Selection{}, pick, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := apart.Shown(func(thread *output.Thread) bool { return thread.Sampled })
		if got, want := foldedOf(t, all.Result.Profile), foldedOf(t, whole.Result.Profile); got != want {
			t.Errorf("%+v: got\n%.2000s\nwant\n%.2000s", pick, got, want)
		}
		sum := trie.NewMerger()
		sum.AddProfile(apart.Shown(func(*output.Thread) bool { return false }).Result.Profile) // page views
		for _, thread := range all.Threads.Shown() {
			one := apart.OfThread(thread.Key)
			flat, _ := one.Flat()
			if self := output.SelfSum(flat); !pick.Idle && self != thread.Work {
				t.Errorf("%+v: %s has %d µs, and %d of work", pick, thread.Title(), self, thread.Work)
			}
			sum.AddProfile(one)
		}
		if got, want := foldedOf(t, sum.Profile()), foldedOf(t, whole.Result.Profile); got != want {
			t.Errorf("%+v: the threads add up to\n%.2000s\nwant\n%.2000s", pick, got, want)
		}
	}
}

// The main thread of each recording comes first, also in lists, and has the same times with and
// without events.
func TestMainThreads(t *testing.T) {
	files := recordings(t)
	entries, _, err := Threads(t.Context(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]output.Spent{}
	for _, e := range entries {
		if e.Main {
			listed[e.File] = e.Spent
		}
	}
	for _, events := range []bool{false, true} {
		got, err := Merge(t.Context(), files, selection.Selection{}, Pick{Apart: true, Events: events}, nil)
		if err != nil {
			t.Fatal(err)
		}
		mains := 0
		for i, thread := range got.Threads {
			if first := i == 0 || thread.Recording != got.Threads[i-1].Recording; first != thread.Main {
				t.Errorf("%s of %s: main %v", thread.Title(), thread.Recording, thread.Main)
			}
			if !thread.Main {
				continue
			}
			mains++
			if thread.Spent != listed[thread.Recording] {
				t.Errorf("%s: got %+v, listed are %+v", thread.Recording, thread.Spent, listed[thread.Recording])
			}
		}
		if mains != 4 {
			t.Errorf("%d main threads", mains)
		}
	}
}

func TestMainFirst(t *testing.T) {
	thread := func(key, recording, name string, sampled bool, script, work int64) output.Thread {
		return output.Thread{Key: key, Recording: recording, Name: name, Sampled: sampled,
			Spent: output.Spent{JavaScript: script}, Work: work}
	}
	got := ""
	for _, x := range mainFirst(output.Threads{
		thread("a", "1", "Worker", true, 900, 900),
		thread("b", "2", "", true, 1, 1),
		thread("c", "1", "CrRendererMain", true, 10, 500),
		thread("d", "1", "CrRendererMain", false, 0, 5000),
		thread("e", "1", "CrRendererMain", true, 20, 30),
		thread("f", "2", "", true, 2, 2),
		thread("g", "1", "GPU", false, 0, 7000),
	}) {
		got += x.Key
		if x.Main {
			got += "*"
		}
	}
	if want := "e*cadgf*b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Threads beyond the limit are merged into one.
func TestApartOfMany(t *testing.T) {
	r := &trie.Recording{}
	for i := range maxNamedThreads + 1 {
		r.Threads = append(r.Threads, trie.Thread{Process: 1, ID: int64(i),
			Events: []trie.Event{{Frame: trie.Frame{Name: "task"}, Start: 0, End: 2}}})
	}
	p := newPicking(Pick{Apart: true})
	m := trie.NewMerger()
	if err := p.add(m, "x", r, selection.Selection{}); err != nil {
		t.Fatal(err)
	}
	threads := finish(p.apart, m.Profile())
	if len(threads) != 1 || threads[0].Name != "4097 threads" || threads[0].Work != 2*(maxNamedThreads+1) ||
		len(p.warnings) != 1 {
		t.Errorf("got %+v, %v", threads, p.warnings)
	}
}
