package terminal

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Column is a column of a [Table].
type Column struct {
	Title string
	Right bool // aligned to the right, as numbers are
	// Drop is the order in which columns are omitted on a narrow terminal, highest first. Columns
	// with 0 are never omitted.
	Drop int
	// Least is the minimum number of characters when texts are truncated with an ellipsis, after no
	// more columns can be omitted. 0 means that texts are not truncated.
	Least int
	// Color returns the color of a cell with this text. It may be nil.
	Color func(text string) Color
}

// Table collects rows and writes them in columns separated by two spaces. Cells must not contain
// control characters.
type Table struct {
	Screen  Screen
	Columns []Column
	rows    [][]string
}

// Row adds a row, with a cell for each column.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// WriteTo writes the table. It omits empty columns and columns that do not fit.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	width := make([]int, len(t.Columns))
	shown := make([]bool, len(t.Columns))
	for _, row := range t.rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
			shown[i] = shown[i] || cell != ""
		}
	}
	for i, c := range t.Columns {
		width[i] = max(width[i], utf8.RuneCountInString(c.Title))
	}
	t.fit(width, shown)
	var b strings.Builder
	title := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		title[i] = c.Title
	}
	t.line(&b, title, width, shown, false)
	for _, row := range t.rows {
		t.line(&b, row, width, shown, true)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// gap is the number of spaces between two columns.
const gap = 2

// fit omits columns and then truncates texts until a line fits.
func (t *Table) fit(width []int, shown []bool) {
	if t.Screen.Width <= 0 {
		return
	}
	over := func() int {
		all := -gap
		for i := range width {
			if shown[i] {
				all += width[i] + gap
			}
		}
		return all - t.Screen.Width
	}
	order := make([]int, len(t.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return t.Columns[b].Drop - t.Columns[a].Drop })
	// Texts are truncated to twice their Least before a column is omitted.
	shorten := func(times int) {
		for i, c := range t.Columns {
			if n := over(); n > 0 && shown[i] && c.Least > 0 {
				width[i] = min(width[i], max(width[i]-n, times*c.Least))
			}
		}
	}
	shorten(2)
	for _, i := range order {
		if t.Columns[i].Drop > 0 && over() > 0 {
			shown[i] = false
		}
	}
	shorten(1)
}

func (t *Table) line(b *strings.Builder, cells []string, width []int, shown []bool, colored bool) {
	var line strings.Builder
	for i, c := range t.Columns {
		if !shown[i] {
			continue
		}
		if line.Len() > 0 {
			line.WriteString(strings.Repeat(" ", gap))
		}
		text := cut(cells[i], width[i])
		pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(text))
		if colored && c.Color != nil {
			text = t.Screen.paint(text, c.Color(cells[i]))
		}
		if c.Right {
			text = pad + text
		} else {
			text += pad
		}
		line.WriteString(text)
	}
	b.WriteString(strings.TrimRight(line.String(), " "))
	b.WriteByte('\n')
}

// cut returns the first most characters of a text, with an ellipsis if it is longer.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(most-1, 0)]) + "…"
}
