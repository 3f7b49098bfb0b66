package upgrade

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/upgrade/former"
)

// Names below DIR.
const (
	workFolder = "upgrade" // has all that is made before the swap
	stateFile  = "STATE"
	placeName  = "objects"
)

// state says how far an upgrade is. What it does not name is made again.
type state struct {
	// Source is a checksum of what was there when the upgrade began: if the release before was started again, it begins anew.
	Source  string            `json:"source"`
	Hours   map[string]uint64 `json:"hours"` // those that are done, and how many traces they have
	Days    map[string]bool   `json:"days"`
	Left    []former.Left     `json:"left,omitempty"`
	Repeats uint64            `json:"repeats,omitempty"`
}

// loadState returns how far the upgrade of a directory is. If that is of another state of the directory, it deletes what was made.
func (u *upgrade) loadState() error {
	source, err := sourceOf(u.dir)
	if err != nil {
		return err
	}
	u.state = state{Source: source, Hours: map[string]uint64{}, Days: map[string]bool{}}
	text, err := os.ReadFile(u.path(stateFile))
	var s state
	if err == nil && json.Unmarshal(text, &s) == nil && s.Source == source {
		for name, traces := range s.Hours {
			u.state.Hours[name] = traces
		}
		for name := range s.Days {
			u.state.Days[name] = true
		}
		u.state.Left, u.state.Repeats = s.Left, s.Repeats
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read how far the upgrade is: %w", err)
	}
	if err := u.removeWork(); err != nil {
		return fmt.Errorf("begin the upgrade anew: %w", err)
	}
	if err := os.MkdirAll(u.path(placeName), 0o700); err != nil {
		return fmt.Errorf("begin the upgrade: %w", err)
	}
	if err := disk.SyncDir(u.dir); err != nil {
		return err
	}
	return u.saveState()
}

// removeWork deletes what an upgrade has made, and nothing of somebody else.
func (u *upgrade) removeWork() error {
	work := filepath.Join(u.dir, workFolder)
	entries, err := os.ReadDir(work)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if name := e.Name(); name != placeName && name != stateFile && name != stateFile+".tmp" {
			return fmt.Errorf("%s is in the way of the new form: move it away", filepath.Join(work, name))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(work)
}

// saveState makes durable how far the upgrade is.
func (u *upgrade) saveState() error {
	text, err := json.Marshal(&u.state)
	if err == nil {
		err = u.step("note how far it is")
	}
	if err == nil {
		err = disk.WriteFile(u.path(stateFile), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note how far the upgrade is: %w", err)
	}
	return nil
}

// path returns the path of something that is made before the swap.
func (u *upgrade) path(name string) string { return filepath.Join(u.dir, workFolder, name) }

// leave notes what can not be read, once.
func (u *upgrade) leave(list ...former.Left) {
	for _, x := range list {
		if !slices.Contains(u.state.Left, x) {
			u.state.Left = append(u.state.Left, x)
		}
	}
}

// leftOf reports whether something of a day can not be read.
func (u *upgrade) leftOf(day string) bool {
	return slices.ContainsFunc(u.state.Left, func(x former.Left) bool { return strings.HasPrefix(x.What, day) })
}

// sourceOf returns a checksum of what says whether a directory has changed: what closed partitions say of themselves, how long the lists
// of commits are, and files of rollups. To recover a partition does not change that.
func sourceOf(dir string) (string, error) {
	h := sha256.New()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("list data directory: %w", err)
	}
	note := func(path string) error {
		fi, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			_, err = fmt.Fprintln(h, filepath.Base(path), fi.Size(), fi.ModTime().UnixNano())
		}
		return err
	}
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		switch _, isPartition := former.ParseName(name); {
		case isPartition:
			_, _ = fmt.Fprintln(h, name) // a hash takes everything
			err = errors.Join(note(filepath.Join(path, "CLEAN")), note(filepath.Join(path, "COMMITS")))
		case strings.HasSuffix(name, ".sums"):
			err = note(path)
		}
		if err != nil {
			return "", fmt.Errorf("look what there is to upgrade: %w", err)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
