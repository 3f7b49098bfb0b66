package html

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/columns"
	"github.com/fieldtrie/fieldtrie/encode/output"
)

// Limits of the threads in a file.
const (
	maxThreads     = 200
	maxThreadNodes = 100_000 // of all trees of threads together
	leastNodes     = 500     // of the tree of a thread
)

// thread is a thread that people can choose.
type thread struct {
	output.Thread
	Tree *columns.Tree `json:"tree,omitempty"` // nil: the tree of the document
}

// addThreads adds the threads of a profile, each with its tree: the shown ones first, and of the
// others the first, up to maxThreads.
func (d *document) addThreads(o output.Options) error {
	threads := o.Threads
	if o.OfThread == nil {
		threads = threads.Shown()
	}
	others := slices.DeleteFunc(slices.Clone(threads), func(t output.Thread) bool { return t.Shown })
	ordered := append(threads.Shown(), others...)
	kept := ordered[:min(len(ordered), maxThreads)]
	d.Others = len(ordered) - len(kept)
	for _, t := range cutNames(kept) {
		d.Threads = append(d.Threads, thread{Thread: t})
	}
	if o.OfThread == nil || len(ordered) == 1 {
		return nil
	}
	whole := len(ordered.Shown()) == 1 // then the tree of the document is the first thread's
	texts := 0
	for i := range d.Threads {
		if whole && i == 0 {
			continue
		}
		tree, err := columns.Of(o.OfThread(d.Threads[i].Key).Canonical(), nil, "", max(maxThreadNodes/len(d.Threads),
			leastNodes))
		if err != nil {
			return err
		}
		drawable(&tree)
		d.Cut = cutLong(tree.Strings, maxTexts-texts) || d.Cut
		for _, s := range tree.Strings {
			texts += len(s)
		}
		if texts > maxTexts {
			d.Others += len(d.Threads) - i
			d.Threads = d.Threads[:i]
			return nil
		}
		d.Threads[i].Tree = &tree
	}
	return nil
}

// cutNames returns threads with names that fit into a file.
func cutNames(threads output.Threads) output.Threads {
	threads = slices.Clone(threads)
	for i := range threads {
		t := &threads[i]
		t.Name, t.ProcessName, t.Recording = cut(t.Name, maxText), cut(t.ProcessName, maxText),
			cut(t.Recording, maxText)
	}
	return threads
}
