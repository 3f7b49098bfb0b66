package sums

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Side adds up one side of a comparison.
type Side struct {
	Facet    Facet
	strata   map[string]*sideStratum
	naming   *naming.Naming
	plain    bool   // no strata by device and browser
	hours    string // the hours stratum of added records
	pages    bool   // strata by page instead of browser
	page     string // of added records
	releases map[string]bool
	codes    map[trie.Frame]compare.Code // of functions; nil without symbols of both builds
	// otherPages lists the pages whose strata were joined.
	otherPages map[string]bool
	sum        *rollup.Sum   // by stratum, and by release where names depend on it
	raw        *trie.Profile // of sum
	parts      *Functions    // from which whole is built
	whole      map[trie.Frame]compare.Amount
	all        compare.Amount // total time of the page views in whole; zero if unknown
	views      int64          // number of page views in whole
	totals     map[trie.Frame]trie.Function
	versions   Versions
}

// sideStratum is one kind of page views.
type sideStratum struct {
	labels    trie.Labels
	time      rollup.Spread
	features  map[string]*rollup.Spread
	parts     *Functions // from which functions are built; nil if only the whole is known
	functions map[trie.Frame]compare.Amount
	self      map[trie.Frame]int64 // µs
	versions  map[string]float64   // page views by browser version
}

// NewSide returns an empty side. With plain, all page views are in one stratum, whatever their
// device and browser. fits limits the memory, see [rollup.Sum.Bound].
func NewSide(f Facet, n *naming.Naming, plain bool, fits func(int) error) *Side {
	s := &Side{Facet: f, naming: n, plain: plain, strata: map[string]*sideStratum{}, parts: NewFunctions(),
		versions: Versions{}}
	s.releases = map[string]bool{}
	s.sum = rollup.NewSum(func(cell trie.Labels) (trie.Labels, bool) {
		return s.group(cell), f.Selection.TakesCell(cell)
	})
	s.sum.Bound(fits)
	return s
}

// keyHours is the label of strata that are hours.
const keyHours = "hours"

// Hours sets the hours stratum for records added from now on; "" means none.
func (s *Side) Hours(stratum string) { s.hours = stratum }

// Exact reports whether functions are known exactly for the selection, without strata.
func (s *Side) Exact() bool { return len(s.strata) < 2 && s.Facet.TakesAnyFunctions() }

// ByPage puts each page into its own stratum, by device: in a comparison over all pages, a change
// in the shares of pages must not look like a change of their time.
func (s *Side) ByPage() { s.pages = true }

// stratumOf returns the labels of the stratum for a label set: the device, and either the browser
// without its version, because browsers update every few weeks, or the page. Concurrent comparisons
// add the hours.
func (s *Side) stratumOf(l trie.Labels) (out trie.Labels) {
	switch {
	case s.plain:
	case s.pages:
		out = pageKind(s.page, l)
	default:
		out = KindOf(l)
	}
	if s.hours != "" {
		out = append(out, trie.Label{Key: keyHours, Value: s.hours})
	}
	return out
}

// KindOf returns the labels of the kind of a page view: its browser, without the version, and its
// device.
func KindOf(l trie.Labels) (out trie.Labels) {
	if v := l.Value(rollup.KeyBrowser); v != "" {
		family, _, _ := strings.Cut(v, " ")
		out = append(out, trie.Label{Key: rollup.KeyBrowser, Value: family})
	}
	if v := l.Value(rollup.KeyDevice); v != "" {
		out = append(out, trie.Label{Key: rollup.KeyDevice, Value: v})
	}
	return out
}

// pageKind returns the labels of the kind of a page view if strata are by page.
func pageKind(page string, l trie.Labels) (out trie.Labels) {
	if v := l.Value(rollup.KeyDevice); v != "" {
		out = append(out, trie.Label{Key: rollup.KeyDevice, Value: v})
	}
	return append(out, trie.Label{Key: compare.KeyPage, Value: page})
}

// group returns the labels of the group for the time of a cell.
func (s *Side) group(cell trie.Labels) trie.Labels {
	l := s.stratumOf(cell)
	if release := cell.Value(rollup.KeyRelease); release != "" && s.naming.ByRelease() {
		l = append(l, trie.Label{Key: rollup.KeyRelease, Value: release}).Sort()
	}
	return l
}

func (s *Side) stratum(l trie.Labels) *sideStratum {
	key := fmt.Sprintf("%q", l)
	x := s.strata[key]
	if x == nil {
		x = &sideStratum{labels: l, features: map[string]*rollup.Spread{}, self: map[trie.Frame]int64{},
			versions: map[string]float64{}}
		s.strata[key] = x
	}
	return x
}

