package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/query/file"

	"golang.org/x/term"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
	"github.com/fieldtrie/fieldtrie/trie"
)

// source returns the source of the data, limited to --site if given, and a function to close it.
func (c *command) source() (query.Source, func() error, error) {
	src, closing, err := c.wholeSource()
	if c.site == "" || err != nil {
		return src, closing, err
	}
	switch s := src.(type) {
	case *api.Remote:
		s.SetSite(c.site)
	case query.Local:
		return s.Only(query.OfSite(c.site)), closing, nil
	}
	return src, closing, nil
}

// wholeSource returns a source of all sites. If a daemon has the data directory open, it is
// queried; otherwise the directory is read here.
func (c *command) wholeSource() (query.Source, func() error, error) {
	nothing := func() error { return nil }
	if c.daemon.Addr != "" {
		r, err := c.daemon.Remote()
		return r, nothing, errors.Join(err, c.withoutOwners())
	}
	dir, isDir := shared.Folder(c.data)
	if isDir {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return nil, nil, fmt.Errorf(
				"no data directory %s; name ingest's data directory with --data, or a daemon with --addr", dir)
		}
		if r := api.NewSocketRemote(filepath.Join(dir, api.SocketName)); r.Alive() {
			return r, nothing, c.withoutOwners()
		}
	}
	r, err := openStore(c.data)
	if err != nil {
		return nil, nil, err
	}
	sites, err := tables.OpenSitesReader(r.Symbols())
	if err != nil {
		return nil, nil, err
	}
	return query.Local{Reader: r, MaxSize: maxSize, Owners: func() *owner.Rules {
		return c.pick.Owners
	}, Symbols: naming.NewOfSites(sites.All())}, nothing, nil
}

// openWait bounds the wait for a bucket.
const openWait = time.Minute

// openStore opens the data of nodes in a bucket or a directory. No node needs to run.
func openStore(data string) (*shared.Reader, error) {
	ctx, cancel := context.WithTimeout(context.Background(), openWait)
	defer cancel()
	b, err := shared.OpenPlace(ctx, data, shared.PlaceOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	r, err := shared.OpenReader(ctx, b, shared.Options{})
	if err != nil || !b.Exclusive() || !r.Waits(ctx) {
		return r, err
	}
	// A daemon was killed before it rolled up its newest traces.
	if b, err = shared.OpenPlace(ctx, data, shared.PlaceOptions{Program: "aggregate", Brief: true}); err != nil {
		return r, nil // its results report what is missing
	}
	n, err := shared.Open(ctx, b, shared.Options{})
	if err != nil {
		return r, errors.Join(err, b.(io.Closer).Close())
	}
	return r, n.Close(context.Background())
}

// withoutOwners rejects --owners with a daemon, which would ignore it.
func (c *command) withoutOwners() error {
	if c.owners != "" {
		return errors.New("--owners: the daemon uses its own file; start ingest with --owners FILE")
	}
	return nil
}

// maxSize bounds the memory of a merge, in bytes: a program with a single query can use more
// than a daemon.
const maxSize = 1 << 30

// printProfile merges the selected data and writes the profile.
func (c *command) printProfile(ctx context.Context) error {
	base, err := c.base(ctx)
	if err != nil {
		return err
	}
	if len(c.files) == 0 {
		return c.printStored(ctx, base.Result.Profile)
	}
	merged, err := c.mergeFiles(ctx, c.inputs())
	if err != nil {
		return err
	}
	shown := c.shownOf(merged)
	if c.empty(shown.Result) {
		return c.nothingInFiles()
	}
	o := output.Options{Base: base.Result.Profile, Threads: shown.Threads, BaseThreads: base.Threads}
	if base.Result.Profile == nil {
		o.OfThread = merged.OfThread
	}
	return c.write(ctx, shown.Result, o)
}

// printStored merges the selected data of a store and writes the profile.
func (c *command) printStored(ctx context.Context, base *trie.Profile) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	p := c.progress()
	var result, other query.Result
	if c.comparing.given {
		other, result, err = c.sides(ctx, src, p.traces)
	} else {
		result, err = src.Profile(ctx, c.selection, p.traces)
	}
	p.clear()
	if err != nil {
		return err
	}
	c.warn(result.Stats.Warnings)
	c.tellNames(result.Stats.Names)
	if c.empty(result) {
		return c.nothingFound(ctx, src)
	}
	if c.comparing.given {
		if base, err = c.comparedProfile(other, result.Profile); err != nil {
			return err
		}
	}
	if result.Profile, err = c.aroundFunction(c.pick.Rewrite(result.Profile)); err != nil {
		return err
	}
	return c.write(ctx, result, output.Options{Base: base})
}

