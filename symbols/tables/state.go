package tables

import (
	"fmt"
	"hash/fnv"
	"slices"
	"unique"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// state is the content of a store's folder as known to the store.
type state struct {
	tables     map[string]*entry // by the hash of the script
	bytes      int64             // of tables
	uploads    []symbols.Upload  // newest first; immutable, replaced on change
	lengths    map[string]int64  // sizes of upload files, by ID
	listed     int64             // the sum of lengths
	unreadable []file            // files of uploads

	generation uint64 // sum of a hash of each table and upload, modulo 2^64
}

func newState() state {
	return state{tables: map[string]*entry{}, lengths: map[string]int64{}}
}

// setTable adds a table, or replaces the table of the same script.
func (x *state) setTable(e *entry) {
	if old := x.tables[e.hash]; old != nil {
		e.uploads = old.uploads
		x.dropTable(old)
	}
	x.tables[e.hash] = e
	x.bytes += e.bytes
	x.generation ^= e.fingerprint()
}

func (x *state) dropTable(e *entry) {
	delete(x.tables, e.hash)
	x.bytes -= e.bytes
	x.generation ^= e.fingerprint()
}

// addUpload adds an upload as the newest. bytes is the size of its file.
func (x *state) addUpload(u symbols.Upload, bytes int64) {
	x.uploads = slices.Concat([]symbols.Upload{u}, x.uploads)
	x.noteUpload(&x.uploads[0], bytes)
}

// addOldest is like addUpload for an upload older than all others. The list must have no other
// readers yet.
func (x *state) addOldest(u symbols.Upload, bytes int64) {
	x.uploads = append(x.uploads, u)
	x.noteUpload(&x.uploads[len(x.uploads)-1], bytes)
}

func (x *state) noteUpload(u *symbols.Upload, bytes int64) {
	x.lengths[u.ID] = bytes
	x.listed += bytes
	x.generation ^= fingerprint(u.ID)
	x.count(*u, 1)
}

func (e *entry) fingerprint() uint64 {
	return fingerprint(e.hash, e.bytes, e.written.UnixNano())
}

// fingerprint returns a hash of the given values. It is the same in every process.
func fingerprint(of ...any) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, of...)
	return h.Sum64()
}

// intern makes an upload share strings with others. It changes the scripts, so they must not be
// shared.
func intern(u *symbols.Upload) {
	u.Owners, u.Repository = share(u.Owners), share(u.Repository)
	for i := range u.Commits {
		c := &u.Commits[i]
		c.Author = share(c.Author)
		for k := range c.Files {
			c.Files[k] = share(c.Files[k])
		}
	}
	for i, script := range u.Scripts {
		u.Scripts[i] = symbols.Script{Path: share(script.Path), Prefix: share(script.Prefix),
			DebugID: share(script.DebugID), SHA256: share(script.SHA256)}
	}
}

// share returns a canonical copy of a text: builds have most scripts in common.
func share(text string) string { return unique.Make(text).Value() }

// dropUpload removes the upload at an index.
func (x *state) dropUpload(at int) {
	u := x.uploads[at]
	x.uploads = slices.Concat(x.uploads[:at], x.uploads[at+1:])
	x.listed -= x.lengths[u.ID]
	delete(x.lengths, u.ID)
	x.generation ^= fingerprint(u.ID)
	x.count(u, -1)
}

// count adds n to the number of uploads of each table of an upload.
func (x *state) count(u symbols.Upload, n int) {
	for hash := range hashesOf(u) {
		if e := x.tables[hash]; e != nil {
			e.uploads += n
		}
	}
}

func hashesOf(u symbols.Upload) map[string]bool {
	out := make(map[string]bool, len(u.Scripts))
	for _, script := range u.Scripts {
		out[script.SHA256] = true
	}
	return out
}

// sameBuild reports whether two uploads have the same content.
func sameBuild(a, b symbols.Upload) bool {
	return a.Release == b.Release && a.Repository == b.Repository && a.Owners == b.Owners &&
		slices.Equal(a.Scripts, b.Scripts) &&
		a.Commit == b.Commit && a.RepositoryURL == b.RepositoryURL && slices.EqualFunc(a.Commits, b.Commits,
		func(x, y symbols.Commit) bool {
			return x.SHA == y.SHA && x.Author == y.Author && x.Title == y.Title && x.Time.Equal(y.Time) &&
				slices.Equal(x.Files, y.Files)
		})
}
