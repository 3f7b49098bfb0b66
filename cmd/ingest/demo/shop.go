package demo

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// The planted regression, which docs/demo.md describes.
const (
	Page     = "/products"   // on which the newest release is slower
	Function = "formatPrice" // the function that causes it
	Before   = "2.4.0"       // the release before it
	After    = "2.5.0"       // the newest one
)

// Views is the default number of profiled page views: the minimum for a comparison of each page.
const Views = 9500

// Summary describes the demo data.
const Summary = "This is a demo: recorded visits of a small shop, replayed over a week. Its release " + After +
	" made " + Function + " slow, most of all on " + Page + "."

// days is the number of days with visits.
const days = 7

// pages are the pages of the shop with their share of page views, in percent.
var pages = []struct {
	page  string
	share int
}{{"/", 21}, {"/products", 26}, {"/product/:id", 19}, {"/cart", 17}, {"/checkout", 17}}

// device is a class of devices with its slowdown relative to the recordings, and its share in
// percent.
type device struct {
	name    string
	stretch float64
	share   int
	agents  []string
}

// User agents of browsers with a profiler.
const (
	chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 " +
		"Safari/537.36"
	older = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) " +
		"Chrome/155.0.0.0 Safari/537.36"
	edge    = chrome + " Edg/156.0.0.0"
	android = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile " +
		"Safari/537.36"
	samsung = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/30.0 " +
		"Chrome/145.0.0.0 Mobile Safari/537.36"
)

// devices are the devices of visitors.
var devices = []device{
	{"desktop-high", 0.3, 30, []string{chrome, chrome, edge, older}},
	{"desktop-mid", 0.5, 24, []string{chrome, edge}},
	{"mobile-mid", 0.9, 28, []string{android, android, samsung}},
	{"mobile-low", 1.6, 18, []string{android}},
}

// connections are network types with the slowdown of responses relative to the recordings, and
// their share in percent.
var connections = []struct {
	name  string
	wait  float64
	share int
}{{"4g", 1, 80}, {"3g", 4, 20}}

// view is one page view of a visitor.
type view struct {
	at         time.Time
	page       string
	release    string
	device     device
	agent      string
	connection string
	stretch    float64 // slowdown relative to the recording
	wait       float64
	pick       int  // index of the page's recording
	profiled   bool // otherwise it reports Web Vitals for otherViews page views
}

// plan returns the page views of the days before now, ordered by time: profiled ones, and as many
// that report for unprofiled ones. It is deterministic for a given random source.
func plan(r *rand.Rand, now time.Time, views int) []view {
	out := make([]view, 0, 2*views)
	for len(out) < 2*views {
		ago := time.Duration(r.Float64() * days * float64(24*time.Hour))
		at := now.Add(-ago)
		if r.Float64() > awake(at)*(1-0.65*float64(ago)/float64(days*24*time.Hour)) { // traffic grows each day
			continue
		}
		d := devices[draw(r, len(devices), func(i int) int { return devices[i].share })]
		c := connections[draw(r, len(connections), func(i int) int { return connections[i].share })]
		out = append(out, view{
			at: at, page: pages[draw(r, len(pages), func(i int) int {
				return pages[i].share
			})].page, release: releaseAt(r, ago),
			device: d, agent: d.agents[r.IntN(len(d.agents))], connection: c.name,
			stretch: d.stretch * math.Exp(0.22*r.NormFloat64()), wait: c.wait * math.Exp(0.3*r.NormFloat64()),
			pick:     r.IntN(1 << 30),
			profiled: len(out)%2 == 0,
		})
	}
	slices.SortFunc(out, func(a, b view) int { return a.at.Compare(b.at) })
	return out
}

// awake is the relative traffic by time of day, with a minimum at 4:00 and a maximum at 16:00.
func awake(at time.Time) float64 {
	hour := float64(at.Hour()) + float64(at.Minute())/60
	return 0.6 - 0.4*math.Cos((hour-4)/24*2*math.Pi)
}

// releaseAt returns a random release for a visit of that age. Since yesterday, half of the visits
// have the newest release.
func releaseAt(r *rand.Rand, ago time.Duration) string {
	switch {
	case ago < 26*time.Hour && r.IntN(2) == 0:
		return After
	case ago < 96*time.Hour:
		return Before
	default:
		return "2.3.0"
	}
}

// draw returns a random index below n, weighted by percentages.
func draw(r *rand.Rand, n int, share func(i int) int) int {
	left := r.IntN(100)
	for i := range n {
		if left -= share(i); left < 0 {
			return i
		}
	}
	return n - 1
}
