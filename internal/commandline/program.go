package commandline

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// Program describes the command line of a program.
type Program struct {
	Name     string    // as it is typed: "ingest", "aggregate report"
	Summary  string    // what it does, in one line without a full stop
	Usage    string    // the text above the flags; indented paragraphs are not wrapped
	Sections []Section // in the order of the help
	Notes    string    // the text below the flags, as Usage
}

// Section is a group of flags.
type Section struct {
	Title string // empty if there is only one
	Flags *pflag.FlagSet
}

// Flags returns the flags of all sections for parsing. Errors are returned to the
// caller of Parse.
func (p *Program) Flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet(p.Name, pflag.ContinueOnError)
	fs.SortFlags = false
	fs.Usage = func() {} // the caller of Parse writes it
	for _, s := range p.Sections {
		fs.AddFlagSet(s.Flags)
	}
	return fs
}

// width is the width of the help, in characters.
const width = 92

// WriteHelp writes the help with the named flags, or with all flags if none are
// named.
func (p *Program) WriteHelp(w io.Writer, names ...string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.TrimSpace(p.Usage))
	if len(names) > 0 {
		some, all := pflag.NewFlagSet("", pflag.ContinueOnError), p.Flags()
		some.SortFlags = false
		for _, name := range names {
			some.AddFlag(all.Lookup(name))
		}
		fmt.Fprintf(&b, "\nFlags:\n%s", some.FlagUsagesWrapped(width))
	} else {
		for _, s := range p.Sections {
			title := s.Title
			if title == "" {
				title = "Flags"
			}
			fmt.Fprintf(&b, "\n%s:\n%s", title, s.Flags.FlagUsagesWrapped(width))
		}
	}
	if p.Notes != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(p.Notes))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Asked holds the flags that ask a program about itself. The zero value asks
// nothing.
type Asked struct {
	Version, Man bool
	Completion   string // a shell
}

// Add adds the flags that ask a program about itself.
func (a *Asked) Add(fs *pflag.FlagSet) {
	fs.BoolVar(&a.Version, "version", false, "print the version and exit")
	fs.StringVar(&a.Completion, "completion", "", "print what has a `SHELL` complete the flags, and exit: "+strings.Join(Shells(), ", "))
	_ = fs.SetAnnotation("completion", Values, Shells()) // which fails where there is no such flag
	fs.BoolVar(&a.Man, "man", false, "print the manual page, for man -l -, and exit")
}

// Any reports whether anything is asked.
func (a *Asked) Any() bool { return a.Version || a.Man || a.Completion != "" }

// Answer writes the requested text for a program, and for its subcommands if it has
// some.
func (a *Asked) Answer(w io.Writer, p *Program, subcommands ...*Program) error {
	switch {
	case a.Man:
		return p.WriteMan(w, ReadVersion(), subcommands...)
	case a.Completion != "":
		return WriteCompletion(w, a.Completion, append([]*Program{p}, subcommands...)...)
	}
	_, err := fmt.Fprintln(w, p.Name, ReadVersion())
	return err
}
