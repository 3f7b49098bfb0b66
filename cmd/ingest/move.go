package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/shared/move"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
)

// errands are what the program does instead of serving.
type errands struct {
	restore  string // make --data of this backup
	importOf string // move this directory into the bucket
	exportTo string // make this directory of the bucket
	verify   bool   // check the bucket
	repair   bool   // and make sums again
}

// validate refuses errands that do not go together, or not with data.
func (e *errands) validate(data string) error {
	isBucket := shared.IsLocation(data)
	asked := 0
	for _, x := range []struct {
		flag         string
		on, ofBucket bool
		dir          string
	}{{"restore", e.restore != "", isBucket, ""}, {"import", e.importOf != "", true, e.importOf}, {"export", e.exportTo != "", true, e.exportTo}, {"verify", e.verify, true, ""}} {
		if !x.on {
			continue
		}
		asked++
		switch {
		case x.dir != "" && shared.IsLocation(x.dir):
			return fmt.Errorf("--%s: it takes a directory; name the bucket with --data", x.flag)
		case x.ofBucket && !isBucket:
			return fmt.Errorf("--%s: --data is a directory; name a bucket with --data s3://BUCKET/PREFIX", x.flag)
		}
	}
	if asked > 1 {
		return errors.New("only one of --restore, --import, --export and --verify at a time")
	}
	if e.repair && !e.verify {
		return errors.New("--repair: it goes with --verify")
	}
	return nil
}

// any reports whether there is something to do instead of serving.
func (e *errands) any() bool {
	return e.restore != "" || e.importOf != "" || e.exportTo != "" || e.verify
}

// errand does what is to be done instead of serving.
func (c *config) errand(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	switch {
	case c.importOf != "":
		return c.importData(ctx, stdout, stderr)
	case c.exportTo != "":
		return c.exportData(ctx, stdout, stderr)
	case c.verify:
		return c.verifyData(ctx, stdout, stderr)
	}
	return c.restoreData(ctx, stdin, stdout, stderr)
}

// Objects of an errand are large, and nobody waits for it.
const errandGiveUp = 2 * time.Minute

