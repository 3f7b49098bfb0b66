package shared

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/block"
)

// manifest says what a shard consists of. Nothing else that lies in the bucket counts.
type manifest struct {
	Version int    `json:"version"`
	Of      string `json:"of,omitempty"`    // the shard
	Owner   string `json:"owner,omitempty"` // boot of who rolls it up
	// Nonce is new in each attempt to write a manifest. It tells whose it is when an answer is lost.
	Nonce string `json:"nonce"`
	// AsOf is the time (µs) up to which all that was acknowledged is in it.
	AsOf int64 `json:"as_of"`
	// Boots say which segments are in it.
	Boots map[string]*consumed `json:"boots"`
	Hours map[string]*hour     `json:"hours"`
	Days  map[string]*day      `json:"days"`
	// Removed are objects that it does not name any more, which readers may still read.
	Removed []removed `json:"removed,omitempty"`
	// Kept is how long the shard keeps what it has.
	Kept *kept `json:"kept,omitempty"`

	extra extra
}

const manifestVersion = 1

// maxManifest bounds a manifest, decompressed.
const maxManifest = 64 << 20

// consumed are the segments of one life of a machine that a manifest has: ranges of their numbers,
// first and last, sorted and apart. There are gaps where a segment could not be stored.
type consumed struct {
	Ranges [][2]uint64 `json:"ranges"`
	Last   int64       `json:"last"` // when one was added (µs)
}

// has reports whether the manifest has a segment.
func (c *consumed) has(seq uint64) bool {
	if c == nil {
		return false
	}
	i, found := c.find(seq)
	return found || i > 0 && c.Ranges[i-1][1] >= seq
}

