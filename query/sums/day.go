package sums

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Day holds the data of a page for one day, over all releases. Times are sums over page views, in
// ms.
type Day struct {
	Day       time.Time
	Views     float64 // profiled page views
	Time      compare.Amount
	Strata    map[string]DayStratum // by name; the strata are those of comparisons
	Functions []compare.Function    // by place, with one amount each
	Versions  []browsers.Cell       // page views by browser version
}

// DayStratum holds the page views of a day on one kind of device and browser.
type DayStratum struct {
	Views    float64
	Time     compare.Amount
	Features map[string]compare.Amount
}

// DaySums adds up the records of a page's day.
type DaySums struct {
	at        time.Time
	release   string // "": all
	strata    map[string]*dayStratum
	functions map[ReleasedFrame]functionDay
	versions  Versions
}

// NewDay returns empty sums for the page views of a release, or of all releases for "", in a day or
// another time range that begins at at.
func NewDay(at time.Time, release string) *DaySums {
	return &DaySums{at, release, map[string]*dayStratum{}, map[ReleasedFrame]functionDay{}, Versions{}}
}

// takes reports whether the sums include the page views of a release.
func (d *DaySums) takes(release string) bool { return d.release == "" || d.release == release }

// Self returns the self time of each function, in µs.
func (d *DaySums) Self() map[ReleasedFrame]int64 {
	out := make(map[ReleasedFrame]int64, len(d.functions))
	for f, x := range d.functions {
		out[f] = x.self
	}
	return out
}

// dayStratum adds up one kind of page views of a day.
type dayStratum struct {
	time     rollup.Spread
	features map[string]*rollup.Spread
}

type functionDay struct {
	amount compare.Amount
	self   int64   // µs
	total  float64 // ms
	reach  float64
}

// Add adds a record. Functions are kept by release if their names depend on it.
func (d *DaySums) Add(x store.Rolled, byRelease bool) {
	for i := range x.Record.Distributions {
		of := &x.Record.Distributions[i]
		if !d.takes(of.Labels.Value(rollup.KeyRelease)) {
			continue
		}
		switch part := PartOf(of); part.Key {
		case "":
			d.stratum(of.Labels).time.AddAll(&of.Time)
			d.versions.Add(x.Page, d.at, of.Labels, &of.Time)
		case rollup.KeyFeature:
			features := d.stratum(of.Labels).features
			if features[part.Value] == nil {
				features[part.Value] = &rollup.Spread{}
			}
			features[part.Value].AddAll(&of.Time)
		}
	}
	for i := range x.Record.Functions {
		of := &x.Record.Functions[i]
		if !d.takes(of.Release) {
			continue
		}
		key := ReleasedFrame{}
		if byRelease {
			key.Release = of.Release
		}
		for k := range of.Of {
			f := &of.Of[k]
			key.Frame = x.Stacks.FrameOf(f.Frame)
			sum := d.functions[key]
			a := AmountOf(&f.Self)
			if !key.Own() {
				a.Product = f.Product() / 1e6
			}
			sum.amount = plus(sum.amount, a)
			sum.self += f.Self.Sum
			sum.total += float64(f.Total.Sum) / 1e3
			sum.reach += float64(f.Total.Count)
			d.functions[key] = sum
		}
	}
}

// stratum returns the stratum for page views with the given labels.
func (d *DaySums) stratum(l trie.Labels) *dayStratum {
	key := fmt.Sprintf("%q", KindOf(l))
	if d.strata[key] == nil {
		d.strata[key] = &dayStratum{features: map[string]*rollup.Spread{}}
	}
	return d.strata[key]
}

// plus returns the sum of two amounts. The sum of products is unknown if one of them has no
// product.
func plus(a, b compare.Amount) compare.Amount {
	out := compare.Amount{Seen: a.Seen + b.Seen, Sum: a.Sum + b.Sum, Squares: a.Squares + b.Squares,
		Product: a.Product + b.Product}
	if a.Sum > 0 && a.Product == 0 || b.Sum > 0 && b.Product == 0 {
		out.Product = 0
	}
	if a.Sum > 0 && a.Squares == 0 || b.Sum > 0 && b.Squares == 0 {
		out.Squares = 0
	}
	return out
}

// Day returns the day. Functions with the same name and place are merged.
func (d *DaySums) Day(name func(ReleasedFrame) trie.Frame) Day {
	out := Day{Day: d.at.UTC(), Strata: map[string]DayStratum{}, Versions: d.versions.Cells()}
	var all rollup.Spread
	for key, s := range d.strata {
		all.AddAll(&s.time)
		x := DayStratum{Views: float64(s.time.Count), Time: AmountOf(&s.time), Features: map[string]compare.Amount{}}
		for name, f := range s.features {
			x.Features[name] = AmountOf(f)
		}
		out.Strata[key] = x
	}
	out.Views, out.Time = float64(all.Count), AmountOf(&all)
	named := map[trie.Frame]functionDay{}
	for f, x := range d.functions {
		frame := name(f)
		sum := named[frame]
		named[frame] = functionDay{plus(sum.amount, x.amount), 0, sum.total + x.total, sum.reach + x.reach}
	}
	for _, f := range slices.SortedFunc(maps.Keys(named), trie.CompareFrames) {
		x := named[f]
		out.Functions = append(out.Functions, compare.Function{Frame: f, Self: []compare.Amount{x.amount},
			Total: x.total, Reach: x.reach})
	}
	return out
}