// warnings returns a log of what goes wrong while an errand is run.
func warnings(stderr io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// node opens a bucket for an errand.
func node(ctx context.Context, b objects.Store, stderr io.Writer) (*shared.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	return shared.Open(ctx, b, shared.Options{GiveUp: errandGiveUp, Logger: warnings(stderr)})
}

// importData moves a directory into the bucket.
func (c *config) importData(ctx context.Context, stdout, stderr io.Writer) (err error) {
	from, err := local.OpenReader(c.importOf, local.Options{Program: "ingest", Now: c.now})
	if x, ok := errors.AsType[*local.InUseError](err); ok {
		return fmt.Errorf("--import: %w; stop it, so that nothing comes to the directory any more", x)
	}
	if err != nil {
		return fmt.Errorf("--import: %w", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	b, err := c.openPlace(ctx, false, warnings(stderr))
	if err != nil {
		return err
	}
	n, err := node(ctx, b, stderr)
	if err != nil {
		return err
	}
	p := newProgress(stderr, "importing")
	stats, err := n.Import(ctx, from, p.moving)
	p.clear()
	if err != nil {
		return fmt.Errorf("%w; what was imported stays, and the same command goes on from there", err)
	}
	if _, err := fmt.Fprintf(stdout, "imported %s into %s: %s\n", c.importOf, b.Name(), moved(&stats, p)); err != nil {
		return err
	}
	if err := moveSymbols(n.Symbols(), c.importOf, true, "imported", stdout); err != nil {
		return err
	}
	return left(&stats, "imported", stderr)
}

// exportData moves the bucket into a directory.
func (c *config) exportData(ctx context.Context, stdout, stderr io.Writer) (err error) {
	b, err := c.openPlace(ctx, false, warnings(stderr))
	if err != nil {
		return err
	}
	if _, err := shared.OpenReader(ctx, b, shared.Options{}); err != nil { // one that is empty stays so
		return err
	}
	n, err := node(ctx, b, stderr)
	if err != nil {
		return err
	}
	o := c.storeOptions()
	o.Logger = warnings(stderr)
	to, err := local.OpenLoader(c.exportTo, b.Name(), o)
	if err != nil {
		return fmt.Errorf("--export: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	p := newProgress(stderr, "exporting")
	stats, err := n.Export(ctx, to, p.moving)
	p.clear()
	if err != nil {
		return fmt.Errorf("%w; what was exported stays, and the same command goes on from there", err)
	}
	if err := to.Finish(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "exported %s into %s: %s\n", b.Name(), c.exportTo, moved(&stats, p)); err != nil {
		return err
	}
	if err := moveSymbols(n.Symbols(), c.exportTo, false, "exported", stdout); err != nil {
		return err
	}
	return left(&stats, "exported", stderr)
}

// moveSymbols copies symbols between the bucket and a data directory.
func moveSymbols(common tables.Files, data string, in bool, verb string, stdout io.Writer) error {
	if _, err := os.Stat(tables.Folder(data)); in && errors.Is(err, os.ErrNotExist) {
		return nil
	}
	local, err := tables.InFolder(tables.Folder(data))
	if err != nil {
		return err
	}
	to, from := local, common
	if in {
		to, from = common, local
	}
	files, err := tables.Copy(to, from)
	if err != nil {
		return fmt.Errorf("%w; the same command goes on from there", err)
	}
	if files > 0 {
		_, err = fmt.Fprintf(stdout, "%s %d files of symbols\n", verb, files)
	}
	return err
}

// moved says what was moved.
func moved(s *move.Stats, p *progress) string {
	text := fmt.Sprintf("%d hours and %d days", s.Hours, s.Days)
	if s.Known > 0 {
		text += fmt.Sprintf(", %d of them were there", s.Known)
	}
	text += fmt.Sprintf("; %s traces", humanize.Comma(int64(s.Traces)))
	if s.Duplicates > 0 {
		text += fmt.Sprintf(", and %s that were there", humanize.Comma(int64(s.Duplicates)))
	}
	return text + fmt.Sprintf(", in %.1f s", time.Since(p.started).Seconds())
}

// left says what was not moved, which makes the command fail.
func left(s *move.Stats, verb string, stderr io.Writer) error {
	for _, text := range s.Left {
		fmt.Fprintf(stderr, "ingest: not %s: %s\n", verb, output.Printable(text))
	}
	if n := len(s.Left); n > 0 {
		return fmt.Errorf("%d things are not %s", n, verb)
	}
	return nil
}

// verifyData checks the bucket, and repairs what can be.
func (c *config) verifyData(ctx context.Context, stdout, stderr io.Writer) error {
	b, err := c.openPlace(ctx, !c.repair, warnings(stderr))
	if err != nil {
		return err
	}
	r, err := shared.OpenReader(ctx, b, shared.Options{})
	if err != nil {
		return err
	}
	p := newProgress(stderr, "verifying")
	v, err := r.Verify(ctx, p.moving)
	p.clear()
	if err != nil {
		return err
	}
	for _, f := range v.Findings {
		fmt.Fprintf(stdout, "%s: %s; %s\n", f.Object, output.Printable(f.What), f.Do)
	}
	mended := 0
	if c.repair && len(v.Findings) > 0 {
		n, err := node(ctx, b, stderr)
		if err != nil {
			return err
		}
		if mended, err = n.Repair(ctx, v); err != nil {
			return err
		}
	}
	wrong := 0
	for _, f := range v.Findings {
		if !c.repair || !f.Mends {
			wrong++
		}
	}
	if _, err := fmt.Fprintf(stdout, "verified %s: %d objects with %s traces, %d things are wrong, %d are made again, in %.1f s\n",
		b.Name(), v.Objects, humanize.Comma(int64(v.Traces)), len(v.Findings), mended, time.Since(p.started).Seconds()); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d things are wrong with %s", wrong, b.Name())
	}
	return nil
}
