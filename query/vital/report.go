package vital

import (
	"slices"

	"github.com/fieldtrie/fieldtrie/query/sums"
)

// Page holds the Web Vitals of a page, or of a group of its page views.
type Page struct {
	Page   string            `json:"page"`
	Labels map[string]string `json:"labels,omitempty"` // labels of the group, if the query has groups
	// Vitals lists the reported Web Vitals in the order of rollup.VitalKinds. They have elements if
	// the query is for one page.
	Vitals []Report `json:"vitals"`
}

// Of returns a Web Vital by name, or nil if no page view reported it.
func (p *Page) Of(name string) *Report {
	if i := slices.IndexFunc(p.Vitals, func(v Report) bool { return v.Name == name }); i >= 0 {
		return &p.Vitals[i]
	}
	return nil
}

// Report is a Web Vital over page views. Intervals are 95 % confidence intervals.
type Report struct {
	Name string `json:"name"` // lcp, inp, cls, fcp or ttfb
	Unit string `json:"unit"` // ms, or score
	// Views is the number of page views that reported it, and PageViews the number of page views
	// that these represent.
	Views     int64         `json:"views"`
	PageViews int64         `json:"page_views"`
	P50       sums.Estimate `json:"p50"`
	P75       sums.Estimate `json:"p75"`
	P95       sums.Estimate `json:"p95"`
	Good      float64       `json:"good"` // share of the page views, from 0 to 1
	Poor      float64       `json:"poor"`
	Rating    string        `json:"rating"` // of P75: good, needs improvement or poor
	// Parts lists the parts of the Web Vital in order, as far as page views reported them.
	// Percentiles of parts do not add up.
	Parts []Part `json:"parts,omitempty"`
	// Elements lists the elements with the most page views, at most [MostElements]. MoreElements is
	// the number of other elements. Page views without a known element are not included.
	Elements     []Element `json:"elements,omitempty"`
	MoreElements int       `json:"more_elements,omitempty"`
}

// Part is a part of the time of a Web Vital, in ms.
type Part struct {
	Name      string        `json:"name"`  // as in rollup.VitalKind
	Views     int64         `json:"views"` // that reported it
	PageViews int64         `json:"page_views"`
	P50       sums.Estimate `json:"p50"`
	P75       sums.Estimate `json:"p75"`
	P95       sums.Estimate `json:"p95"`
}

// Element holds a Web Vital over the page views in which it belongs to one element.
type Element struct {
	Element   string        `json:"element"` // as in rollup.KeyElement
	Views     int64         `json:"views"`
	PageViews int64         `json:"page_views"`
	Share     float64       `json:"share"` // of all page views that reported the vital, from 0 to 1
	P75       sums.Estimate `json:"p75"`
	Poor      float64       `json:"poor"` // share of the page views of this element
	Rating    string        `json:"rating"`
	Parts     []Part        `json:"parts,omitempty"`
}

// MostElements limits the listed elements of a Web Vital.
const MostElements = 10
