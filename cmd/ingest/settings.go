package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
)

// settings are the flags and where each got its value from.
type settings struct {
	file       string // of --config
	dry        bool   // --check
	askHealthy bool
	docsTo     string // write the documentation there
	helpAll    bool
	asked      commandline.Asked
	read       bool // the command line is valid: mistakes are elsewhere

	args, environ []string // the sources of the settings
	program       *commandline.Program
	flags         *pflag.FlagSet // of program
	// of a flag that has not its default value: "the command line", "FIELDTRIE_DATA", "ingest.yaml,
	// line 3"
	origin  map[string]string
	fields  int      // in the file
	unknown []string // variables of the environment that look like settings and are none
}

// onlyTyped are flags of one-off actions, which are accepted on the command line alone.
func onlyTyped() []string {
	return []string{"check", "healthy", "write-docs", "help-all", "version", "completion", "man", "restore", "verify",
		"repair", "test-notification"}
}

// typed is the origin of what stands on the command line.
const typed = "the command line"

// prefix is that of variables of the environment.
const prefix = "FIELDTRIE_"

func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// parse reads the settings: args before environ before the file of --config. A list comes
// completely from the first of these that sets it. environ has the form of [os.Environ].
func (c *config) parse(args, environ []string) error {
	c.program = &commandline.Program{Name: "ingest",
		Summary: "receive JavaScript profiles from browsers, store them, and serve queries",
		Usage:   usage, Sections: c.sections(), Notes: notes}
	c.args, c.environ = args, environ
	c.flags, c.origin = c.program.Flags(), map[string]string{}
	if err := commandline.Parse(c.flags, args); err != nil {
		return err
	}
	if c.flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see ingest --help", c.flags.Arg(0))
	}
	c.flags.Visit(func(f *pflag.Flag) { c.origin[f.Name] = typed })
	if c.saysOnly() {
		return nil // whatever is wrong elsewhere
	}
	c.read = true
	return errors.Join(c.readEnvironment(environ), c.readFile())
}

// saysOnly reports whether the program only prints information that needs no setting.
func (c *config) saysOnly() bool { return c.helpAll || c.docsTo != "" || c.asked.Any() }

// readEnvironment sets the flags that have not been. Empty variables are ignored, because
// files of compose and similar tools cannot omit one.
func (c *config) readEnvironment(environ []string) error {
	flags := map[string]string{}
	c.flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(onlyTyped(), f.Name) {
			flags[variable(f.Name)] = f.Name
		}
	})
	var wrong []error
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		flag, known := flags[name]
		switch {
		case !strings.HasPrefix(name, prefix) || value == "":
		case !known:
			if name != "FIELDTRIE_TOKEN" && !ofService.MatchString(name) {
				c.unknown = append(c.unknown, name)
			}
		case c.origin[flag] == "":
			if err := c.set(flag, value); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			}
			c.origin[flag] = name
		}
	}
	return errors.Join(wrong...)
}

// ofService matches the variables that Kubernetes sets for a Service whose name begins with
// fieldtrie.
var ofService = regexp.MustCompile(`_(SERVICE_(HOST|PORT)(_.*)?|PORT(_[0-9]+_(TCP|UDP)(_.*)?)?)$`)

// readFile sets the flags that have not been, from the file of --config.
func (c *config) readFile() error {
	values, err := readRules(c.file, strictyaml.Read)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	var known []string
	c.flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "config" && !slices.Contains(onlyTyped(), f.Name) {
			known = append(known, f.Name)
		}
	})
	fields, err := values.Fields(known...)
	c.fields = len(fields)
	wrong := []error{within("config: "+c.file, err)}
	for _, flag := range slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		return cmp.Compare(fields[a].Line(), fields[b].Line())
	}) {
		if c.origin[flag] != "" {
			continue
		}
		texts, err := textsOf(fields[flag])
		if err == nil {
			if err = c.set(flag, texts...); err != nil {
				err = fields[flag].Errorf("%s: %w", flag, err)
			}
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("config: %s: %w", c.file, err))
			continue
		}
		c.origin[flag] = fmt.Sprintf("%s, line %d", c.file, fields[flag].Line())
	}
	return errors.Join(wrong...)
}

// each returns the errors that an error was joined of.
func each(err error) (all []error) {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, err := range joined.Unwrap() {
		all = append(all, each(err)...)
	}
	return all
}

// within says of each error that err was joined of what it is about.
func within(about string, err error) error {
	var all []error
	for _, err := range each(err) {
		all = append(all, fmt.Errorf("%s: %w", about, err))
	}
	return errors.Join(all...)
}

// flagInError matches the names of flags in errors.
var flagInError = regexp.MustCompile(`--[a-z][a-z-]*`)

// whence adds to an error about flags the source of values that are not from the command line.
func (c *config) whence(err error) error {
	if err == nil {
		return nil
	}
	var from []string
	for _, name := range flagInError.FindAllString(err.Error(), -1) {
		origin := c.origin[name[2:]]
		if place := name + " is of " + origin; origin != "" && origin != typed && !slices.Contains(from, place) {
			from = append(from, place)
		}
	}
	if len(from) == 0 {
		return err
	}
	return fmt.Errorf("%w (%s)", err, strings.Join(from, ", "))
}

// textsOf returns what stands behind a key: the items of a list, or one scalar.
func textsOf(v strictyaml.Value) ([]string, error) {
	if !v.IsList() {
		text, err := v.Text()
		return []string{text}, err
	}
	items, err := v.Items()
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		if texts[i], err = item.Text(); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// set sets a flag that has its default value. Only lists take several texts.
func (c *config) set(flag string, texts ...string) error {
	f := c.flags.Lookup(flag)
	if _, list := f.Value.(pflag.SliceValue); !list && len(texts) != 1 {
		return errors.New("one value, and no list")
	}
	for _, text := range texts {
		if err := f.Value.Set(text); err != nil {
			return unfit(f, text, err)
		}
	}
	return nil
}

// unfit returns an error for an invalid value of a flag. Errors of strconv name the function, and
// not the expected form.
func unfit(f *pflag.Flag, text string, err error) error {
	switch kind := f.Value.Type(); kind {
	case "bool":
		return fmt.Errorf("%.80q is neither true nor false", text)
	case "int":
		return fmt.Errorf("%.80q is not a whole number", text)
	case "float64":
		return fmt.Errorf("%.80q is not a number", text)
	case "duration":
		if _, own := f.Value.(*ageValue); !own {
			return fmt.Errorf("%.80q is not a duration such as 90s or 1h", text)
		}
	}
	return err
}
