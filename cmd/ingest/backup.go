package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/shared/backup"
)

// backupStall is how long who asks for a backup may take no byte of it.
const backupStall = time.Minute

// copied says what a backup has.
type copied struct {
	parts  slog.Attr // how many
	traces uint64
	wrong  []string // what can not be read, each with its reason
}

// backupHandler streams a backup of the store, one at a time.
func backupHandler(s backend, log *slog.Logger) http.HandlerFunc {
	var one sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		if !one.TryLock() {
			http.Error(w, "a backup is being made already; wait for it to end", http.StatusConflict)
			return
		}
		defer one.Unlock()
		out := &backupWriter{w: w, control: http.NewResponseController(w)}
		started := time.Now()
		has, err := s.SendBackup(r.Context(), out)
		took := time.Since(started)
		if err != nil {
			log.Error("backup failed", "err", err, "bytes", out.bytes, "seconds", took.Seconds())
			if out.bytes == 0 {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			panic(http.ErrAbortHandler) // a stream without an end must not look whole
		}
		log.Info("backup sent", "bytes", out.bytes, "seconds", took.Seconds(), has.parts, "traces", has.traces)
		for _, what := range has.wrong {
			log.Warn("missing or damaged in the backup, since it can not be read", "what", what)
		}
	}
}

// SendBackup implements [backend].
func (d *directory) SendBackup(ctx context.Context, w io.Writer) (copied, error) {
	s, err := d.Backup(ctx, w)
	return copied{slog.Int("partitions", s.Partitions), s.Traces, s.Missing}, err
}

// SendBackup implements [backend].
func (s *inBucket) SendBackup(ctx context.Context, w io.Writer) (copied, error) {
	has, err := s.Backup(ctx, w)
	return copied{slog.Int("objects", has.Objects), has.Traces, wrongIn(&has)}, err
}

// wrongIn says what is missing or damaged in a backup.
func wrongIn(s *backup.Stats) (out []string) {
	for _, w := range s.Wrong {
		out = append(out, w.Object+": "+w.Why)
	}
	return out
}

// backupWriter sends a backup as long as somebody takes it.
type backupWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	bytes   int64
}

// sendAtOnce is how much is sent before the time of a stall begins anew.
const sendAtOnce = 64 << 10

func (b *backupWriter) Write(p []byte) (n int, err error) {
	if b.bytes == 0 {
		h := b.w.Header()
		h.Set("Content-Type", "application/x-tar")
		h.Set("Content-Disposition", "attachment; filename=\"fieldtrie-"+time.Now().UTC().Format("20060102T1504")+".tar\"")
		h.Set("Cache-Control", "no-store")
	}
	for n < len(p) && err == nil {
		_ = b.control.SetWriteDeadline(time.Now().Add(backupStall))
		var sent int
		sent, err = b.w.Write(p[n:min(len(p), n+sendAtOnce)])
		n += sent
		b.bytes += int64(sent)
	}
	return n, err
}

// restoreData makes --data of a backup, and says what is in it.
func (c *config) restoreData(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	in := &countedReader{r: stdin}
	if c.restore != "-" {
		f, err := os.Open(c.restore)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		in.r = f
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			in.size = info.Size()
		}
	}
	say := func(int64, int64, string) {}
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		say = func(done, total int64, at string) {
			fmt.Fprintf(stderr, "\r\x1b[Krestoring %s of about %s, at %s", humanize.IBytes(uint64(done)), humanize.IBytes(uint64(max(done, total))), at)
		}
		defer fmt.Fprint(stderr, "\r\x1b[K")
	}
	restore := c.restoreDirectory
	if shared.IsLocation(c.data) {
		restore = c.restoreObjects
	}
	started := time.Now()
	has, err := restore(ctx, in, stderr, say)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "restored %s from the backup of %s: %d traces in %d %s, %s in %.1f s\n", c.data, has.made.Format(time.RFC3339), has.traces,
		has.parts.Value.Int64(), has.parts.Key, humanize.IBytes(uint64(has.bytes)), time.Since(started).Seconds())
	for _, what := range has.wrong {
		fmt.Fprintf(stderr, "ingest: missing or damaged in the backup, since it could not be read: %s\n", output.Printable(what))
	}
	return err
}

// countedReader counts what is read of a backup.
type countedReader struct {
	r          io.Reader
	done, size int64 // size is 0 if it is not known
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.done += int64(n)
	return n, err
}

// restored says what was restored.
type restored struct {
	copied
	made  time.Time
	bytes int64
}

// saying says how far a restore is.
type saying func(done, total int64, at string)

// restoreDirectory makes a data directory.
func (c *config) restoreDirectory(ctx context.Context, in *countedReader, stderr io.Writer, say saying) (restored, error) {
	o := c.storeOptions()
	o.Logger = warnings(stderr)
	s, err := local.Restore(ctx, in, c.data, o, local.Progress(say))
	return restored{copied{slog.Int("partitions", s.Partitions), s.Traces, s.Missing}, s.Made, s.Bytes}, err
}

// restoreObjects makes a bucket, or a directory of objects.
func (c *config) restoreObjects(ctx context.Context, in *countedReader, stderr io.Writer, say saying) (_ restored, err error) {
	from, err := backup.Open(in) // before a directory is made for what is no backup
	if err != nil {
		return restored{}, fmt.Errorf("restore into %s: %w", c.data, err)
	}
	to, err := c.openPlace(ctx, false, warnings(stderr))
	if err != nil {
		return restored{}, err
	}
	if place, ok := to.(io.Closer); ok {
		defer func() { err = errors.Join(err, place.Close()) }()
	}
	var last time.Time
	s, err := shared.Restore(ctx, from, to, shared.Options{GiveUp: errandGiveUp}, func(key string) {
		if time.Since(last) >= sayOnTerminal {
			last = time.Now()
			say(in.done, in.size, key)
		}
	})
	return restored{copied{slog.Int("objects", s.Objects), s.Traces, wrongIn(&s)}, s.Made, s.Bytes}, err
}
