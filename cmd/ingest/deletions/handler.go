// Package deletions serves requests to delete stored data.
package deletions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
)

// Store deletes stored data; implemented by a node.
type Store interface {
	Delete(ctx context.Context, s deletion.Selection, by string, dryRun bool) (*deletion.Request, error)
	Deletions(ctx context.Context, most int) ([]*deletion.Request, error)
	Deletion(ctx context.Context, id string) (*deletion.Request, error)
}

const (
	// maxBody bounds a request, in bytes.
	maxBody = 16 << 10
	// mostListed bounds a list.
	mostListed = 10_000
)

// request is the body of a POST.
type request struct {
	deletion.Selection
	DryRun bool `json:"dry_run"`
}

// list is the response to a GET.
type list struct {
	Deletions []*deletion.Request `json:"deletions"` // the newest first
}

// Options configures the handling of requests.
type Options struct {
	Who    func(*http.Request) string                                   // returns the name of the sender
	Note   func(*http.Request, *deletion.Request)                       // records a deletion that is carried out
	Forget func(ctx context.Context, gone func(page string) bool) error // forgets the changes of pages; may be nil
}

// forget forgets the changes of deleted pages.
func (o *Options) forget(ctx context.Context, r *deletion.Request) error {
	if r.DryRun || o.Forget == nil || !r.Selection.OfPages() {
		return nil
	}
	if err := o.Forget(ctx, r.Matcher().Page); err != nil {
		return fmt.Errorf("deletion %s is carried out, but changes of its pages are still stored: "+
			"send the request again: %w", r.ID, err)
	}
	return nil
}

// Add registers the handlers of /v1/deletions.
func Add(mux *http.ServeMux, s Store, o Options) {
	mux.HandleFunc("POST /v1/deletions", func(w http.ResponseWriter, r *http.Request) {
		req, err := read(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			api.WriteError(w, http.StatusBadRequest, err)
			return
		}
		out, err := s.Delete(r.Context(), req.Selection, o.Who(r), req.DryRun)
		if err == nil {
			o.Note(r, out)
			err = o.forget(r.Context(), out)
		}
		respond(w, out, err)
	})
	mux.HandleFunc("GET /v1/deletions", func(w http.ResponseWriter, r *http.Request) {
		most := 100
		if text := r.URL.Query().Get("limit"); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > mostListed {
				api.WriteError(w, http.StatusBadRequest,
					fmt.Errorf("parameter limit: %.40q is not a number from 1 to %d", text, mostListed))
				return
			}
			most = n
		}
		all, err := s.Deletions(r.Context(), most)
		respond(w, list{append([]*deletion.Request{}, all...)}, err)
	})
	mux.HandleFunc("GET /v1/deletions/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		var x *deletion.Request
		err := objects.ErrNotFound
		if deletion.IsID(id) {
			x, err = s.Deletion(r.Context(), id)
		}
		if errors.Is(err, objects.ErrNotFound) {
			api.WriteError(w, http.StatusNotFound, fmt.Errorf("there is no deletion %.40q", id))
			return
		}
		respond(w, x, err)
	})
}

// read parses and validates the selection to delete.
func read(body io.Reader) (*request, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if err := strict(json.NewDecoder(bytes.NewReader(text)), fields); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	req := new(request)
	if err := json.Unmarshal(text, req); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if req.Site != "" && req.Page != "" {
		if of, _ := site.Cut(req.Page); of != "" && of != req.Site {
			return nil, fmt.Errorf("page %q is not one of site %q", req.Page, req.Site)
		}
		req.Site, req.Page = "", site.Page(req.Site, req.Page)
	}
	if err := req.Check(); err != nil {
		return nil, fmt.Errorf("what to delete: %w", err)
	}
	return req, nil
}

func respond(w http.ResponseWriter, v any, err error) {
	if many, ok := errors.AsType[*deletion.TooManyError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(many.RetryAfter.Seconds())))
		api.WriteError(w, http.StatusTooManyRequests, err)
		return
	}
	if err != nil {
		w.Header().Set("Retry-After", "5")
		api.WriteError(w, http.StatusServiceUnavailable, err)
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		api.WriteError(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(text, '\n')) // fails only if the client disconnected
}
