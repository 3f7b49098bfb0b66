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

// Register is the state of all changes. Nodes share it as one document, and each version of it is
// saved once: changes, their triage, and pending notifications are consistent within a version.
type Register struct {
	Version int `json:"version"` // of the form
	// Saves counts the versions, so that no two of them are equal.
	Saves int64 `json:"saves"`
	// Hour is up to when pages were evaluated: the end of an hour that is closed. Evaluated is when
	// that was done.
	Hour      time.Time `json:"hour,omitzero"`
	Evaluated time.Time `json:"evaluated,omitzero"`
	// Changes are the changes of the last 400 days, newest first.
	Changes []watch.Change `json:"changes"`
	Memory  watch.Memory   `json:"memory"` // of the detectors
	// Outbox is what is to be told, the oldest first, and Dropped how many notifications were not
	// told since there were too many.
	Outbox  []Notification `json:"outbox"`
	Dropped int64          `json:"dropped,omitempty"`
	// Costs is the end of the last hour after which it was looked at what profiling costs, zero if
	// it never was, and Brakes are the pages of which that was too much.
	Costs  time.Time `json:"costs,omitzero"`
	Brakes []Brake   `json:"brakes,omitempty"`
}

// version is the version of the form that this release reads and writes.
const version = 1

// Bounds of a register. Beyond them the changes that were resolved first are dropped, and parts of
// others.
const (
	maxRegister     = 24 << 20 // bytes
	maxChanges      = 5000
	maxMemory       = 10_000 // pages
	maxPages        = 200    // of a change
	maxConsequences = 100
	maxMoved        = 20
	maxCauses       = 3
	maxCommits      = 3
	maxText         = 1024 // bytes, the same as for pages
	maxOutbox       = 1000

	keepResolved = 400 * 24 * time.Hour
)

// VersionError reports a register of another release.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	if e.Version > version {
		return fmt.Sprintf("the register of changes has version %d, and this release supports up to %d: use the "+
			"newer release that wrote it", e.Version, version)
	}
	return fmt.Sprintf("the register of changes has version %d, and this release supports %d", e.Version, version)
}

// NewRegister returns a register that knows of no change.
func NewRegister() *Register {
	return &Register{Version: version, Changes: []watch.Change{}, Outbox: []Notification{}}
}

// DecodeRegister reads a register, and checks it. A [VersionError] means that the text may be
// valid, and must not be changed.
func DecodeRegister(text []byte) (*Register, error) {
	if len(text) > maxRegister {
		return nil, fmt.Errorf("read changes: %d bytes, the most are %d", len(text), maxRegister)
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
		return nil, errors.New("read changes: something is behind them")
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	return r, nil
}

// Encode returns the text of r, after it has left out what is over the bounds at a time.
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
			return nil, fmt.Errorf("write changes: %d bytes, the most are %d", len(text), maxRegister)
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
		return fmt.Errorf("%d changes, %d pages and %d notifications, the most are %d, %d and %d",
			len(r.Changes), len(r.Memory.Pages), len(r.Outbox), maxChanges, maxMemory, maxOutbox)
	}
	if len(r.Brakes) > maxBrakes {
		return fmt.Errorf("%d brakes, the most are %d", len(r.Brakes), maxBrakes)
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
		return fmt.Errorf("state %.40q", c.State)
	case len(c.Pages) == 0:
		return errors.New("it is on no page")
	case (c.State == watch.Resolved) != !c.Resolved.IsZero() || (c.State == watch.Resolved) != (c.Resolution != ""):
		return fmt.Errorf("state %q, and it was resolved %v (%s)", c.State, c.Resolved, c.Resolution)
	case c.State == watch.Expected && (c.Handled == nil || c.Handled.Until.IsZero()):
		return errors.New("it is expected, and nothing says until when")
	case c.What.Kind == watch.OfFunction && c.What.Function == nil:
		return errors.New("the change of a function has no function")
	}
	return nil
}

// isID reports whether a text may be the id of a change or notification.
func isID(s string) bool {
	return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == ""
}

// IsID reports whether a text may be the id of a change.
func IsID(s string) bool { return isID(s) }

// trim leaves out what is over the bounds, and sorts the rest.
func (r *Register) trim(now time.Time) {
	r.Changes = slices.DeleteFunc(r.Changes, func(c watch.Change) bool {
		return c.State == watch.Resolved && now.Sub(c.Resolved) > keepResolved
	})
	for i := range r.Changes {
		trim(&r.Changes[i])
	}
	r.leaveOut(maxChanges, now)
	if len(r.Memory.Pages) > maxMemory { // those that sort last are looked at anew
		for _, page := range slices.Sorted(maps.Keys(r.Memory.Pages))[maxMemory:] {
			delete(r.Memory.Pages, page)
		}
	}
	if over := len(r.Outbox) - maxOutbox; over > 0 {
		r.Outbox = slices.Delete(r.Outbox, 0, over)
		r.Dropped += int64(over)
	}
}

// leaveOut leaves out all but so many changes, those that were resolved first before others, and
// then the oldest. It sorts them.
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

// trim leaves out what is over the bounds of a change.
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

// clip cuts texts that are too long, between characters.
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

// find returns the change with an id, nil if there is none.
func (r *Register) find(id string) *watch.Change {
	if i := slices.IndexFunc(r.Changes, func(c watch.Change) bool { return c.ID == id }); i >= 0 {
		return &r.Changes[i]
	}
	return nil
}

// forget takes pages out of r. It reports whether there was something of them.
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
