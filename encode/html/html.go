// Package html writes a profile as one self-contained HTML file: a flame graph and a table of
// functions, for people without access to the server of the profile.
//
// Scripts and styles come from a template. Package web builds it, and main programs pass it in.
package html

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/encode/columns"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// The placeholders of a template for title and data: the text of an element title, and that of
// a script of type application/json. A template has each exactly once, in this order.
const (
	TitlePlace = "%TITLE%"
	DataPlace  = "%DATA%"
)

// Limits of the written data.
const (
	maxNodes = 50_000   // of the tree; lighter calls become (other)
	maxTexts = 16 << 20 // bytes of all names and resources; if there are more, long ones are cut
	maxText  = 200      // bytes of a text that is cut
	maxTitle = 1_000    // bytes of a title, and of what was selected
)

// ErrNoTemplate is returned if o.Template is missing.
var ErrNoTemplate = errors.New("no template for HTML files")

// document is the data in a file.
type document struct {
	Title         string       `json:"title,omitempty"`
	Of            string       `json:"of"`
	Selection     string       `json:"selection,omitempty"`
	BaseSelection string       `json:"base_selection,omitempty"`
	Since         string       `json:"since,omitempty"` // RFC 3339, as until
	Until         string       `json:"until,omitempty"`
	Tree          columns.Tree `json:"tree"`
	Cut           bool         `json:"cut,omitempty"` // some names were truncated
	// Threads are the threads of the recordings, and BaseThreads those of the base. Tree is the sum
	// of the shown threads.
	Threads     []thread       `json:"threads,omitempty"`
	BaseThreads output.Threads `json:"base_threads,omitempty"`
	// Others is the number of threads that are not in the file.
	Others int `json:"other_threads,omitempty"`
}

// Encode writes p into o.Template. Groups are summed, and self times below zero are written as
// 0, as a flame graph has no width for them. With o.Base the file shows a comparison.
//
// A profile with more than 50,000 nodes is pruned: the lighter calls become (other). If all
// names together exceed 16 MiB, those of more than 200 bytes are cut. The file reports both.
func Encode(w io.Writer, p *trie.Profile, o output.Options) error {
	head, between, tail, err := parts(o.Template)
	if err != nil {
		return err
	}
	d, err := documentOf(p, o)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	b.Write(head)
	b.WriteString(html.EscapeString(pageTitle(o)))
	b.Write(between)
	// The encoder escapes <, >, & and the line ends of JavaScript, so that no name can end the
	// element or hide text after it.
	if err := json.NewEncoder(b).Encode(d); err != nil {
		return err
	}
	b.Write(tail)
	return b.Flush()
}

// parts returns a template's text before, between and after its two placeholders.
func parts(template []byte) (head, between, tail []byte, err error) {
	if len(template) == 0 {
		return nil, nil, nil, ErrNoTemplate
	}
	for _, place := range []string{TitlePlace, DataPlace} {
		if n := bytes.Count(template, []byte(place)); n != 1 {
			return nil, nil, nil, fmt.Errorf("the template has %s %d times, and not once", place, n)
		}
	}
	head, rest, _ := bytes.Cut(template, []byte(TitlePlace))
	between, tail, ok := bytes.Cut(rest, []byte(DataPlace))
	if !ok {
		return nil, nil, nil, fmt.Errorf("the template has %s before %s", DataPlace, TitlePlace)
	}
	return head, between, tail, nil
}

func documentOf(p *trie.Profile, o output.Options) (document, error) {
	base := o.Base
	if base != nil {
		base = base.Canonical()
	}
	tree, err := columns.Of(p.Canonical(), base, "", maxNodes)
	if err != nil {
		return document{}, err
	}
	drawable(&tree)
	d := document{Title: cut(o.Title, maxTitle), Of: o.Subject(), Selection: cut(o.Selection, maxTitle), Tree: tree}
	if base != nil {
		d.BaseSelection = cut(o.BaseSelection, maxTitle)
	}
	if !o.Since.IsZero() && !o.Until.IsZero() {
		d.Since, d.Until = o.Since.UTC().Format(time.RFC3339), o.Until.UTC().Format(time.RFC3339)
	}
	d.Cut = cutLong(d.Tree.Strings, maxTexts)
	d.BaseThreads = cutNames(o.BaseThreads.Shown())
	return d, d.addThreads(o)
}

// drawable removes times below zero.
func drawable(t *columns.Tree) {
	t.Total = positive(t.Self)
	if t.Base != nil {
		t.Base.Total = positive(t.Base.Self)
	}
	t.Pruned.Self = max(t.Pruned.Self, 0)
}

// positive replaces negative values with 0, and returns the sum.
func positive(self []int64) (total int64) {
	for i := range self {
		self[i] = max(self[i], 0)
		total += self[i]
	}
	return total
}

// cutLong cuts texts if they exceed most bytes together, and reports whether it did.
func cutLong(texts []string, most int) bool {
	all := 0
	for _, s := range texts {
		all += len(s)
	}
	if all <= most {
		return false
	}
	for i, s := range texts {
		texts[i] = cut(s, maxText)
	}
	return true
}

// cut returns at most most bytes of s, with an ellipsis at the end if it cuts.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// pageTitle returns the file's title for windows and bookmarks.
func pageTitle(o output.Options) string {
	title := "Profile"
	if o.Title != "" {
		title = cut(output.Printable(o.Title), maxText)
	}
	if o.Base != nil {
		title += ", compared"
	}
	return strings.TrimSpace(title) + " · Fieldtrie"
}
