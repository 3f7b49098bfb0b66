package agent

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

type filesIn struct {
	Selection
	Paths []string `json:"paths,omitempty" jsonschema:"source files, or the ends of their paths, such as src/feed/Row.tsx; or"`
	Diff  string   `json:"diff,omitempty" jsonschema:"a unified diff against the deployed code: lists only functions with an edited line"`
	Limit int      `json:"limit,omitempty" jsonschema:"how many functions, up to 200; 40 by default"`
}

type filesOut struct {
	Views     int64         `json:"views"`              // profiled page views
	Self      float64       `json:"self_ms"`            // self time of all functions of the files, per page view
	Functions []functionOut `json:"functions"`          // by self time
	More      int           `json:"more,omitempty"`     // functions that are not listed
	Silent    []string      `json:"not_seen,omitempty"` // files without seen functions
}

const (
	mostPaths = 200
	mostHunks = 2000
	mostLine  = 10_000_000
)

// file is a source file in a query.
type file struct {
	path  string
	lines []lines // edited lines; nil for the whole file
}

// lines is a range of lines, both ends included.
type lines struct{ from, to uint32 }

// inFiles returns the cost of the functions of source files to real users.
func (t tools) inFiles(ctx context.Context, in filesIn) (out filesOut, err error) {
	limit, err := rows(in.Limit, 40)
	if err != nil {
		return out, err
	}
	files, err := filesOf(in)
	if err != nil {
		return out, err
	}
	sel, err := t.selection(in.Selection)
	if err != nil {
		return out, err
	}
	result, err := t.Source.Profile(ctx, sel, nil)
	if err != nil {
		return out, err
	}
	p := result.Profile
	if p.Views == 0 {
		return out, t.nothing(ctx, sel)
	}
	out.Views, out.Functions = p.Views, []functionOut{}
	of := map[int][]trie.Function{}
	for _, f := range p.Functions() {
		if i := slices.IndexFunc(files, func(x file) bool { return isFile(f.Resource, x.path) }); i >= 0 {
			of[i] = append(of[i], f)
		}
	}
	var all []trie.Function
	for i, x := range files {
		found := x.edited(of[i])
		if len(found) == 0 {
			out.Silent = append(out.Silent, name(x.path))
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b trie.Function) int { return cmp.Compare(b.Self, a.Self) })
	var self int64
	for i, f := range all {
		self += f.Self
		if i >= limit {
			out.More++
			continue
		}
		out.Functions = append(out.Functions, functionOut{Name: name(f.Name), File: name(f.Resource), Line: f.Line,
			Column: f.Column, Reach: f.Reach,
			Self: Estimate{Value: perView(f.Self, p.Views)}, Total: Estimate{Value: perView(f.Total, p.Views)}})
	}
	out.Self = perView(self, p.Views)
	return out, nil
}

// isFile reports whether a resource is the file with the given path, or ends with it.
func isFile(resource, path string) bool {
	rest, ok := strings.CutSuffix(resource, path)
	return ok && (rest == "" || strings.HasSuffix(rest, "/") || strings.HasPrefix(path, "/"))
}

// edited returns the functions of a file with edited lines. A profile only has the first line of
// functions, so a line belongs to the last seen function that begins before it.
func (x *file) edited(all []trie.Function) []trie.Function {
	if x.lines == nil {
		return all
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b trie.Function) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.DeleteFunc(all, func(f trie.Function) bool {
		end := uint32(mostLine)
		for _, next := range all {
			if next.Line > f.Line {
				end = next.Line - 1
				break
			}
		}
		return !slices.ContainsFunc(x.lines, func(l lines) bool { return l.from <= end && l.to >= f.Line })
	})
}

// filesOf returns the files of a query.
func filesOf(in filesIn) (out []file, err error) {
	switch {
	case len(in.Paths) == 0 && in.Diff == "":
		return nil, errors.New("paths or diff is missing")
	case len(in.Paths) > 0 && in.Diff != "":
		return nil, errors.New("paths and diff: pass only one of both")
	case len(in.Paths) > mostPaths:
		return nil, fmt.Errorf("paths: %d files; the most are %d", len(in.Paths), mostPaths)
	case in.Diff != "":
		return readDiff(in.Diff)
	}
	for _, path := range in.Paths {
		path = strings.TrimPrefix(path, "./")
		if path == "" {
			return nil, errors.New("paths: empty path")
		}
		out = append(out, file{path: path})
	}
	return out, nil
}

