package view

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// EncodeCSV writes the functions of p as comma-separated values (RFC 4180, but lines end
// with \n), heaviest self time first, with a header row. Times are microseconds; line and
// column count from 1, 0 is not known.
//
// With o.Base there are four more columns, and the rows are the functions of both, the
// largest change of self time first.
//
// A spreadsheet would take a name or URL that begins with =, +, -, @, a tab or a carriage return
// for a formula, so it gets an apostrophe in front: names come from any profiled page, and a
// formula could send the rest of the sheet elsewhere. Functions written by hand never begin like
// this.
func EncodeCSV(w io.Writer, p *trie.Profile, o output.Options) error {
	out := csv.NewWriter(w)
	header := []string{"function", "resource", "line", "column", "package", "self_us", "total_us", "samples", "views"}
	if o.Base == nil {
		out.Write(header)
		for _, f := range p.Functions() {
			out.Write(csvRow(f))
		}
	} else {
		out.Write(append(header, "base_self_us", "base_total_us", "delta_self_us", "delta_total_us"))
		for _, c := range output.Changes(output.Weigh(p, o)) {
			out.Write(append(csvRow(c.Function), decimal(c.Base.Self), decimal(c.Base.Total),
				decimal(c.Self-c.Base.Self), decimal(c.Total-c.Base.Total)))
		}
	}
	out.Flush()
	return out.Error()
}

func csvRow(f trie.Function) []string {
	return []string{
		csvText(output.Shown(f.Frame)), csvText(f.Resource), decimal(int64(f.Line)), decimal(int64(f.Column)),
		csvText(scripturl.Package(f.Resource)), decimal(f.Self), decimal(f.Total), decimal(f.Samples), decimal(f.Reach),
	}
}

// csvText returns s printable, as the table goes to terminals by way of head and grep, and escaped
// so that no spreadsheet takes it for a formula.
func csvText(s string) string {
	s = output.Printable(s)
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func decimal(v int64) string { return strconv.FormatInt(v, 10) }
