// Package stretch finds time ranges, called stretches, in which both sides of a comparison have
// enough page views, so that a difference between times of day does not look like a change.
package stretch

import (
	"math"
	"slices"
	"time"
)

const (
	// Longest is the maximum common time in a comparison; the latest hours count.
	Longest = 14 * 24 * time.Hour
	// Enough is the number of page views that both sides need in a stretch.
	Enough = 30
	// mostStrata limits the strata, because each needs page views of all devices and browsers.
	mostStrata = 8
	// similar is the maximum factor between the ratios of A to B in two parts of a pooled stretch.
	// If the factor is larger, and also significant, the sides have their page views at different
	// times of the stretch.
	similar, sigmas = 2, 3
)

// lengths lists the lengths of stretches, in the order in which they are tried. Weeks begin on
// Mondays.
func lengths() []time.Duration {
	const hour = time.Hour
	return []time.Duration{hour, 2 * hour, 4 * hour, 8 * hour, 24 * hour, 7 * 24 * hour}
}

// Hour holds the number of page views of both sides in the hour that begins at Time.
type Hour struct {
	Time time.Time
	A, B int64
}

// Stretch is a time range of a comparison, and the stratum of its page views. A zero time means no
// limit. The empty stratum means none.
type Stretch struct {
	Since, Until time.Time
	Stratum      string
}

// Common returns the latest hours in which both sides have page views, in order.
func Common(a, b map[time.Time]int64) (hours []Hour) {
	for at, n := range a {
		if m := b[at]; n > 0 && m > 0 {
			hours = append(hours, Hour{at.UTC(), n, m})
		}
	}
	slices.SortFunc(hours, func(x, y Hour) int { return x.Time.Compare(y.Time) })
	return hours[max(0, len(hours)-int(Longest/time.Hour)):]
}

// Sum returns the page views of both sides.
func Sum(hours []Hour) (a, b int64) {
	for _, h := range hours {
		a, b = a+h.A, b+h.B
	}
	return a, b
}

// Pool returns the stretches in which both sides have enough page views, as lists of hours. Each
// hour belongs to the shortest possible stretch, aligned to the clock in UTC. Hours without a
// stretch are left out.
func Pool(hours []Hour, enough int64) (pools [][]Hour) {
	for _, length := range lengths() {
		var rest []Hour
		for len(hours) > 0 {
			n, at := 1, hours[0].Time.Truncate(length)
			for n < len(hours) && hours[n].Time.Truncate(length).Equal(at) {
				n++
			}
			if a, b := Sum(hours[:n]); min(a, b) >= enough && alike(hours[:n]) {
				pools = append(pools, hours[:n])
			} else {
				rest = append(rest, hours[:n]...)
			}
			hours = hours[n:]
		}
		hours = rest
	}
	slices.SortFunc(pools, func(x, y []Hour) int { return x[0].Time.Compare(y[0].Time) })
	return pools
}

// alike reports whether the ratio of A to B is about the same in both halves of the page views, or
// differs only randomly, and recursively within the halves.
func alike(hours []Hour) bool {
	if len(hours) < 2 {
		return true
	}
	a, b := Sum(hours)
	half := 1
	for n, m := Sum(hours[:1]); half < len(hours)-1 && 2*(n+m) < a+b; half++ {
		n, m = n+hours[half].A, m+hours[half].B
	}
	a1, b1 := Sum(hours[:half])
	x := [4]float64{float64(a1), float64(b - b1), float64(b1), float64(a - a1)}
	factor := math.Abs(math.Log(x[0] * x[1] / x[2] / x[3]))
	chance := sigmas * math.Sqrt(1/x[0]+1/x[1]+1/x[2]+1/x[3])
	return factor <= max(math.Log(similar), chance) && alike(hours[:half]) && alike(hours[half:])
}

// Join combines stretches into strata with about the same number of page views, and returns their
// time in order. A stratum may have gaps.
func Join(pools [][]Hour) (out []Stretch) {
	size := func(pool []Hour) int64 { a, b := Sum(pool); return min(a, b) }
	var total, before int64
	for _, p := range pools {
		total += size(p)
	}
	stratum, number := "", int64(-1)
	for _, p := range pools {
		if n := before * mostStrata / total; n != number {
			stratum, number = "from "+p[0].Time.Format("2006-01-02 15:04"), n
		}
		for _, h := range p {
			out = append(out, Stretch{h.Time, h.Time.Add(time.Hour), stratum})
		}
		before += size(p)
	}
	slices.SortFunc(out, func(x, y Stretch) int { return x.Since.Compare(y.Since) })
	joined := out[:0]
	for _, x := range out {
		if last := len(joined) - 1; last >= 0 && joined[last].Stratum == x.Stratum &&
			joined[last].Until.Equal(x.Since) {
			joined[last].Until = x.Until
		} else {
			joined = append(joined, x)
		}
	}
	return joined
}

// Within returns the parts of stretches in [since, until), which may begin or end within an hour. A
// zero time means no limit.
func Within(all []Stretch, since, until time.Time) (out []Stretch) {
	for _, x := range all {
		if since.After(x.Since) {
			x.Since = since
		}
		if !until.IsZero() && until.Before(x.Until) {
			x.Until = until
		}
		out = append(out, x)
	}
	return out
}
