package changes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/query/watch"
)

// Register is the state of all changes. Nodes share it as one document. Each version is saved in
// one write, so changes, their triage and pending notifications are consistent.
type Register struct {
	Version int `json:"version"` // format version
	// Saves counts the saved versions, so that no two versions are equal.
	Saves int64 `json:"saves"`
	// Hour is the end of the last evaluated hour. Evaluated is the time of that evaluation.
	Hour      time.Time `json:"hour,omitzero"`
	Evaluated time.Time `json:"evaluated,omitzero"`
	// Changes has the changes of the last 400 days, newest first.
	Changes []watch.Change `json:"changes"`
	Memory  watch.Memory   `json:"memory"` // of the detectors
	// Outbox has the pending notifications, oldest first. Dropped is the number of notifications
	// that were dropped because there were too many.
	Outbox  []Notification `json:"outbox"`
	Dropped int64          `json:"dropped,omitempty"`
	// Costs is the end of the last hour after which the cost of profiling was evaluated, zero if
	// never. Brakes has the pages where that cost was too high.
	Costs  time.Time `json:"costs,omitzero"`
	Brakes []Brake   `json:"brakes,omitempty"`
}

// version is the format version that this release reads and writes.
const version = 1

// Bounds of a register. Beyond them, trim drops the changes that were resolved first, and parts of
// the others.
const (
	maxRegister     = 24 << 20 // bytes
	maxChanges      = 5000
	maxMemory       = 10_000 // pages
	maxPages        = 200    // per change
	maxConsequences = 100
	maxMoved        = 20
	maxCauses       = 3
	maxCommits      = 3
	maxText         = 1024 // bytes, the same as for pages
	maxOutbox       = 1000

	keepResolved = 400 * 24 * time.Hour
)

// VersionError reports a register with the format of another release.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	if e.Version > version {
		return fmt.Sprintf("the register of changes has version %d, and this release supports up to %d: use the "+
			"newer release that wrote it", e.Version, version)
	}
	return fmt.Sprintf("the register of changes has version %d, and this release supports %d", e.Version, version)
}

// NewRegister returns an empty register.
func NewRegister() *Register {
	return &Register{Version: version, Changes: []watch.Change{}, Outbox: []Notification{}}
}

// DecodeRegister decodes and checks a register. After a [VersionError], the text may be valid and
// must not be overwritten.
func DecodeRegister(text []byte) (*Register, error) {
	if len(text) > maxRegister {
		return nil, fmt.Errorf("read changes: %d bytes; the most is %d", len(text), maxRegister)
	}
	var is struct{ Version int }
	if err := json.Unmarshal(text, &is); err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	if is.Version != version {
		return nil, &VersionError{is.Version}
	}
	r := NewRegister()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read changes: unexpected data after the register")
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	return r, nil
}

// Encode returns the text of r, after it has trimmed r to the bounds.
func (r *Register) Encode(now time.Time) ([]byte, error) {
	r.trim(now)
	for {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("write changes: %w", err)
		}
		if len(text) <= maxRegister {
			return text, nil
		}
		if len(r.Changes) == 0 {
			return nil, fmt.Errorf("write changes: %d bytes; the most is %d", len(text), maxRegister)
		}
		r.leaveOut(len(r.Changes)*9/10, now)
	}
}

// check returns an error for an invalid register.
func (r *Register) check() error {
	seen := map[string]bool{}
	for i := range r.Changes {
		c := &r.Changes[i]
		if seen[c.ID] {
			return fmt.Errorf("two changes have the id %q", c.ID)
		}
		seen[c.ID] = true
		if err := check(c); err != nil {
			return fmt.Errorf("change %.40q: %w", c.ID, err)
		}
	}
	if len(r.Changes) > maxChanges || len(r.Memory.Pages) > maxMemory || len(r.Outbox) > maxOutbox {
		return fmt.Errorf("%d changes, %d pages and %d notifications; the most are %d, %d and %d",
			len(r.Changes), len(r.Memory.Pages), len(r.Outbox), maxChanges, maxMemory, maxOutbox)
	}
	if len(r.Brakes) > maxBrakes {
		return fmt.Errorf("%d brakes; the most is %d", len(r.Brakes), maxBrakes)
	}
	for i := range r.Brakes {
		if err := r.Brakes[i].check(); err != nil {
			return fmt.Errorf("brake %.40q: %w", r.Brakes[i].ID, err)
		}
	}
	for i := range r.Outbox {
		if err := r.Outbox[i].check(); err != nil {
			return fmt.Errorf("notification %.40q: %w", r.Outbox[i].ID, err)
		}
	}
	return nil
}

func check(c *watch.Change) error {
	switch {
	case !isID(c.ID):
		return errors.New("an id has 16 hexadecimal digits")
	case !slices.Contains([]watch.State{watch.Open, watch.Acknowledged, watch.Expected, watch.Resolved}, c.State):
		return fmt.Errorf("unknown state %.40q", c.State)
	case len(c.Pages) == 0:
		return errors.New("it has no pages")
	case (c.State == watch.Resolved) != !c.Resolved.IsZero() || (c.State == watch.Resolved) != (c.Resolution != ""):
		return fmt.Errorf("state %q, but resolved at %v (%s)", c.State, c.Resolved, c.Resolution)
	case c.State == watch.Expected && (c.Handled == nil || c.Handled.Until.IsZero()):
		return errors.New("it is expected, but without an end")
	case c.What.Kind == watch.OfFunction && c.What.Function == nil:
		return errors.New("the change of a function has no function")
	}
	return nil
}

// isID reports whether a text is a valid id of a change or notification.
func isID(s string) bool {
	return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == ""
}

