package deletion

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// Version is the newest version of [Request] that this release supports.
const Version = 1

// Selection selects the traces that match all of its fields. A zero field matches every trace.
type Selection struct {
	Page string `json:"page,omitempty"` // time on this page; a trace keeps its time on other pages
	Site string `json:"site,omitempty"` // time on the pages of this site
	// Views are the ids of page views, 32 hexadecimal digits each. A trace matches if its page view
	// is one of them.
	Views []string `json:"views,omitempty"`
	// Labels must all be equal to labels of the trace's context or of one of its spans. Release and
	// environment are labels as well.
	Labels map[string]string `json:"labels,omitempty"`
	// Since and Until bound the time at which traces were received: [Since, Until).
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Limits of a selection: page views and labels.
const (
	MaxViews  = 100
	maxLabels = 16
)

// All reports whether all fields are zero, so that s selects everything.
func (s *Selection) All() bool {
	return s.Page == "" && s.Site == "" && len(s.Views) == 0 && len(s.Labels) == 0 && s.Since.IsZero() &&
		s.Until.IsZero()
}

// Check returns an error if a selection is invalid.
func (s *Selection) Check() error {
	switch {
	case s.All():
		return errors.New("it selects everything; specify a page, a site, views, labels or a time")
	case s.Page != "" && s.Site != "":
		return errors.New("page and site: specify only one of them; a page belongs to a single site")
	case len(s.Views) > MaxViews:
		return fmt.Errorf("views: %d, at most %d are allowed", len(s.Views), MaxViews)
	case len(s.Labels) > maxLabels:
		return fmt.Errorf("labels: %d, at most %d are allowed", len(s.Labels), maxLabels)
	case !s.Since.IsZero() && !s.Until.IsZero() && !s.Since.Before(s.Until):
		return fmt.Errorf("until: %s is not after since, %s", s.Until.Format(time.RFC3339),
			s.Since.Format(time.RFC3339))
	}
	if s.Page != "" {
		if why := store.CheckPage(s.Page); why != "" {
			return fmt.Errorf("page: %s", why)
		}
	}
	for _, id := range s.Views {
		if b, err := hex.DecodeString(id); err != nil || len(b) != len(store.ID{}.View) {
			return fmt.Errorf("view: %.40q is not 32 hexadecimal digits", id)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		if why := store.CheckTag(store.Tag{Key: key, Value: s.Labels[key]}); why != "" {
			return fmt.Errorf("label %.40q: %s", key, why)
		}
		if s.Labels[key] == "" {
			return fmt.Errorf("label %.40q: the value is empty", key)
		}
	}
	return nil
}

// OfTraces reports whether s selects single traces, by page view or label. Rollups whose traces
// have expired do not show which of them match.
func (s *Selection) OfTraces() bool { return len(s.Views) > 0 || len(s.Labels) > 0 }

// OfPages reports whether s selects all data of some pages.
func (s *Selection) OfPages() bool {
	return s.NamesPages() && s.Since.IsZero() && s.Until.IsZero()
}

// NamesPages reports whether s selects pages, within a time range or not, and not single traces.
func (s *Selection) NamesPages() bool { return (s.Page != "" || s.Site != "") && !s.OfTraces() }

// Counts are the numbers of traces and pages that a deletion has found.
type Counts struct {
	Traces uint64 `json:"traces"` // deleted traces; a trace with time on several selected pages counts for each of them
	// Parts are traces of other pages that lost their time on a selected page.
	Parts uint64 `json:"parts"`
	Pages uint64 `json:"pages"` // pages whose rollups were deleted or rebuilt, counted for each hour
	// Left are rollups, counted by page and hour or day, that may contain selected data but were
	// kept: their traces have expired, so the selected data cannot be separated.
	Left uint64 `json:"left"`
}

// Add adds the counts of o to the counts of c.
func (c *Counts) Add(o Counts) {
	c.Traces, c.Parts, c.Pages, c.Left = c.Traces+o.Traces, c.Parts+o.Parts, c.Pages+o.Pages, c.Left+o.Left
}

// Request is a request to delete.
type Request struct {
	Version   int       `json:"version"`
	ID        string    `json:"id"`
	At        time.Time `json:"at"` // earlier traces are deleted, later ones possibly as well
	By        string    `json:"by"` // the user or program that made the request
	DryRun    bool      `json:"dry_run,omitempty"`
	Selection Selection `json:"selection"`
	// Done is when the last shard was done; zero before that. Counts are complete then.
	Done   time.Time `json:"done,omitzero"`
	Counts Counts    `json:"counts"`
}

// IsID reports whether a text has the form of a request id.
func IsID(text string) bool {
	return len(text) <= 64 && text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z')
	})
}

// Name returns a one-line description of the selection.
func (r *Request) Name() string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+" "+value)
		}
	}
	s := &r.Selection
	add("page", s.Page)
	add("site", s.Site)
	for _, id := range s.Views {
		add("view", id)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		add(key, s.Labels[key])
	}
	for _, t := range []struct {
		key string
		at  time.Time
	}{{"since", s.Since}, {"until", s.Until}} {
		if !t.at.IsZero() {
			add(t.key, t.at.UTC().Format(time.RFC3339))
		}
	}
	return strings.Join(parts, ", ")
}

// Encode returns the content of the request's object.
func (r *Request) Encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode a deletion: %w", err)
	}
	return text, nil
}

// Decode decodes and checks the content of a request's object.
func Decode(text []byte) (*Request, error) {
	r := new(Request)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read a deletion: %w: %w", store.ErrDamaged, err)
	}
	if r.Version > Version {
		return nil, fmt.Errorf(
			"read a deletion: it has version %d, this release supports up to %d; use the newer release that wrote it",
			r.Version, Version)
	}
	if err := r.Selection.Check(); err != nil {
		return nil, fmt.Errorf("check a deletion: %w: %w", store.ErrDamaged, err)
	}
	return r, nil
}
