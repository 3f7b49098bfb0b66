package naming

import (
	"sync"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// Functions without a name are numbered among the functions that differ only in their text. So an
// inserted function takes the key of the function at its place, and all later keys shift. Texts
// show where the functions went.

// textKey identifies a function that was moved without a change.
type textKey struct {
	source, name string
	text         uint32
}

// texts finds the functions of a table by text and by key. It is built at first use, and is safe
// for concurrent use.
type texts struct {
	once   sync.Once
	byText map[textKey]*symbols.Function // nil if ambiguous
	byKey  map[uint64]*symbols.Function
}

func (x *texts) of(t *symbols.Table) *texts {
	x.once.Do(func() {
		x.byText, x.byKey = make(map[textKey]*symbols.Function, len(t.Functions)), make(map[uint64]*symbols.Function,
			len(t.Functions))
		for i := range t.Functions {
			f := &t.Functions[i]
			if f.Text == 0 || f.Source < 0 {
				continue
			}
			key := textOf(t, f)
			if _, twice := x.byText[key]; twice {
				x.byText[key] = nil
			} else {
				x.byText[key] = f
			}
			x.byKey[f.Key] = f
		}
	})
	return x
}

func textOf(t *symbols.Table, f *symbols.Function) textKey {
	return textKey{t.Sources[f.Source].Name, f.Name, f.Text}
}

// textsOf returns the texts of a chosen table.
func (n *Naming) textsOf(t *symbols.Table) *texts {
	made, _ := n.texts.LoadOrStore(t, &texts{})
	return made.(*texts).of(t)
}

// newestSources returns the newest table of each source, if there are several tables.
func newestSources(scripts []*script) map[string]chosen {
	tables := map[*symbols.Table]chosen{}
	for _, s := range scripts {
		if s.chosen.table != nil {
			tables[s.chosen.table] = s.chosen
		}
	}
	if len(tables) < 2 {
		return nil
	}
	out := map[string]chosen{}
	for t, c := range tables {
		for _, s := range t.Sources {
			if old, ok := out[s.Name]; !ok || c.rank < old.rank || c.rank == old.rank && c.SHA256 < old.SHA256 {
				out[s.Name] = c
			}
		}
	}
	return out
}

// keyOf returns the key of a function of a script in the newest build with its source. gone reports
// whether this build has another function in its place.
func (n *Naming) keyOf(c chosen, f *symbols.Function, newest map[string]chosen) (key uint64, gone bool) {
	if f.Text == 0 || f.Source < 0 || f.Key == 0 || newest == nil {
		return f.Key, false
	}
	to, ok := newest[c.table.Sources[f.Source].Name]
	if !ok || to.table == c.table {
		return f.Key, false
	}
	theirs, ours := n.textsOf(to.table), n.textsOf(c.table)
	if ours.byText[textOf(c.table, f)] == nil {
		return f.Key, false // several have the same text
	}
	if same := theirs.byText[textOf(c.table, f)]; same != nil {
		return same.Key, false
	}
	// The function changed, or was removed. Then its key may belong to another function that used
	// to be elsewhere.
	if other := theirs.byKey[f.Key]; other != nil {
		if before := ours.byText[textOf(to.table, other)]; before != nil && before.Key != f.Key {
			return f.Key ^ uint64(c.rank+1)*0x9E3779B97F4A7C15, true
		}
	}
	return f.Key, false
}
