package uploads

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// listing is what is there.
type listing struct {
	Uploads []listed `json:"uploads"` // the newest first
	More    int      `json:"more,omitempty"`
	Tables  int      `json:"tables"`
	Bytes   int64    `json:"bytes"` // of tables
}

// listed is an upload.
type listed struct {
	ID         string    `json:"id"`
	Time       time.Time `json:"time"`
	Release    string    `json:"release"`
	Repository string    `json:"repository,omitempty"`
	Scripts    int       `json:"scripts"`
	Functions  int       `json:"functions"`
	Named      int       `json:"named"`             // of the functions
	Damaged    int       `json:"damaged,omitempty"` // tables that can not be read
	// Uncounted is of how many scripts the functions are not counted: an answer looks at so many
	// tables and no more.
	Uncounted int `json:"uncounted,omitempty"`
}

// Uploads that are listed.
const (
	defaultListed = 20
	mostListed    = 1000
	mostCounted   = 2000 // scripts whose functions are counted
)

func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	limit := defaultListed
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostListed {
			h.refuse(w, http.StatusBadRequest, fmt.Errorf("parameter limit: %.20q is not a number from 1 to %d", text, mostListed))
			return
		}
		limit = n
	}
	stats, left := h.store.Stats(), mostCounted
	out := listing{Uploads: []listed{}, Tables: stats.Tables, Bytes: stats.Bytes}
	for i, u := range h.store.Uploads() {
		if i >= limit {
			out.More = stats.Uploads - limit
			break
		}
		if r.Context().Err() != nil {
			return
		}
		out.Uploads = append(out.Uploads, h.describe(u, &left))
	}
	write(w, http.StatusOK, out)
}

// describe says what an upload has. Each table that it looks at is taken from left.
func (h *Handler) describe(u symbols.Upload, left *int) listed {
	x := listed{ID: u.ID, Time: u.Time, Release: u.Release, Repository: u.Repository, Scripts: len(u.Scripts)}
	for _, s := range u.Scripts {
		if *left--; *left < 0 {
			x.Uncounted++
			continue
		}
		t, err := h.store.Table(s.SHA256)
		if err != nil {
			x.Damaged++
			continue
		}
		x.Functions += len(t.Functions)
		x.Named += len(t.Functions) - t.Found()[symbols.Kept]
	}
	return x
}
