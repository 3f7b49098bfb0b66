package watch

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/rollout"
)

// shift is the step of a page from one release to the next.
type shift struct {
	page          string
	before, after string
	began         time.Time // after
	old           time.Time // begin of before, or of the known traffic
}

const (
	hour = time.Hour
	day  = 24 * hour
	// newestShare is the share that the newest release must have in the page views of the last
	// hours. beginShare is the share in a few hours that marks the begin of a release; earlier page
	// views are trials.
	newestShare, beginShare = 0.1, 0.05
	recentHours             = 6
	recentViews             = 50 // page views that the last hours need for a share; if fewer, the last day counts
)

// table holds the traffic of a page by hour.
type table struct {
	hours []time.Time
	of    map[string][]float64 // by release
	all   []float64
	isOdd []bool
	// uploaded is the time of the first upload of symbols, by release.
	uploaded map[string]time.Time
	least    float64 // page views that a release needs to be tested
}

func tableOf(t Traffic) table {
	out := table{of: map[string][]float64{}, uploaded: t.Uploaded}
	if len(t.Hours) == 0 {
		return out
	}
	first, last := t.Hours[0].Hour, t.Hours[len(t.Hours)-1].Hour
	n := int(last.Sub(first)/hour) + 1
	out.all = make([]float64, n)
	for i := range n {
		out.hours = append(out.hours, first.Add(time.Duration(i)*hour))
	}
	for _, h := range t.Hours {
		if out.of[h.Release] == nil {
			out.of[h.Release] = make([]float64, n)
		}
		i := int(h.Hour.Sub(first) / hour)
		out.of[h.Release][i] += float64(h.Views)
		out.all[i] += float64(h.Views)
	}
	return out
}

// views returns the page views of a release in the hours that start in [since, until).
func (t *table) views(release string, since, until time.Time) float64 {
	return t.sum(t.of[release], since, until)
}

func (t *table) sum(of []float64, since, until time.Time) (sum float64) {
	for i := range of {
		if h := t.hours[i]; !h.Before(since) && h.Before(until) {
			sum += of[i]
		}
	}
	return sum
}

// begin returns the begin of a release: the first hour from which it has beginShare. known is false
// if the release ran before the first hour of the traffic.
func (t *table) begin(release string) (began time.Time, known, ok bool) {
	of := t.of[release]
	for i := range of {
		until := t.hours[i].Add(3 * hour)
		if of[i] > 0 && t.views(release, t.hours[i], until) >= beginShare*t.sum(t.all, t.hours[i], until) {
			return t.hours[i], i > 0, true
		}
	}
	return time.Time{}, false, false
}

// share returns the share of a release in the latest page views before now.
func (t *table) share(release string, now time.Time) float64 {
	since := now.Add(-recentHours * hour)
	if t.sum(t.all, since, now) < recentViews {
		since = now.Add(-day)
	}
	return t.views(release, since, now) / max(t.sum(t.all, since, now), 1)
}

// newest returns the newest release among the releases with newestShare, and the release with the
// most page views before it began. ok is false if there are fewer than two, or too few page views.
func (t *table) newest(page string, now time.Time) (s shift, ok bool) {
	var all []rollout.Release
	for release := range t.of {
		if began, known, found := t.begin(release); found && known && t.share(release, now) >= newestShare {
			all = append(all, rollout.Release{Name: release, First: began, Uploaded: t.uploaded[release]})
		}
	}
	o, ok := rollout.Newest(all)
	s = shift{page: page, after: o.Name, began: o.First}
	if !ok || t.views(s.after, s.began, now) < t.least {
		return s, false
	}
	o.Earlier = nil // includes releases that began before the known traffic
	for release, of := range t.of {
		if i := slices.IndexFunc(of, func(views float64) bool { return views > 0 }); i >= 0 && release != s.after {
			o.Earlier = append(o.Earlier, rollout.Release{Name: release, First: t.hours[i]})
		}
	}
	s.before = o.Base(func(release string) int64 { return int64(t.views(release, s.began.Add(-day), s.began)) })
	if s.before == "" {
		return s, false
	}
	s.old, _, _ = t.begin(s.before)
	return s, t.views(s.before, s.began.Add(-week), s.began) >= t.least
}

const week = 7 * day

// look is the time of one test of a release.
type look struct {
	after time.Duration // the begin of the release
	spent float64       // largest share of the release's level used so far
}

