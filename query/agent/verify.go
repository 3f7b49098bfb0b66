package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/verdict"
)

type verifyIn struct {
	Change  string `json:"change" jsonschema:"the id of a change from changes"`
	Release string `json:"release,omitempty" jsonschema:"the release with the fix; without it all page views of the last day"`
}

type verifyOut struct {
	Verdict string   `json:"verdict"` // a [verdict.Repair]
	What    string   `json:"what"`
	Page    string   `json:"page"`
	Reason  string   `json:"reason"`
	Before  float64  `json:"before_ms"` // before the change
	Now     float64  `json:"now_ms"`
	Views   float64  `json:"views"`                   // page views of the release
	Missing float64  `json:"missing_views,omitempty"` // approximate number of further page views needed
	Notes   []string `json:"notes,omitempty"`
}

func (t tools) verify(ctx context.Context, in verifyIn) (out verifyOut, err error) {
	c, err := t.change(ctx, in.Change)
	if err != nil {
		return out, err
	}
	q, err := verdict.Before(&c.Change, in.Release, t.Now())
	if err != nil {
		return out, fmt.Errorf("release: %w", err)
	}
	got, err := t.Source.Compare(ctx, q)
	if err != nil {
		return out, err
	}
	if in.Release != "" && got.Views.B == 0 {
		return out, fmt.Errorf("release: %w", t.nothing(ctx, q.B))
	}
	m := verdict.OfMending(&c.Change, &got)
	out = verifyOut{Verdict: string(m.Repair), What: name(changes.Text(c.What)), Page: name(c.Pages[0].Page),
		Reason: name(m.Reason), Views: got.Views.B, Missing: rounded(m.Missing)}
	for _, w := range got.Warnings {
		out.Notes = append(out.Notes, name(w))
	}
	out.Before, out.Now = rounded(got.Total.Mean.A), rounded(got.Total.Mean.B)
	if f := c.What.Function; f != nil {
		out.Before, out.Now = 0, 0
		for i := range got.Functions {
			if x := &got.Functions[i]; x.Place == *f || x.Name == f.Name && x.Resource == f.Resource {
				out.Before, out.Now = rounded(x.Mean.A), rounded(x.Mean.B)
				break
			}
		}
	}
	return out, nil
}

func (t tools) change(ctx context.Context, id string) (c changes.Report, err error) {
	if t.Changes == nil {
		return c, errors.New("there are no changes here: only a daemon detects changes, unless it was started " +
			"with --watch=false")
	}
	if id == "" {
		return c, errors.New("change is missing; take an id of changes")
	}
	src, err := t.Changes(t.Source)
	if err != nil {
		return c, err
	}
	if c, err = src.Change(ctx, id); err != nil {
		return c, fmt.Errorf("change: %w; take an id of changes", err)
	}
	return c, nil
}

func (o verifyOut) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s on %s: %s\n", o.Verdict, o.What, o.Page, o.Reason)
	fmt.Fprintf(&b, "%g ms per page view before the change, now %g ms, over %.0f page views.\n", o.Before,
		o.Now, o.Views)
	if o.Missing > 0 {
		fmt.Fprintf(&b, "About %.0f more page views are needed: verify again then.\n", o.Missing)
	}
	for _, n := range o.Notes {
		b.WriteString("Note: " + n + "\n")
	}
	return b.String()
}
