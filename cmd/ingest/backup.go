package main

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/backup"
)

// backupStall is the maximum time without a byte read by the client of a backup.
const backupStall = time.Minute

// backupHandler streams a backup of the store, one at a time.
func backupHandler(n *node, log *slog.Logger) http.HandlerFunc {
	var one sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		if !one.TryLock() {
			http.Error(w, "a backup is being made already; wait for it to end", http.StatusConflict)
			return
		}
		defer one.Unlock()
		out := &backupWriter{w: w, control: http.NewResponseController(w)}
		started := time.Now()
		has, err := n.Backup(r.Context(), out)
		took := time.Since(started)
		if err != nil {
			log.Error("backup failed", "err", err, "bytes", out.bytes, "seconds", took.Seconds())
			if out.bytes == 0 {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			panic(http.ErrAbortHandler) // a stream without an end must not look whole
		}
		n.backedUp.Store(&started)
		if err := n.SetBackedUp(context.WithoutCancel(r.Context()), started); err != nil {
			log.Warn("metrics forget this backup at the next start", "err", err)
		}
		log.Info("backup sent", "bytes", out.bytes, "seconds", took.Seconds(), "objects", has.Objects, "traces",
			has.Traces)
		for _, what := range wrongIn(&has) {
			log.Warn("unreadable, and so missing or damaged in the backup", "what", what)
		}
	}
}

// wrongIn lists the missing and damaged objects of a backup.
func wrongIn(s *backup.Stats) (out []string) {
	for _, w := range s.Wrong {
		out = append(out, w.Object+": "+w.Why)
	}
	return out
}

// backupWriter sends a backup as long as the client reads it.
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
		h.Set("Content-Disposition", "attachment; filename=\"fieldtrie-"+
			time.Now().UTC().Format("20060102T1504")+".tar\"")
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
