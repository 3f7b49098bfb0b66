package vital

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/query/sums"
)

// Page has the Web Vitals of a page, or of a group of its page views.
type Page struct {
	Page   string            `json:"page"`
	Labels map[string]string `json:"labels,omitempty"` // those of the group, if groups were asked for
	// Vitals are in the order of rollup.VitalKinds; those that nobody reported are not there. They have elements if one page was asked for.
	Vitals []Report `json:"vitals"`
}

// Of returns a Web Vital by its name, nil if nobody reported it.
func (p *Page) Of(name string) *Report {
	if i := slices.IndexFunc(p.Vitals, func(v Report) bool { return v.Name == name }); i >= 0 {
		return &p.Vitals[i]
	}
	return nil
}

// Report is a Web Vital over page views. Values are in the unit; intervals are those of 95 %.
type Report struct {
	Name string `json:"name"` // lcp, inp, cls, fcp or ttfb
	Unit string `json:"unit"` // ms, or score
	// Views are the page views that reported it, and PageViews those that these stand for.
	Views     int64         `json:"views"`
	PageViews int64         `json:"page_views"`
	P50       sums.Estimate `json:"p50"`
	P75       sums.Estimate `json:"p75"`
	P95       sums.Estimate `json:"p95"`
	Good      float64       `json:"good"` // share of the page views, from 0 to 1
	Poor      float64       `json:"poor"`
	Rating    string        `json:"rating"` // of P75: good, needs improvement or poor
	// Parts are what it is made up of, in order, as far as page views told: percentiles of parts do not add up.
	Parts []Part `json:"parts,omitempty"`
	// Elements are those that it is of in the most page views, [MostElements] at most, and MoreElements how many others there are. Page
	// views that are not known to be of one are in none.
	Elements     []Element `json:"elements,omitempty"`
	MoreElements int       `json:"more_elements,omitempty"`
}

// Part is a stretch of the time of a Web Vital, in ms.
type Part struct {
	Name      string        `json:"name"`  // as in rollup.VitalKind
	Views     int64         `json:"views"` // that told it
	PageViews int64         `json:"page_views"`
	P50       sums.Estimate `json:"p50"`
	P75       sums.Estimate `json:"p75"`
	P95       sums.Estimate `json:"p95"`
}

// Element is a Web Vital in those page views in which it is of one element.
type Element struct {
	Element   string        `json:"element"` // as in rollup.KeyElement
	Views     int64         `json:"views"`
	PageViews int64         `json:"page_views"`
	Share     float64       `json:"share"` // of all page views that reported the vital, from 0 to 1
	P75       sums.Estimate `json:"p75"`
	Poor      float64       `json:"poor"` // share of those of this element
	Rating    string        `json:"rating"`
	Parts     []Part        `json:"parts,omitempty"`
}

// MostElements is how many elements of a Web Vital are listed.
const MostElements = 10
