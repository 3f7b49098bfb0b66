// Package summary summarises the changes of a release on one page for reviewers: the verdict,
// budgets, pages, functions and Web Vitals, with links to details.
package summary

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

// Query is a query for a summary.
type Query struct {
	Compare   query.CompareQuery // selections A and B
	SideA     string             // names the sides, such as "release 2026.11.2"
	SideB     string
	Lab       bool // A is users and B a lab: a difference is not a change
	Pages     int  // maximum number of pages compared separately, B's most time first
	Functions int  // maximum number of listed functions
	Budgets   []budget.Status
	// Dashboard is the address of the dashboard, such as https://profiles.example.com:8419; without
	// it there are no links. Selection is the selection as parameters of its URLs.
	Dashboard string
	Selection url.Values
}

// Summary is the changes of a release.
type Summary struct {
	SideA     string           `json:"a"`
	SideB     string           `json:"b"`
	All       query.Comparison `json:"all"`
	Pages     []Page           `json:"pages,omitempty"` // B's pages with the most time, if no page is selected
	MorePages int              `json:"more_pages,omitempty"`
	Budgets   []budget.Status  `json:"budgets,omitempty"`

	lab       bool
	functions int
	dashboard string
	selection url.Values
}

// Page is the changes on a page.
type Page struct {
	Page string `json:"page"`
	query.Comparison
}

// Make asks a source. A side without page views is no error: All.Views tells.
func Make(ctx context.Context, src query.Source, q Query) (*Summary, error) {
	s := &Summary{SideA: q.SideA, SideB: q.SideB, Budgets: q.Budgets, lab: q.Lab, functions: q.Functions,
		dashboard: q.Dashboard, selection: q.Selection}
	var err error
	if s.All, err = src.Compare(ctx, q.Compare); err != nil {
		return nil, err
	}
	if q.Compare.B.Page != "" || s.All.Views.A == 0 || s.All.Views.B == 0 {
		return s, nil
	}
	sel := q.Compare.B
	sel.GroupBy = []string{"page"}
	series, err := src.Series(ctx, query.SeriesQuery{Selection: sel})
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	for i, g := range series.Groups {
		if i == q.Pages {
			s.MorePages = len(series.Groups) - i
			break
		}
		of := q.Compare
		of.A.Page, of.B.Page = g.Labels["page"], g.Labels["page"]
		of.Options.Functions = q.Functions
		c, err := src.Compare(ctx, of)
		if err != nil {
			return nil, fmt.Errorf("compare page %s: %w", g.Labels["page"], err)
		}
		s.Pages = append(s.Pages, Page{g.Labels["page"], c})
	}
	// Changed pages come first: they are why people read it.
	slices.SortStableFunc(s.Pages, func(a, b Page) int { return cmp.Compare(rank(a), rank(b)) })
	return s, nil
}

func rank(p Page) int {
	switch {
	case p.Enough && p.Total.Status.Alarm():
		return 0
	case p.Enough:
		return 1
	}
	return 2
}

// link returns the URL of a page of the dashboard, empty without one.
func (s *Summary) link(route string, more ...string) string {
	if s.dashboard == "" {
		return ""
	}
	v := url.Values{}
	for key, values := range s.selection {
		v[key] = values
	}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] != "" {
			v.Set(more[i], more[i+1])
		}
	}
	return s.dashboard + "/" + route + "?" + v.Encode()
}
