package compare

import "math"

// Part is the time of a function in one stratum of a whole. Its variance there is unknown.
type Part struct {
	Views float64
	Self  float64 // ms
	Time  Amount  // all of the page view
}

// Divide estimates the variance of a function in the strata of a whole of views page views. whole
// is the function's time over all strata, with its variance, and time the total time of the page
// views.
//
// The variance between the means of the strata is subtracted. The rest is variance within the
// strata, proportional to the square of each mean. A smaller mean may also result from fewer page
// views with the function, which increases the relative variance: to avoid false alarms, a stratum
// has as few of them as its mean and the number of all page views without the function allow. The
// correlation between the function and the rest of the page view is the same in each stratum as
// overall. If the parts do not add up to the whole, the mean square of each is the mean square of
// the whole scaled to its mean, by the larger of both methods, and products are unknown.
func Divide(whole, time Amount, views float64, parts []Part) []Amount {
	out := make([]Amount, len(parts))
	in := withinOf(whole, time, views, parts)
	for i, p := range parts {
		out[i] = Amount{Sum: p.Self}
		if p.Self == whole.Sum && p.Views == views {
			out[i] = whole
			continue
		}
		if p.Self == 0 || p.Views == 0 || whole.Sum <= 0 {
			continue
		}
		mean := p.Self / p.Views
		out[i].Seen = min(p.Views, whole.Seen*p.Self/whole.Sum)
		if whole.Squares <= 0 {
			continue
		}
		if !in.complete {
			out[i].Squares = p.Views * max(mean*whole.Squares/whole.Sum,
				mean*mean*views*whole.Squares/(whole.Sum*whole.Sum))
			continue
		}
		x := mean * mean * in.relative(mean*views/whole.Sum, p.Views/views)
		out[i].Squares = p.Views * (mean*mean + x)
		if whole.Product > 0 && time.Squares > 0 {
			out[i].Product = max(p.Views*in.covariance(x, p.Time, p.Views)+p.Self*p.Time.Sum/p.Views, out[i].Squares)
		}
	}
	return out
}

// within is the variation of a function within strata.
type within struct {
	complete    bool    // the strata add up to the whole
	variance    float64 // divided by the square of the mean
	seen        float64 // share of the page views with the function
	correlation float64 // with the rest of the page view
}

func withinOf(whole, time Amount, views float64, parts []Part) (in within) {
	if whole.Sum <= 0 || views < 2 {
		return in
	}
	x, rest := whole.Sum/views, (time.Sum-whole.Sum)/views
	ofX := whole.Squares/views - x*x
	ofRest := (time.Squares-2*whole.Product+whole.Squares)/views - rest*rest
	covariance := (whole.Product-whole.Squares)/views - x*rest
	var all, squares float64
	for _, p := range parts {
		if all += p.Views; p.Views == 0 {
			continue
		}
		mean, share := p.Self/p.Views, p.Views/views
		dx, dr := mean-x, (p.Time.Sum-p.Self)/p.Views-rest
		ofX, ofRest, covariance = ofX-share*dx*dx, ofRest-share*dr*dr, covariance-share*dx*dr
		squares += share * mean * mean
	}
	in.complete = all == views
	in.seen = min(whole.Seen/views, 1)
	if squares > 0 {
		in.variance = max(ofX, 0) / squares
	}
	if ofX > 0 && ofRest > 0 {
		in.correlation = min(max(covariance/math.Sqrt(ofX*ofRest), -1), 1)
	}
	return in
}

// relative returns the variance in a stratum divided by the square of its mean. mean is relative to
// the mean of the whole. share is the stratum's share of the page views.
func (in *within) relative(mean, share float64) float64 {
	seen := max(in.seen*min(mean, 1), 1-(1-in.seen)/share)
	if seen <= 0 {
		return in.variance
	}
	// Among views with the function, the mean square divided by the square of the mean is seen·(1 +
	// variance).
	return (1+in.variance)*in.seen/seen - 1
}

// covariance returns the covariance of a function with variance x and the total time of a stratum's
// page views.
func (in *within) covariance(x float64, time Amount, views float64) float64 {
	mean := time.Sum / views
	all := max(time.Squares/views-mean*mean, 0)
	// all = x + 2·correlation·√x·√rest + rest
	along := in.correlation * math.Sqrt(x)
	rest := max(math.Sqrt(max(along*along+all-x, 0))-along, 0) // its root
	return x + along*rest
}
