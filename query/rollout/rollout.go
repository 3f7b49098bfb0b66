// Package rollout decides which of several releases is the newest one, and which earlier release it
// is compared with. The dashboard, the commands and the watch all ask it.
package rollout

import (
	"slices"
	"time"
)

// MinViews is how many page views each of two releases needs for a verdict.
const MinViews = 100

// Together is the time within which two releases began at the same time: which of them sent a trace
// first is chance then.
const Together = time.Hour

// Release is what is known of the beginning of a release.
type Release struct {
	Name     string
	First    time.Time // its first trace
	Uploaded time.Time // the first upload of its symbols; zero if unknown
}

// deployed reports whether the upload belongs to the roll-out. Symbols that arrive later, such as
// symbols of an old release after a rollback, say nothing about the order.
func (r *Release) deployed() bool {
	return !r.Uploaded.IsZero() && r.Uploaded.Before(r.First.Add(Together))
}

// after reports whether r began after o. Two releases with uploads have the order of these, others
// that of their first traces. Unless these are an hour apart, the order of the versions is a guess,
// and sure is false.
func (r *Release) after(o *Release) (after, sure bool) {
	if r.deployed() && o.deployed() && !r.Uploaded.Equal(o.Uploaded) {
		return r.Uploaded.After(o.Uploaded), true
	}
	if d := r.First.Sub(o.First); d.Abs() >= Together {
		return d > 0, true
	}
	return CompareVersions(r.Name, o.Name) > 0, false
}

// Order is a release among others.
type Order struct {
	Release
	Earlier []Release // those that began before it
	// Tied are the versions, Release included and in their order, that began together with it, so
	// that which of them is newer is a guess. It is empty if the order is known.
	Tied []string
}

// Newest returns the release that was seen last for the first time. A release that comes back after
// a rollback began when it was first seen, and a hotfix of an older line is newer than the release
// that it replaces. ok is false without releases.
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

// At returns a release with those that began before it. ok is false if it is not one of all.
func At(all []Release, name string) (o Order, ok bool) {
	i := slices.IndexFunc(all, func(r Release) bool { return r.Name == name })
	if i < 0 {
		return o, false
	}
	return orderOf(&all[i], all), true
}

// latestUpload returns the release whose symbols were uploaded last, nil if there is none.
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

// latestTrace returns the release with the latest first trace, and the highest version of those that
// began together with that one; nil if there is none.
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

// Base returns the earlier release with the most page views, the later one of two with as many. It
// is empty if no earlier release has any.
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
