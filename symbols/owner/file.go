package owner

import (
	"errors"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
)

// maxText is the maximum length of each text of a file, in bytes.
const maxText = 500

// Parse parses a file of rules, which extend the default ones; see docs/owners.md. The file may
// have 1 MiB and [MaxRules] entries. Errors contain the line number.
func Parse(r io.Reader) (*Rules, error) {
	v, err := strictyaml.Read(r)
	if err != nil {
		return nil, err
	}
	top, err := v.Fields("app", "frameworks", "packages", "teams")
	if err != nil {
		return nil, err
	}
	if len(top) == 0 {
		return nil, errors.New("the file is empty; add app, frameworks, packages or teams")
	}
	app, err := top["app"].Fields("packages", "sources")
	if err != nil {
		return nil, err
	}
	f := file{rules: Default()}
	f.each(app["packages"], f.packageName(&f.rules.ours))
	f.each(app["sources"], func(item strictyaml.Value) error {
		path, err := text(item, "a path")
		if err != nil {
			return err
		}
		return addPath(&f.rules.own, item, path, "")
	})
	f.each(top["frameworks"], f.packageName(&f.rules.frameworks))
	f.each(top["packages"], pathOf(&f.rules.packages, "name"))
	f.each(top["teams"], pathOf(&f.rules.teams, "team"))
	if err := errors.Join(f.wrong...); err != nil {
		return nil, err
	}
	return f.rules, nil
}

// file is the state of parsing a file.
type file struct {
	rules   *Rules
	entries int
	wrong   []error
}

// each reads all entries of a list.
func (f *file) each(list strictyaml.Value, read func(strictyaml.Value) error) {
	f.wrong = append(f.wrong, list.Each(func(item strictyaml.Value) error {
		switch f.entries++; {
		case f.entries == MaxRules+1:
			return list.Errorf("over %d entries in the file", MaxRules)
		case f.entries > MaxRules:
			return nil
		}
		return read(item)
	}))
}

// packageName reads entries with names of packages.
func (f *file) packageName(to *names) func(strictyaml.Value) error {
	return func(item strictyaml.Value) error {
		name, err := text(item, "a name")
		if err != nil {
			return err
		}
		scope, rest, scoped := strings.Cut(name, "/")
		if scoped != (name[0] == '@') || scoped && (scope == "@" || rest == "" || strings.Contains(rest, "/")) {
			return item.Errorf("%.60q is not the name of a package, such as lodash or @acme/*; paths are for sources",
				name)
		}
		if err := to.add(name); err != nil {
			return item.Errorf("%.60q: %w", name, err)
		}
		return nil
	}
}

// pathOf returns a function that parses an entry with a pattern of paths and a text in field.
func pathOf(to *pathRules, field string) func(strictyaml.Value) error {
	return func(item strictyaml.Value) error {
		fields, err := item.Fields("path", field)
		if err != nil {
			return err
		}
		var said [2]string
		for i, key := range [...]string{"path", field} {
			v, there := fields[key]
			if !there {
				return item.Errorf("%s is missing: an entry has path and %s", key, field)
			}
			if said[i], err = text(v, key); err != nil {
				return err
			}
		}
		return addPath(to, item, said[0], said[1])
	}
}

func addPath(to *pathRules, item strictyaml.Value, path, text string) error {
	p, err := newPattern(path)
	if err != nil {
		return item.Errorf("%.60q: %w", path, err)
	}
	*to = append(*to, pathRule{p, text})
	return nil
}

// text parses a non-empty text; what is its name in errors.
func text(v strictyaml.Value, what string) (string, error) {
	text, err := v.Text()
	if err != nil {
		return "", err
	}
	unfit := func(r rune) bool { return r < ' ' || r == 0x7f }
	if text == "" || len(text) > maxText || strings.ContainsFunc(text, unfit) {
		return "", v.Errorf("%s: use a text of up to %d bytes, without control characters", what, maxText)
	}
	return text, nil
}
