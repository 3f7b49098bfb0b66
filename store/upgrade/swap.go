package upgrade

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/upgrade/former"
)

const (
	swapFile     = "UPGRADED" // there while the new form takes the place of the old one
	ballastFile  = "BALLAST"  // space that the release before has set aside
	formerFolder = "former"
)

// swap says what is done to have the new form in the place of the old one. All of it can be done again.
type swap struct {
	// Old are the names of all files and folders of the old form, FORMAT first, and nil when they are gone. Those of Kept go to Stats.Former.
	Old   []string        `json:"old"`
	Kept  map[string]bool `json:"kept,omitempty"`
	Stats Stats           `json:"stats"`
}

// loadSwap returns the swap that was begun, nil if none was.
func (u *upgrade) loadSwap() (*swap, error) {
	text, err := os.ReadFile(filepath.Join(u.dir, swapFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s := &swap{}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", swapFile, err)
	}
	return s, nil
}

func (u *upgrade) saveSwap(s *swap) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = u.step("write " + swapFile)
	}
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(u.dir, swapFile), append(text, '\n'))
}

// planSwap decides what becomes of each file, and makes it durable: from then on the new form counts.
func (u *upgrade) planSwap() (*swap, error) {
	if err := u.closePlace(); err != nil {
		return nil, err
	}
	s := &swap{Kept: map[string]bool{}, Stats: Stats{Hours: len(u.state.Hours), Days: len(u.state.Days), Repeats: u.state.Repeats, Lost: u.from.Lost}}
	for _, traces := range u.state.Hours {
		s.Stats.Traces += traces
	}
	for _, x := range append(slices.Clone(u.state.Left), u.from.Aside...) {
		s.Stats.Left = append(s.Stats.Left, x.String())
	}
	var err error
	if s.Old, err = oldNames(u.dir); err != nil {
		return nil, err
	}
	for _, name := range s.Old {
		if (len(u.state.Left) > 0 || isAside(name)) && name != ballastFile {
			s.Kept[name] = true
		}
	}
	if len(s.Kept) > 0 {
		if s.Stats.Former, err = u.freeName(formerFolder); err != nil {
			return nil, err
		}
	}
	if err := u.checkNames(); err != nil {
		return nil, err
	}
	return s, u.saveSwap(s)
}

// freeName returns a name below the directory that nothing has.
func (u *upgrade) freeName(name string) (string, error) {
	for n, to := 2, name; ; n, to = n+1, fmt.Sprintf("%s.%d", name, n) {
		if there, err := exists(filepath.Join(u.dir, to)); err != nil || !there {
			return to, err
		}
	}
}

// checkNames fails if something of neither form has a name that the new form needs.
func (u *upgrade) checkNames() error {
	names, err := u.newNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		there, err := exists(filepath.Join(u.dir, name))
		if err != nil {
			return err
		}
		if there && name != objects.Marker {
			return fmt.Errorf("%s is in the way of the new form: move it away", filepath.Join(u.dir, name))
		}
	}
	return nil
}

// newNames returns what of the new form is not yet in its place, FORMAT last.
func (u *upgrade) newNames() (names []string, err error) {
	entries, err := os.ReadDir(u.path(placeName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the new form: %w", err)
	}
	last := []string(nil)
	for _, e := range entries {
		switch e.Name() {
		case disk.LockFile, directory.Commits: // which hold nothing
		case objects.Marker:
			last = []string{objects.Marker}
		default:
			names = append(names, e.Name())
		}
	}
	return append(names, last...), nil
}

// swap has the new form take the place of the old one.
func (u *upgrade) swap(s *swap) error {
	if s.Old != nil {
		if err := u.removeOld(s); err != nil {
			return err
		}
		s.Old = nil
		if err := u.saveSwap(s); err != nil {
			return err
		}
	}
	names, err := u.newNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == objects.Marker { // all else is there before
			err = disk.SyncDir(u.dir)
		}
		if err == nil {
			err = u.step("rename " + name)
		}
		if err == nil {
			err = os.Rename(filepath.Join(u.path(placeName), name), filepath.Join(u.dir, name))
		}
		if err != nil {
			return err
		}
	}
	if err := disk.SyncDir(u.dir); err != nil {
		return err
	}
	for _, name := range []string{workFolder, swapFile} {
		if err := u.step("remove " + name); err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(u.dir, name)); err != nil {
			return err
		}
	}
	return disk.SyncDir(u.dir)
}

// removeOld deletes the old form, or moves it out of the way.
func (u *upgrade) removeOld(s *swap) error {
	to := filepath.Join(u.dir, s.Stats.Former)
	if len(s.Kept) > 0 {
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
	}
	for _, name := range s.Old {
		if err := u.step("remove " + name); err != nil {
			return err
		}
		path := filepath.Join(u.dir, name)
		var err error
		if !s.Kept[name] {
			err = os.RemoveAll(path)
		} else if err = os.Rename(path, filepath.Join(to, name)); errors.Is(err, fs.ErrNotExist) {
			err = nil // it was moved before
		}
		if err != nil {
			return err
		}
	}
	if len(s.Kept) > 0 {
		if err := disk.SyncDir(to); err != nil {
			return err
		}
	}
	return disk.SyncDir(u.dir)
}

// sumsName matches what there is of files of rollups, and partsName of partitions.
var (
	sumsName  = regexp.MustCompile(`^\d{6}(?:\d{2})?\.(?:hours|days)\.sums(?:\.tmp|\.corrupt(?:\.\d+)?(?:\.reason)?)?$`)
	partsName = regexp.MustCompile(`^(\d{8}T\d{2}(?:\d{2})?)(?:\.ahead|\.deleting|\.corrupt(?:\.\d+)?(?:\.deleting)?)?$`)
)

// isAside reports whether a file or folder of the old form was set aside.
func isAside(name string) bool { return strings.Contains(name, ".corrupt") }

// oldNames returns the names of the files and folders of the old form, FORMAT first.
func oldNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list data directory: %w", err)
	}
	names = []string{objects.Marker}
	for _, e := range entries {
		name := e.Name()
		m := partsName.FindStringSubmatch(name)
		isPart := m != nil
		if isPart {
			_, isPart = former.ParseName(m[1])
		}
		if isPart || name == ballastFile || sumsName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil
}
