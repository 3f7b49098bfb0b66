package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/fieldtrie/fieldtrie/store/local"
)

// backupStall is how long who asks for a backup may take no byte of it.
const backupStall = time.Minute

// backupHandler streams a backup of the store, one at a time.
func backupHandler(s *local.Store, log *slog.Logger) http.HandlerFunc {
	var one sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		if !one.TryLock() {
			http.Error(w, "a backup is being made already; wait for it to end", http.StatusConflict)
			return
		}
		defer one.Unlock()
		out := &backupWriter{w: w, control: http.NewResponseController(w)}
		started := time.Now()
		stats, err := s.Backup(r.Context(), out)
		took := time.Since(started)
		if err != nil {
			log.Error("backup failed", "err", err, "bytes", out.bytes, "seconds", took.Seconds())
			if out.bytes == 0 {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			panic(http.ErrAbortHandler) // a stream without an end must not look whole
		}
		log.Info("backup sent", "bytes", out.bytes, "seconds", took.Seconds(), "partitions", stats.Partitions, "traces", stats.Traces)
		for _, m := range stats.Missing {
			log.Warn("not in the backup, since it can not be read", "partition", m)
		}
	}
}

// backupWriter sends a backup as long as somebody takes it.
type backupWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	bytes   int64
}

func (b *backupWriter) Write(p []byte) (int, error) {
	if b.bytes == 0 {
		h := b.w.Header()
		h.Set("Content-Type", "application/x-tar")
		h.Set("Content-Disposition", "attachment; filename=\"fieldtrie-"+time.Now().UTC().Format("20060102T1504")+".tar\"")
		h.Set("Cache-Control", "no-store")
	}
	_ = b.control.SetWriteDeadline(time.Now().Add(backupStall))
	n, err := b.w.Write(p)
	b.bytes += int64(n)
	return n, err
}

// restoreData makes the data directory of a backup, and says what is in it.
func (c *config) restoreData(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	in := stdin
	if c.restore != "-" {
		f, err := os.Open(c.restore)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	o := c.storeOptions()
	o.Logger = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var progress local.Progress
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		progress = func(done, total int64, at string) {
			fmt.Fprintf(stderr, "\r\x1b[Krestoring %s of about %s, at %s", humanize.IBytes(uint64(done)), humanize.IBytes(uint64(max(done, total))), at)
		}
		defer fmt.Fprint(stderr, "\r\x1b[K")
	}
	started := time.Now()
	stats, err := local.Restore(ctx, in, c.data, o, progress)
	if err != nil {
		return err
	}
	took := time.Since(started).Seconds()
	_, err = fmt.Fprintf(stdout, "restored %s from the backup of %s: %d traces in %d partitions, %s in %.1f s\n",
		c.data, stats.Made.Format(time.RFC3339), stats.Traces, stats.Partitions, humanize.IBytes(uint64(stats.Bytes)), took)
	for _, m := range stats.Missing {
		fmt.Fprintf(stderr, "ingest: not in the backup, since it could not be read: %s\n", m)
	}
	return err
}