// looks returns the times of the tests of a release, and how much of its level is used by then.
// Most of the level is used after about a day, when a change of a few percent becomes visible on a
// page with many visitors.
func looks() []look {
	return []look{{15 * hour, 0.2}, {18 * hour, 0.4}, {21 * hour, 0.6}, {24 * hour, 0.7}, {30 * hour, 0.77},
		{36 * hour, 0.84}, {48 * hour, 0.89},
		{72 * hour, 0.93}, {120 * hour, 0.97}, {168 * hour, 1}}
}

// due returns the share of the release's level for a test now, or 0 if none is due. The interval
// between tests varies by page, so that the pages of a site are not all tested in the same hour.
func (s shift) due(looked, now time.Time) float64 {
	h := fnv.New32a()
	h.Write([]byte(s.page))
	part := float64(h.Sum32()%1024) / 1024
	done, spent := 0.0, 0.0
	all := looks()
	for i, l := range all {
		next := all[min(i+1, len(all)-1)].after
		at := s.began.Add(l.after + time.Duration(part*float64(next-l.after)))
		if !looked.Before(at) {
			done = l.spent
		}
		if !now.Before(at) {
			spent = l.spent
		}
	}
	return spent - done
}

// spans returns the page views to compare, for the newer release in [since, now). If both releases
// ran at the same time, as in a gradual rollout, it selects these hours unless they have far fewer
// page views. Otherwise it selects the same hours of the day before, or of as many days as
// necessary. Hours with unusual traffic are left out as far as possible. ok is false if no hours
// remain.
func (s shift) spans(t *table, since, now time.Time) (before, after Span, atOnce, ok bool) {
	after = t.usual(Span{s.after, since, now})
	days := int((after.Until.Sub(s.began) + day - 1) / day)
	for days < 7 && t.views(s.before, s.began.Add(-time.Duration(days)*day), s.began) < t.least {
		days++
	}
	for more := range 7 {
		back := time.Duration(days+more) * day
		before = Span{s.before, after.Since.Add(-back), after.Until.Add(-back)}
		if before.Since.After(s.began.Add(-day)) || t.views(s.before, before.Since, before.Until) < t.least {
			before.Since, before.Until = s.began.Add(-back), s.began
		}
		if before = t.usual(before); t.views(s.before, before.Since, before.Until) >= t.least {
			break
		}
	}
	together := Span{s.before, after.Since, after.Until}
	beside, apart := pairs(t, together, after), pairs(t, before, after)
	if beside >= apart/2 && beside > 0 {
		return together, after, true, true
	}
	return before, after, false, apart > 0
}

const (
	// A burst has many times the page views of other days at that hour, an outage a small part of
	// them.
	burst, outage = 2.5, 0.3
	leastUsual    = 10 // page views per hour needed for a usual value
)

// odd reports for each hour whether the traffic of the page is unusual: bots, or an outage. The
// usual value is the median over the same and the adjacent hours of other days.
func (t *table) odd() []bool {
	if t.isOdd != nil {
		return t.isOdd
	}
	t.isOdd = make([]bool, len(t.all))
	var of []float64
	for i := range t.all {
		of = of[:0]
		for k := i % 24; k < len(t.all); k += 24 {
			for n := max(k-1, 0); n <= min(k+1, len(t.all)-1); n++ {
				if k != i {
					of = append(of, t.all[n])
				}
			}
		}
		if usual := median(of); len(of) >= 6 && usual >= leastUsual {
			t.isOdd[i] = t.all[i] > burst*usual || t.all[i] < outage*usual
		}
	}
	return t.isOdd
}

// usual returns the part of a span without unusual hours that has the most page views.
func (t *table) usual(x Span) Span {
	odd := t.odd()
	best, most, from := x, -1.0, x.Since
	take := func(until time.Time) {
		if v := t.views(x.Release, from, until); until.After(from) && v > most {
			best, most = Span{x.Release, from, until}, v
		}
	}
	for i, h := range t.hours {
		if odd[i] && !h.Before(x.Since) && h.Before(x.Until) {
			take(h)
			from = h.Add(hour)
		}
	}
	take(x.Until)
	return best
}

// pairs returns the size of two equal samples with the same statistical power as before and after.
func pairs(t *table, before, after Span) float64 {
	a, b := 0.0, t.views(after.Release, after.Since, after.Until)
	if before.Since.Equal(after.Since) {
		both := 0.0
		for i, h := range t.hours {
			if h.Before(after.Since) || !h.Before(after.Until) {
				continue
			}
			if x, y := at0(t.of[before.Release], i), at0(t.of[after.Release], i); x >= 30 && y >= 30 {
				both += x * y / (x + y)
			}
		}
		return both
	}
	a = t.views(before.Release, before.Since, before.Until)
	return a * b / max(a+b, 1)
}

func at0(v []float64, i int) float64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}
