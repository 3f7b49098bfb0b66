package uploads

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// listing is the response with all uploads.
type listing struct {
	Uploads []listed `json:"uploads"` // the newest first
	More    int      `json:"more,omitempty"`
	Tables  int      `json:"tables"`
	Bytes   int64    `json:"bytes"` // of tables
}

// listed is an upload in a listing.
type listed struct {
	ID         string    `json:"id"`
	Time       time.Time `json:"time"`
	Release    string    `json:"release"`
	Repository string    `json:"repository,omitempty"`
	Scripts    int       `json:"scripts"`
	Functions  int       `json:"functions"`
	Named      int       `json:"named"`             // of the functions
	Damaged    int       `json:"damaged,omitempty"` // unreadable tables
}

// Limits of a listing.
const (
	defaultListed = 20
	mostListed    = 1000
)

func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	limit := defaultListed
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostListed {
			h.refuse(w, http.StatusBadRequest, fmt.Errorf("parameter limit: %.20q is not a number from 1 to %d", text,
				mostListed))
			return
		}
		limit = n
	}
	stats := h.store.Stats()
	out := listing{Uploads: []listed{}, Tables: stats.Tables, Bytes: stats.Bytes}
	for i, u := range h.store.Uploads() {
		if i >= limit {
			out.More = stats.Uploads - limit
			break
		}
		x, ok := h.describe(r.Context(), u)
		if !ok {
			return
		}
		out.Uploads = append(out.Uploads, x)
	}
	write(w, http.StatusOK, out)
}

// describe returns the listed form of an upload, unless ctx ends. The store reads each table
// once, so only the first response takes long.
func (h *Handler) describe(ctx context.Context, u symbols.Upload) (x listed, ok bool) {
	x = listed{ID: u.ID, Time: u.Time, Release: u.Release, Repository: u.Repository, Scripts: len(u.Scripts)}
	for _, s := range u.Scripts {
		if ctx.Err() != nil {
			return x, false
		}
		counts, err := h.store.Counts(s.SHA256)
		if err != nil {
			x.Damaged++
			continue
		}
		x.Functions += counts.Functions
		x.Named += counts.Named
	}
	return x, true
}
