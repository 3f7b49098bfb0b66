// Package strictyaml reads small configuration files in a subset of YAML: mappings, lists, and
// scalars, which are texts. Anchors, aliases, merge keys, tags, directives, block scalars, multiple
// documents and repeated keys are rejected, so a file means exactly what it looks like: 0123 is the
// text "0123", and no is the text "no".
//
//	v, err := strictyaml.Read(r)
//	fields, err := v.Fields("tokens", "users") // any other key is an error
//	tokens, err := fields["tokens"].Items()    // empty if the key is missing
//
// All errors contain the line number.
// All errors name the line.
package strictyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/fieldtrie/fieldtrie/internal/spelling"
)

const (
	maxSize  = 1 << 20 // bytes of a file
	maxDepth = 8       // nested lists and mappings
)

// Value is a mapping, a list or a scalar. The zero Value is a missing value: it has no fields and
// no items, and its text is empty.
type Value struct {
	line int
	what string // description for errors
	node ast.Node
}

// Read reads a file of up to 1 MiB. It returns the zero Value for an empty file.
func Read(r io.Reader) (Value, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	switch {
	case err != nil:
		return Value{}, err
	case len(data) > maxSize:
		return Value{}, fmt.Errorf("over %d bytes", maxSize)
	case !utf8.Valid(data):
		return Value{}, errors.New("not UTF-8")
	}
	tokens := lexer.Tokenize(strings.TrimPrefix(string(data), "\ufeff")) // Windows editors write a byte order mark
	if err := check(tokens); err != nil {
		return Value{}, err
	}
	body, err := parse(joinColons(tokens))
	if err != nil || body == nil {
		return Value{}, err
	}
	return Value{line: lineOf(body, 1), what: "the file", node: body}, nil
}

// check rejects everything outside the subset. It works on tokens, since the parser needs
// time and stack for deep nesting.
func check(tokens token.Tokens) error {
	refused := map[token.Type]string{
		token.AnchorType: "an anchor (&)", token.AliasType: "an alias (*)", token.MergeKeyType: "a merge key (<<)",
		token.TagType: "a tag (!)", token.DirectiveType: "a directive (%)", token.LiteralType: "a block text (|)",
		token.FoldedType: "a block text (>)", token.MappingKeyType: "a complex key (?)",
		token.DocumentEndType: "the end of a document (...)",
	}
	flow, line, inLine, content := 0, 0, 0, false
	for _, t := range tokens {
		if t.Position.Line != line {
			line, inLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			inLine++
		}
		what := refused[t.Type]
		switch {
		case t.Type == token.DocumentHeaderType && content:
			what = "a second document (---)"
		case flow > maxDepth || inLine > maxDepth:
			what = "nesting this deep"
		}
		if what != "" {
			return fmt.Errorf("line %d: %s is not allowed in this file", line, what)
		}
		content = content || t.Type != token.CommentType
	}
	return nil
}

// joinColons joins scalars that the lexer splits at a colon in a list within a mapping, as in
// {origins: [http://127.0.0.1:9122]}. There, YAML ends a key only at a colon before white space.
func joinColons(tokens token.Tokens) token.Tokens {
	var joined token.Tokens
	var open []token.Type
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open = append(open, t.Type)
		case token.SequenceEndType, token.MappingEndType:
			open = open[:max(len(open)-1, 0)]
		case token.MappingValueType:
			if len(open) == 0 || open[len(open)-1] != token.SequenceStartType || i == 0 || i+1 == len(tokens) {
				break
			}
			before, after := tokens[i-1], tokens[i+1]
			if isPlain(before) && isPlain(after) && !strings.HasPrefix(after.Origin, " ") &&
				after.Position.Offset == t.Position.Offset+1 {
				text := token.String(before.Value+":"+after.Value, before.Origin+":"+after.Origin, before.Position)
				joined = joined[:len(joined)-1]
				joined.Add(text)
				i++
				continue
			}
		}
		joined.Add(t)
	}
	return joined
}

// isPlain reports whether a token is a scalar without quotation marks.
func isPlain(t *token.Token) bool {
	return t.Indicator == token.NotIndicator && t.Type != token.CommentType && t.Type != token.InvalidType
}

// parse returns the content of a document, or nil if it is empty.
func parse(tokens token.Tokens) (body ast.Node, err error) {
	// The parser may panic on crafted input, and a daemon rereads its files while it runs.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not YAML: %v", p)
		}
	}()
	file, err := parser.Parse(tokens, 0)
	if x, ok := errors.AsType[yaml.Error](err); ok {
		line := 1
		if t := x.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line
		}
		return nil, fmt.Errorf("line %d: %s", line, x.GetMessage())
	}
	if err != nil || len(file.Docs) == 0 {
		return nil, err
	}
	if len(file.Docs) > 1 {
		return nil, errors.New("a second document is not allowed in this file")
	}
	return file.Docs[0].Body, nil
}

