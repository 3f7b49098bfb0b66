package commandline

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// WriteMan writes the man page of a program and its subcommands, section 1, in the format of
// man(7).
func (p *Program) WriteMan(w io.Writer, v Version, subcommands ...*Program) error {
	var b strings.Builder
	name := strings.ReplaceAll(p.Name, " ", "-")
	date, _, _ := strings.Cut(v.Date, "T")
	fmt.Fprintf(&b, ".TH %s 1 %q %q %q\n", strings.ToUpper(name), date, "Fieldtrie "+v.Version, "Fieldtrie")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(name), escape(p.Summary))
	synopsis, text, _ := strings.Cut(strings.TrimSpace(p.Usage), "\n\n")
	synopsis = strings.TrimPrefix(synopsis, "Usage:")
	b.WriteString(".SH SYNOPSIS\n.nf\n")
	for line := range strings.Lines(synopsis) {
		fmt.Fprintf(&b, "%s\n", escape(strings.TrimSpace(line)))
	}
	b.WriteString(".fi\n.SH DESCRIPTION\n")
	writeText(&b, text)
	for _, s := range p.Sections {
		title := "OPTIONS"
		if s.Title != "" {
			title = strings.ToUpper(s.Title)
		}
		fmt.Fprintf(&b, ".SH %s\n", escape(title))
		s.Flags.VisitAll(func(f *pflag.Flag) { writeFlag(&b, f) })
	}
	if p.Notes != "" {
		b.WriteString(".SH NOTES\n")
		writeText(&b, p.Notes)
	}
	for _, s := range subcommands {
		_, text, _ := strings.Cut(strings.TrimSpace(s.Usage), "\n\n")
		fmt.Fprintf(&b, ".SH %s\n", escape(strings.ToUpper(s.Name)))
		writeText(&b, text)
		for _, section := range s.Sections {
			section.Flags.VisitAll(func(f *pflag.Flag) { writeFlag(&b, f) })
		}
		writeText(&b, s.Notes)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeFlag(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		fmt.Fprintf(b, "\\fB\\-%s\\fR, ", f.Shorthand)
	}
	fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", escape(f.Name))
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", escape(value))
	}
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" && !strings.Contains(usage, "(default ") {
		usage += " (default " + d + ")"
	}
	fmt.Fprintf(b, "\n%s\n", escape(usage))
}

// writeText writes paragraphs. Indented paragraphs and lists are not wrapped.
func writeText(b *strings.Builder, text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			fmt.Fprintf(b, ".PP\n.nf\n.RS\n%s\n.RE\n.fi\n", escape(paragraph))
			continue
		}
		fmt.Fprintf(b, ".PP\n%s\n", escape(paragraph))
	}
}

// escape escapes text for man pages: backslashes, hyphens, and lines that begin like a command.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
