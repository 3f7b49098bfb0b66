package changes

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// WriteText writes the list as a table for a terminal. A note follows if the list is empty or cut
// off, or if the last evaluation was more than 3 hours before now.
func (list *List) WriteText(w io.Writer, screen terminal.Screen, now time.Time) error {
	t := terminal.Table{Screen: screen, Columns: []terminal.Column{{Title: "WHAT", Least: 12}, {Title: "DIRECTION",
		Color: directionColor, Drop: 7}, {Title: "CHANGE", Right: true}, {Drop: 1},
		{Title: "PAGE", Least: 8, Drop: 4}, {Title: "MORE PAGES", Right: true, Drop: 8}, {Title: "SINCE", Least: 8,
			Drop: 3}, {Title: "STATE", Drop: 5}, {Title: "FOUND", Drop: 6}, {Title: "ID"}}}
	for i := range list.Changes {
		x := &list.Changes[i]
		change, between, page, more := "", "", "", ""
		if len(x.Pages) > 0 {
			p := &x.Pages[0]
			e, beside := Shown(p)
			change, between, page = signed(e, beside, Unit(x.What)), interval(screen, e), p.Page
		}
		if n := len(x.Pages) - 1; n > 0 {
			more = fmt.Sprint(n)
		}
		since := x.Begin.UTC().Format(time.DateOnly)
		if x.Release != "" {
			since = x.Release
		}
		t.Row(output.Printable(Text(x.What)), string(x.Direction), change, between, output.Printable(page), more,
			output.Printable(since),
			string(x.State), x.Found.UTC().Format("2006-01-02 15:04"), x.ID)
	}
	if len(list.Changes) > 0 {
		if _, err := t.WriteTo(w); err != nil {
			return err
		}
	}
	said := ""
	switch {
	case list.Evaluated.IsZero():
		said = "Pages have not been evaluated yet; a daemon evaluates them after each hour.\n"
	case len(list.Changes) == 0:
		said = fmt.Sprintf("No changes match. Pages were last evaluated at %s.\n",
			list.Evaluated.UTC().Format("2006-01-02 15:04"))
	case list.More > 0:
		said = fmt.Sprintf("… and %d more: --limit\n", list.More)
	case now.Sub(list.Evaluated) > 3*time.Hour:
		said = fmt.Sprintf("\nPages were last evaluated at %s; no daemon evaluates them now.\n",
			list.Evaluated.UTC().Format("2006-01-02 15:04"))
	}
	_, err := io.WriteString(w, said)
	return err
}

// WriteText writes the complete change for a terminal, with its series.
func (r *Report) WriteText(w io.Writer, screen terminal.Screen) error {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintln(w, screen.Wrap(fmt.Sprintf("%-12s %s", name, output.Printable(text)), 13))
		}
	}
	fmt.Fprintln(w, screen.Wrap(output.Printable(r.Title), 0)+"\n")
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
	line("found", r.Found.UTC().Format("2006-01-02 15:04")+" by "+
		map[watch.Detector]string{watch.ByRelease: "comparing releases", watch.ByTime: "its days"}[r.Detector])
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
	if err := r.writePages(w, screen); err != nil {
		return err
	}
	return writePoints(w, screen, r.Series)
}

// writePages writes the pages and consequences of a change.
func (r *Report) writePages(w io.Writer, screen terminal.Screen) error {
	fmt.Fprintln(w)
	t := terminal.Table{Screen: screen, Columns: []terminal.Column{{Title: "PAGE", Least: 16},
		{Title: "BEFORE", Right: true}, {Title: "AFTER", Right: true}, {Title: "CHANGE", Right: true}, {},
		{Title: "VIEWS BEFORE", Right: true, Drop: 1}, {Title: "VIEWS AFTER", Right: true, Drop: 1}}}
	atRest := false
	for i := range r.Pages {
		p := &r.Pages[i]
		e, beside := Shown(p)
		atRest = atRest || beside
		t.Row(output.Printable(p.Page), terminal.Number(p.Value.A), terminal.Number(p.Value.B), signed(e, beside, ""),
			interval(screen, e),
			fmt.Sprintf("%.0f", p.Views.A), fmt.Sprintf("%.0f", p.Views.B))
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	if atRest {
		fmt.Fprintln(w, screen.Wrap("† Adjusted for longer or shorter page views. The unadjusted change is within "+
			"noise.", 2))
	}
	if len(r.Consequences) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t = terminal.Table{Screen: screen, Columns: []terminal.Column{{Title: "CONSEQUENCES", Least: 16},
		{Title: "PAGE", Least: 12, Drop: 1}, {Title: "CHANGE", Right: true}}}
	for _, x := range r.Consequences {
		t.Row(output.Printable(Text(x.What)), output.Printable(x.Page), signed(x.Change, false, Unit(x.What)))
	}
	_, err := t.WriteTo(w)
	return err
}

// writePoints writes the series of a change.
func writePoints(w io.Writer, screen terminal.Screen, s *Series) error {
	if s == nil || len(s.Points) == 0 {
		return nil
	}
	began := map[string][]string{}
	for _, r := range s.Releases {
		day := r.Begin.UTC().Format(time.DateOnly)
		began[day] = append(began[day], r.Release)
	}
	fmt.Fprintln(w, "\n"+screen.Wrap("Days on "+output.Printable(s.Page)+":", 0))
	t := terminal.Table{Screen: screen, Columns: []terminal.Column{{Title: "DAY"}, {Title: "VALUE", Right: true},
		{Title: "95 %", Drop: 2}, {Title: "VIEWS", Right: true, Drop: 1},
		{Title: "RELEASES THAT BEGAN", Least: 12}}}
	for _, p := range s.Points {
		between := ""
		if p.Value.Low != nil && p.Value.High != nil {
			between = screen.Interval(*p.Value.Low, *p.Value.High, terminal.Number)
		}
		day := p.Time.UTC().Format(time.DateOnly)
		t.Row(day, strings.TrimSpace(terminal.Number(p.Value.Value)+" "+s.Unit), between, fmt.Sprintf("%.0f", p.Views),
			output.Printable(strings.Join(began[day], ", ")))
	}
	_, err := t.WriteTo(w)
	return err
}

// besideMark marks changes relative to the rest of the page view.
const besideMark = " †"

// signed returns a change with its sign and unit, and with a mark if it is relative to the rest of
// the page view.
func signed(e compare.Estimate, beside bool, unit string) string {
	text := terminal.Signed(e.Value)
	if unit != "" {
		text += " " + unit
	}
	if beside {
		text += besideMark
	}
	return text
}

// interval returns the interval of a change, or "" if unknown.
func interval(s terminal.Screen, e compare.Estimate) string {
	if e.Low == nil || e.High == nil {
		return ""
	}
	return s.Interval(*e.Low, *e.High, terminal.Signed)
}

// directionColor is the color of the direction of a change.
func directionColor(direction string) terminal.Color {
	switch watch.Direction(direction) {
	case watch.Slower:
		return terminal.Red
	case watch.Faster:
		return terminal.Green
	}
	return terminal.Plain
}
