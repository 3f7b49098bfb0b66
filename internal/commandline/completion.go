package commandline

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Shells returns the shells that WriteCompletion supports.
func Shells() []string { return []string{"bash", "fish", "zsh"} }

// Values is the annotation of a flag that lists its values.
const Values = "values"

// WriteCompletion writes the completion script of a shell for the flags of programs. The first
// program is invoked by its name, the others are its subcommands ("aggregate", "aggregate report").
// The script does not run the programs.
func WriteCompletion(w io.Writer, shell string, programs ...*Program) error {
	write := map[string]func(*strings.Builder, []*Program){"bash": writeBash, "zsh": writeZsh, "fish": writeFish}[shell]
	if write == nil {
		return fmt.Errorf("completion for %.40q: supported shells are %s", shell, strings.Join(Shells(), ", "))
	}
	var b strings.Builder
	write(&b, programs)
	_, err := io.WriteString(w, b.String())
	return err
}

// argument is the kind of a flag's argument.
type argument int

const (
	none    argument = iota // no argument
	text                    // text without completion
	file                    // a file name
	dir                     // a directory name
	oneWord                 // one of the listed values
)

// argumentOf returns the kind of a flag's argument, and its values if they are listed.
func argumentOf(f *pflag.Flag) (argument, []string) {
	if f.NoOptDefVal != "" {
		return none, nil
	}
	if words := f.Annotations[Values]; len(words) > 0 {
		return oneWord, words
	}
	switch name, _ := pflag.UnquoteUsage(f); name {
	case "FILE":
		return file, nil
	case "DIR":
		return dir, nil
	}
	return text, nil
}

// flags calls do for each visible flag.
func (p *Program) flags(do func(*pflag.Flag)) {
	p.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			do(f)
		}
	})
}

// forms returns the spellings of a flag, such as -o and --output.
func forms(f *pflag.Flag) []string {
	if f.Shorthand != "" {
		return []string{"--" + f.Name, "-" + f.Shorthand}
	}
	return []string{"--" + f.Name}
}

// subcommand returns the word after the name of the first program, or "" for the first program
// itself.
func (p *Program) subcommand() string {
	_, sub, _ := strings.Cut(p.Name, " ")
	return sub
}

// summary returns the first words of a flag's help text, on one line.
func summary(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	usage, _, _ = strings.Cut(usage, ";")
	usage, _, _ = strings.Cut(usage, ". ")
	return strings.TrimSpace(usage)
}

func writeBash(b *strings.Builder, programs []*Program) {
	name := programs[0].Name
	fmt.Fprintf(b, "# bash completion for %s\n_%s() {\n  local cur=${COMP_WORDS[COMP_CWORD]} "+
		"prev=${COMP_WORDS[COMP_CWORD-1]}\n  COMPREPLY=()\n  case ${COMP_WORDS[1]} in\n", name, name)
	// Subcommands come first, as * matches everything.
	for _, p := range slices.Backward(programs) {
		pattern := p.subcommand()
		if pattern == "" {
			pattern = "*"
		}
		fmt.Fprintf(b, "  %s)\n    case $prev in\n", pattern)
		var all []string
		p.flags(func(f *pflag.Flag) {
			all = append(all, "--"+f.Name)
			reply := ""
			switch kind, words := argumentOf(f); kind {
			case none:
				return
			case oneWord:
				reply = fmt.Sprintf("COMPREPLY=($(compgen -W %s -- \"$cur\")); ", quote(strings.Join(words, " ")))
			case file:
				reply = "COMPREPLY=($(compgen -f -- \"$cur\")); "
			case dir:
				reply = "COMPREPLY=($(compgen -d -- \"$cur\")); "
			case text:
			}
			fmt.Fprintf(b, "    %s) %sreturn ;;\n", strings.Join(forms(f), "|"), reply)
		})
		words := strings.Join(all, " ")
		fmt.Fprintf(b, "    esac\n    case $cur in\n    -*) COMPREPLY=($(compgen -W %s -- \"$cur\")) ;;\n    *) "+
			"COMPREPLY=($(compgen -f -- \"$cur\"))", quote(words))
		if subs := subcommands(programs); p.subcommand() == "" && subs != "" {
			fmt.Fprintf(b, "\n       [ \"$COMP_CWORD\" = 1 ] && COMPREPLY+=($(compgen -W %s -- \"$cur\"))", quote(subs))
		}
		b.WriteString(" ;;\n    esac ;;\n")
	}
	fmt.Fprintf(b, "  esac\n}\ncomplete -o filenames -F _%s %s\n", name, name)
}

