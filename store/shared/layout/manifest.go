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

// Manifest says what a shard consists of. Nothing else that lies in the bucket counts.
type Manifest struct {
	Version int    `json:"version"`
	Owner   string `json:"owner,omitempty"` // instance of who rolls it up
	// Nonce is new in each attempt to write a manifest. It tells whose it is when an answer is lost.
	Nonce string `json:"nonce"`
	// AsOf is the time (µs) up to which all that was acknowledged is in it.
	AsOf int64 `json:"as_of"`
	// Instances say which segments are in it.
	Instances map[string]*Consumed `json:"instances"`
	Hours     map[string]*Hour     `json:"hours"`
	Days      map[string]*Day      `json:"days"`
	// Removed are objects that it does not name any more, which readers may still read.
	Removed []Removed `json:"removed,omitempty"`
	// Kept is how long the shard keeps what it has.
	Kept *Retention `json:"kept,omitempty"`
	// Deletions says how far requests to delete are, by their ids.
	Deletions map[string]Deleting `json:"deletions,omitempty"`

	extra extra
}

const manifestVersion = 1

// MaxManifest bounds a manifest, decompressed.
const MaxManifest = 64 << 20

// Consumed are the segments of one life of a node that a manifest has: ranges of their numbers,
// first and last, sorted and apart. There are gaps where a segment could not be stored.
type Consumed struct {
	Ranges [][2]uint64 `json:"ranges"`
	Last   int64       `json:"last"` // when one was added (µs)
}

// has reports whether the manifest has a segment.
func (c *Consumed) has(seq uint64) bool {
	if c == nil {
		return false
	}
	i, found := c.find(seq)
	return found || i > 0 && c.Ranges[i-1][1] >= seq
}

// find returns the first range that begins at seq or later, and whether it begins there.
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

// add adds a segment that it does not have.
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
	Tier int    `json:"tier,omitempty"` // how often it was compacted
	Rows int    `json:"rows,omitempty"` // of runs
	Size int64  `json:"size"`           // bytes
	// First and Last are when the first and the last row of a run were received (µs).
	First int64 `json:"first,omitempty"`
	Last  int64 `json:"last,omitempty"`
}

// Hour is what was received in an hour, but for what came too late for it.
type Hour struct {
	Runs    []File `json:"runs,omitempty"`
	Rollups []File `json:"rollups,omitempty"` // they add up
	// Traces are those in runs; one of two pages of the shard counts twice.
	Traces     uint64 `json:"traces"`
	Duplicates uint64 `json:"duplicates,omitempty"`
	First      int64  `json:"first,omitempty"` // when the first and the last trace were received (µs), 0 without traces
	Last       int64  `json:"last,omitempty"`
	Sealed     bool   `json:"sealed,omitempty"` // nothing is added any more
	// Quarantined are objects that cannot be read. They are in no response, and stay until the hour expires.
	Quarantined []Quarantined `json:"quarantined,omitempty"`

	extra extra
}

// Quarantined is a run, or rollups, that could not be read and so is not used.
type Quarantined struct {
	Key  string `json:"key"`
	File File   `json:"file"` // its Rows are those that were not saved as another run
	At   int64  `json:"at"`   // when it was quarantined (µs)
	Why  string `json:"why"`  // the error
	// Lost is how many traces no rollup counts any more: 0 if the rollups of the hour still count the traces of the run.
	Lost int `json:"lost,omitempty"`
}

// IsRun reports whether it is a run.
func (q *Quarantined) IsRun() bool { return strings.HasPrefix(q.Key, "raw/") }

// Summed reports whether it is a run with traces that the rollups of its hour still count.
func (q *Quarantined) Summed() bool { return q.IsRun() && q.File.Rows > 0 && q.Lost == 0 }

// Day is what the hours of a day add up to.
type Day struct {
	Rollups []File   `json:"rollups"`
	Sources []string `json:"sources"` // the hours
	Traces  uint64   `json:"traces"`
	First   int64    `json:"first,omitempty"`
	Last    int64    `json:"last,omitempty"`

	extra extra
}

// Removed is an object that is deleted when nobody reads it any more.
type Removed struct {
	Key string `json:"key"`
	At  int64  `json:"at"` // when it was taken out (µs)
}

func newManifest() *Manifest {
	return &Manifest{Version: manifestVersion, Instances: map[string]*Consumed{}, Hours: map[string]*Hour{}, Days: map[string]*Day{}}
}

