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
	old           time.Time // before did, or the traffic that is known
}

const (
	hour = time.Hour
	day  = 24 * hour
	// newestShare is the share of the page views of the last hours that the newest release must have, and beginShare that
	// of a few hours from which on it is there: before, it was tried out.
	newestShare, beginShare = 0.1, 0.05
	recentHours             = 6
	recentViews             = 50 // page views of the last hours that tell a share; otherwise it is that of a day
)

// table is the traffic of a page by hour.
type table struct {
	hours []time.Time
	of    map[string][]float64 // by release
	all   []float64
	isOdd []bool
	// uploaded is when symbols of each release were first uploaded.
	uploaded map[string]time.Time
	least    float64 // page views of a release that is looked at
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

// views returns the page views of a release in [since, until).
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

// begin returns when a release began: the first hour from which on it had its share. known is false if it was there before
// the first hour of the traffic.
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

// share returns the share of a release of the latest page views, before now.
func (t *table) share(release string, now time.Time) float64 {
	since := now.Add(-recentHours * hour)
	if t.sum(t.all, since, now) < recentViews {
		since = now.Add(-day)
	}
	return t.views(release, since, now) / max(t.sum(t.all, since, now), 1)
}

// newest returns the newest release of those that have a share of the page views, and the one that had the most before it
// began. ok is false where there are not two, or too few page views.
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
	o.Earlier = nil // all that had page views before it, also those that began before the traffic that is known
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

// look is a look at a release.
type look struct {
	after time.Duration // its begin
	spent float64       // of the level of the release until then, at most
}

// looks returns when a release is looked at, and how much of its level is spent by then: most at a day or so, when a change of
// a few percent can be seen on a page with many visitors.
func looks() []look {
	return []look{{15 * hour, 0.2}, {18 * hour, 0.4}, {21 * hour, 0.6}, {24 * hour, 0.7}, {30 * hour, 0.77}, {36 * hour, 0.84}, {48 * hour, 0.89},
		{72 * hour, 0.93}, {120 * hour, 0.97}, {168 * hour, 1}}
}

// due returns the share of the level of a release that is to be spent now: 0 if no look is due. Each page has its own time
// between two looks, so that the pages of a site do not all take the same hour.
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

// spans returns the page views to compare, of after those in [since, now). Where both releases ran at once, as with a gradual
// rollout, these hours are compared, if they have not much fewer page views; otherwise the same hours of the day before, or of as
// many days as it takes. Hours with other traffic than usual are in neither span, as far as that is possible. ok is false if nothing is left.
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
	// A burst is many times the page views of other days at that hour, an outage a small part of them.
	burst, outage = 2.5, 0.3
	leastUsual    = 10 // page views of an hour that tell what is usual
)

// odd reports for each hour whether the traffic of the page is other than usual: bots, or an outage. What is usual is the median of
// the hours at that time of the day, and those beside them.
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

// usual returns the part of a span without odd hours that has the most page views.
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

// pairs returns how many page views a side are as good as these.
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
