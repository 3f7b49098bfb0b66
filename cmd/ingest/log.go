package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/fieldtrie/fieldtrie/internal/requests"
	"github.com/fieldtrie/fieldtrie/rules/access"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
)

// logLevels returns the words of --log-level.
func logLevels() map[string]slog.Level {
	return map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
		"error": slog.LevelError}
}

// logger returns the log of the daemon, from a level on unless --log-level says another one.
func (c *config) logger(stderr io.Writer, usual slog.Level) *slog.Logger {
	o := slog.HandlerOptions{Level: usual}
	if c.origin["log-level"] != "" {
		o.Level = logLevels()[c.logLevel]
	}
	if c.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(stderr, &o))
	}
	return slog.New(slog.NewTextHandler(stderr, &o))
}

// audit notes who asked for what one visitor's visit went through, for all data, and who changed
// something.
type audit struct{ log *slog.Logger }

// newAudit returns an audit that goes to the file of --audit-log, a line of JSON each, or else to
// the log of the daemon.
func (c *config) newAudit(log *slog.Logger) (*audit, io.Closer, error) {
	if c.auditLog == "" {
		return &audit{log}, io.NopCloser(nil), nil
	}
	f, err := os.OpenFile(c.auditLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("--audit-log: %w", err)
	}
	return &audit{slog.New(slog.NewJSONHandler(f, nil))}, f, nil
}

// of wraps a handler to record requests with their outcome.
func (a *audit) of(what string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answered := requests.Watch(w)
		defer func() { // also if it panics
			a.log.Info("audit", "what", what, "who", whoIs(r), "from", r.RemoteAddr, "method", r.Method, "path",
				r.URL.Path,
				"query", r.URL.RawQuery, "status", answered.Status(), "id", requests.ID(r))
		}()
		h.ServeHTTP(answered, r)
	})
}

// deletes notes a request to delete something.
func (a *audit) deletes(r *http.Request, d *deletion.Request) {
	a.log.Info("audit", "what", "deletion", "who", whoIs(r), "from", r.RemoteAddr,
		"id", d.ID, "of", d.Name(), "dry_run", d.DryRun, "selection", selectionOf(d))
}

// selectionOf returns what a deletion selects as JSON, which can be sent to /v1/deletions again.
func selectionOf(d *deletion.Request) json.RawMessage {
	text, err := json.Marshal(d.Selection)
	if err != nil {
		return json.RawMessage("null") // no value of the type fails
	}
	return text
}

// changed notes settings that a signal had read again.
func (a *audit) changed(settings []string) {
	if len(settings) > 0 {
		a.log.Info("audit", "what", "settings", "who", "SIGHUP", "changed", settings)
	}
}

// whoIs names who sent a request.
func whoIs(r *http.Request) string {
	if who := access.From(r.Context()); who != nil {
		return who.Kind + " " + who.Name
	}
	return "anybody"
}
