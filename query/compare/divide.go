package compare

import "math"

// Part is what is known of a function in one of the strata of a whole: of how it varies there, nothing is.
type Part struct {
	Views float64
	Self  float64 // ms
	Time  Amount  // all of the page view
}

// Divide estimates how the time of a function varies in the strata of a whole of views page views,
// whose variance is known: whole is that of the function, time that of all of the page view.
//
// What the means of the strata leave of the variance is within them, as large a part of the square of each mean. A
// smaller mean can also come of fewer page views that have the function, which vary by more: a stratum has as
// few of them as its mean and the number of all page views without the function allow, so as not to raise
// alarms. The function and the rest of the page view correlate in each stratum as they do in all. If the parts are not all of
// the whole, the mean square of each is that of the whole scaled to its mean, in the larger of both ways, and
// products are unknown.
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
			out[i].Squares = p.Views * max(mean*whole.Squares/whole.Sum, mean*mean*views*whole.Squares/(whole.Sum*whole.Sum))
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

// within is how a function varies within strata.
type within struct {
	complete    bool    // the strata are all of the whole
	variance    float64 // divided by the square of the mean
	seen        float64 // share of the page views that have it
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

// relative returns the variance in a stratum divided by the square of its mean. mean is relative to that of the whole,
// share is that of the page views.
func (in *within) relative(mean, share float64) float64 {
	seen := max(in.seen*min(mean, 1), 1-(1-in.seen)/share)
	if seen <= 0 {
		return in.variance
	}
	// Of the views that have it, seen·(1 + variance) is the mean square divided by the square of the mean.
	return (1+in.variance)*in.seen/seen - 1
}

// covariance returns that of a function of variance x with all time of a stratum's page views.
func (in *within) covariance(x float64, time Amount, views float64) float64 {
	mean := time.Sum / views
	all := max(time.Squares/views-mean*mean, 0)
	// all = x + 2·correlation·√x·√rest + rest
	along := in.correlation * math.Sqrt(x)
	rest := max(math.Sqrt(max(along*along+all-x, 0))-along, 0) // its root
	return x + along*rest
}
