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

// Version is the newest form of [Request] that this release reads.
const Version = 1

// Selection says which traces are to be deleted: those that all its fields are of. A zero field is of all traces.
type Selection struct {
	Page string `json:"page,omitempty"` // the time on this page; of a trace with time on others, that stays
	Site string `json:"site,omitempty"` // the time on the pages of this site
	// Views are the ids of page views, 32 hexadecimal digits each. A trace has one of them.
	Views []string `json:"views,omitempty"`
	// Labels are those that traces have, by key: of their context, or of one of its spans. Release and environment are among them.
	Labels map[string]string `json:"labels,omitempty"`
	// Since and Until are the time [Since, Until) of receipt.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// MaxViews bounds the page views of a selection, and maxLabels its labels.
const (
	MaxViews  = 100
	maxLabels = 16
)

// All reports whether s says nothing, and so is of everything.
func (s *Selection) All() bool {
	return s.Page == "" && s.Site == "" && len(s.Views) == 0 && len(s.Labels) == 0 && s.Since.IsZero() && s.Until.IsZero()
}

// Check returns what is wrong with a selection, and where.
func (s *Selection) Check() error {
	switch {
	case s.All():
		return errors.New("it selects everything: give a page, a site, views, labels, or a time")
	case s.Page != "" && s.Site != "":
		return errors.New("page and site: give one of them; a page is one of its site already")
	case len(s.Views) > MaxViews:
		return fmt.Errorf("views: %d, at most %d are allowed", len(s.Views), MaxViews)
	case len(s.Labels) > maxLabels:
		return fmt.Errorf("labels: %d, at most %d are allowed", len(s.Labels), maxLabels)
	case !s.Since.IsZero() && !s.Until.IsZero() && !s.Since.Before(s.Until):
		return fmt.Errorf("until: %s is not after since, %s", s.Until.Format(time.RFC3339), s.Since.Format(time.RFC3339))
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
			return fmt.Errorf("label %.40q: it has no value", key)
		}
	}
	return nil
}

// OfTraces reports whether s tells traces of one page apart by more than the time, so that rollups without their traces do not tell what
// is of it.
func (s *Selection) OfTraces() bool { return len(s.Views) > 0 || len(s.Labels) > 0 }

// OfPages reports whether s is of all of some pages.
func (s *Selection) OfPages() bool {
	return s.NamesPages() && s.Since.IsZero() && s.Until.IsZero()
}

// NamesPages reports whether s is of some pages, within a time or not, and not of single traces.
func (s *Selection) NamesPages() bool { return (s.Page != "" || s.Site != "") && !s.OfTraces() }

// Counts is what a deletion has found.
type Counts struct {
	Traces uint64 `json:"traces"` // deleted; one with time on several of the pages counts for each of them
	// Parts are traces of other pages that had time on a deleted one too, and lost that.
	Parts uint64 `json:"parts"`
	Pages uint64 `json:"pages"` // whose rollups were deleted or made anew, counted for each hour
	// Left are the rollups of a page and an hour, or a day, that may have something of it, and stay: their traces have expired, and without
	// these nobody can tell.
	Left uint64 `json:"left"`
}

// Add adds what was found elsewhere.
func (c *Counts) Add(o Counts) {
	c.Traces, c.Parts, c.Pages, c.Left = c.Traces+o.Traces, c.Parts+o.Parts, c.Pages+o.Pages, c.Left+o.Left
}

// Request is a deletion that somebody asked for.
type Request struct {
	Version   int       `json:"version"`
	ID        string    `json:"id"`
	At        time.Time `json:"at"` // all that was acknowledged before is looked at, and what came since then in a shard where it is still carried out
	By        string    `json:"by"` // who asked
	DryRun    bool      `json:"dry_run,omitempty"`
	Selection Selection `json:"selection"`
	// Done is when the last shard was; zero before. Then there are counts.
	Done   time.Time `json:"done,omitzero"`
	Counts Counts    `json:"counts"`
}

// IsID reports whether a text may be the id of a request.
func IsID(text string) bool {
	return len(text) <= 64 && text != "" && !strings.ContainsFunc(text, func(c rune) bool { return (c < '0' || c > '9') && (c < 'A' || c > 'Z') })
}

// Name says in one line what is deleted.
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

// Encode returns the content of the object.
func (r *Request) Encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode a deletion: %w", err)
	}
	return text, nil
}

// Decode reads the content of an object, and checks it.
func Decode(text []byte) (*Request, error) {
	r := new(Request)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read a deletion: %w: %w", store.ErrDamaged, err)
	}
	if r.Version > Version {
		return nil, fmt.Errorf("read a deletion: it has version %d, this release knows %d: a newer release wrote it", r.Version, Version)
	}
	if err := r.Selection.Check(); err != nil {
		return nil, fmt.Errorf("check a deletion: %w: %w", store.ErrDamaged, err)
	}
	return r, nil
}
