package rollup

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Spread is the distribution of a quantity over page views, in µs.
type Spread struct {
	Moments
	Histogram Histogram
}

func (s *Spread) add(v, sign int64) {
	s.Moments.Add(v, sign)
	s.Histogram.Add(v, sign)
}

// AddAll adds the page views of o.
func (s *Spread) AddAll(o *Spread) {
	s.Moments.AddAll(o.Moments)
	s.Histogram.AddAll(&o.Histogram)
}

// Quantile returns quantile q, from 0 to 1, like [Histogram.Quantile]. It is exact for one or two
// values and for equal values, where buckets are not.
func (s *Spread) Quantile(q float64) float64 {
	n := float64(s.Count)
	if n <= 0 {
		return s.Histogram.Quantile(q)
	}
	mean := float64(s.Sum) / n
	switch variance := s.Squares()/n - mean*mean; {
	case variance <= 1e-12*mean*mean:
		return mean
	case s.Count == 2 && Rank(q, 2) == 0:
		return mean - math.Sqrt(variance)
	case s.Count == 2:
		return mean + math.Sqrt(variance)
	}
	return s.Histogram.Quantile(q)
}

func (s *Spread) isZero() bool {
	return s.Moments == Moments{} && !slices.ContainsFunc(s.Histogram.buckets, func(b bucket) bool {
		return b.count != 0
	})
}

// size returns the size of s in bytes.
func (s *Spread) size() int {
	return int(unsafe.Sizeof(*s)) + len(s.Histogram.buckets)*int(unsafe.Sizeof(bucket{}))
}

// Distribution describes how page views with the same labels differ. The labels do not change
// during a view. One feature or one phase may be added; the times are then limited to it.
type Distribution struct {
	Labels trie.Labels
	Time   Spread // time with a stack, without the profiling script, see [Own]
	Long   Spread // part of Time in long tasks: 50 ms and more without a pause
	// Population is the number of page views that the sampled ones represent: the sum of 1/share,
	// in thousandths. PopulationSquares is the sum of its squares, in thousandths.
	Population, PopulationSquares int64
}

func (d *Distribution) add(time, long, weight, sign int64) {
	d.Time.add(time, sign)
	d.Long.add(long, sign)
	d.Population += sign * weight
	d.PopulationSquares += sign * (weight * weight / 1000)
}

// AddAll adds o, without its labels.
func (d *Distribution) AddAll(o *Distribution) {
	d.Time.AddAll(&o.Time)
	d.Long.AddAll(&o.Long)
	d.Population += o.Population
	d.PopulationSquares += o.PopulationSquares
}

func (d *Distribution) isZero() bool {
	return d.Population == 0 && d.PopulationSquares == 0 && d.Time.isZero() && d.Long.isZero()
}

// Function is the distribution of a function's time over page views. Only views with the function
// in a sampled stack count.
type Function struct {
	Frame trie.FrameID // of the stack table
	Self  Spread
	Total Spread // including callees; recursion counts once

	beside product
}

// add adds a page view with this self and total time of the function, and with all time of the
// view.
func (f *Function) add(self, total, all, sign int64) {
	f.Self.add(self, sign)
	f.Total.add(total, sign)
	f.beside.add(self, all, sign)
}

// AddAll adds the page views of o. The frame of f stays, whatever the frame of o is.
func (f *Function) AddAll(o *Function) {
	f.Self.AddAll(&o.Self)
	f.Total.AddAll(&o.Total)
	f.beside.addAll(o.beside)
}

// isZero reports whether f has no data. Additional time of a page view may be in other functions;
// then only the product changes.
func (f *Function) isZero() bool { return f.Self.isZero() && f.Total.isZero() && f.beside == product{} }

// Product returns the sum over page views of self time × all time with a stack of the view, in µs².
func (f *Function) Product() float64 { return f.beside.value() }

// Rest is the sum of the functions without their own distribution.
type Rest struct {
	Functions int64 // number, added up over records: some may count more than once
	Self      int64 // µs
	Reach     int64 // added up over functions
}

// Add adds o. A function in both counts twice.
func (r *Rest) Add(o Rest) {
	r.Functions += o.Functions
	r.Self += o.Self
	r.Reach += o.Reach
}

// functions are the functions of one release.
type functions struct {
	views Moments     // all time with a stack of its page views
	dense []*Function // by frame; nil if there are too many releases
	of    map[trie.FrameID]*Function
	rest  Rest
}

// denseReleases is the number of releases of a record whose functions are also indexed by frame.
// There may be thousands of releases, and a table has many frames.
const denseReleases = 4

func (b *Builder) functionsOf(release string) *functions {
	f := b.functions[release]
	if f == nil {
		f = &functions{of: map[trie.FrameID]*Function{}}
		if len(b.functions) < denseReleases {
			f.dense = []*Function{}
		}
		b.functions[release] = f
	}
	return f
}

// function returns a function of a release. The pointer is valid until the next call.
func (b *Builder) function(release string, frame trie.FrameID) *Function {
	s := b.functionsOf(release)
	if int(frame) < len(s.dense) && s.dense[frame] != nil {
		return s.dense[frame]
	}
	f := s.of[frame]
	if f == nil {
		if b.told >= b.lim.AllFunctions {
			b.shed()
		}
		f = &Function{Frame: frame}
		s.of[frame] = f
		b.told++
	}
	if s.dense != nil {
		s.dense = extended(s.dense, int(frame)+1)
		s.dense[frame] = f
	}
	return f
}

// shed adds the lightest half of the functions to the rest of their release. Subtracted time counts
// by its absolute value.
func (b *Builder) shed() {
	type told struct {
		*Function
		release string
	}
	all := make([]told, 0, b.told)
	for release, s := range b.functions {
		for _, f := range s.of {
			all = append(all, told{f, release})
		}
	}
	slices.SortFunc(all, func(a, b told) int {
		return cmp.Or(cmp.Compare(a.weight(), b.weight()), cmp.Compare(a.release, b.release),
			cmp.Compare(a.Frame, b.Frame))
	})
	for _, f := range all[:(len(all)+1)/2] {
		s := b.functions[f.release]
		s.rest.Add(f.rest())
		delete(s.of, f.Frame)
		if int(f.Frame) < len(s.dense) {
			s.dense[f.Frame] = nil
		}
		b.told--
	}
}

// weight orders functions by importance.
func (f *Function) weight() int64 { return max(f.Self.Sum, -f.Self.Sum) }

// rest returns f's contribution to the rest.
func (f *Function) rest() Rest { return Rest{1, f.Self.Sum, f.Total.Count} }