// Clone returns a copy that can be changed.
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
	out.Days = maps.Clone(m.Days) // which are replaced as a whole
	out.Removed, out.Deletions = slices.Clone(m.Removed), maps.Clone(m.Deletions)
	return &out
}

// Has reports whether m has a segment.
func (m *Manifest) Has(s Segment) bool { return m.Instances[s.Instance].has(s.Seq) }

// Take notes that m has a segment from now on.
func (m *Manifest) Take(s Segment, now time.Time) {
	c := m.Instances[s.Instance]
	if c == nil {
		c = &Consumed{}
		m.Instances[s.Instance] = c
	}
	c.add(s.Seq)
	c.Last = max(c.Last, now.UnixMicro())
}

// Hour returns an hour, which begins empty.
func (m *Manifest) Hour(name string) *Hour {
	h := m.Hours[name]
	if h == nil {
		h = &Hour{}
		m.Hours[name] = h
	}
	return h
}

// Extend widens the time of h.
func (h *Hour) Extend(received int64) {
	if h.First == 0 || received < h.First {
		h.First = received
	}
	h.Last = max(h.Last, received)
}

// Encode returns the bytes of the manifest of a shard.
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

// VersionError says that a newer release wrote what a bucket has.
type VersionError struct {
	Object  string
	Version int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d, this release knows %d: a newer release wrote it, use that one", e.Object, e.Version, manifestVersion)
}

// DecodeManifest reads the manifest of a shard, and checks it.
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
		return nil, fmt.Errorf("read manifest: %w: it has none", block.ErrDamaged)
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

// check reports what can not be in a manifest.
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

// RollupsOf returns the rollups of an hour, which may not be there.
func (m *Manifest) RollupsOf(name string) []File {
	if h := m.Hours[name]; h != nil {
		return h.Rollups
	}
	return nil
}

// Names yields the keys of all objects that m names.
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

// Remove takes objects out of a manifest that may still be read.
func (m *Manifest) Remove(now time.Time, keys ...string) {
	for _, k := range keys {
		m.Removed = append(m.Removed, Removed{k, now.UnixMicro()})
	}
}

// RemoveRuns takes the traces of an hour out of the manifest of a shard, and what is quarantined.
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

// Quarantined returns what is quarantined, by hour.
func (m *Manifest) Quarantined() (out []Quarantined) {
	for _, name := range slices.Sorted(maps.Keys(m.Hours)) {
		out = append(out, m.Hours[name].Quarantined...)
	}
	return out
}

// RemoveHour takes an hour out that has no traces any more.
func (m *Manifest) RemoveHour(now time.Time, shard int, name string) {
	h := m.Hours[name]
	for _, f := range h.Rollups {
		m.Remove(now, HourKey(shard, name, f.ID))
	}
	delete(m.Hours, name)
}

// RemoveDay takes a day out.
func (m *Manifest) RemoveDay(now time.Time, shard int, name string) {
	for _, f := range m.Days[name].Rollups {
		m.Remove(now, DayKey(shard, name, f.ID))
	}
	delete(m.Days, name)
}

// HoursOf returns the hours of a day that are there.
func (m *Manifest) HoursOf(day string) (names []string) {
	for name := range m.Hours {
		if DayOf(name) == day {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// RunsOf returns the runs of an hour, which may not be there yet.
func (m *Manifest) RunsOf(name string) []File {
	if h := m.Hours[name]; h != nil {
		return h.Runs
	}
	return nil
}

// Complete reports whether all hours are there that a day was made of, so that it can be made again.
func (d *Day) Complete(m *Manifest) bool {
	return !slices.ContainsFunc(d.Sources, func(hour string) bool { return m.Hours[hour] == nil })
}

// OutlivesHours reports whether a day has outlasted its hours, so that it is all that is left of them.
func (d *Day) OutlivesHours(m *Manifest) bool {
	return !slices.ContainsFunc(d.Sources, func(hour string) bool { return m.Hours[hour] != nil })
}

// Retention is how long a shard keeps traces, and their rollups by the hour and by the day, ns; 0 is for ever.
type Retention struct {
	Traces int64 `json:"traces"`
	Hours  int64 `json:"hours"`
	Days   int64 `json:"days"`
}

// Longest returns how long a shard keeps what it has: the longest time that k or any node before was told, so that one with other
// settings, which nobody thinks of, deletes nothing that others keep.
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