// find returns the first range that begins at seq or later, and whether it begins there.
func (c *consumed) find(seq uint64) (int, bool) {
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
func (c *consumed) add(seq uint64) {
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

// file is an object of a shard.
type file struct {
	ID   string `json:"id"`
	Tier int    `json:"tier,omitempty"` // how often it was folded
	Rows int    `json:"rows,omitempty"` // of runs
	Size int64  `json:"size"`           // bytes
}

// hour is what was received in an hour, but for what came too late for it.
type hour struct {
	Runs []file `json:"runs,omitempty"`
	Sums []file `json:"sums,omitempty"` // they add up
	// Traces are those in runs; one of two pages of the shard counts twice.
	Traces      uint64 `json:"traces"`
	Duplicates  uint64 `json:"duplicates,omitempty"`
	First, Last int64  // when the first and the last trace were received (µs), 0 without traces
	Sealed      bool   `json:"sealed,omitempty"` // nothing is added any more, but by imports
	// Imported is what of it comes from directories.
	Imported []origin `json:"imported,omitempty"`

	extra extra
}

// day is what the hours of a day add up to.
type day struct {
	Sums        []file   `json:"sums"`
	Sources     []string `json:"sources"` // the hours
	Traces      uint64   `json:"traces"`
	First, Last int64
	Imported    []origin `json:"imported,omitempty"` // as those of its hours

	extra extra
}

// removed is an object that is deleted when nobody reads it any more.
type removed struct {
	Key string `json:"key"`
	At  int64  `json:"at"` // when it was taken out (µs)
}

func newManifest() *manifest {
	return &manifest{Version: manifestVersion, Boots: map[string]*consumed{}, Hours: map[string]*hour{}, Days: map[string]*day{}}
}

// clone returns a copy that can be changed.
func (m *manifest) clone() *manifest {
	out := *m
	out.Boots = maps.Clone(m.Boots)
	for k, c := range out.Boots {
		out.Boots[k] = &consumed{slices.Clone(c.Ranges), c.Last}
	}
	out.Hours = maps.Clone(m.Hours)
	for k, h := range out.Hours {
		x := *h
		x.Runs, x.Sums = slices.Clone(h.Runs), slices.Clone(h.Sums)
		out.Hours[k] = &x
	}
	out.Days = maps.Clone(m.Days) // which are replaced as a whole
	out.Removed = slices.Clone(m.Removed)
	return &out
}

// has reports whether m has a segment.
func (m *manifest) has(s segmentName) bool { return m.Boots[s.boot].has(s.seq) }

// take notes that m has a segment from now on.
func (m *manifest) take(s segmentName, now time.Time) {
	c := m.Boots[s.boot]
	if c == nil {
		c = &consumed{}
		m.Boots[s.boot] = c
	}
	c.add(s.seq)
	c.Last = max(c.Last, now.UnixMicro())
}

// hour returns an hour, which begins empty.
func (m *manifest) hour(name string) *hour {
	h := m.Hours[name]
	if h == nil {
		h = &hour{}
		m.Hours[name] = h
	}
	return h
}

// sees widens the time of h.
func (h *hour) sees(received int64) {
	if h.First == 0 || received < h.First {
		h.First = received
	}
	h.Last = max(h.Last, received)
}

// encode returns the bytes of m.
func (m *manifest) encode(c *block.Codec) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	w := block.NewWriter(c)
	if err := w.Add(kindManifest, "", 1, text); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return w.Finish(), nil
}

// VersionError says that a newer release wrote what a bucket has.
type VersionError struct {
	Object  string
	Version int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d, this release knows %d: a newer release wrote it, use that one", e.Object, e.Version, manifestVersion)
}

// decodeManifest reads the manifest of a shard, and checks it.
func (b *view) decodeManifest(shard int, body []byte) (*manifest, error) {
	m, err := decodeManifest(b.codec, body)
	if err == nil && m.Of != "" && m.Of != shardName(shard) {
		err = fmt.Errorf("read manifest: %w: it is that of shard %s", block.ErrDamaged, m.Of)
	}
	return m, err
}

// decodeManifest reads a manifest, of whichever shard, and checks it.
func decodeManifest(c *block.Codec, body []byte) (*manifest, error) {
	x, err := c.ParseIndex(body, int64(len(body)))
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
func (m *manifest) check() error {
	for name, h := range m.Hours {
		if t, err := parseHour(name); err != nil || hourOf(t) != name || h == nil {
			return fmt.Errorf("check manifest: %w: hour %q", block.ErrDamaged, name)
		}
	}
	for name, d := range m.Days {
		if t, err := time.Parse(dayFormat, name); err != nil || t.Format(dayFormat) != name || d == nil {
			return fmt.Errorf("check manifest: %w: day %q", block.ErrDamaged, name)
		}
	}
	for boot, c := range m.Boots {
		last := uint64(0)
		if c == nil {
			return fmt.Errorf("check manifest: %w: boot %q", block.ErrDamaged, boot)
		}
		for i, r := range c.Ranges {
			if r[0] > r[1] || r[0] <= last || i > 0 && r[0] == last+1 {
				return fmt.Errorf("check manifest: %w: segments %v of %q", block.ErrDamaged, c.Ranges, boot)
			}
			last = r[1]
		}
	}
	return nil
}

// sumsOf returns the rollups of an hour, which may not be there.
func (m *manifest) sumsOf(name string) []file {
	if h := m.Hours[name]; h != nil {
		return h.Sums
	}
	return nil
}

// names yields the keys of all objects that m names.
func (m *manifest) names(shard int) map[string]bool {
	out := map[string]bool{}
	for name, h := range m.Hours {
		for _, f := range h.Runs {
			out[runKey(shard, name, f.ID)] = true
		}
		for _, f := range h.Sums {
			out[sumsKey(shard, name, f.ID)] = true
		}
		for _, k := range h.untraced(shard, name) {
			out[k] = true
		}
	}
	for name, d := range m.Days {
		for _, f := range d.Sums {
			out[daySumsKey(shard, name, f.ID)] = true
		}
	}
	return out
}

// untraced returns the keys of what imports keep beside an hour.
func (h *hour) untraced(shard int, name string) (keys []string) {
	for i := range h.Imported {
		if o := &h.Imported[i]; o.Untraced != "" {
			keys = append(keys, o.untracedKey(shard, name))
		}
	}
	return keys
}

// remove takes objects out of a manifest that may still be read.
func (m *manifest) remove(now time.Time, keys ...string) {
	for _, k := range keys {
		m.Removed = append(m.Removed, removed{k, now.UnixMicro()})
	}
}

// runsOf returns the runs of an hour, which may not be there yet.
func (m *manifest) runsOf(name string) []file {
	if h := m.Hours[name]; h != nil {
		return h.Runs
	}
	return nil
}

// whole reports whether all hours are there that a day was made of, so that it can be made again.
func (d *day) whole(m *manifest) bool {
	return !slices.ContainsFunc(d.Sources, func(hour string) bool { return m.Hours[hour] == nil })
}

// kept is how long a shard keeps traces, and their sums by the hour and by the day, ns; 0 is for ever.
type kept struct {
	Traces int64 `json:"traces"`
	Hours  int64 `json:"hours"`
	Days   int64 `json:"days"`
}

// longest returns how long a shard keeps what it has: the longest time that k or any node before was told, so that one with other
// settings, which nobody thinks of, deletes nothing that others keep.
func (m *manifest) longest(k kept) kept {
	if m.Kept == nil {
		return k
	}
	longest := func(a, b int64) int64 {
		if a == 0 || b == 0 {
			return 0
		}
		return max(a, b)
	}
	return kept{longest(k.Traces, m.Kept.Traces), longest(k.Hours, m.Kept.Hours), longest(k.Days, m.Kept.Days)}
}
