package loadgen

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
)

// pageQuery is a query for the profile of a page, to the API and to the expected content.
type pageQuery struct {
	page    string
	grouped bool       // keep page, release and features apart
	feature string     // "" for all
	label   trie.Label // the zero Label for all
}

// queriesOf returns the queries for a page. Pages with the most views get more: queries that
// select only a part of a view's time.
func queriesOf(page string, rank int, p population) []pageQuery {
	all := []pageQuery{{page: page, grouped: true}}
	if rank < 2 {
		all = append(all,
			pageQuery{page: page},
			pageQuery{page: page, feature: p.features[0]},
			pageQuery{page: page, label: trie.Label{Key: "device", Value: p.devices[0]}},
			pageQuery{page: page, label: trie.Label{Key: "phase", Value: "load"}, grouped: true},
			pageQuery{page: page, label: trie.Label{Key: "release", Value: p.releases[0]}})
	}
	return all
}

// path returns path and query of the request for q.
func (q pageQuery) path(since time.Time) string {
	v := url.Values{"page": {q.page}, "format": {"trie"}}
	if q.grouped {
		v.Set("group_by", "page,release,feature")
	}
	if q.feature != "" {
		v.Set("feature", q.feature)
	}
	if q.label.Key != "" {
		v.Set("label", q.label.Key+"="+q.label.Value)
	}
	if !since.IsZero() {
		v.Set("since", since.UTC().Format(time.RFC3339Nano))
	}
	return "/api/v1/profile?" + v.Encode()
}

// foldable reports whether q selects by a label that rollups replace by (other) if there are
// too many sets of labels. Other labels are always kept.
func (q pageQuery) foldable() bool { return q.label.Key == "device" }

// takes reports whether q selects a slice of a trace with the context c.
func (q pageQuery) takes(s trie.Slice, c *trie.Context) bool {
	if q.feature != "" && !slices.Contains(s.Features, q.feature) {
		return false
	}
	switch q.label.Key {
	case "":
		return true
	case "release":
		return c.Release == q.label.Value
	}
	return cmp.Or(s.Labels.Value(q.label.Key), c.Labels.Value(q.label.Key)) == q.label.Value
}

// labels returns the labels of the group of s in a trace with the context c. It is nil if q does
// not group.
func (q pageQuery) labels(s trie.Slice, c *trie.Context) trie.Labels {
	if !q.grouped {
		return nil
	}
	l := trie.MakeLabels("page", q.page, "release", c.Release)
	if q.feature != "" {
		return append(l, trie.Label{Key: "feature", Value: q.feature}).Sort()
	}
	for _, f := range s.Features {
		l = append(l, trie.Label{Key: "feature", Value: f})
	}
	return l.Sort()
}
