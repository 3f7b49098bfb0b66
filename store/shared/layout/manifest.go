package layout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// Manifest lists the objects that belong to a shard. Objects that it does not name do not count.
type Manifest struct {
	Version int    `json:"version"`
	Owner   string `json:"owner,omitempty"` // the instance that rolls the shard up
	// Nonce is new in each attempt to write a manifest. If an answer is lost, it identifies the
	// writer.
	Nonce string `json:"nonce"`
	// AsOf is a time (µs): all traces that were acknowledged before it are in the manifest.
	AsOf int64 `json:"as_of"`
	// Instances are the segments that have been rolled up, by instance.
	Instances map[string]*Consumed `json:"instances"`
	Hours     map[string]*Hour     `json:"hours"`
	Days      map[string]*Day      `json:"days"`
	// Removed are objects that the manifest does not name any more, but that readers may still
	// read.
	Removed []Removed `json:"removed,omitempty"`
	// Kept is how long the shard keeps its data.
	Kept *Retention `json:"kept,omitempty"`
	// Deletions is the progress of requests to delete, by id.
	Deletions map[string]Deleting `json:"deletions,omitempty"`

	extra extra
}

const manifestVersion = 1

// MaxManifest bounds a manifest in bytes, decompressed.
const MaxManifest = 64 << 20

// Consumed are the segments of one instance that have been rolled up: ranges of sequence numbers,
// first to last, sorted and with gaps between them. A number is missing if its segment could not be
// stored.
type Consumed struct {
	Ranges [][2]uint64 `json:"ranges"`
	Last   int64       `json:"last"` // when a segment was last added (µs)
}

// has reports whether a segment is in the ranges.
func (c *Consumed) has(seq uint64) bool {
	if c == nil {
		return false
	}
	i, found := c.find(seq)
	return found || i > 0 && c.Ranges[i-1][1] >= seq
}

// find returns the index of the first range that begins at seq or later, and whether it begins
// exactly there.
func (c *Consumed) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(c.Ranges, seq, func(r [2]uint64, s uint64) int {
		if r[0] < s {
			return -1
		} else if r[0] > s {
			return 1
		}
		return 0
	})
}

// add adds a segment that is not in the ranges yet.
func (c *Consumed) add(seq uint64) {
	i, _ := c.find(seq)
	before, behind := i > 0 && c.Ranges[i-1][1]+1 == seq, i < len(c.Ranges) && c.Ranges[i][0] == seq+1
	switch {
	case before && behind:
		c.Ranges[i-1][1] = c.Ranges[i][1]
		c.Ranges = slices.Delete(c.Ranges, i, i+1)
	case before:
		c.Ranges[i-1][1] = seq
	case behind:
		c.Ranges[i][0] = seq
	default:
		c.Ranges = slices.Insert(c.Ranges, i, [2]uint64{seq, seq})
	}
}

// File is an object of a shard.
type File struct {
	ID   string `json:"id"`
	Tier int    `json:"tier,omitempty"` // how many times it was compacted
	Rows int    `json:"rows,omitempty"` // of runs only
	Size int64  `json:"size"`           // bytes
	// First and Last are when the first and the last row of a run were received (µs).
	First int64 `json:"first,omitempty"`
	Last  int64 `json:"last,omitempty"`
}

// Hour is the data that was received in an hour. Traces that arrive after it was sealed go to a
// later hour.
type Hour struct {
	Runs    []File `json:"runs,omitempty"`
	Rollups []File `json:"rollups,omitempty"` // the rollups of the hour are their sum
	// Traces is the number of rows in the runs: a trace of two pages of this shard counts twice.
	Traces     uint64 `json:"traces"`
	Duplicates uint64 `json:"duplicates,omitempty"`
	First      int64  `json:"first,omitempty"` // when the first and the last trace were received (µs); 0 without traces
	Last       int64  `json:"last,omitempty"`
	Sealed     bool   `json:"sealed,omitempty"` // no data is added any more
	// Quarantined are objects that cannot be read. Queries skip them. They are kept until the hour
	// expires.
	Quarantined []Quarantined `json:"quarantined,omitempty"`

	extra extra
}

// Quarantined is a run or an object of rollups that could not be read and is no longer used.
type Quarantined struct {
	Key  string `json:"key"`
	File File   `json:"file"` // its Rows exclude rows that were saved to another run
	At   int64  `json:"at"`   // when it was quarantined (µs)
	Why  string `json:"why"`  // the error
	// Lost is how many of its traces are missing from the rollups. It is 0 if the rollups of the
	// hour still count them.
	Lost int `json:"lost,omitempty"`
}