// subcommands returns the names of the subcommands.
func subcommands(programs []*Program) string {
	var subs []string
	for _, p := range programs[1:] {
		subs = append(subs, p.subcommand())
	}
	return strings.Join(subs, " ")
}

func writeZsh(b *strings.Builder, programs []*Program) {
	name := programs[0].Name
	fmt.Fprintf(b, "#compdef %s\n_%s() {\n  case ${words[2]} in\n", name, name)
	for _, p := range slices.Backward(programs) {
		pattern, first := p.subcommand(), "*:file:_files"
		if pattern == "" {
			pattern = "*"
			if subs := subcommands(programs); subs != "" {
				first = fmt.Sprintf("1:command:{ _values command %s; _files }' '*:file:_files", subs)
			}
		} else {
			first = "1:command:' '" + first
		}
		fmt.Fprintf(b, "  %s)\n    _arguments", pattern)
		p.flags(func(f *pflag.Flag) {
			action := ""
			switch kind, words := argumentOf(f); kind {
			case none:
			case text:
				action = ":value:"
			case file:
				action = ":file:_files"
			case dir:
				action = ":directory:_files -/"
			case oneWord:
				action = ":value:(" + strings.Join(words, " ") + ")"
			}
			says := strings.NewReplacer("[", "(", "]", ")", ":", " ").Replace(summary(f))
			for _, form := range forms(f) {
				fmt.Fprintf(b, " \\\n      %s", quote("*"+form+"["+says+"]"+action))
			}
		})
		fmt.Fprintf(b, " \\\n      '%s' ;;\n", first)
	}
	fmt.Fprintf(b, "  esac\n}\nif [ \"$funcstack[1]\" = _%s ]; then _%s \"$@\"; else compdef _%s %s; fi\n", name, name,
		name, name)
}

func writeFish(b *strings.Builder, programs []*Program) {
	name := programs[0].Name
	fmt.Fprintf(b, "# fish completion for %s\n", name)
	subs := subcommands(programs)
	for _, p := range programs {
		sub, when := p.subcommand(), ""
		switch {
		case sub != "":
			fmt.Fprintf(b, "complete -c %s -n __fish_use_subcommand -a %s -d %s\n", name, sub, quote(p.Summary))
			when = fmt.Sprintf(" -n '__fish_seen_subcommand_from %s'", sub)
		case subs != "":
			when = fmt.Sprintf(" -n 'not __fish_seen_subcommand_from %s'", subs)
		}
		p.flags(func(f *pflag.Flag) {
			fmt.Fprintf(b, "complete -c %s%s -l %s", name, when, f.Name)
			if f.Shorthand != "" {
				fmt.Fprintf(b, " -s %s", f.Shorthand)
			}
			switch kind, words := argumentOf(f); kind {
			case none:
			case text:
				b.WriteString(" -x")
			case file:
				b.WriteString(" -r -F")
			case dir:
				b.WriteString(" -x -a '(__fish_complete_directories)'")
			case oneWord:
				fmt.Fprintf(b, " -x -a %s", quote(strings.Join(words, " ")))
			}
			fmt.Fprintf(b, " -d %s\n", quote(summary(f)))
		})
	}
}

// quote quotes s as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
