package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/shared/backup"
)

// restoreData creates --data from a backup or other data, and prints a summary.
func (c *config) restoreData(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	in, err := openBackup(ctx, c.restore, stdin)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	say := func(string) {}
	if isTerminal(stderr) {
		say = in.progress(stderr)
		defer fmt.Fprint(stderr, "\r\x1b[K")
	}
	started := time.Now()
	has, err := c.restoreFrom(ctx, in, stderr, say)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "restored the backup of %s to %s: %s in %s, %s in %.1f s\n",
		has.Made.Format(time.RFC3339), c.data, english.Plural(int(has.Traces), "trace", ""),
		english.Plural(int(has.Objects), "object", ""), humanize.IBytes(uint64(has.Bytes)),
		time.Since(started).Seconds())
	for _, what := range wrongIn(&has) {
		fmt.Fprintf(stderr, "ingest: missing or damaged in the backup, since it could not be read: %s\n",
			output.Printable(what))
	}
	return err
}

// restoreFrom makes --data of a stream.
func (c *config) restoreFrom(ctx context.Context, in io.Reader, stderr io.Writer, say func(key string)) (_ backup.Stats,
	err error) {
	from, err := backup.Open(in) // before a directory is made for what is no backup
	if err != nil {
		return backup.Stats{}, fmt.Errorf("restore into %s: %w", c.data, err)
	}
	before, err := shared.NoteBefore(c.data)
	if err != nil {
		return backup.Stats{}, fmt.Errorf("restore into %s: %w", c.data, err)
	}
	defer func() { // after it was closed
		if err != nil {
			err = errors.Join(err, before.Return())
		}
	}()
	to, err := c.openPlace(ctx, false, c.errandLog(stderr))
	if err != nil {
		return backup.Stats{}, err
	}
	if place, ok := to.(io.Closer); ok {
		defer func() { err = errors.Join(err, place.Close()) }()
	}
	return shared.Restore(ctx, from, to, shared.Options{GiveUp: errandGiveUp}, say)
}

type backupStream struct {
	io.Reader
	close      func() error
	done, size int64 // bytes; size is 0 if it is not known
}

// openBackup opens a backup in a file, - for stdin, or begins to make one of a directory or bucket
// with data.
func openBackup(ctx context.Context, from string, stdin io.Reader) (*backupStream, error) {
	if from == "-" {
		return &backupStream{Reader: stdin, close: func() error { return nil }}, nil
	}
	dir, onDisk := shared.Folder(from)
	if !onDisk {
		return openCopy(ctx, from)
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("--restore: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		_ = f.Close()
		return openCopy(ctx, from)
	}
	s := &backupStream{Reader: f, close: f.Close}
	if err == nil && info.Mode().IsRegular() {
		s.size = info.Size()
	}
	return s, nil
}

// openCopy begins to make a backup of what is at a location.
func openCopy(ctx context.Context, location string) (*backupStream, error) {
	place, err := shared.OpenPlace(ctx, location, shared.PlaceOptions{ReadOnly: true})
	if err == nil {
		var r *shared.Reader
		if r, err = shared.OpenReader(ctx, place, shared.Options{GiveUp: errandGiveUp}); err == nil {
			out, in := io.Pipe()
			go func() {
				_, err := r.Backup(ctx, in)
				_ = in.CloseWithError(err) // it never fails
			}()
			return &backupStream{Reader: out, close: out.Close}, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("there is no data: %w", err)
	}
	return nil, fmt.Errorf("--restore: %w", err)
}

func (s *backupStream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.done += int64(n)
	return n, err
}

// Close ends reading.
func (s *backupStream) Close() error { return s.close() }

// progress returns what says on a terminal how far reading is.
func (s *backupStream) progress(terminal io.Writer) func(key string) {
	var last time.Time
	return func(key string) {
		if time.Since(last) < sayOnTerminal {
			return
		}
		last = time.Now()
		of := ""
		if s.size > 0 {
			of = " of " + humanize.IBytes(uint64(s.size))
		}
		fmt.Fprintf(terminal, "\r\x1b[Krestoring %s%s, at %s", humanize.IBytes(uint64(s.done)), of, key)
	}
}