// IsRun reports whether q is a run; otherwise it is an object of rollups.
func (q *Quarantined) IsRun() bool { return strings.HasPrefix(q.Key, "raw/") }

// Summed reports whether q is a run with traces that the rollups of its hour still count.
func (q *Quarantined) Summed() bool { return q.IsRun() && q.File.Rows > 0 && q.Lost == 0 }

// Day is the sum of the hours of a day.
type Day struct {
	Rollups []File   `json:"rollups"`
	Sources []string `json:"sources"` // the hours
	Traces  uint64   `json:"traces"`
	First   int64    `json:"first,omitempty"`
	Last    int64    `json:"last,omitempty"`

	extra extra
}

// Removed is an object that will be deleted once no reader can use it any more.
type Removed struct {
	Key string `json:"key"`
	At  int64  `json:"at"` // when it was removed from the manifest (µs)
}

func newManifest() *Manifest {
	return &Manifest{Version: manifestVersion, Instances: map[string]*Consumed{}, Hours: map[string]*Hour{},
		Days: map[string]*Day{}}
}

// Clone returns a copy that the caller may change.
func (m *Manifest) Clone() *Manifest {
	out := *m
	out.Instances = maps.Clone(m.Instances)
	for k, c := range out.Instances {
		out.Instances[k] = &Consumed{slices.Clone(c.Ranges), c.Last}
	}
	out.Hours = maps.Clone(m.Hours)
	for k, h := range out.Hours {
		x := *h
		x.Runs, x.Rollups, x.Quarantined = slices.Clone(h.Runs), slices.Clone(h.Rollups), slices.Clone(h.Quarantined)
		out.Hours[k] = &x
	}
	out.Days = maps.Clone(m.Days) // days are replaced, never changed
	out.Removed, out.Deletions = slices.Clone(m.Removed), maps.Clone(m.Deletions)
	return &out
}

// Has reports whether a segment has been rolled up.
func (m *Manifest) Has(s Segment) bool { return m.Instances[s.Instance].has(s.Seq) }

// Take records that a segment has been rolled up.
func (m *Manifest) Take(s Segment, now time.Time) {
	c := m.Instances[s.Instance]
	if c == nil {
		c = &Consumed{}
		m.Instances[s.Instance] = c
	}
	c.add(s.Seq)
	c.Last = max(c.Last, now.UnixMicro())
}

// Hour returns an hour, and adds an empty one if there is none.
func (m *Manifest) Hour(name string) *Hour {
	h := m.Hours[name]
	if h == nil {
		h = &Hour{}
		m.Hours[name] = h
	}
	return h
}

// Extend extends the time range of h to include received (µs).
func (h *Hour) Extend(received int64) {
	if h.First == 0 || received < h.First {
		h.First = received
	}
	h.Last = max(h.Last, received)
}

// Encode returns the object with the manifest of a shard.
func (m *Manifest) Encode(c *block.Codec, shard int) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	w := block.NewWriter(c)
	if err := w.Add(kindManifest, "", 1, text); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return w.Finish(ManifestKey(shard)), nil
}

// VersionError is returned if a newer release wrote an object.
type VersionError struct {
	Object  string
	Version int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d, this release supports up to %d; use the newer release that wrote it",
		e.Object, e.Version, manifestVersion)
}

// DecodeManifest decodes and validates the manifest of a shard.
func (b *Bucket) DecodeManifest(shard int, body []byte) (*Manifest, error) {
	return decodeManifest(b.Codec, shard, body)
}

