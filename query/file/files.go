package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Input is a profile, trace or recording in any supported format.
type Input struct {
	Name string // for messages, and because some tools encode ids in it
	Open func() (io.ReadCloser, error)
}

// Progress is reported after each read from a file and after each complete file.
type Progress struct {
	Files int   // completely read
	Bytes int64 // of all files, before decompression
}

// readFiles reads one file after the other and passes each document to take.
func readFiles(ctx context.Context, files []Input, progress func(Progress),
	take func(Input, encode.Document) error) (bytes int64, err error) {
	p := Progress{}
	tell := func() {
		if progress != nil {
			progress(p)
		}
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		doc, err := readFile(ctx, f, func(n int) {
			p.Bytes += int64(n)
			tell()
		})
		if err != nil {
			return 0, err
		}
		if err := take(f, doc); err != nil {
			return 0, fmt.Errorf("%s: %w", f.Name, err)
		}
		p.Files++
		tell()
	}
	return p.Bytes, nil
}

func readFile(ctx context.Context, f Input, read func(int)) (encode.Document, error) {
	r, err := f.Open()
	if err != nil {
		return encode.Document{}, err // names the file and the operation
	}
	defer func() { _ = r.Close() }()
	size := 0
	doc, err := formats.Decode(&watched{ctx, r, func(n int) {
		size += n
		read(n)
	}}, encode.FileLimits())
	_, named := errors.AsType[*fs.PathError](err) // names the operation and the file
	switch {
	case err == nil, named:
		return doc, err
	case encode.KindOf(err) == 0:
		return doc, fmt.Errorf("read %s: %w", f.Name, err)
	case size == 0:
		return doc, fmt.Errorf("%s: empty file", f.Name)
	}
	return doc, fmt.Errorf("%s: %w", f.Name, err)
}

// watched counts the bytes read, and stops when ctx is done.
type watched struct {
	ctx  context.Context
	r    io.Reader
	read func(int)
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.r.Read(p)
	w.read(n)
	return n, err
}

// Merge merges files. From traces it selects by sel, except for times, because files do not contain
// the time of reception. From profiles, which no longer have traces, it selects the groups with
// matching labels, and from recordings the threads that pick selects. Merge returns an error if no
// file has a thread of pick. The statistics of the result are the number of files and profiles,
// bytes and warnings.
func Merge(ctx context.Context, files []Input, sel selection.Selection, pick Pick,
	progress func(Progress)) (Merged, error) {
	m := trie.NewMerger()
	p := newPicking(pick)
	bytes, err := readFiles(ctx, files, progress, func(f Input, doc encode.Document) error {
		switch {
		case doc.Trace != nil:
			if p.takesTrace(f.Name) {
				p.taken++
				sel.Merge(m, p.idle(doc.Trace), "")
			}
		case doc.Profile != nil:
			if p.Events {
				p.warn(f.Name, "no events to merge")
			}
			m.AddProfile(p.regroup(f.Name, doc.Profile, sel))
		default:
			return p.addRecording(m, f.Name, doc.Recording, sel)
		}
		return nil
	})
	if err == nil {
		err = p.missing(files)
	}
	stats := query.Stats{Traces: uint64(len(files)), Profiles: p.merged, Bytes: uint64(bytes), Warnings: p.warnings}
	named := p.name(m.Profile())
	threads := finish(p.apart, named)
	shown := p.show(named) // only after naming, because events lie between functions
	stats.Names = p.coverage()
	return Merged{Result: query.Result{Profile: shown, Stats: stats}, Threads: threads, Owners: pick.Owners,
		names: p.names}, err
}

// Timelines returns the calls of all threads that pick selects, in time order. It returns an error
// for a file without times, and if no file has a thread of pick.
func Timelines(ctx context.Context, files []Input, pick Pick, progress func(Progress)) ([]*trie.Timeline,
	query.Stats, error) {
	var lines []*trie.Timeline
	var open []int // indexes of lines that are not named yet
	p := newPicking(pick)
	add := func(named bool, more ...*trie.Timeline) {
		for _, line := range more {
			if !named {
				open = append(open, len(lines))
			}
			lines = append(lines, line)
		}
	}
	bytes, err := readFiles(ctx, files, progress, func(f Input, doc encode.Document) error {
		switch {
		case doc.Profile != nil:
			return fmt.Errorf("a profile has no times, so it cannot be shown in time order")
		case doc.Recording != nil:
			of, named, err := p.recordedTimelines(f.Name, doc.Recording)
			add(named, of...)
			return err
		case p.takesTrace(f.Name):
			line, err := p.calls(&trie.Stream{Trace: p.idle(doc.Trace)}, nil)
			if err != nil {
				return err
			}
			line.Name = doc.Trace.Context.Page
			add(false, line)
		}
		return nil
	})
	if err == nil {
		err = p.missing(files)
	}
	p.nameTimelines(lines, open)
	for i, line := range lines {
		if p.Rename != nil {
			line = line.Rewrite(p.Rename, false)
		}
		if by := p.Parts.Renamer(naming.Finder(p.Owners, p.names...)); by != nil {
			line = line.Rewrite(by, true)
		}
		lines[i] = line
	}
	return lines, query.Stats{Traces: uint64(len(files)), Bytes: uint64(bytes), Warnings: p.warnings}, err
}
