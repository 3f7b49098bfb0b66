package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// question configures a Select, and how its results are combined.
type question struct {
	store.Query
	store.Wanted
	keys []string // keys of labels that are distinguished
}

func (q question) String() string {
	text := fmt.Sprintf("%q by %v", q.Page, q.keys)
	if !q.Since.IsZero() {
		text += " since " + q.Since.Format("02T15:04:05")
	}
	if !q.Until.IsZero() {
		text += " until " + q.Until.Format("02T15:04:05")
	}
	return text + fmt.Sprintf(" %+v", q.Wanted)
}

// answer is the combined result of a Select.
type answer struct {
	pages    map[string]*trie.Profile
	outcomes map[outcome]int64
	stats    store.ScanStats
}

// outcome is a page, and why page views of it have no trace.
type outcome struct{ page, reason string }

// ask runs a Select.
func ask(ctx context.Context, r reader, q question) (answer, error) {
	a := answer{pages: map[string]*trie.Profile{}, outcomes: map[outcome]int64{}}
	sums, mergers := map[string]*rollup.Sum{}, map[string]*trie.Merger{}
	last := ""
	var err error
	a.stats, err = r.Select(ctx, q.Query, q.Wanted, func(rec store.Record) error {
		t := rec.Trace
		if t == nil { // a bucket decodes only some traces
			doc, err := encode.DecodeBinary(rec.Payload, encode.FileLimits())
			if err != nil {
				return err
			}
			t = doc.Trace
		}
		m := mergers[rec.Page]
		if m == nil {
			m = trie.NewMerger()
			mergers[rec.Page] = m
		}
		if key := rec.Partition + rec.Page; key != last {
			m.NextView()
			last = key
		}
		addTrace(m, t, rec.Page, q.keys)
		return nil
	}, func(x store.Rolled) error {
		sum := sums[x.Page]
		if sum == nil {
			sum = rollup.NewSum(func(l trie.Labels) (trie.Labels, bool) { return pick(l, q.keys), true })
			sums[x.Page] = sum
		}
		if x.Record.Level != rollup.Details {
			sum.Add(x.Record, x.Stacks)
		}
		for _, o := range x.Record.Outcomes {
			a.outcomes[outcome{x.Page, o.Reason}] += o.Views
		}
		for i := range x.Record.Vitals {
			v := &x.Record.Vitals[i]
			if v.Histogram.Count() != v.Weight {
				return fmt.Errorf("%s of %s: %d values, the weight is %d", v.Name, x.Page,
					v.Histogram.Count(), v.Weight)
			}
			a.outcomes[outcome{x.Page, v.Name}] += v.Weight
		}
		return nil
	})
	if err != nil {
		return a, err
	}
	for _, page := range pages {
		m := mergers[page]
		if m == nil {
			m = trie.NewMerger()
		}
		if sum := sums[page]; sum != nil {
			m.AddProfile(sum.Profile())
		}
		if p := m.Profile(); p.Traces > 0 {
			a.pages[page] = p
		}
	}
	if !a.stats.Complete() {
		return a, fmt.Errorf("select %v is not complete: got %+v", q, a.stats)
	}
	return a, nil
}

func pick(l trie.Labels, keys []string) (out trie.Labels) {
	for _, x := range l {
		if slices.Contains(keys, x.Key) {
			out = append(out, x)
		}
	}
	return out
}

// addTrace adds the part of t on page.
func addTrace(m *trie.Merger, t *trie.Trace, page string, keys []string) {
	m.AddTrace(t, func(s trie.Slice) int {
		if s.Page != page {
			return -1
		}
		return m.Group(pick(rollup.CellLabels(s, &t.Context), keys))
	})
}

// merged returns the sum of the parts of traces on page. traces must be sorted by partition and id.
func merged(page string, keys []string, traces iter.Seq[*instance]) *trie.Profile {
	m := trie.NewMerger()
	partition := ""
	for x := range traces {
		if x.partition != partition {
			m.NextView()
			partition = x.partition
		}
		addTrace(m, x.doc, page, keys)
	}
	return m.Profile()
}

func totalsOf(p *trie.Profile) (t totals) {
	t.traces = p.Traces
	for i := range p.Groups {
		self, samples := p.Groups[i].Sum()
		t.self += self
		t.samples += samples
	}
	return t
}

// lines returns the content of p as sorted lines.
func lines(p *trie.Profile) (out []string) {
	out = append(out, fmt.Sprintf("views %d traces %d", p.Views, p.Traces))
	for _, g := range p.Groups {
		out = append(out, fmt.Sprintf("%v %+v", g.Labels, g.Coverage))
		for n, w := range g.Weights.All() {
			line := fmt.Sprintf("%v %+v", g.Labels, w)
			for a := range p.Stack(n) {
				line += " " + p.Frame(a).Name
			}
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

// sameProfiles compares the profiles of a store with the profiles of the model.
func sameProfiles(got, want map[string]*trie.Profile) error {
	var errs error
	for _, page := range pages {
		g, w := got[page], want[page]
		if g == nil {
			g = trie.NewProfile()
		}
		if w == nil {
			w = trie.NewProfile()
		}
		if !g.Equal(w) {
			errs = errors.Join(errs, fmt.Errorf("%s:\n%s", page, differences(lines(g), lines(w))))
		}
	}
	return errs
}

// differences lists the lines that only one of two sorted lists has, up to a limit.
func differences(got, want []string) string {
	var out []string
	for len(out) < 16 && (len(got) > 0 || len(want) > 0) {
		switch {
		case len(want) == 0 || len(got) > 0 && got[0] < want[0]:
			out, got = append(out, "  got  "+got[0]), got[1:]
		case len(got) == 0 || want[0] < got[0]:
			out, want = append(out, "  want "+want[0]), want[1:]
		default:
			got, want = got[1:], want[1:]
		}
	}
	return strings.Join(out, "\n")
}
