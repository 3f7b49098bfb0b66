package terminal

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Color is the color of a cell.
type Color string

// Colors, as parameters of the escape sequence SGR of ECMA-48.
const (
	Plain Color = ""
	Red   Color = "31"
	Green Color = "32"
)

// Screen describes the output device of a table.
type Screen struct {
	Width int  // characters; 0: no limit
	Color bool // whether colors are shown
}

// When is a value of --color.
type When string

const (
	Auto   When = "auto" // on a terminal, unless NO_COLOR is set, see https://no-color.org
	Always When = "always"
	Never  When = "never"
)

// Of returns the screen of w. A terminal has its width, and a file or pipe has no limit. The
// environment variable COLUMNS overrides the width. getenv is usually [os.Getenv].
func Of(w io.Writer, color When, getenv func(string) string) Screen {
	s := Screen{Color: color == Always}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.Width = width
		}
		s.Color = s.Color || color == Auto && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	}
	return s
}

func (s Screen) paint(text string, c Color) string {
	if !s.Color || c == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// Wrap breaks text at spaces into lines that fit, and indents all but the first. A longer word has
// a line of its own.
func (s Screen) Wrap(text string, indent int) string {
	if s.Width <= 0 {
		return text
	}
	words := strings.Split(text, " ")
	var b strings.Builder
	b.WriteString(words[0])
	column := utf8.RuneCountInString(words[0])
	for _, word := range words[1:] {
		n := utf8.RuneCountInString(word)
		if column+1+n > s.Width {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		} else {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// narrow is the width below which intervals are written as ±.
const narrow = 120

// Interval formats an interval as (1.2 to 3.4) or, on a narrow screen, as ±1.1. write is [Number]
// or [Signed].
func (s Screen) Interval(low, high float64, write func(float64) string) string {
	if s.Width > 0 && s.Width < narrow {
		return "±" + Number((high-low)/2)
	}
	return "(" + write(low) + " to " + write(high) + ")"
}
