package ci

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

// Evaluation is the status of all budgets, for writing.
type Evaluation struct {
	File    string // of the budgets, as it is in the repository
	Version string // of the program
	Budgets []budget.Status
}

// Formats returns the names of all formats, sorted.
func Formats() []string { return []string{"github", "junit", "sarif"} }

// Write writes e in one of [Formats]. Any other format is an error.
func Write(w io.Writer, format string, e Evaluation) error {
	switch format {
	case "github":
		return writeGitHub(w, e)
	case "junit":
		return writeJUnit(w, e)
	case "sarif":
		return writeSARIF(w, e)
	}
	return fmt.Errorf("format %.40q: known are %s", format, strings.Join(Formats(), ", "))
}

// message describes in one line the limited quantity, its value and its limit. Text from browsers
// is made printable.
func message(s *budget.Status) string {
	unit := " " + s.Unit
	switch s.Unit {
	case "percent":
		unit = " %"
	case "score":
		unit = ""
	}
	var b strings.Builder
	b.WriteString(s.What())
	number := func(x float64) string { return apart(x, s.Limit) }
	if s.Value != nil {
		fmt.Fprintf(&b, " is %s%s", number(s.Value.Value), unit)
		if s.Value.High > 0 {
			fmt.Fprintf(&b, " (95 %%: %s to %s)", number(s.Value.Low), number(s.Value.High))
		}
	}
	fmt.Fprintf(&b, ", the limit is %s%s; %d page views", strconv.FormatFloat(s.Limit, 'g', -1, 64), unit, s.Views)
	switch {
	case s.Verdict == budget.TooFew:
		fmt.Fprintf(&b, " of the %d that it takes", s.MinViews)
	case s.Verdict == budget.Blown && !s.Sure && s.Value != nil && s.Value.Value > s.Limit:
		b.WriteString(", so it may be chance")
	}
	if s.Owner != "" {
		b.WriteString("; owner " + s.Owner)
	}
	if s.Text != "" {
		b.WriteString("; " + s.Text)
	}
	return output.Printable(b.String())
}

// apart formats a number with four digits, or with more if it would look equal to the limit.
func apart(x, limit float64) string {
	for digits := 4; digits < 17; digits++ {
		text := strconv.FormatFloat(x, 'g', digits, 64)
		if read, err := strconv.ParseFloat(text, 64); err == nil && cmp.Compare(read, limit) == cmp.Compare(x, limit) {
			return text
		}
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// count returns how many budgets have one of the verdicts.
func count(all []budget.Status, verdicts ...budget.Verdict) (n int) {
	for _, s := range all {
		if slices.Contains(verdicts, s.Verdict) {
			n++
		}
	}
	return n
}
