package budget

import (
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/rules/feature"
)

// parts lists the values of [Code.By].
var parts = [...]string{"owner", "team", "package", "file"}

// parseCode parses a mapping with one field: the kind of part, and its name.
func parseCode(v strictyaml.Value) (*Code, error) {
	if v == (strictyaml.Value{}) {
		return nil, nil
	}
	fields, err := v.Fields(parts[:]...)
	if err != nil {
		return nil, err
	}
	if len(fields) != 1 {
		return nil, v.Errorf("code: give one of %s, as in {team: \"@acme/shop\"}", strings.Join(parts[:], ", "))
	}
	var c Code
	for by := range fields {
		c.By = by
	}
	return &c, texts(fields, map[string]*string{c.By: &c.Name})
}

// fits reports whether c matches a part of the code, given its name in results. A package matches
// in any version or in one, an owner exactly or by its kind, a team alone or with others, and a
// file by a pattern in which * is any text.
func (c *Code) fits(part string) bool {
	switch c.By {
	case "file":
		return feature.FitsText(c.Name, part)
	case "team":
		for team := range strings.FieldsSeq(part) {
			if team == c.Name {
				return true
			}
		}
		return part == c.Name
	case "package":
		version := strings.LastIndexByte(part, '@')
		return part == c.Name || version > 0 && part[:version] == c.Name
	}
	owner := strings.TrimSuffix(strings.TrimPrefix(part, "("), ")")
	kind, _, _ := strings.Cut(owner, " ")
	return part == c.Name || owner == c.Name || kind == c.Name
}

// ofCode measures a part of the code: the mean self time per page view, or the total time with
// callees. A part does not call itself, but one matching part can call another; the sum of their
// total times is then too high.
func (e *evaluation) ofCode(b *Budget, sel selection.Selection) (measured, error) {
	sel.By = b.Code.By
	top, err := e.top(sel)
	out := measured{views: top.Views, warnings: top.Stats.Warnings}
	if err != nil || top.Views == 0 {
		return out, err
	}
	var found []query.TopFunction
	for _, f := range top.Functions {
		if b.Code.fits(f.Name) {
			found = append(found, f)
		}
	}
	out.value = &query.Estimate{Value: meanOf(found, b.Of, top.Views)}
	switch {
	case len(found) == 0:
		out.text = "no time was in it"
	case len(found) > 1:
		out.text = sumOf(len(found), b.Code.By+"s that fit")
	}
	return out, nil
}
