package former

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// Left is something that can not be read.
type Left struct {
	What string `json:"what"` // such as the name of a partition
	Why  string `json:"why"`
}

// String returns both in a line.
func (l Left) String() string { return l.What + ": " + l.Why }

// Directory is a data directory of format 3. Pages of an hour that is open can be read side by side; all else is for one goroutine.
type Directory struct {
	Hours []*Hour // by time
	Days  []*Day  // those that there are rollups of, by time
	// Aside is what was set aside by the program that wrote the directory, as it could not be read.
	Aside []Left
	// Faulty are files of rollups that can not be read.
	Faulty []Left
	// Lost is how many acknowledged traces are known to have been lost in crashes.
	Lost uint64

	dir   string
	space *disk.Space
	with  *sumsReader
	files []*sumsFile
}

// Open looks what there is in a directory, which nobody else must have open. It recovers the partitions that a crash has left, for
// which there must be room. What is damaged is no error.
func Open(dir string) (_ *Directory, err error) {
	d := &Directory{dir: dir, space: disk.NewSpace(dir, 0)}
	if d.with, err = newSumsReader(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list data directory: %w", err)
	}
	hours := map[string]*Hour{}
	for _, e := range entries {
		if err := d.take(e, hours); err != nil {
			return nil, err
		}
	}
	for _, f := range d.files {
		d.addSums(f, hours)
	}
	for _, name := range slices.Sorted(maps.Keys(hours)) {
		d.Hours = append(d.Hours, hours[name])
	}
	d.judgeDays()
	return d, nil
}

// take adds an entry of the directory, if it is one of the format.
func (d *Directory) take(e os.DirEntry, hours map[string]*Hour) error {
	name := e.Name()
	path := filepath.Join(d.dir, name)
	if m := asideName.FindStringSubmatch(name); m != nil {
		_, isPartition := ParseName(m[1])
		if _, isSums := parseSumsName(m[1]); isSums || isPartition {
			d.Aside = append(d.Aside, Left{name, "it was set aside: " + readReason(path)})
		}
		return nil
	}
	if _, ok := parseSumsName(name); ok {
		f, err := openSums(path, d.with)
		switch {
		case err != nil && ofMachine(err):
			return fmt.Errorf("open %s: %w", name, err)
		case err != nil:
			d.Faulty = append(d.Faulty, Left{name, err.Error()})
		default:
			d.files = append(d.files, f)
		}
		return nil
	}
	start, ok := ParseName(name)
	if !ok || !e.IsDir() {
		return nil
	}
	if _, err := os.Lstat(path + aheadSuffix); err == nil {
		return nil // it was made ahead of its time, and holds nothing
	}
	p := &partition{name: name, start: start, path: path}
	if err := p.load(d.space); err != nil {
		return err
	}
	d.Lost += p.LostTraces
	if p.fault != nil || !p.blank() {
		h := hourOf(hours, start)
		h.parts = append(h.parts, p)
	}
	return nil
}

// hourFormat names hours.
const hourFormat = "20060102T15"

// hourOf returns the hour of a time.
func hourOf(hours map[string]*Hour, t time.Time) *Hour {
	name := t.Format(hourFormat)
	h := hours[name]
	if h == nil {
		h = &Hour{Name: name}
		hours[name] = h
	}
	return h
}

// addSums adds what a file of rollups has.
func (d *Directory) addSums(f *sumsFile, hours map[string]*Hour) {
	for _, s := range f.sums {
		if f.span == 0 {
			h := hourOf(hours, timeOf(s.start))
			h.sums = append(h.sums, summed{f, s})
			continue
		}
		d.Days = append(d.Days, newDay(f, s))
	}
	slices.SortFunc(d.Days, func(a, b *Day) int { return strings.Compare(a.Name, b.Name) })
}

// timeOf returns the time of a number of minutes since the epoch.
func timeOf(minutes uint32) time.Time { return time.Unix(int64(minutes)*60, 0).UTC() }

// judgeDays finds out of which days all partitions are there.
func (d *Directory) judgeDays() {
	known := map[uint32]bool{}
	for _, h := range d.Hours {
		for _, p := range h.parts {
			known[uint32(p.start.Unix()/60)] = p.fault == nil
		}
		for _, s := range h.sums {
			known[s.start] = true
		}
	}
	for _, day := range d.Days {
		day.Whole = !slices.ContainsFunc(day.sources, func(start uint32) bool { return !known[start] })
	}
}

// Close closes what is open.
func (d *Directory) Close() (err error) {
	for _, h := range d.Hours {
		err = errors.Join(err, h.Close())
	}
	for _, f := range d.files {
		err = errors.Join(err, f.close())
	}
	d.with.dec.Close()
	return err
}
