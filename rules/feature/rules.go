package feature

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/rules/site"
)

// Rule defines part of a feature. It has either a page, or one or more of the other conditions,
// which must all hold for the same function.
type Rule struct {
	Name     string // name of the feature; several rules may share it
	Page     string // see [CheckPage]
	Package  string // npm package of the script, see scripturl.Package
	Function string // name of the function, with * for any text
	Resource string // URL of the script, with * for any text
}

const (
	// MaxFeatures is the maximum number of features, and MaxRules of rules: every rule is compared
	// with every function of every received trace.
	MaxFeatures = 64
	MaxRules    = 200
	// maxText is the maximum length of each text of a rule, in bytes.
	maxText = 500
)

// Rules are compiled rules. The zero value has no rules. They are immutable.
type Rules struct {
	names    []string // names of the features, by number
	pages    []pageRule
	frames   []frameRule
	packages bool // some rule has a package
}

// pageRule assigns a page to a feature.
type pageRule struct {
	feature int
	pattern string
}

// frameRule assigns functions to a feature.
type frameRule struct {
	feature  int
	pkg      string // "": any
	function glob
	resource glob
}

// NewRules compiles rules. It returns an error for invalid or too many rules.
func NewRules(list []Rule) (Rules, error) {
	if len(list) > MaxRules {
		return Rules{}, fmt.Errorf("%d rules for features, the most is %d", len(list), MaxRules)
	}
	var out Rules
	for _, r := range list {
		if err := r.Check(); err != nil {
			return Rules{}, fmt.Errorf("feature %.100q: %w", r.Name, err)
		}
		i := slices.Index(out.names, r.Name)
		if i < 0 {
			i = len(out.names)
			out.names = append(out.names, r.Name)
		}
		if i >= MaxFeatures {
			return Rules{}, fmt.Errorf("rules for over %d features", MaxFeatures)
		}
		if r.Page != "" {
			out.pages = append(out.pages, pageRule{i, r.Page})
			continue
		}
		out.frames = append(out.frames, frameRule{i, r.Package, newGlob(r.Function), newGlob(r.Resource)})
		out.packages = out.packages || r.Package != ""
	}
	return out, nil
}

// Check returns an error if the rule is invalid.
func (r Rule) Check() error {
	for _, text := range []string{r.Name, r.Page, r.Package, r.Function, r.Resource} {
		if len(text) > maxText || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return fmt.Errorf("%.40q is over %d bytes, or has control characters", text, maxText)
		}
	}
	code := r.Package + r.Function + r.Resource
	switch {
	case r.Name == "":
		return errors.New("name is missing")
	case r.Page == "" && code == "":
		return errors.New("no condition: set a page, or a package, function or resource")
	case r.Page != "" && code != "":
		return errors.New("a rule has either a page or code; write two rules with this name")
	case strings.Contains(r.Package, "*"):
		return fmt.Errorf("package %.40q is not a name such as lodash or @babel/core; patterns are not allowed",
			r.Package)
	case r.Page != "":
		return CheckPage(r.Page)
	}
	return nil
}

// CheckPage returns an error if a pattern of pages is invalid. A pattern is a page as shown in the
// catalogue, such as /feed or /user/:id, or a page followed by /** for it and all pages below it. A
// pattern without a site matches pages of all sites.
func CheckPage(pattern string) error {
	_, pattern = site.Cut(pattern)
	base := strings.TrimSuffix(pattern, "/**")
	switch {
	case pattern == "" || pattern[0] != '/' && pattern[0] != '(':
		return fmt.Errorf("page %.100q is not a page such as /feed, nor /shop/** for all pages below it", pattern)
	case strings.Contains(base, "*"):
		return fmt.Errorf("page %.100q: a star is allowed only at the end, as in /shop/**", pattern)
	}
	return nil
}

// FitsPage reports whether page matches a pattern, see [CheckPage].
func FitsPage(pattern, page string) bool {
	if of, _ := site.Cut(pattern); of == "" {
		_, page = site.Cut(page)
	}
	base, below := strings.CutSuffix(pattern, "/**")
	if !below {
		return page == pattern
	}
	rest, ok := strings.CutPrefix(page, base)
	return ok && (rest == "" || rest[0] == '/')
}

// glob is a pattern with stars that match any text: the parts before the first star, after the
// last, and in between.
type glob struct {
	exact       bool // no star
	first, last string
	between     []string
}

// newGlob returns the pattern in text. An empty text matches everything.
func newGlob(text string) glob {
	if text == "" {
		return glob{}
	}
	parts := strings.Split(text, "*")
	if len(parts) == 1 {
		return glob{exact: true, first: text}
	}
	between := slices.DeleteFunc(parts[1:len(parts)-1:len(parts)-1], func(s string) bool { return s == "" })
	return glob{first: parts[0], last: parts[len(parts)-1], between: between}
}

// fits reports whether the pattern matches all of s. The first match of each part leaves the most
// text for later parts, so no backtracking is needed.
func (g *glob) fits(s string) bool {
	if g.exact {
		return s == g.first
	}
	if len(s) < len(g.first)+len(g.last) || !strings.HasPrefix(s, g.first) || !strings.HasSuffix(s, g.last) {
		return false
	}
	s = s[len(g.first) : len(s)-len(g.last)]
	for _, part := range g.between {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// FitsText reports whether a pattern, in which * matches any text, matches all of s. An empty
// pattern matches everything.
func FitsText(pattern, s string) bool {
	g := newGlob(pattern)
	return g.fits(s)
}
