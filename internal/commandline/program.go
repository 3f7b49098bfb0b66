package commandline

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// Program describes the command line of a program.
type Program struct {
	Name     string    // as typed: "ingest", "aggregate report"
	Summary  string    // one line without a full stop
	Usage    string    // the text above the flags; indented paragraphs are not wrapped
	Sections []Section // in the order of the help
	Notes    string    // the text below the flags, formatted like Usage
}

// Section is a group of flags.
type Section struct {
	Title string // empty if there is only one
	Flags *pflag.FlagSet
}

// Flags returns a flag set with the flags of all sections. Its Parse returns errors and prints
// nothing.
func (p *Program) Flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet(p.Name, pflag.ContinueOnError)
	fs.SortFlags = false
	fs.Usage = func() {} // the caller of Parse prints the usage
	for _, s := range p.Sections {
		fs.AddFlagSet(s.Flags)
	}
	return fs
}

// width is the width of the help, in characters.
const width = 92

// WriteHelp writes the help with the named flags, or with all flags if there are no names.
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

// Asked holds the flags that print information about a program: --version, --completion and --man.
type Asked struct {
	Version, Man bool
	Completion   string // a shell
}

// Add defines the flags in fs.
func (a *Asked) Add(fs *pflag.FlagSet) {
	fs.BoolVar(&a.Version, "version", false, "print the version and exit")
	fs.StringVar(&a.Completion, "completion", "", "print the completion script for a `SHELL` and exit: "+
		strings.Join(Shells(), ", "))
	_ = fs.SetAnnotation("completion", Values, Shells()) // fails only for an undefined flag
	fs.BoolVar(&a.Man, "man", false, "print the manual page, for man -l -, and exit")
}

// Any reports whether any of the flags is set.
func (a *Asked) Any() bool { return a.Version || a.Man || a.Completion != "" }

// Answer writes the requested text for a program and its subcommands.
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