// lineOf returns the line of a node, or before if it has none.
func lineOf(n ast.Node, before int) int {
	if t := n.GetToken(); t != nil && t.Position != nil && t.Position.Line > 0 {
		return t.Position.Line
	}
	return before
}

// Errorf is like [fmt.Errorf] with the prefix "line N: ". N is 0 if v is missing.
func (v Value) Errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", v.line, fmt.Errorf(format, args...))
}

// Line returns the line of v, from 1, or 0 if v is missing.
func (v Value) Line() int { return v.line }

// IsList reports whether v is a list, which may be empty. A missing value is not a list.
func (v Value) IsList() bool {
	_, ok := v.node.(*ast.SequenceNode)
	return ok
}

// Fields returns the values of a mapping by key. For keys not in known it returns joined errors
// along with the other values.
func (v Value) Fields(known ...string) (map[string]Value, error) {
	if v.node == nil {
		return nil, nil
	}
	m, ok := v.node.(*ast.MappingNode)
	if !ok {
		return nil, v.Errorf("%s is not a mapping with the keys %s", v.what, strings.Join(known, ", "))
	}
	fields := make(map[string]Value, len(m.Values))
	var wrong []error
	for _, pair := range m.Values {
		key := pair.Key.GetToken().Value
		f := Value{line: lineOf(pair.Key, v.line), what: key, node: pair.Value}
		if !slices.Contains(known, key) {
			wrong = append(wrong, f.Errorf("unknown key %.40q; known keys are %s", key,
				strings.Join(likely(key, known), ", ")))
		} else if _, twice := fields[key]; twice {
			wrong = append(wrong, f.Errorf("duplicate key %s", key))
		} else {
			fields[key] = f
		}
	}
	return fields, errors.Join(wrong...)
}

// likely returns suggestions for key: all known keys if they are few, otherwise similar ones.
func likely(key string, known []string) []string {
	const few = 15
	if len(known) <= few {
		return known
	}
	if near := spelling.Likely(key, known); len(near) > 0 {
		return append(near, "…")
	}
	return known
}

// Items returns the values of a list, which must not be empty.
func (v Value) Items() ([]Value, error) {
	if v.node == nil {
		return nil, nil
	}
	s, ok := v.node.(*ast.SequenceNode)
	if !ok || len(s.Values) == 0 {
		return nil, v.Errorf("%s is not a list with at least one entry", v.what)
	}
	items := make([]Value, len(s.Values))
	for i, n := range s.Values {
		items[i] = Value{line: v.line, what: "a list entry", node: n}
		if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
			n = m.Values[0].Key
		}
		items[i].line = lineOf(n, v.line)
	}
	return items, nil
}

// maxMistakes is the maximum number of errors reported for a file.
const maxMistakes = 50

// Each calls read for each item of a list, which must not be empty. It returns all errors, joined,
// so that all of them can be fixed at once.
func (v Value) Each(read func(Value) error) error {
	items, err := v.Items()
	wrong := []error{err}
	for _, item := range items {
		if err := read(item); err != nil {
			wrong = append(wrong, err)
		}
		if len(wrong) > maxMistakes {
			wrong = append(wrong, errors.New("there are more errors"))
			break
		}
	}
	return errors.Join(wrong...)
}

// Texts returns the texts of a list. Each must pass check, whose errors get the line number.
func (v Value) Texts(check func(string) error) (texts []string, err error) {
	err = v.Each(func(item Value) error {
		text, err := item.Text()
		if err != nil {
			return err
		}
		if err := check(text); err != nil {
			return item.Errorf("%w", err)
		}
		texts = append(texts, text)
		return nil
	})
	return texts, err
}

// Text returns a scalar as written, without quotation marks.
func (v Value) Text() (string, error) {
	switch n := v.node.(type) {
	case nil:
		return "", nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.NullNode:
		return "", v.Errorf("%s is empty", v.what)
	case ast.ScalarNode:
		return n.GetToken().Value, nil
	}
	return "", v.Errorf("expected a string for %s", v.what)
}

// Float returns a scalar that is a finite number.
func (v Value) Float() (float64, error) {
	text, err := v.Text()
	if err != nil || text == "" && v.node == nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, v.Errorf("%s: %.40q is not a number", v.what, text)
	}
	return f, nil
}

// plain matches texts that need no quotation marks.
var plain = regexp.MustCompile(`^[A-Za-z0-9/][A-Za-z0-9_./@+-]*(:[A-Za-z0-9_./@+-]+)*$`)

// Quote writes a text as a scalar that [Value.Text] reads back unchanged.
func Quote(s string) string {
	if plain.MatchString(s) && !strings.EqualFold(s, "null") {
		return s
	}
	quoted, _ := json.Marshal(s) // never fails; invalid UTF-8 is replaced
	return string(quoted)
}
