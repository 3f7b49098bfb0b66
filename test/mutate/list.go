package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mutation is a change of one file.
type mutation struct {
	Name     string
	File     string   // relative to the module, with slashes
	Tests    []string // arguments of go test, or of node --test
	Survives string   // why no test finds it, if none does
	before   string
	after    string
}

// parse reads a list of mutations; the package comment describes the format.
func parse(text string) (all []mutation, err error) {
	var m *mutation
	var before, after []string
	end := func() error {
		if m == nil {
			return nil
		}
		m.before, m.after = strings.Join(before, "\n"), strings.Join(after, "\n")
		before, after = nil, nil
		switch {
		case m.File == "" || len(m.Tests) == 0 || m.before == "":
			return fmt.Errorf("%q needs a file, tests and a text to replace", m.Name)
		case m.before == m.after:
			return fmt.Errorf("%q changes nothing", m.Name)
		}
		return nil
	}
	seen := map[string]bool{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(line, "\n")
		key, value, _ := strings.Cut(line, " ")
		if line == "" {
			continue
		}
		if m == nil && key != "==" && key != "#" {
			return nil, fmt.Errorf("line %d: %q is before the first mutation", n, line)
		}
		switch key {
		case "#":
		case "==":
			if err := end(); err != nil {
				return nil, err
			}
			if seen[value] {
				return nil, fmt.Errorf("line %d: there are two mutations %q", n, value)
			}
			seen[value] = true
			all = append(all, mutation{Name: value})
			m = &all[len(all)-1]
		case "file:":
			m.File = value
		case "tests:":
			m.Tests = append(m.Tests, value)
		case "survives:":
			m.Survives = value
		case "-":
			before = append(before, value)
		case "+":
			after = append(after, value)
		default:
			return nil, fmt.Errorf("line %d: %q is not one of ==, file:, tests:, survives:, -, +, #", n, key)
		}
	}
	return all, end()
}

// apply returns the changed file.
func (m *mutation) apply(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(text), m.before); n != 1 {
		return nil, fmt.Errorf("%s has the text %d times, not once: %q", m.File, n, m.before)
	}
	return []byte(strings.Replace(string(text), m.before, m.after, 1)), nil
}