// Add adds a record. alike means that the record has the same labels as the one before.
func (s *Side) Add(x store.Rolled, alike bool) error {
	s.page = x.Page
	if err := s.sum.Add(x.Record, x.Stacks); err != nil {
		return err
	}
	taken := false
	var base trie.Labels
	for i := range x.Record.Distributions {
		d := &x.Record.Distributions[i]
		if PartOf(d) == (trie.Label{}) && s.takesShape(d.Labels.Value(rollup.KeyRelease)) {
			s.views += d.Time.Count
		}
		if !s.Facet.TakesBase(d) {
			continue
		}
		s.releases[d.Labels.Value(rollup.KeyRelease)] = true
		at := s.stratum(s.stratumOf(d.Labels))
		switch part := PartOf(d); {
		case s.Facet.TakesPart(part):
			at.time.AddAll(&d.Time)
			s.addVersion(at, x, d)
			taken, base = true, s.stratumOf(d.Labels)
		case part.Key == rollup.KeyFeature && s.Facet.Part == "":
			if at.features[part.Value] == nil {
				at.features[part.Value] = &rollup.Spread{}
			}
			at.features[part.Value].AddAll(&d.Time)
		}
	}
	for i := range x.Record.Functions {
		of := &x.Record.Functions[i]
		switch {
		case alike && taken && s.Facet.Part == "":
			s.stratum(base).addFunctions(of, x.Stacks, s.naming.ByRelease())
		case s.takesShape(of.Release):
			s.parts.Add(of, x.Stacks, s.naming.ByRelease())
		}
	}
	return nil
}

// addVersion adds a distribution to its browser version. Plain sides have no versions.
func (s *Side) addVersion(at *sideStratum, x store.Rolled, d *rollup.Distribution) {
	version := VersionOf(d.Labels)
	if s.plain || version == "" {
		return
	}
	at.versions[version] += float64(d.Time.Count)
	s.versions.Add(x.Page, x.First, d.Labels, &d.Time)
}

// takesShape reports whether the functions of a release have the variation of the selected
// functions.
func (s *Side) takesShape(release string) bool {
	for _, m := range s.Facet.Selection.Where {
		if m.Key == rollup.KeyRelease && !m.Takes(release) {
			return false
		}
	}
	return true
}

func (s *sideStratum) addFunctions(of *rollup.Functions, stacks *trie.Trie, byRelease bool) {
	if s.parts == nil {
		s.parts = NewFunctions()
	}
	s.parts.Add(of, stacks, byRelease)
}

// See passes all functions to the naming. The caller must have added all records.
func (s *Side) See() {
	s.raw = s.sum.Profile()
	if s.naming == nil {
		return
	}
	s.naming.SeeProfile(s.raw)
	s.parts.See(s.naming, true)
	for _, x := range s.strata {
		if x.parts != nil {
			x.parts.See(s.naming, true)
		}
	}
}

// finish builds the strata with named functions, grouped by parts unless it is nil.
func (s *Side) finish(names *naming.Names, parts func(trie.Frame) trie.Frame, builds []edits.Edit, after bool) {
	p := names.Profile(s.raw, s.naming.ByRelease(), false)
	if len(builds) > 0 && parts == nil {
		s.codes = codes(p, builds, after)
	}
	if parts != nil {
		p = p.Fold(parts)
	}
	// For a feature or phase, the time of page views is not the time in the products.
	known := s.Facet.Part == ""
	s.whole = s.parts.Named(names).Amounts(parts, known)
	if known {
		s.all = compare.Amount{Sum: float64(s.parts.Views.Sum) / 1e3, Squares: s.parts.Views.Squares() / 1e6}
	}
	for _, x := range s.strata {
		if x.parts != nil {
			x.functions = x.parts.Named(names).Amounts(parts, true)
		}
	}
	for i := range p.Groups {
		g := &p.Groups[i]
		at := s.stratum(g.Labels)
		for n, w := range g.Weights.All() {
			at.self[p.FrameOf(p.Nodes[n].Frame)] += w.Self
		}
	}
	s.totals = map[trie.Frame]trie.Function{}
	for _, f := range p.Functions() {
		s.totals[f.Frame] = f
	}
}