// IsID reports whether a text is a valid id of a change.
func IsID(s string) bool { return isID(s) }

// trim drops data beyond the bounds, and sorts the rest.
func (r *Register) trim(now time.Time) {
	r.Changes = slices.DeleteFunc(r.Changes, func(c watch.Change) bool {
		return c.State == watch.Resolved && now.Sub(c.Resolved) > keepResolved
	})
	for i := range r.Changes {
		trim(&r.Changes[i])
	}
	r.leaveOut(maxChanges, now)
	if len(r.Memory.Pages) > maxMemory { // the dropped ones start without memory
		for _, page := range slices.Sorted(maps.Keys(r.Memory.Pages))[maxMemory:] {
			delete(r.Memory.Pages, page)
		}
	}
	if over := len(r.Outbox) - maxOutbox; over > 0 {
		r.Outbox = slices.Delete(r.Outbox, 0, over)
		r.Dropped += int64(over)
	}
}

// leaveOut keeps at most most changes and drops the earliest resolved first, then the oldest. It
// sorts them.
func (r *Register) leaveOut(most int, now time.Time) {
	ended := func(c *watch.Change) time.Time {
		if c.State == watch.Resolved {
			return c.Resolved
		}
		return now.Add(keepResolved)
	}
	if len(r.Changes) > most {
		slices.SortFunc(r.Changes, func(a, b watch.Change) int {
			return cmp.Or(ended(&b).Compare(ended(&a)), b.Found.Compare(a.Found), cmp.Compare(a.ID, b.ID))
		})
		r.Changes = r.Changes[:most]
	}
	slices.SortFunc(r.Changes, func(a, b watch.Change) int {
		return cmp.Or(b.Found.Compare(a.Found), cmp.Compare(a.ID, b.ID))
	})
}

// trim drops data of a change beyond the bounds.
func trim(c *watch.Change) {
	c.Pages = c.Pages[:min(len(c.Pages), maxPages)]
	c.Consequences = c.Consequences[:min(len(c.Consequences), maxConsequences)]
	c.Moved = c.Moved[:min(len(c.Moved), maxMoved)]
	c.Causes = c.Causes[:min(len(c.Causes), maxCauses)]
	clip(&c.Release, &c.CompareRelease, &c.What.Feature, &c.CausesNote)
	clipWhat(&c.What)
	for i := range c.Pages {
		clip(&c.Pages[i].Page)
	}
	for _, list := range [][]watch.Consequence{c.Consequences, c.Moved} {
		for i := range list {
			clip(&list[i].Page)
			clipWhat(&list[i].What)
		}
	}
	for i := range c.Causes {
		x := &c.Causes[i]
		clip(&x.Text, &x.Link, &x.Resource, &x.Package, &x.Before, &x.After)
		if x.Function != nil {
			clip(&x.Function.Name, &x.Function.Resource)
		}
		if x.Label != nil {
			clip(&x.Label.Key, &x.Label.Value)
		}
		x.Commits = x.Commits[:min(len(x.Commits), maxCommits)]
		for i := range x.Commits {
			clip(&x.Commits[i].SHA, &x.Commits[i].Author, &x.Commits[i].Title, &x.Commits[i].URL)
		}
	}
	if c.Handled != nil {
		clip(&c.Handled.By, &c.Handled.Note)
	}
}

func clipWhat(w *watch.What) {
	clip(&w.Metric, &w.Feature)
	if w.Function != nil {
		clip(&w.Function.Name, &w.Function.Resource)
	}
}

// clip truncates texts that are too long, at a character boundary.
func clip(texts ...*string) {
	for _, t := range texts {
		if len(*t) <= maxText {
			continue
		}
		n := maxText - len("…")
		for n > 0 && !utf8.RuneStart((*t)[n]) {
			n--
		}
		*t = (*t)[:n] + "…"
	}
}

// find returns the change with an id, or nil.
func (r *Register) find(id string) *watch.Change {
	if i := slices.IndexFunc(r.Changes, func(c watch.Change) bool { return c.ID == id }); i >= 0 {
		return &r.Changes[i]
	}
	return nil
}

// forget deletes pages from r. It reports whether r had data of them.
func (r *Register) forget(gone func(page string) bool) (changed bool) {
	of := func(p watch.PageChange) bool { return gone(p.Page) }
	forgotten := map[string]bool{}
	r.Changes = slices.DeleteFunc(r.Changes, func(c watch.Change) bool {
		alone := !slices.ContainsFunc(c.Pages, func(p watch.PageChange) bool { return !of(p) })
		if alone {
			forgotten[c.ID], changed = true, true
		}
		return alone
	})
	for i := range r.Changes {
		c := &r.Changes[i]
		n := len(c.Pages) + len(c.Consequences)
		c.Pages = slices.DeleteFunc(slices.Clone(c.Pages), of)
		c.Consequences = slices.DeleteFunc(slices.Clone(c.Consequences), func(x watch.Consequence) bool {
			return gone(x.Page)
		})
		changed = changed || len(c.Pages)+len(c.Consequences) < n
	}
	for page := range r.Memory.Pages {
		if gone(page) {
			r.Memory.Pages = maps.Clone(r.Memory.Pages)
			maps.DeleteFunc(r.Memory.Pages, func(page string, _ watch.PageMemory) bool { return gone(page) })
			changed = true
			break
		}
	}
	r.Brakes = slices.DeleteFunc(slices.Clone(r.Brakes), func(b Brake) bool {
		if gone(b.Page) {
			forgotten[b.ID], changed = true, true
		}
		return gone(b.Page)
	})
	r.Outbox = slices.DeleteFunc(slices.Clone(r.Outbox), func(n Notification) bool { return forgotten[n.Change] })
	return changed
}