func decodeManifest(c *block.Codec, shard int, body []byte) (*Manifest, error) {
	x, err := c.ParseIndex(ManifestKey(shard), body, int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	list := x.Find(kindManifest, "")
	if len(list) != 1 {
		return nil, fmt.Errorf("read manifest: %w: no manifest block", block.ErrDamaged)
	}
	text, err := x.Data(list[0], body[list[0].Offset:][:list[0].Length])
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	m := newManifest()
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if m.Version > manifestVersion {
		return nil, &VersionError{"the manifest", m.Version}
	}
	return m, m.check()
}

// check returns an error if the manifest is invalid.
func (m *Manifest) check() error {
	for name, h := range m.Hours {
		if t, err := ParseHour(name); err != nil || HourOf(t) != name || h == nil {
			return fmt.Errorf("check manifest: %w: hour %q", block.ErrDamaged, name)
		}
	}
	for name, d := range m.Days {
		if t, err := time.Parse(DayFormat, name); err != nil || t.Format(DayFormat) != name || d == nil {
			return fmt.Errorf("check manifest: %w: day %q", block.ErrDamaged, name)
		}
	}
	for instance, c := range m.Instances {
		last := uint64(0)
		if c == nil {
			return fmt.Errorf("check manifest: %w: instance %q", block.ErrDamaged, instance)
		}
		for i, r := range c.Ranges {
			if r[0] > r[1] || r[0] <= last || i > 0 && r[0] == last+1 {
				return fmt.Errorf("check manifest: %w: segments %v of %q", block.ErrDamaged, c.Ranges, instance)
			}
			last = r[1]
		}
	}
	return nil
}

// RollupsOf returns the rollups of an hour, or nil if there is no such hour.
func (m *Manifest) RollupsOf(name string) []File {
	if h := m.Hours[name]; h != nil {
		return h.Rollups
	}
	return nil
}

// Names returns the keys of all objects that m names.
func (m *Manifest) Names(shard int) map[string]bool {
	out := map[string]bool{}
	for name, h := range m.Hours {
		for _, f := range h.Runs {
			out[RunKey(shard, name, f.ID)] = true
		}
		for _, f := range h.Rollups {
			out[HourKey(shard, name, f.ID)] = true
		}
		for i := range h.Quarantined {
			out[h.Quarantined[i].Key] = true
		}
	}
	for name, d := range m.Days {
		for _, f := range d.Rollups {
			out[DayKey(shard, name, f.ID)] = true
		}
	}
	return out
}

// Remove marks objects as removed. Readers may still use them.
func (m *Manifest) Remove(now time.Time, keys ...string) {
	for _, k := range keys {
		m.Removed = append(m.Removed, Removed{k, now.UnixMicro()})
	}
}

// RemoveRuns removes the runs and the quarantined objects of an hour.
func (m *Manifest) RemoveRuns(now time.Time, shard int, name string) {
	h := m.Hours[name]
	for _, f := range h.Runs {
		m.Remove(now, RunKey(shard, name, f.ID))
	}
	for i := range h.Quarantined {
		m.Remove(now, h.Quarantined[i].Key)
	}
	h.Runs, h.Quarantined = nil, nil
}

// Quarantined returns all quarantined objects, ordered by hour.
func (m *Manifest) Quarantined() (out []Quarantined) {
	for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
		out = append(out, m.Hours[name].Quarantined...)
	}
	return out
}

// RemoveHour removes an hour that has no traces any more.
func (m *Manifest) RemoveHour(now time.Time, shard int, name string) {
	h := m.Hours[name]
	for _, f := range h.Rollups {
		m.Remove(now, HourKey(shard, name, f.ID))
	}
	delete(m.Hours, name)
}

// RemoveDay removes a day.
func (m *Manifest) RemoveDay(now time.Time, shard int, name string) {
	for _, f := range m.Days[name].Rollups {
		m.Remove(now, DayKey(shard, name, f.ID))
	}
	delete(m.Days, name)
}

// HoursOf returns the hours of a day that are in the manifest, sorted.
func (m *Manifest) HoursOf(day string) (names []string) {
	for name := range m.Hours {
		if DayOf(name) == day {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// RunsOf returns the runs of an hour, or nil if there is no such hour.
func (m *Manifest) RunsOf(name string) []File {
	if h := m.Hours[name]; h != nil {
		return h.Runs
	}
	return nil
}

// Complete reports whether the manifest still has all hours of a day, so that the day can be
// rebuilt.
func (d *Day) Complete(m *Manifest) bool {
	return !slices.ContainsFunc(d.Sources, func(hour string) bool { return m.Hours[hour] == nil })
}

// OutlivesHours reports whether none of the hours of a day are left, so that only the rollups of
// the day remain.
func (d *Day) OutlivesHours(m *Manifest) bool {
	return !slices.ContainsFunc(d.Sources, func(hour string) bool { return m.Hours[hour] != nil })
}

// Retention is how long a shard keeps traces, hourly rollups and daily rollups, in nanoseconds; 0
// means forever.
type Retention struct {
	Traces int64 `json:"traces"`
	Hours  int64 `json:"hours"`
	Days   int64 `json:"days"`
}

// Longest returns the longest retention that any node was configured with, so that a misconfigured
// node cannot delete data that others keep.
func (m *Manifest) Longest(k Retention) Retention {
	if m.Kept == nil {
		return k
	}
	longest := func(a, b int64) int64 {
		if a == 0 || b == 0 {
			return 0
		}
		return max(a, b)
	}
	return Retention{longest(k.Traces, m.Kept.Traces), longest(k.Hours, m.Kept.Hours), longest(k.Days, m.Kept.Days)}
}
