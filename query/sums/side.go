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
	plain    bool   // devices and browsers are no strata
	hours    string // the stratum of what is added
	pages    bool   // pages are strata, in the place of browsers
	page     string // of what is added
	releases map[string]bool
	codes    map[trie.Frame]compare.Code // of functions; nil without symbols of both builds
	// otherPages are those whose strata were joined.
	otherPages map[string]bool
	sum        *rollup.Sum   // by stratum, and by release where names depend on it
	raw        *trie.Profile // of sum
	parts      *Functions    // of which whole is made
	whole      map[trie.Frame]compare.Amount
	all        compare.Amount // all time of the page views that whole is of; zero if unknown
	views      int64          // that whole is of
	totals     map[trie.Frame]trie.Function
	versions   Versions
}

// sideStratum is one kind of page views.
type sideStratum struct {
	labels    trie.Labels
	time      rollup.Spread
	features  map[string]*rollup.Spread
	parts     *Functions // of which functions are made; nil if they are known for the whole alone
	functions map[trie.Frame]compare.Amount
	self      map[trie.Frame]int64 // µs
	versions  map[string]float64   // page views by browser version
}

// NewSide returns a side without page views. plain has all of them in one stratum, whatever devices and browsers they are of; fits
// bounds its memory, see [rollup.Sum.Bound].
func NewSide(f Facet, n *naming.Naming, plain bool, fits func(int) error) *Side {
	s := &Side{Facet: f, naming: n, plain: plain, strata: map[string]*sideStratum{}, parts: NewFunctions(), versions: Versions{}}
	s.releases = map[string]bool{}
	s.sum = rollup.NewSum(func(cell trie.Labels) (trie.Labels, bool) { return s.group(cell), f.Selection.TakesCell(cell) })
	s.sum.Bound(fits)
	return s
}

// keyHours is the label of strata that are hours.
const keyHours = "hours"

// Hours makes what is added a stratum of its own by its time, "" for none.
func (s *Side) Hours(stratum string) { s.hours = stratum }

// Exact reports whether what is known of functions is that of what was asked for, without strata.
func (s *Side) Exact() bool { return len(s.strata) < 2 && s.Facet.TakesAnyFunctions() }

// ByPage makes each page a stratum of its own, by device: a comparison over all pages must not take
// other shares of pages for a change.
func (s *Side) ByPage() { s.pages = true }

// stratumOf returns the labels of the stratum for a label set: the device, and the browser without
// its version, since browsers update every few weeks, or the page.
// Of a concurrent comparison there are the hours, too.
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

// KindOf returns the labels of the kind of page view: its browser, without the version, and its device.
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

// pageKind returns the labels of the kind of page view where pages are strata.
func pageKind(page string, l trie.Labels) (out trie.Labels) {
	if v := l.Value(rollup.KeyDevice); v != "" {
		out = append(out, trie.Label{Key: rollup.KeyDevice, Value: v})
	}
	return append(out, trie.Label{Key: compare.KeyPage, Value: page})
}

// group returns the labels of the group that the time of a cell goes to.
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
		x = &sideStratum{labels: l, features: map[string]*rollup.Spread{}, self: map[trie.Frame]int64{}, versions: map[string]float64{}}
		s.strata[key] = x
	}
	return x
}

// Add adds a record. One that is alike is of page views with the same labels.
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

// addVersion adds a distribution to its browser version. Sides that are compared whatever their
// browsers are have no versions.
func (s *Side) addVersion(at *sideStratum, x store.Rolled, d *rollup.Distribution) {
	version := versionOf(d.Labels)
	if s.plain || version == "" {
		return
	}
	at.versions[version] += float64(d.Time.Count)
	s.versions.Add(x.Page, x.First, d.Labels, &d.Time)
}

// takesShape reports whether functions of a release tell how those that are asked for vary.
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

// See shows all functions to what names them, when all is added.
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

// finish takes what the sums say, with names, summed up to parts unless that is nil.
func (s *Side) finish(names *naming.Names, parts func(trie.Frame) trie.Frame, builds []edits.Edit, after bool) {
	p := names.Profile(s.raw, s.naming.ByRelease(), false)
	if len(builds) > 0 && parts == nil {
		s.codes = codes(p, builds, after)
	}
	if parts != nil {
		p = p.Fold(parts)
	}
	// Of a feature or phase the time of page views is another than that of the products.
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
		if frame.Own() { // which is in no time of a page view
			continue
		}
		total := s.totals[frame]
		f := compare.Function{Frame: frame, Total: float64(total.Total) / 1000, Reach: float64(total.Reach), Code: s.codes[frame]}
		f.Self = s.amounts(frame, at)
		out.Functions = append(out.Functions, f)
	}
	return out
}

// amounts returns the self time of a function in strata. Without squares nothing is known of how it
// varies, so that it raises no alarm.
func (s *Side) amounts(frame trie.Frame, strata []*sideStratum) []compare.Amount {
	parts := make([]compare.Part, len(strata))
	for i, x := range strata {
		parts[i] = compare.Part{Views: float64(x.time.Count), Self: float64(x.self[frame]) / 1e3, Time: AmountOf(&x.time)}
	}
	out := compare.Divide(s.whole[frame], s.all, float64(s.views), parts)
	for i, x := range strata {
		if a, ok := x.functions[frame]; ok {
			a.Seen = min(a.Seen, parts[i].Views) // that of a part is a sum
			out[i] = a
		}
	}
	return out
}

// Unsampled returns the share of the time that was not sampled, from 0 to 1.
func (s *Side) Unsampled() float64 {
	weights, c := s.raw.Flat()
	return c.UnsampledShare(output.SelfSum(weights))
}

// Input returns the input of a comparison of two sides that were shown to what gives the names, with
// functions summed up to parts unless that is nil. builds are the edits from the release of A to that
// of B, with the unchanged functions; nil if they are unknown.
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

// Lengths returns for how long page views of both sides were profiled on average, in µs, with B in the mix of A, and how many these are. It
// knows nothing of features and phases.
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

// lengths returns by stratum how long its page views were profiled together, in µs.
func (s *Side) lengths() map[string]float64 {
	out := map[string]float64{}
	for i := range s.raw.Groups {
		g := &s.raw.Groups[i]
		at := float64(g.Coverage.Stackless + g.Coverage.Unsampled)
		for _, w := range g.Weights.All() {
			at += float64(w.Self)
		}
		labels := slices.DeleteFunc(slices.Clone(g.Labels), func(l trie.Label) bool { return l.Key == rollup.KeyRelease })
		if s.otherPages[labels.Value(compare.KeyPage)] {
			labels = inOther(labels)
		}
		out[fmt.Sprintf("%q", labels)] += at
	}
	return out
}