// mergeFiles merges files and warns about missing data.
func (c *command) mergeFiles(ctx context.Context, files []file.Input) (file.Merged, error) {
	p := c.progress()
	merged, err := file.Merge(ctx, files, c.selection, c.pick, p.files(len(files)))
	p.clear()
	c.warn(merged.Result.Stats.Warnings)
	c.tellNames(merged.Result.Stats.Names)
	shortNames(merged.Threads)
	if len(merged.Threads) > 0 && merged.Result.Profile.Views > 0 {
		c.warn([]string{"times per page view include recordings, because page views and recordings are merged"})
	}
	return merged, err
}

// base returns the data to compare with; its profile is nil if there is none.
func (c *command) base(ctx context.Context) (file.Merged, error) {
	if c.diff == "" {
		return file.Merged{}, nil
	}
	merged, err := c.mergeFiles(ctx, []file.Input{c.input(c.diff)})
	if err != nil {
		return file.Merged{}, fmt.Errorf("--diff: %w", err)
	}
	return c.shownOf(merged), nil
}

// printTimed writes the calls of files in time order.
func (c *command) printTimed(ctx context.Context) error {
	p := c.progress()
	lines, stats, err := file.Timelines(ctx, c.inputs(), c.pick, p.files(len(c.files)))
	p.clear()
	c.warn(stats.Warnings)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(lines, func(l *trie.Timeline) bool { return len(l.Calls) > 0 }) {
		return fmt.Errorf("no calls in %s", strings.Join(c.files, ", "))
	}
	err = c.emit(ctx, func(w io.Writer) error {
		return c.format.EncodeTimed(w, lines, output.Options{Title: c.title()})
	})
	if err != nil || c.toStdout() {
		return err
	}
	c.wrote(counted(uint64(len(lines)), "thread"))
	return nil
}

// inputs opens the files of the command line.
func (c *command) inputs() []file.Input {
	var files []file.Input
	for _, name := range c.files {
		files = append(files, c.input(name))
	}
	return files
}

// input returns the file with this name on the command line.
func (c *command) input(name string) file.Input {
	if name == "-" {
		return file.Input{Name: "standard input", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(c.stdin), nil
		}}
	}
	return file.Input{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
}

// empty reports whether r has no trace and no weight.
func (c *command) empty(r query.Result) bool {
	flat, coverage := r.Profile.Flat()
	return coverage == (trie.Coverage{}) && !slices.ContainsFunc(flat, func(w trie.Weight) bool { return !w.IsZero() })
}

// title describes the content of the output.
func (c *command) title() string {
	if len(c.files) == 0 {
		return strings.TrimSpace(c.page + " " + c.feature)
	}
	title := filepath.Base(c.files[0])
	if more := len(c.files) - 1; more > 0 {
		title += fmt.Sprintf(" and %d more", more)
	}
	return title
}

// baseSelection describes the selection to compare with.
func (c *command) baseSelection() string {
	switch {
	case c.diff == "-":
		return "standard input"
	case c.diff != "":
		return filepath.Base(c.diff)
	}
	return inWords(sideName(c.comparing.selection))
}

// inWords returns the text of a selection without its leading preposition.
func inWords(text string) string { return strings.TrimPrefix(strings.TrimSpace(text), "for ") }

