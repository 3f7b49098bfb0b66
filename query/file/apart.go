package file

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
)

// keepApart describes a thread and returns the labels of its group. key is the number of threads
// and traces before it, which is its index in [Timelines].
func (p *picking) keepApart(file string, t *trie.Thread, key int) trie.Labels {
	p.apart = append(p.apart, output.Thread{
		Key: strconv.Itoa(key), Recording: file,
		Process: t.Process, ProcessName: t.ProcessName, ID: t.ID, Name: t.Name, Sampled: true,
	})
	return labelsOf(p.last())
}

// last returns the most recently described thread.
func (p *picking) last() *output.Thread { return &p.apart[len(p.apart)-1] }

func labelsOf(t *output.Thread) trie.Labels { return trie.MakeLabels(output.LabelThread, t.Key) }

// describe adds up the time of a part of the last thread by kind. Once events and functions are
// merged, this can no longer be computed.
func (p *picking) describe(part trie.Part) {
	t := p.last()
	switch {
	case part.Stream == nil:
		t.Sampled, t.Events = false, true
	case p.Events:
		t.Events = true
		t.Spent.Add(output.SpentBy(part.Stream.Trace))
	}
}

// apartOf returns a merged profile with a group for each of its threads. A profile without threads
// counts as one thread, unless it consists of page views.
func (p *picking) apartOf(file string, in *trie.Profile) *trie.Profile {
	out := &trie.Profile{Trie: in.Trie, Views: in.Views, Traces: in.Traces}
	places := map[string]int{} // index in p.apart, by name of the thread
	for i := range in.Groups {
		g := &in.Groups[i]
		name := g.Labels.Value(output.LabelThread)
		var to trie.Labels
		if name != "" || in.Views == 0 {
			k, known := places[name]
			if !known {
				k = len(p.apart)
				places[name] = k
				p.keepApart(file, parseThread(name), p.taken)
				p.taken++
			}
			t := &p.apart[k]
			to = labelsOf(t)
			if _, samples := g.Sum(); samples == 0 {
				t.Sampled = false
			}
		}
		into := out.Group(to)
		into.Coverage.Add(g.Coverage)
		for n, w := range g.Weights.All() {
			into.Weights.Add(n, w)
		}
	}
	return out
}

// finish completes the separate threads: it adds their time in p by kind, and sorts the main thread
// of each recording first.
func finish(threads output.Threads, p *trie.Profile) output.Threads {
	groups := map[string]*trie.Group{}
	for i := range p.Groups {
		groups[p.Groups[i].Labels.Value(output.LabelThread)] = &p.Groups[i]
	}
	for i := range threads {
		t := &threads[i]
		g, ok := groups[t.Key]
		if !ok {
			continue // no time
		}
		spent := output.SpentIn(p, g)
		self, _ := g.Sum()
		t.Work = self - (spent.Idle - g.Coverage.Idle)
		if t.Sampled && !t.Events {
			t.Spent = spent
		}
	}
	return mainFirst(threads)
}

// mainFirst sorts the threads of each recording, the main thread first. Sampled threads come before
// others. The main thread is the browser's main thread with the most JavaScript, which belongs to
// the busiest page; without a browser, it is the thread with the most JavaScript.
func mainFirst(threads output.Threads) output.Threads {
	recordings := map[string]int{}
	for i := range threads {
		if _, ok := recordings[threads[i].Recording]; !ok {
			recordings[threads[i].Recording] = len(recordings)
		}
	}
	slices.SortStableFunc(threads, func(a, b output.Thread) int {
		return cmp.Or(
			cmp.Compare(recordings[a.Recording], recordings[b.Recording]),
			cmp.Compare(rank(a.Sampled), rank(b.Sampled)),
			cmp.Compare(rank(ofPage(a.Name)), rank(ofPage(b.Name))),
			cmp.Compare(b.JavaScript, a.JavaScript),
			cmp.Compare(b.Work, a.Work))
	})
	for i := range threads {
		threads[i].Main = i == 0 || threads[i].Recording != threads[i-1].Recording
	}
	return threads
}

// ofPage reports whether a thread with this name runs pages, in Chrome or Firefox.
func ofPage(name string) bool { return name == "CrRendererMain" || name == "GeckoMain" }

// rank returns a sort key that puts true first.
func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// Shown returns s with the profile of the threads for which show returns true, and of everything
// outside threads, as one group.
func (s Merged) Shown(show func(*output.Thread) bool) Merged {
	s.Threads = slices.Clone(s.Threads)
	keys := map[string]bool{"": true}
	for i := range s.Threads {
		t := &s.Threads[i]
		if t.Shown = show(t); t.Shown {
			keys[t.Key] = true
		}
	}
	s.Result.Profile = s.ofThreads(keys)
	return s
}

// OfThread returns the profile of the thread with this key. The key "" has everything outside
// threads.
func (s Merged) OfThread(key string) *trie.Profile { return s.ofThreads(map[string]bool{key: true}) }

func (s Merged) ofThreads(keys map[string]bool) *trie.Profile {
	return selection.Selection{}.Regroup(s.Result.Profile, func(l trie.Labels) bool {
		return keys[l.Value(output.LabelThread)]
	})
}