// input returns the side for the given strata. Times become milliseconds.
func (s *Side) input(strata []string) (out compare.Side) {
	out.Cells = s.versions.Cells()
	features := map[string]bool{}
	at := make([]*sideStratum, len(strata))
	for i, key := range strata {
		if at[i] = s.strata[key]; at[i] == nil {
			at[i] = &sideStratum{}
		}
		out.Views = append(out.Views, float64(at[i].time.Count))
		out.Time = append(out.Time, AmountOf(&at[i].time))
		out.Versions = append(out.Versions, at[i].versions)
		for name := range at[i].features {
			features[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(features)) {
		f := compare.Feature{Name: name}
		for _, x := range at {
			f.Time = append(f.Time, AmountOf(cmp.Or(x.features[name], &rollup.Spread{})))
		}
		out.Features = append(out.Features, f)
	}
	for _, frame := range slices.SortedFunc(maps.Keys(s.totals), trie.CompareFrames) {
		if frame.Own() { // the profiling script is not part of the time of a page view
			continue
		}
		total := s.totals[frame]
		f := compare.Function{Frame: frame, Total: float64(total.Total) / 1000, Reach: float64(total.Reach),
			Code: s.codes[frame]}
		f.Self = s.amounts(frame, at)
		out.Functions = append(out.Functions, f)
	}
	return out
}

// amounts returns the self time of a function by stratum. Without squares its variance is unknown,
// so it causes no alarm.
func (s *Side) amounts(frame trie.Frame, strata []*sideStratum) []compare.Amount {
	parts := make([]compare.Part, len(strata))
	for i, x := range strata {
		parts[i] = compare.Part{Views: float64(x.time.Count), Self: float64(x.self[frame]) / 1e3,
			Time: AmountOf(&x.time)}
	}
	out := compare.Divide(s.whole[frame], s.all, float64(s.views), parts)
	for i, x := range strata {
		if a, ok := x.functions[frame]; ok {
			a.Seen = min(a.Seen, parts[i].Views) // for a part, Seen is a sum
			out[i] = a
		}
	}
	return out
}

// Unsampled returns the share of the time without samples, from 0 to 1.
func (s *Side) Unsampled() float64 {
	weights, c := s.raw.Flat()
	return c.UnsampledShare(output.SelfSum(weights))
}

// Input returns the input of a comparison of two sides, after See on both. Functions are grouped by
// parts unless it is nil. builds are the edits from the release of A to the release of B, including
// unchanged functions, or nil if they are unknown.
func Input(a, b *Side, names *naming.Names, parts func(trie.Frame) trie.Frame, builds []edits.Edit) (in compare.Input) {
	a.finish(names, parts, builds, false)
	b.finish(names, parts, builds, true)
	if a.pages {
		foldPages(a, b)
	}
	strata := slices.Sorted(maps.Keys(a.strata))
	for s := range b.strata {
		if a.strata[s] == nil {
			strata = append(strata, s)
		}
	}
	slices.Sort(strata)
	for _, s := range strata {
		in.Strata = append(in.Strata, cmp.Or(a.strata[s], b.strata[s]).labels)
	}
	in.A, in.B = a.input(strata), b.input(strata)
	return in
}

// Lengths returns the average profiled time per page view of both sides in µs, with B adjusted to
// A's mix, and the number of these page views. Features and phases do not affect it.
func Lengths(a, b *Side) (length, views compare.Pair) {
	if a.Facet.Part != "" || b.Facet.Part != "" {
		return length, views
	}
	x, y := a.lengths(), b.lengths()
	for key, at := range a.strata {
		other := b.strata[key]
		if other == nil || at.time.Count == 0 || other.time.Count == 0 {
			continue
		}
		n, m := float64(at.time.Count), float64(other.time.Count)
		length.A, length.B = length.A+x[key], length.B+n*y[key]/m
		views.A, views.B = views.A+n, views.B+m
	}
	if views.A > 0 {
		length.A, length.B = length.A/views.A, length.B/views.A
	}
	return length, views
}

// lengths returns the total profiled time of the page views, by stratum, in µs.
func (s *Side) lengths() map[string]float64 {
	out := map[string]float64{}
	for i := range s.raw.Groups {
		g := &s.raw.Groups[i]
		at := float64(g.Coverage.Stackless + g.Coverage.Unsampled)
		for _, w := range g.Weights.All() {
			at += float64(w.Self)
		}
		labels := slices.DeleteFunc(slices.Clone(g.Labels), func(l trie.Label) bool {
			return l.Key == rollup.KeyRelease
		})
		if s.otherPages[labels.Value(compare.KeyPage)] {
			labels = inOther(labels)
		}
		out[fmt.Sprintf("%q", labels)] += at
	}
	return out
}
