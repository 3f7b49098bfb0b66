// Package rollout determines the newest release, and the earlier release to compare it with. The
// dashboard, the commands and the watch all use it.
package rollout

import (
	"slices"
	"time"
)

// MinViews is the number of page views that each of two releases needs for a verdict.
const MinViews = 100

// Together is the time within which two releases count as simultaneous: which of them sent a trace
// first is then random.
const Together = time.Hour

// Release describes the begin of a release.
type Release struct {
	Name     string
	First    time.Time // its first trace
	Uploaded time.Time // the first upload of its symbols; zero if unknown
}

// deployed reports whether the upload belongs to the rollout. Symbols that arrive later, such as
// symbols of an old release after a rollback, are no evidence of the order.
func (r *Release) deployed() bool {
	return !r.Uploaded.IsZero() && r.Uploaded.Before(r.First.Add(Together))
}

// after reports whether r began after o. If both have uploads, the order of the uploads counts,
// otherwise the order of the first traces. If the traces are less than an hour apart, the order of
// the versions is a guess, and sure is false.
func (r *Release) after(o *Release) (after, sure bool) {
	if r.deployed() && o.deployed() && !r.Uploaded.Equal(o.Uploaded) {
		return r.Uploaded.After(o.Uploaded), true
	}
	if d := r.First.Sub(o.First); d.Abs() >= Together {
		return d > 0, true
	}
	return CompareVersions(r.Name, o.Name) > 0, false
}

// Order is a release with the releases before it.
type Order struct {
	Release
	Earlier []Release // releases that began before it
	// Tied lists the versions that began together with Release, in order and including it, so that
	// the newest of them is a guess. It is empty if the order is known.
	Tied []string
}

// Newest returns the release whose first appearance is the latest. A release that returns after a
// rollback keeps its first appearance, and a hotfix of an older line is newer than the release that
// it replaces. ok is false if there are no releases.
func Newest(all []Release) (o Order, ok bool) {
	if len(all) == 0 {
		return o, false
	}
	var uploaded, others []Release
	for _, r := range all {
		if r.deployed() {
			uploaded = append(uploaded, r)
		} else {
			others = append(others, r)
		}
	}
	newest := latestUpload(uploaded)
	if r := latestTrace(others); newest == nil {
		newest = r
	} else if r != nil {
		if after, _ := r.after(newest); after {
			newest = r
		}
	}
	return orderOf(newest, all), true
}

// At returns the given release with the releases that began before it. ok is false if all does not
// contain it.
func At(all []Release, name string) (o Order, ok bool) {
	i := slices.IndexFunc(all, func(r Release) bool { return r.Name == name })
	if i < 0 {
		return o, false
	}
	return orderOf(&all[i], all), true
}

// latestUpload returns the release whose symbols were uploaded last, or nil if there are no
// uploads.
func latestUpload(of []Release) (newest *Release) {
	for i := range of {
		if newest == nil {
			newest = &of[i]
		} else if after, _ := of[i].after(newest); after {
			newest = &of[i]
		}
	}
	return newest
}

// latestTrace returns the release with the latest first trace or, if several began together, the
// one with the highest version. It returns nil if there are no traces.
func latestTrace(of []Release) (newest *Release) {
	if len(of) == 0 {
		return nil
	}
	last := slices.MaxFunc(of, func(a, b Release) int { return a.First.Compare(b.First) })
	for i := range of {
		together := last.First.Sub(of[i].First) < Together
		if together && (newest == nil || CompareVersions(of[i].Name, newest.Name) > 0) {
			newest = &of[i]
		}
	}
	return newest
}

func orderOf(r *Release, all []Release) Order {
	o := Order{Release: *r}
	for i := range all {
		if all[i].Name == r.Name {
			continue
		}
		after, sure := r.after(&all[i])
		if after {
			o.Earlier = append(o.Earlier, all[i])
		}
		if !sure {
			o.Tied = append(o.Tied, all[i].Name)
		}
	}
	if len(o.Tied) > 0 {
		o.Tied = append(o.Tied, r.Name)
		slices.SortFunc(o.Tied, CompareVersions)
	}
	return o
}

// Base returns the earlier release with the most page views; of two with the same number, the later
// one. It returns "" if no earlier release has page views.
func (o *Order) Base(views func(release string) int64) string {
	var base *Release
	most := int64(0)
	for i := range o.Earlier {
		r := &o.Earlier[i]
		n := views(r.Name)
		if n == 0 || n < most {
			continue
		}
		if n == most && base != nil {
			if after, _ := r.after(base); !after {
				continue
			}
		}
		base, most = r, n
	}
	if base == nil {
		return ""
	}
	return base.Name
}
