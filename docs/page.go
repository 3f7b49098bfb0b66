package docs

import (
	"bytes"
	"html/template"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// page is one page of the site.
type page struct {
	Name  string // of the file, without .md
	Title string
	Body  template.HTML
	Parts []heading // of the second level

	entries []entry
}

type heading struct{ ID, Text string }

// entry is an entry of the search index: a part of a page, from one heading to the next.
type entry struct {
	Page    string `json:"p"`
	ID      string `json:"i,omitempty"`
	Heading string `json:"h"`
	Text    string `json:"t"`
	// Keywords are further words that find the page, of its first entry.
	Keywords string `json:"k,omitempty"`
}

// readPage makes a page from a file of this folder.
func readPage(name string) (*page, error) {
	source, err := sources.ReadFile(name + ".md")
	if err != nil {
		return nil, err
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	doc := markdown.Parser().Parse(text.NewReader(source),
		parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{seen: map[string]int{}}))))
	relink(doc)
	p := &page{Name: name}
	p.read(doc, source)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return nil, err
	}
	p.Body = template.HTML(b.String()) // of our own files; what is HTML in them is left out
	return p, nil
}

// read extracts the title, the headings and the words of a document.
func (p *page) read(doc ast.Node, source []byte) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		words := wordsOf(n, source)
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			anchor, _ := id.([]byte)
			switch h.Level {
			case 1:
				p.Title, anchor = words, nil
			case 2:
				p.Parts = append(p.Parts, heading{string(anchor), words})
			}
			p.entries = append(p.entries, entry{Page: p.Name, ID: string(anchor), Heading: words})
			continue
		}
		if len(p.entries) > 0 {
			e := &p.entries[len(p.entries)-1]
			e.Text = strings.TrimSpace(e.Text + " " + words)
		}
	}
}

// wordsOf returns the text of a node, without markup.
func wordsOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it fails for no reason but ours
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch x := n.(type) {
		case *ast.Text:
			b.Write(x.Segment.Value(source))
			if x.SoftLineBreak() || x.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(x.Value)
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// relink turns links between files into links between pages. Links to other files of the project
// become plain text.
func relink(doc ast.Node) {
	var gone []*ast.Link
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		to, ok := pageLink(string(link.Destination))
		if !ok {
			gone = append(gone, link)
		}
		link.Destination = []byte(to)
		return ast.WalkContinue, nil
	})
	for _, link := range gone {
		up := link.Parent()
		for c := link.FirstChild(); c != nil; c = link.FirstChild() {
			up.InsertBefore(up, link, c)
		}
		up.RemoveChild(up, link)
	}
}

// pageLink returns the link on the site for a link of a file. ok is false if it leads out of this
// folder.
func pageLink(to string) (string, bool) {
	file, anchor, has := strings.Cut(to, "#")
	switch {
	case strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") || file == "":
		return to, true
	case strings.HasPrefix(file, "../"):
		return to, false
	case path.Ext(file) == ".md":
		file = strings.TrimSuffix(file, ".md") + ".html"
	}
	if has {
		file += "#" + anchor
	}
	return file, true
}

// anchors makes the anchors of headings like GitHub, so that links work in both places.
type anchors struct{ seen map[string]int }

// Generate implements [parser.IDs].
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := Anchor(string(value))
	n := a.seen[id]
	a.seen[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

// Put implements [parser.IDs].
func (a *anchors) Put(value []byte) { a.seen[string(value)]++ }

// Anchor returns the anchor of a heading: lower-case letters, digits, hyphens and underscores, with
// hyphens for spaces.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}
