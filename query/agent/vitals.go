package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/vital"
)

type vitalsIn struct {
	Selection
}

type vitalsOut struct {
	Pages []vital.Page `json:"pages"`          // by page views
	More  int          `json:"more,omitempty"` // pages that are not listed
}

// mostVitalPages is the maximum number of listed pages.
const mostVitalPages = 20

func (t tools) vitals(ctx context.Context, in vitalsIn) (out vitalsOut, err error) {
	sel, err := t.selection(in.Selection)
	if err != nil {
		return out, err
	}
	got, err := t.Source.Vitals(ctx, sel)
	if err != nil {
		return out, err
	}
	n := min(len(got.Pages), mostVitalPages)
	for i := range got.Pages[:n] {
		p := &got.Pages[i]
		p.Page = name(p.Page)
		for _, v := range p.Vitals {
			for k := range v.Elements {
				v.Elements[k].Element = name(v.Elements[k].Element)
			}
		}
	}
	return vitalsOut{got.Pages[:n], len(got.Pages) - n}, nil
}

func (o vitalsOut) text() string {
	var b strings.Builder
	if len(o.Pages) == 0 {
		return "No Web Vitals were reported.\n"
	}
	_ = vital.WriteText(&b, terminal.Screen{}, o.Pages) // a builder never fails
	if o.More > 0 {
		fmt.Fprintf(&b, "%d more pages.\n", o.More)
	}
	if len(o.Pages) > 1 {
		b.WriteString("\nSelect one page to see the elements that caused LCP, INP and CLS.\n")
	} else {
		b.WriteString("\nFor code in an element's interactions use top_functions with the label interaction=ELEMENT; " +
			"before LCP: phase=before-lcp.\n")
	}
	return b.String()
}
