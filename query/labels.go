package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Labels lists labels with their values.
type Labels struct {
	Labels []LabelValues `json:"labels"` // by key
	Stats  Stats         `json:"stats"`
}

// LabelValues has the values of a label, the most page views first.
type LabelValues struct {
	Key    string       `json:"key"`
	Values []LabelValue `json:"values"`
	// More is the number of values that are not listed.
	More int `json:"more,omitempty"`
}

// LabelValue is a value with the number of page views that have time with it.
type LabelValue struct {
	Value string `json:"value"`
	Views int64  `json:"views"`
}

// Keys returns the sorted keys.
func (l Labels) Keys() (keys []string) {
	for _, x := range l.Labels {
		keys = append(keys, x.Key)
	}
	return keys
}

// Values returns the values of a key, the most page views first, or nil if l lacks the key.
func (l Labels) Values(key string) []LabelValue {
	for _, x := range l.Labels {
		if x.Key == key {
			return x.Values
		}
	}
	return nil
}

// size returns the approximate size of l in bytes.
func (l Labels) size() (n int) {
	for _, x := range l.Labels {
		for _, v := range x.Values {
			n += 48 + len(v.Value)
		}
	}
	return n
}

// Names returns the non-empty values of a key, sorted.
func (l Labels) Names(key string) (names []string) {
	for _, v := range l.Values(key) {
		if v.Value != "" {
			names = append(names, v.Value)
		}
	}
	slices.Sort(names)
	return names
}

// maxLabelValues is the maximum number of listed values of a label.
const maxLabelValues = 1000

// refuseLabels returns the error for a query about labels that rollups do not keep.
func refuseLabels(what string) error {
	return selection.Refuse("%s are stored by page, feature, %s, not by this label", what,
		strings.Join([]string{rollup.KeyRelease, rollup.KeyEnvironment, rollup.KeyPhase, rollup.KeyVisibility,
			rollup.KeyDevice, rollup.KeyBrowser, rollup.KeyConnection}, ", "))
}

// Labels implements [Source].
func (l Local) Labels(ctx context.Context, sel selection.Selection) (Labels, error) {
	sel.GroupBy = nil
	sel, key := recently(sel)
	got, kept, err := cached(ctx, l, "labels "+key, sel.Lag, func(ctx context.Context) (Labels, error) {
		return l.labels(ctx, sel)
	})
	got.Stats.Age = got.Stats.Age.After(kept)
	return got, err
}

// Values implements [Source]. The catalogue has the values of some labels, which avoids reading
// rollups.
func (l Local) Values(ctx context.Context, sel selection.Selection, key string) ([]string, error) {
	catalogued := []string{selection.KeyPage, rollup.KeyFeature, rollup.KeyRelease, rollup.KeyEnvironment}
	if sel.Page != "" || sel.Feature != "" || len(sel.Where) > 0 || !slices.Contains(catalogued, key) {
		labels, err := l.Labels(ctx, sel)
		return labels.Names(key), err
	}
	catalog, err := l.recentCatalog(ctx, sel)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range catalog.Entries {
		if e.Kind == key && e.Name != "" {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (l Local) labels(ctx context.Context, sel selection.Selection) (Labels, error) {
	if sel.Wanted().None { // rollups do not have the label, so they would match no time
		return Labels{}, refuseLabels("labels")
	}
	views := map[trie.Label]int64{}
	want := sel.Wanted()
	want.Level = rollup.Wide
	stats, err := l.eachRecord(ctx, sel, want, func(x store.Rolled) error {
		var set trie.Labels
		for _, t := range x.Record.Touches {
			set = set[:0]
			for _, c := range t.Cells {
				if cell := x.Record.Cells[c].Labels; sel.TakesCell(cell) {
					set = append(append(set, trie.Label{Key: selection.KeyPage, Value: x.Page}), cell...)
				}
			}
			for i, label := range set.Sort() {
				if i == 0 || label != set[i-1] {
					views[label] += t.Views
				}
			}
		}
		return nil
	})
	if err != nil {
		return Labels{}, err
	}
	return Labels{ListLabels(views), stats}, nil
}

func ListLabels(views map[trie.Label]int64) []LabelValues {
	byKey := map[string][]LabelValue{}
	for l, n := range views {
		if n > 0 && l.Key != trie.FrameOther {
			byKey[l.Key] = append(byKey[l.Key], LabelValue{l.Value, n})
		}
	}
	out := []LabelValues{}
	for key, values := range byKey {
		slices.SortFunc(values, func(a, b LabelValue) int {
			return cmp.Or(cmp.Compare(b.Views, a.Views), strings.Compare(a.Value, b.Value))
		})
		x := LabelValues{Key: key, Values: values}
		if more := len(values) - maxLabelValues; more > 0 {
			x.Values, x.More = values[:maxLabelValues], more
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b LabelValues) int { return strings.Compare(a.Key, b.Key) })
	return out
}