// readDiff returns the files of a unified diff with their edited lines, numbered as before the
// edit, because users run that version. An added line counts as an edit of the line before it.
func readDiff(diff string) (out []file, err error) {
	scan := bufio.NewScanner(strings.NewReader(diff))
	scan.Buffer(nil, maxRequest)
	hunks := 0
	var h hunk
	for scan.Scan() {
		line := scan.Text()
		switch {
		case h.inside():
			h.next(line, &out[len(out)-1])
		case strings.HasPrefix(line, "--- "):
			path, _, _ := strings.Cut(strings.TrimPrefix(line, "--- "), "\t")
			out = append(out, file{path: strings.TrimPrefix(strings.Trim(path, `"`), "a/"), lines: []lines{}})
		case strings.HasPrefix(line, "@@ -"):
			if h, err = hunkOf(line); err != nil {
				return nil, fmt.Errorf("diff: %w", err)
			}
			if len(out) == 0 {
				return nil, errors.New("diff: a hunk comes before the name of a file, --- a/path")
			}
			if hunks++; hunks > mostHunks {
				return nil, fmt.Errorf("diff: over %d hunks", mostHunks)
			}
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("diff: %w", err)
	}
	out = slices.DeleteFunc(out, func(f file) bool { return f.path == "/dev/null" || len(f.lines) == 0 }) // new files
	if len(out) > mostPaths {
		return nil, fmt.Errorf("diff: %d files; the most are %d", len(out), mostPaths)
	}
	if len(out) == 0 {
		return nil, errors.New("diff: it edits no file that users have; pass a unified diff, as git diff writes it")
	}
	return out, nil
}

// hunk is the unread rest of a hunk.
type hunk struct {
	at       uint32 // number of the next line before the edit
	old, new uint64 // remaining lines before and after the edit
}

func (h *hunk) inside() bool { return h.old > 0 || h.new > 0 }

// next reads a line of the hunk, and adds its edit to a file.
func (h *hunk) next(line string, f *file) {
	kind := byte(' ') // an empty line is a context line without its space
	if line != "" {
		kind = line[0]
	}
	if kind == '\\' { // no newline at the end of the file
		return
	}
	if kind == '-' || kind == '+' {
		at := h.at
		if kind == '+' {
			at = max(at, 2) - 1
		}
		if last := len(f.lines) - 1; last >= 0 && f.lines[last].to+1 >= at {
			f.lines[last].to = max(f.lines[last].to, at)
		} else {
			f.lines = append(f.lines, lines{at, at})
		}
	}
	if kind != '+' {
		h.at++
		h.old -= min(h.old, 1)
	}
	if kind != '-' {
		h.new -= min(h.new, 1)
	}
}

// hunkOf parses the header of a hunk, "@@ -from,count +from,count @@ …".
func hunkOf(line string) (h hunk, err error) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[2], "+") {
		return h, fmt.Errorf("%.60q is not a hunk header", line)
	}
	number := func(text string) (from, count uint64, err error) {
		first, many, two := strings.Cut(text, ",")
		count = 1
		if from, err = strconv.ParseUint(first, 10, 32); err == nil && two {
			count, err = strconv.ParseUint(many, 10, 32)
		}
		if err == nil && (from > mostLine || count > mostLine) {
			err = strconv.ErrRange
		}
		return from, count, err
	}
	from, old, err := number(fields[1][1:])
	_, fresh, err2 := number(fields[2][1:])
	if err != nil || err2 != nil {
		return h, fmt.Errorf("%.60q is not a hunk header", line)
	}
	h = hunk{at: uint32(max(from, 1)), old: old, new: fresh}
	if old == 0 { // only additions, after that line
		h.at = uint32(from) + 1
	}
	return h, nil
}

func (o filesOut) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d page views. Functions of these files take %g ms of self time per page view:\n",
		o.Views, o.Self)
	for _, f := range o.Functions {
		fmt.Fprintf(&b, "self %s, total %s: %s\n", f.Self, f.Total, function(f.Name, f.File, f.Line, f.Column))
	}
	if o.More > 0 {
		fmt.Fprintf(&b, "… and %d more; raise limit to see them\n", o.More)
	}
	if len(o.Silent) > 0 {
		b.WriteString("No function was seen of: " + strings.Join(o.Silent, ", ") + "\n")
	}
	return b.String()
}
