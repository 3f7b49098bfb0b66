// Package deleting requests deletions from a daemon and waits until they are done.
package deleting

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
)

// path is the daemon's URL path for deletions.
const path = "/v1/deletions"

// pollEvery is the interval between queries for the progress of a deletion.
const pollEvery = 500 * time.Millisecond

// Run requests the deletion. It writes the result to stdout and the progress to progress.
func (c *Command) Run(ctx context.Context, stdout, progress io.Writer) error {
	r, err := c.remote()
	if err != nil {
		return err
	}
	if c.list {
		return c.printList(ctx, r, stdout)
	}
	text, err := json.Marshal(struct {
		deletion.Selection
		DryRun bool `json:"dry_run,omitempty"`
	}{c.selection, c.dryRun})
	if err != nil {
		return err
	}
	req, err := ask[deletion.Request](ctx, r, http.MethodPost, path, nil, text)
	if err != nil {
		return err
	}
	for last := ""; req.Done.IsZero() && !c.noWait; {
		if now := fmt.Sprintf("%d traces so far", req.Counts.Traces); now != last {
			fmt.Fprintf(progress, "deletion %s: %s\n", req.ID, now)
			last = now
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the daemon continues: aggregate delete --list shows the progress of deletion %s",
				context.Cause(ctx), req.ID)
		case <-time.After(pollEvery):
		}
		if req, err = ask[deletion.Request](ctx, r, http.MethodGet, path+"/"+url.PathEscape(req.ID), nil,
			nil); err != nil {
			return err
		}
	}
	if c.format == "json" {
		return writeJSON(stdout, req)
	}
	_, err = fmt.Fprintln(stdout, line(req))
	return err
}

// printList lists past deletions.
func (c *Command) printList(ctx context.Context, r *api.Remote, stdout io.Writer) error {
	got, err := ask[struct {
		Deletions []*deletion.Request `json:"deletions"`
	}](ctx, r, http.MethodGet, path, url.Values{"limit": {"1000"}}, nil)
	if err != nil {
		return err
	}
	if c.format == "json" {
		return writeJSON(stdout, got)
	}
	if len(got.Deletions) == 0 {
		_, err := fmt.Fprintln(stdout, "no deletions were requested")
		return err
	}
	for _, req := range got.Deletions {
		if _, err := fmt.Fprintf(stdout, "%s  %s  by %s\n  %s\n", req.At.Format(time.RFC3339), req.ID,
			output.Printable(req.By), line(req)); err != nil {
			return err
		}
	}
	return nil
}

// line describes the result of a deletion.
func line(r *deletion.Request) string {
	did := "deleted"
	if r.DryRun {
		did = "to delete"
	}
	if r.Done.IsZero() {
		did = "in progress, so far " + did
	}
	text := fmt.Sprintf("%s: %s %s", output.Printable(r.Name()), did, count(r.Counts.Traces, "trace"))
	if n := r.Counts.Parts; n > 0 {
		text += fmt.Sprintf("; %s also cover other pages and keep the time on those", count(n, "trace"))
	}
	if n := r.Counts.Left; n > 0 {
		text += fmt.Sprintf("; %s of an hour or a day stay and may include deleted data: their traces have expired "+
			"or cannot be read, so this cannot be checked", count(n, "rollup"))
	}
	return text
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func ask[T any](ctx context.Context, r *api.Remote, method, path string, v url.Values, send []byte) (*T, error) {
	body, err := r.Do(ctx, method, path, v, send)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := json.Unmarshal(body, out); err != nil {
		return nil, fmt.Errorf("daemon's answer: %w", err)
	}
	return out, nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