// write writes the profile to the output of the command line.
func (c *command) write(ctx context.Context, r query.Result, o output.Options) error {
	o.Since, o.Until, o.Rows, o.Title, o.Template = c.selection.Since, c.selection.Until, c.rows, c.title(), c.template
	o.Selection, o.BaseSelection = inWords(c.selection.String()), c.baseSelection()
	o.PerView = c.perView()
	if c.events || r.Profile.Views == 0 { // recordings also have time outside JavaScript, such as garbage collection
		o.Of = "work"
	}
	if o.Until.IsZero() && !o.Since.IsZero() {
		o.Until = c.now
	}
	err := c.emit(ctx, func(w io.Writer) error { return c.format.Encode(w, r.Profile, o) })
	if err != nil || c.toStdout() {
		return err
	}
	_, coverage := r.Profile.Flat()
	var parts []string
	recorded := int64(r.Stats.Profiles)
	if traces := coverage.Traces - recorded; coverage.Views > 0 && traces > 0 || recorded == 0 && len(o.Threads) == 0 {
		parts = append(parts, counted(uint64(traces), "trace")+" of "+counted(uint64(coverage.Views), "page view"))
	}
	switch shown := o.Threads.Shown(); {
	case c.format.Template && o.OfThread != nil && len(shown) > 0: // the page contains all threads
		parts = append(parts, counted(uint64(len(o.Threads)), "thread"))
	case len(shown) > 0:
		parts = append(parts, counted(uint64(len(shown)), "thread"))
	case recorded > 0:
		parts = append(parts, counted(r.Stats.Profiles, "profile"))
	}
	if read := r.Stats.Read(); read != "" {
		parts = append(parts, "read from "+read)
	}
	c.wrote(strings.Join(parts, ", "))
	return nil
}

// wrote reports what was written to a file.
func (c *command) wrote(what string) {
	fmt.Fprintf(c.stderr, "aggregate: wrote %s: %s\n", c.output, what)
}

// counted formats a number of things.
func counted(n uint64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// toStdout reports whether the output goes to standard output.
func (c *command) toStdout() bool { return c.output == "" || c.output == "-" }

// shownOn returns a writer of text to w, standard output. Formats for programs contain raw names;
// on a terminal the writer replaces unsafe characters.
func (c *command) shownOn(w io.Writer) io.Writer {
	if isTerminal(w) && !c.format.Binary {
		return output.Terminal(w)
	}
	return w
}

// screen returns the width and colors of the output; without a limit unless it is a terminal.
func (c *command) screen() terminal.Screen {
	if !c.toStdout() {
		return terminal.Screen{}
	}
	return terminal.Of(c.stdout, terminal.When(c.color), os.Getenv)
}

// emit calls write with the output that the command line names.
func (c *command) emit(ctx context.Context, write func(io.Writer) error) error {
	return c.emitTo(ctx, c.shownOn(c.stdout), write)
}

// emitTable is emit for text that may have colors and whose names are already printable.
func (c *command) emitTable(ctx context.Context, write func(io.Writer, terminal.Screen) error) error {
	return c.emitTo(ctx, c.stdout, func(w io.Writer) error { return write(w, c.screen()) })
}

// emitResponse writes a response of the API as JSON, or as text with write.
func (c *command) emitResponse(ctx context.Context, response any, write func(io.Writer, terminal.Screen) error) error {
	if c.formatName == "json" {
		return c.emit(ctx, func(w io.Writer) error { return writeJSON(w, response) })
	}
	return c.emitTable(ctx, write)
}

func (c *command) emitTo(ctx context.Context, stdout io.Writer, write func(io.Writer) error) error {
	buffered := func(w io.Writer) error { // compressors write a few bytes at a time
		b := bufio.NewWriterSize(watchedWriter{ctx, w}, 64<<10)
		return errors.Join(write(b), b.Flush())
	}
	if c.toStdout() {
		return buffered(stdout)
	}
	return writeFile(ctx, c.output, buffered)
}

// watchedWriter writes to w and fails once ctx is done.
type watchedWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w watchedWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// warn reports what is missing in a result.
func (c *command) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(c.stderr, "aggregate: warning:", output.Printable(w))
	}
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress returns a progress; nil unless standard error is a terminal.
func (c *command) progress() *progress {
	return &progress{w: c.stderr, on: isTerminal(c.stderr), started: time.Now()}
}

// progress shows the progress of a merge on a terminal.
type progress struct {
	w       io.Writer
	on      bool
	shown   bool
	started time.Time
	last    time.Time
}

// traces shows the number of traces read.
func (p *progress) traces(n uint64) { p.show(fmt.Sprintf("%d traces read", n)) }

// files returns a function that shows how many of all files were read.
func (p *progress) files(all int) func(file.Progress) {
	return func(now file.Progress) {
		p.show(fmt.Sprintf("%d of %d files read, %d MB", now.Files, all, now.Bytes/1e6))
	}
}

// show replaces the shown text, at most ten times a second and not in the first second.
func (p *progress) show(text string) {
	now := time.Now()
	if !p.on || now.Sub(p.started) < time.Second || now.Sub(p.last) < time.Second/10 {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
}

// clear removes the shown text.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
