package summary

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// maxMarkdown bounds a comment on GitHub, in characters. Bytes are at least as many.
const maxMarkdown = 65_000

// WriteMarkdown writes a summary in the Markdown of GitHub and GitLab. Names come from browsers, so
// they are escaped: nothing in them becomes a link, a mention, formatting or the end of a table
// cell.
func (s *Summary) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	s.writeVerdict(&b)
	s.writeBudgets(&b)
	if s.All.Views.A > 0 && s.All.Views.B > 0 {
		s.writePages(&b)
		s.writeFunctions(&b)
		s.writeVitals(&b)
		s.writeNotes(&b)
	}
	text := b.String()
	if len(text) > maxMarkdown {
		cut := strings.LastIndexByte(text[:maxMarkdown], '\n')
		text = text[:cut] + "\n\n… the rest is left out.\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// mark is a symbol for a status.
func mark(s compare.Status) string {
	switch s {
	case compare.Slower, compare.New:
		return "🔺"
	case compare.Faster, compare.Gone:
		return "🔽"
	}
	return "➖"
}

// marked is mark with the word for the status, if something changed.
func (s *Summary) marked(x compare.Status) string {
	if x.Alarm() {
		return mark(x) + " " + s.word(x)
	}
	return mark(x)
}

// word is the word for a status. For a lab it is not a change: the time is more or less than that
// of users.
func (s *Summary) word(x compare.Status) string {
	if s.lab {
		switch x {
		case compare.Slower:
			return "more in the lab"
		case compare.Faster:
			return "more for users"
		case compare.New:
			return "in the lab alone"
		case compare.Gone:
			return "users alone"
		}
	}
	return string(x)
}

// sides returns the headings of the columns for A, B and the difference.
func (s *Summary) sides() (before, after, difference string) {
	if s.lab {
		return "users", "lab", "difference"
	}
	return "before", "after", "change"
}

func (s *Summary) beyond() string {
	if s.lab {
		return "differ by more than noise"
	}
	return "changed by more than noise"
}

func (s *Summary) writeVerdict(b *strings.Builder) {
	c := s.All
	of := " of real users"
	if s.lab {
		of = ""
	}
	fmt.Fprintf(b, "### JavaScript%s: %s against %s\n\n", of, plain(s.SideB), plain(s.SideA))
	switch {
	case c.Views.B == 0:
		fmt.Fprintf(b, "There are no page views of %s yet.\n", plain(s.SideB))
		return
	case c.Views.A == 0:
		fmt.Fprintf(b, "There are no page views of %s to compare with.\n", plain(s.SideA))
		return
	case !c.Enough:
		fmt.Fprintf(b, "**Not known yet**: %s and %s page views. As measured: %s a page view, from %s to %s%s.\n",
			thousands(c.Views.A), thousands(c.Views.B), estimate(c.Total.Shown), milliseconds(c.Total.Mean.A),
			milliseconds(c.Total.Mean.B), interval(c.Total))
		return
	}
	t := c.Total
	says := s.word(t.Status)
	if t.Status == compare.WithinNoise {
		says = "no change beyond noise"
	}
	over := ""
	if len(s.Pages) > 1 {
		over = " over all pages"
	}
	fmt.Fprintf(b, "%s **%s%s**: %s a page view%s%s, from %s to %s", mark(t.Status), capital(says), over, change(t),
		relative(t), interval(t), milliseconds(t.Mean.A), milliseconds(t.Mean.B))
	fmt.Fprintf(b, " (%s and %s page views)", thousands(c.Views.A), thousands(c.Views.B))
	if to := s.link("compare"); to != "" {
		fmt.Fprintf(b, " — [dashboard](%s)", to)
	}
	changed := 0
	for _, p := range s.Pages {
		if p.Enough && p.Total.Status.Alarm() {
			changed++
		}
	}
	if changed > 0 {
		fmt.Fprintf(b, ". **%d of the %d pages below %s**", changed, len(s.Pages), s.beyond())
	}
	b.WriteString("\n")
}

func (s *Summary) writeBudgets(b *strings.Builder) {
	if len(s.Budgets) == 0 {
		return
	}
	bad := 0
	for _, x := range s.Budgets {
		if x.Verdict == budget.Blown || x.Verdict == budget.Failed {
			bad++
		}
	}
	fmt.Fprintf(b, "\n#### Budgets: %d of %d not kept\n\n", bad, len(s.Budgets))
	if bad == 0 {
		return
	}
	b.WriteString("| | budget | what | value | limit | owner |\n|---|---|---|---:|---:|---|\n")
	for i := range s.Budgets {
		x := &s.Budgets[i]
		if x.Verdict != budget.Blown && x.Verdict != budget.Failed {
			continue
		}
		unit := strings.Replace(x.Unit, "percent", "%", 1)
		value := plain(x.Text)
		if x.Value != nil {
			value = fmt.Sprintf("%.4g %s", x.Value.Value, unit)
			if x.Value.High > 0 {
				value += fmt.Sprintf(" (%.4g to %.4g)", x.Value.Low, x.Value.High)
			}
		}
		fmt.Fprintf(b, "| ❌ | %s | %s | %s | %.4g %s | %s |\n", plain(x.Name), plain(x.What()), value, x.Limit, unit,
			plain(x.Owner))
	}
}

func (s *Summary) writePages(b *strings.Builder) {
	if len(s.Pages) == 0 {
		return
	}
	before, after, difference := s.sides()
	fmt.Fprintf(b, "\n#### Pages\n\n| | page | %s | %s | %s (interval) | page views |\n|---|---|---:|---:|---:|---:|\n",
		before, after, difference)
	for _, p := range s.Pages {
		name := code(p.Page)
		if to := s.link("compare", "page", p.Page); to != "" {
			name = "[" + name + "](" + to + ")"
		}
		if !p.Enough {
			fmt.Fprintf(b, "| | %s | %s | %s | not known yet | %s, %s |\n", name, milliseconds(p.Total.Mean.A),
				milliseconds(p.Total.Mean.B), thousands(p.Views.A), thousands(p.Views.B))
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s, %s |\n", s.marked(p.Total.Status), name,
			milliseconds(p.Total.Mean.A), milliseconds(p.Total.Mean.B), change(p.Total),
			thousands(p.Views.A), thousands(p.Views.B))
	}
	if s.MorePages > 0 {
		fmt.Fprintf(b, "\n… and %d more, with less time.\n", s.MorePages)
	}
}

func (s *Summary) writeFunctions(b *strings.Builder) {
	changed := s.changedFunctions()
	if len(changed) == 0 {
		switch {
		case !s.All.Enough:
		case s.All.NotEdited != nil:
			fmt.Fprintf(b, "\n#### Functions: none of those in edited code %s\n", s.beyond())
		default:
			fmt.Fprintf(b, "\n#### Functions: none of %d %s\n", s.All.Tested, s.beyond())
		}
		s.writeNotEdited(b)
		return
	}
	before, after, difference := s.sides()
	fmt.Fprintf(b, "\n#### Functions: %d %s\n", len(changed), s.beyond())
	fmt.Fprintf(b, "\n| | function | on page | %s | %s | %s (interval) |\n|---|---|---|---:|---:|---:|\n", before,
		after, difference)
	rest := false
	for _, f := range changed[:min(len(changed), s.functions)] {
		name := code(cmp.Or(f.Name, "(anonymous)"))
		if to := s.link("function", "name", cmp.Or(f.Name, " "), "resource", f.Resource, "page", f.page); to != "" {
			name = "[" + name + "](" + to + ")"
		}
		if f.Resource != "" {
			name += " " + plain(fmt.Sprintf("%s:%d:%d", f.Resource, f.Line, f.Column))
		}
		page := "all"
		if on := cmp.Or(f.page, s.selection.Get("page")); on != "" {
			page = code(on)
		}
		by := change(f.Change)
		if f.ByRest {
			rest = true
			by += " †"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", s.marked(f.Status), name, page, milliseconds(f.Mean.A),
			milliseconds(f.Mean.B), by)
	}
	if more := len(changed) - s.functions; more > 0 {
		fmt.Fprintf(b, "\n… and %d more, which changed less.\n", more)
	}
	s.writeNotEdited(b)
	if rest {
		b.WriteString("\n† Adjusted for longer or shorter page views. The unadjusted change is within noise.\n")
	}
}

// writeNotEdited sums up the folded functions, over all pages and on each page where some changed.
func (s *Summary) writeNotEdited(b *strings.Builder) {
	write := func(on string, c *query.Comparison) {
		if c.Enough && c.NotEdited != nil && c.NotEdited.Changed > 0 {
			fmt.Fprintf(b, "\n%s%s.\n", on, plain(notEdited(c.NotEdited)))
		}
	}
	write("", &s.All)
	for i := range s.Pages {
		write("On "+code(s.Pages[i].Page)+": ", &s.Pages[i].Comparison)
	}
}

// functionOn is a changed function, on a page or, without one, on all pages together.
type functionOn struct {
	compare.FunctionChange
	page string
}

// changedFunctions returns the functions that changed by more than noise, on all pages or on one,
// without duplicates. A change that is noise over all pages may be clear on its own page.
func (s *Summary) changedFunctions() (changed []functionOn) {
	seen := map[compare.Place]bool{}
	add := func(page string, c *query.Comparison) {
		for _, f := range c.Functions {
			if c.Enough && f.Status.Alarm() && !c.Folded(&f) && !seen[f.Place] {
				seen[f.Place] = true
				changed = append(changed, functionOn{f, page})
			}
		}
	}
	add("", &s.All)
	for i := range s.Pages {
		add(s.Pages[i].Page, &s.Pages[i].Comparison)
	}
	if s.lab { // a report about a lab is for finding what the lab misses
		order := []compare.Status{compare.Gone, compare.Faster}
		slices.SortStableFunc(changed, func(a, b functionOn) int {
			rank := func(f functionOn) int {
				return (slices.Index(order, f.Status) + len(order) + 1) % (len(order) + 1)
			}
			return cmp.Compare(rank(a), rank(b))
		})
	}
	return changed
}

func (s *Summary) writeVitals(b *strings.Builder) {
	pages := s.Pages
	if len(pages) == 0 {
		pages = []Page{{"", s.All}}
	}
	head := false
	for _, p := range pages {
		for _, v := range p.Vitals {
			if !v.Status.Alarm() {
				continue
			}
			if !head {
				before, after, difference := s.sides()
				fmt.Fprintf(b,
					"\n#### Web Vitals that %s (75th percentile)\n\n| | page | | %s | %s | %s (95 %%) "+
						"|\n|---|---|---|---:|---:|---:|\n", s.beyond(), before, after, difference)
				head = true
			}
			page := ""
			if p.Page != "" {
				page = code(p.Page)
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", s.marked(v.Status), page, strings.ToUpper(v.Name),
				vital(v, v.A.Value, false), vital(v, v.B.Value, false), vitalChange(v))
		}
	}
}

func vital(v query.VitalChange, x float64, signed bool) string {
	form := "%.0f ms"
	if v.Unit == "score" {
		form = "%.3f"
	}
	if signed {
		form = "%+" + form[1:]
	}
	return fmt.Sprintf(form, x)
}

func vitalChange(v query.VitalChange) string {
	out := vital(v, v.Difference.Value, true)
	if v.Difference.Low != 0 || v.Difference.High != 0 {
		out += " (" + vital(v, v.Difference.Low, true) + " to " + vital(v, v.Difference.High, true) + ")"
	}
	return out
}

func (s *Summary) writeNotes(b *strings.Builder) {
	for _, w := range append(append([]string(nil), s.All.Warnings...), append(s.All.StatsA.Warnings,
		s.All.StatsB.Warnings...)...) {
		b.WriteString("\n> ⚠️ " + plain(w) + "\n")
	}
	if !s.All.Enough {
		b.WriteString("\nMilliseconds of main thread time of a page view, as measured.\n")
		return
	}
	mix := "Changes are as if both had the devices and browsers of " + plain(s.SideA)
	if s.lab {
		mix = "Both sides are as they are, on the devices that they have"
	}
	fmt.Fprintf(b, "\nMilliseconds of main thread time of a page view. %s; of the findings about functions at most "+
		"%.0f %% are false alarms, and their intervals are corrected for how many were looked at.\n", mix,
		100*s.All.FalseDiscovery)
}

func change(c compare.Change) string { return estimate(c.Shown) }

func estimate(e compare.Estimate) string {
	out := signed(e.Value) + " ms"
	if e.Low != nil && e.High != nil {
		out += fmt.Sprintf(" (%s to %s)", signed(*e.Low), signed(*e.High))
	}
	return out
}

// interval gives the level of a change's intervals, if it has one.
func interval(c compare.Change) string {
	if c.Shown.Low == nil {
		return ""
	}
	return fmt.Sprintf(", interval of %.4g %%", 100*c.Level)
}

func relative(c compare.Change) string {
	if c.Relative == nil {
		return ""
	}
	return fmt.Sprintf(", %+.1f %%", 100**c.Relative)
}

func milliseconds(x float64) string { return strings.TrimPrefix(signed(x), "+") + " ms" }

// signed formats a number with its sign and three digits, or as a whole number.
func signed(x float64) string {
	if math.Abs(x) >= 100 {
		return fmt.Sprintf("%+.0f", x)
	}
	return fmt.Sprintf("%+.3g", x)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// thousands formats a whole number with spaces between thousands.
func thousands(x float64) string {
	digits := strconv.FormatInt(int64(x), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + " " + digits[i:]
	}
	return digits
}

// maxName bounds a name, in bytes.
const maxName = 200

// plain escapes a text. Characters that could be Markdown, HTML, a mention or a URL are written as
// character references, in which no markup is recognised.
func plain(s string) string {
	s = output.Printable(s)
	if len(s) > maxName {
		s = strings.ToValidUTF8(s[:maxName], "") + "…"
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>#|~@&:$", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return host.ReplaceAllString(b.String(), "$1&#46;")
}

// host matches the beginning of a link without a scheme.
var host = regexp.MustCompile(`(?i)(www)\.`)

// code is plain text in the font of code.
func code(s string) string { return "<code>" + plain(s) + "</code>" }
