package changes

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// WriteText writes the list as a table for people.
func (list *List) WriteText(w io.Writer, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range list.Changes {
		x := &list.Changes[i]
		if i == 0 {
			fmt.Fprintln(t, "ID\tSTATE\tFOUND\tWHAT\tSINCE")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", x.ID, x.State, x.Found.UTC().Format("2006-01-02 15:04"), output.Printable(x.Title), output.Printable(Since(&x.Change)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	said := ""
	switch {
	case list.Evaluated.IsZero():
		said = "Nobody has looked for changes yet: a daemon does after each hour.\n"
	case len(list.Changes) == 0:
		said = fmt.Sprintf("No such change is known. It was looked last at %s.\n", list.Evaluated.UTC().Format("2006-01-02 15:04"))
	case list.More > 0:
		said = fmt.Sprintf("… and %d more: --limit\n", list.More)
	case now.Sub(list.Evaluated) > 3*time.Hour:
		said = fmt.Sprintf("\nIt was looked last at %s: no daemon does now.\n", list.Evaluated.UTC().Format("2006-01-02 15:04"))
	}
	_, err := io.WriteString(w, said)
	return err
}

// WriteText writes the change in full for people, with its series.
func (r *Report) WriteText(w io.Writer) error {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-12s %s\n", name, output.Printable(text))
		}
	}
	fmt.Fprintf(w, "%s\n\n", output.Printable(r.Title))
	line("state", string(r.State))
	if h := r.Handled; h != nil {
		text := h.By + " at " + h.At.UTC().Format("2006-01-02 15:04")
		if !h.Until.IsZero() {
			text += ", until " + h.Until.UTC().Format("2006-01-02 15:04")
		}
		line("said by", text)
		line("note", h.Note)
	}
	if r.State == watch.Resolved {
		line("resolved", r.Resolved.UTC().Format("2006-01-02 15:04")+", "+string(r.Resolution))
	}
	line("since", Since(&r.Change))
	line("found", r.Found.UTC().Format("2006-01-02 15:04")+" by "+map[watch.Detector]string{watch.ByRelease: "comparing releases", watch.ByTime: "its days"}[r.Detector])
	if f := r.What.Function; f != nil {
		line("function", strings.TrimSpace(fmt.Sprintf("%s %s:%d:%d", f.Name, f.Resource, f.Line, f.Column)))
	}
	line("owner", r.Owner)
	line("team", r.Team)
	for i, cause := range r.Causes {
		line(map[bool]string{true: "causes", false: ""}[i == 0], cause.Text)
		for _, x := range cause.Commits {
			line("", "  "+CommitText(x)+" "+x.URL)
		}
	}
	if len(r.Causes) == 0 {
		line("causes", r.CausesNote)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nPAGE\tBEFORE\tAFTER\tCHANGE\tVIEWS BEFORE\tAFTER")
	for i := range r.Pages {
		p := &r.Pages[i]
		e, beside := Shown(p)
		text := Number(e.Value, true)
		if e.Low != nil && e.High != nil {
			text += fmt.Sprintf(" (%s to %s)", Number(*e.Low, true), Number(*e.High, true))
		}
		if beside {
			text += " †"
		}
		fmt.Fprintf(t, "%s\t%.3g\t%.3g\t%s\t%.0f\t%.0f\n", output.Printable(p.Page), p.Value.A, p.Value.B, text, p.Views.A, p.Views.B)
	}
	if len(r.Consequences) > 0 {
		fmt.Fprintln(t, "\nCONSEQUENCES\tON\tCHANGE\t\t\t")
	}
	for _, x := range r.Consequences {
		fmt.Fprintf(t, "%s\t%s\t%s\t\t\t\n", output.Printable(Text(x.What)), output.Printable(x.Page), Number(x.Change.Value, true))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writePoints(w, r.Series)
}

// writePoints writes the series of a change.
func writePoints(w io.Writer, s *Series) error {
	if s == nil || len(s.Points) == 0 {
		return nil
	}
	began := map[string][]string{}
	for _, r := range s.Releases {
		day := r.Begin.UTC().Format(time.DateOnly)
		began[day] = append(began[day], r.Release)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nDAY, on %s\tVALUE\t95 %%\tVIEWS\tRELEASES THAT BEGAN\n", output.Printable(s.Page))
	for _, p := range s.Points {
		between := ""
		if p.Value.Low != nil && p.Value.High != nil {
			between = fmt.Sprintf("%.3g to %.3g", *p.Value.Low, *p.Value.High)
		}
		day := p.Time.UTC().Format(time.DateOnly)
		fmt.Fprintf(t, "%s\t%.3g %s\t%s\t%.0f\t%s\n", day, p.Value.Value, s.Unit, between, p.Views, output.Printable(strings.Join(began[day], ", ")))
	}
	return t.Flush()
}
