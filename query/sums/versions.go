package sums

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// mostVersionSums limits the memory for contrasts of browser versions to about 3 MB. Over all
// pages, fewer contrasts make wider intervals.
const mostVersionSums = 20_000

// Versions adds up page views by browser version, to contrast the versions within a day, release,
// device and page.
type Versions map[versionKey]browsers.Sum

type versionKey struct {
	at      versionCell
	browser string
}

type versionCell struct {
	day                   time.Time
	page, release, device string
}

func (c versionCell) compare(o versionCell) int {
	return cmp.Or(c.day.Compare(o.day), cmp.Compare(c.page, o.page), cmp.Compare(c.release, o.release),
		cmp.Compare(c.device, o.device))
}

// VersionOf returns the browser version in labels, or "" if it is unknown.
func VersionOf(l trie.Labels) string {
	if v := l.Value(rollup.KeyBrowser); v != trie.FrameOther {
		return v
	}
	return ""
}

// Add adds page views of a page with the same labels, received on the day of first.
func (v Versions) Add(page string, first time.Time, l trie.Labels, x *rollup.Spread) {
	browser := VersionOf(l)
	if browser == "" {
		return
	}
	at := versionCell{first.UTC().Truncate(24 * time.Hour), page, l.Value(rollup.KeyRelease), l.Value(rollup.KeyDevice)}
	key := versionKey{at, browser}
	if _, ok := v[key]; !ok && len(v) >= mostVersionSums {
		return
	}
	v[key] = v[key].Plus(browsers.Sum{Views: float64(x.Count), Time: float64(x.Sum) / 1e3, Squares: x.Squares() / 1e6})
}

// Cells returns the page views by day, release, device and page.
func (v Versions) Cells() (out []browsers.Cell) {
	cells := map[versionCell]map[string]browsers.Sum{}
	for key, x := range v {
		if cells[key.at] == nil {
			cells[key.at] = map[string]browsers.Sum{}
		}
		cells[key.at][key.browser] = x
	}
	for _, at := range slices.SortedFunc(maps.Keys(cells), versionCell.compare) {
		out = append(out, browsers.Cell{Kind: at.page + "\x00" + at.device, Versions: cells[at]})
	}
	return out
}
