package changes

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// Text returns the changed thing, without the page: the name of a function, "feature search",
// "JavaScript" or "INP".
func Text(w watch.What) string {
	switch w.Kind {
	case watch.OfFunction:
		if w.Function != nil {
			return cmp.Or(w.Function.Name, "(anonymous)")
		}
		return "a function"
	case watch.OfFeature:
		return "feature " + w.Feature
	case watch.OfVital:
		return strings.ToUpper(w.Metric)
	}
	return "JavaScript"
}

// Unit is the unit of the values: ms, or "" for a score.
func Unit(w watch.What) string {
	if w.Metric == "cls" {
		return ""
	}
	return "ms"
}

// Shown returns the main estimate of a change: the plain one, unless only the change relative to
// the rest of the page view is significant. beside reports the latter.
func Shown(p *watch.PageChange) (e compare.Estimate, beside bool) {
	if p.Beside != nil && !excludesZero(p.Change) && excludesZero(*p.Beside) {
		return *p.Beside, true
	}
	return p.Change, false
}

func excludesZero(e compare.Estimate) bool {
	return e.Low != nil && e.High != nil && (*e.Low > 0 || *e.High < 0)
}

// amount returns the size of a change with its unit and interval, as in "160 ms (+112 to +208)".
func amount(e compare.Estimate, unit string) string {
	text := terminal.Number(math.Abs(e.Value))
	if unit != "" {
		text += " " + unit
	}
	if e.Low == nil || e.High == nil {
		return text
	}
	return text + " (" + terminal.Signed(*e.Low) + " to " + terminal.Signed(*e.High) + ")"
}

// Headline returns a one-line summary: "formatPrice became slower by 160 ms (+112 to +208) on
// /products". Names are as browsers reported them.
func Headline(c *watch.Change) string {
	if len(c.Pages) == 0 {
		return Text(c.What) + " changed"
	}
	p := &c.Pages[0]
	where := p.Page
	if more := len(c.Pages) - 1; more == 1 {
		where += " and 1 more page"
	} else if more > 1 {
		where += fmt.Sprintf(" and %d more pages", more)
	}
	e, beside := Shown(p)
	by := amount(e, Unit(c.What))
	if beside {
		by += " (adjusted for longer or shorter page views)"
	}
	if c.Direction == watch.Moved {
		return fmt.Sprintf("time moved %s %s, %s, on %s", toOrFrom(e), Text(c.What), by, where)
	}
	became := string(c.Direction)
	if c.What.Metric == "cls" {
		became = map[watch.Direction]string{watch.Slower: "worse", watch.Faster: "better"}[c.Direction]
	}
	return fmt.Sprintf("%s became %s by %s on %s", Text(c.What), became, by, where)
}

func toOrFrom(e compare.Estimate) string {
	if e.Value < 0 {
		return "from"
	}
	return "to"
}

// Since returns when and with which release a change began: "with release 3.2 (before: 3.1)" or
// "around 2026-11-20".
func Since(c *watch.Change) string {
	if c.Release != "" {
		return fmt.Sprintf("with release %s (before: %s), since %s", c.Release, c.CompareRelease,
			c.Begin.UTC().Format("2006-01-02 15:04"))
	}
	return "around " + c.Begin.UTC().Format("2006-01-02") + ", with no release that explains it"
}

// CommitText returns a commit as a line: "1a2b3c4 format prices once (Ann)".
func CommitText(c watch.Commit) string {
	text := c.SHA[:min(len(c.SHA), 7)] + " " + c.Title
	if c.Author != "" {
		text += " (" + c.Author + ")"
	}
	return text
}
