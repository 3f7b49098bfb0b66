package tables

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/store/disk"
	"github.com/fieldtrie/fieldtrie/symbols"
)

// Bounds of an upload.
const (
	MaxScripts = 20_000
	MaxUpload  = 16 << 20 // bytes of its JSON
	maxPath    = 1024     // bytes
	maxPrefix  = 2048
	maxRelease = 256
	maxOwners  = 3_000_000
)

// InvalidError says that something is not what it should be, so that it was not stored.
type InvalidError struct{ Err error }

func (e *InvalidError) Error() string { return e.Err.Error() }
func (e *InvalidError) Unwrap() error { return e.Err }

// MissingError says that an upload names scripts whose tables are not there.
type MissingError struct{ Missing []string } // hashes, sorted

func (e *MissingError) Error() string {
	return fmt.Sprintf("the tables of %d scripts are missing; send them first", len(e.Missing))
}

// Put stores the table of a script, and reports whether it did: the one that is there stays if it
// can be read and names as many functions. What is no table, or that of another script, is an
// [InvalidError].
func (s *Store) Put(sha256 string, body []byte) (stored bool, err error) {
	if err := CheckHash(sha256); err != nil {
		return false, &InvalidError{err}
	}
	t, err := decode(sha256, body)
	if err != nil {
		return false, &InvalidError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.sizes[sha256]; ok {
		if old, err := s.read(sha256); err == nil && named(old) >= named(t) {
			return false, nil
		}
	}
	path := s.path(sha256)
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return false, fmt.Errorf("store table: %w", err)
	}
	if err := disk.WriteFile(path, body); err != nil {
		return false, fmt.Errorf("store table: %w", err)
	}
	s.sizes[sha256] = int64(len(body))
	s.decoded.drop(sha256)
	s.generation++
	return true, nil
}

// named returns how many functions of a table have a name.
func named(t *symbols.Table) int { return len(t.Functions) - t.Found()[symbols.Kept] }

// AddUpload stores an upload with the time of now. If there is one that is equal but for its
// time, it gets that, and created is false. Scripts whose tables are missing are a
// [MissingError], and what is over a bound is an [InvalidError].
func (s *Store) AddUpload(u symbols.Upload) (id string, created bool, err error) {
	if err := check(&u); err != nil {
		return "", false, &InvalidError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []string
	for _, x := range u.Scripts {
		if _, ok := s.sizes[x.SHA256]; !ok && !slices.Contains(missing, x.SHA256) {
			missing = append(missing, x.SHA256)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return "", false, &MissingError{missing}
	}
	old := slices.IndexFunc(s.uploads, func(x symbols.Upload) bool { return sameBuild(x, u) })
	u.Time = s.options.Now().UTC().Truncate(time.Millisecond)
	if len(s.uploads) > 0 && !u.Time.After(s.uploads[0].Time) { // the clock was set back, or it is the same moment
		u.Time = s.uploads[0].Time.Add(time.Millisecond)
	}
	u.ID = u.Time.Format("20060102T150405.000Z") + "-" + strings.ToLower(rand.Text()[:8])
	body, err := json.Marshal(u)
	if err != nil {
		return "", false, fmt.Errorf("store upload: %w", err)
	}
	if err := disk.WriteFile(s.uploadPath(u.ID), body); err != nil {
		return "", false, fmt.Errorf("store upload: %w", err)
	}
	uploads := slices.Clone(s.uploads)
	if old >= 0 {
		if err := os.Remove(s.uploadPath(uploads[old].ID)); err != nil {
			return "", false, fmt.Errorf("replace upload: %w", err)
		}
		uploads = slices.Delete(uploads, old, old+1)
	}
	s.uploads = slices.Insert(uploads, 0, u)
	s.generation++
	return u.ID, old < 0, nil
}

func (s *Store) uploadPath(id string) string {
	return filepath.Join(s.dir, uploadsFolder, id+extension)
}

// sameBuild reports whether two uploads say the same.
func sameBuild(a, b symbols.Upload) bool {
	a.ID, a.Time, b.ID, b.Time = "", time.Time{}, "", time.Time{}
	return reflect.DeepEqual(a, b)
}

// check refuses what is over a bound, and sorts the scripts.
func check(u *symbols.Upload) error {
	switch {
	case len(u.Scripts) == 0:
		return errors.New("scripts: there are none")
	case len(u.Scripts) > MaxScripts:
		return fmt.Errorf("scripts: %d, the most is %d", len(u.Scripts), MaxScripts)
	case len(u.Owners) > maxOwners:
		return fmt.Errorf("owners: %d bytes, the most is %d", len(u.Owners), maxOwners)
	}
	if err := checkText("release", u.Release, maxRelease); err != nil {
		return err
	}
	if err := checkText("repository", u.Repository, maxPrefix); err != nil {
		return err
	}
	u.Scripts = slices.Clone(u.Scripts)
	for i, x := range u.Scripts {
		if err := checkScript(x); err != nil {
			return fmt.Errorf("scripts[%d]: %w", i, err)
		}
	}
	slices.SortFunc(u.Scripts, func(a, b symbols.Script) int {
		return strings.Compare(a.Path+"\x00"+a.Prefix+"\x00"+a.SHA256, b.Path+"\x00"+b.Prefix+"\x00"+b.SHA256)
	})
	return nil
}

func checkScript(x symbols.Script) error {
	if err := CheckHash(x.SHA256); err != nil {
		return fmt.Errorf("sha256: %w", err)
	}
	if x.Path == "" || strings.HasPrefix(x.Path, "/") || strings.Contains(x.Path, `\`) || slices.Contains(strings.Split(x.Path, "/"), "..") {
		return fmt.Errorf("path: %.100q is not one in a folder, with slashes", x.Path)
	}
	if err := checkText("path", x.Path, maxPath); err != nil {
		return err
	}
	if err := checkText("debug_id", x.DebugID, maxRelease); err != nil {
		return err
	}
	return checkText("prefix", x.Prefix, maxPrefix)
}

func checkText(what, text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("%s: %d bytes, the most is %d", what, len(text), most)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("%s: %.100q has control characters, or is no UTF-8", what, text)
	}
	return nil
}

// readUpload reads a file of an upload.
func readUpload(path string) (u symbols.Upload, err error) {
	f, err := os.Open(path)
	if err != nil {
		return u, err
	}
	defer func() { _ = f.Close() }()
	if fi, err := f.Stat(); err != nil || fi.Size() > 2*MaxUpload {
		return u, errors.Join(err, fmt.Errorf("%s: it is too large", path))
	}
	if err := json.NewDecoder(f).Decode(&u); err != nil {
		return u, fmt.Errorf("%s: %w", path, err)
	}
	return u, check(&u)
}
