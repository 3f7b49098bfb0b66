package part

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
)

const (
	corruptSuffix = ".corrupt" // ends the name of what was set aside, maybe with a number behind it
	reasonFile    = "REASON"   // says why, to who looks into the directory
)

// asideName matches NAME.corrupt and NAME.corrupt.2.
var asideName = regexp.MustCompile(`^(.*)\.corrupt(?:\.\d+)?$`)

// ParseAsideName returns the name that was set aside as name.
func ParseAsideName(name string) (of string, ok bool) {
	m := asideName.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// AsideName returns the name under which name is set aside, the first that is not taken.
func AsideName(name string, taken func(string) bool) string {
	to := name + corruptSuffix
	for n := 2; taken(to); n++ {
		to = fmt.Sprintf("%s%s.%d", name, corruptSuffix, n)
	}
	return to
}

// Aside is a partition that was renamed because it could not be opened.
type Aside struct {
	Name  string
	Start time.Time
	Path  string
	Contents
	Reason string
}

// MayOverlap is Overlaps for a partition whose contents may be unknown: then the
// time it was made for has to do.
func (a *Aside) MayOverlap(since, until time.Time, width time.Duration) bool {
	if !a.Blank() {
		return a.Overlaps(since, until)
	}
	return (since.IsZero() || a.Start.Add(width).After(since)) && (until.IsZero() || a.Start.Before(until))
}

// readAside returns what is known about a partition that was set aside.
func readAside(dir, name string, start time.Time) Aside {
	a := Aside{Name: name, Start: start, Path: filepath.Join(dir, name), Reason: "set aside earlier"}
	a.Contents, _ = readClean(a.Path) // without it nothing is known
	if b, err := os.ReadFile(filepath.Join(a.Path, reasonFile)); err == nil {
		a.Reason = strings.TrimSpace(string(b))
	}
	return a
}

// WriteAside makes the directory of a partition that was set aside, and of which there is
// nothing but what is known of it.
func WriteAside(dir, name, reason string, c Contents) error {
	path := filepath.Join(dir, name)
	if err := disk.MakeDir(path); err != nil {
		return err
	}
	if err := disk.WriteFile(filepath.Join(path, reasonFile), []byte(reason+"\n")); err != nil {
		return err
	}
	if c.Blank() {
		return nil
	}
	_, err := writeClean(path, c)
	return err
}

// setAside renames a partition's directory, so that it is out of the way and
// nothing of it is lost. It returns the new name.
func setAside(dir, name string, reason error) (string, error) {
	from := filepath.Join(dir, name)
	to := AsideName(name, func(to string) bool {
		_, err := os.Lstat(filepath.Join(dir, to))
		return err == nil
	})
	// Best effort: the reason is for whoever looks into the directory.
	_ = os.WriteFile(filepath.Join(from, reasonFile), []byte(reason.Error()+"\n"), 0o600)
	if err := os.Rename(from, filepath.Join(dir, to)); err != nil {
		return "", fmt.Errorf("set partition %s aside: %w", name, err)
	}
	return to, disk.SyncDir(dir)
}

// giveUp takes a partition that cannot be opened out of use. The caller has taken it. What is
// not damaged, but can not be read for a reason of the machine, stays where it is.
func (s *Shelf) giveUp(p *Partition, reason error) {
	level := slog.LevelError
	if s.faultOf(p) != nil {
		level = slog.LevelDebug // it was said before, and is tried every few seconds
	}
	s.o.Log.Log(context.Background(), level, "partition unreadable", "partition", p.Name, "err", reason)
	if !errors.Is(reason, store.ErrDamaged) {
		s.SetFault(p, reason)
		return
	}
	name, err := setAside(s.dir, p.Name, reason)
	if err != nil {
		s.SetFault(p, errors.Join(reason, err))
		return
	}
	a := readAside(s.dir, name, p.Start)
	a.Reason = reason.Error()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = slices.DeleteFunc(s.parts, func(q *Partition) bool { return q == p })
	s.aside = append(s.aside, a)
	p.fault = reason // for readers that have it pinned
}

func (s *Shelf) faultOf(p *Partition) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.fault
}

// SetFault says why a partition can not be read; nil says that it can.
func (s *Shelf) SetFault(p *Partition, fault error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.fault = fault
}
