// Package build finds the scripts in the output folder of a bundler, and the source map of each.
//
// [Find] searches the folder and pairs scripts with maps. It keeps no file in memory, so
// [Build.Load] reads a script and its map again. A fault of a script is not an error but a
// [Problem] with a path and advice, because a build has many scripts and most have no problem. The
// results of both functions are deterministic, including their order.
//
// The file system must not follow links out of the folder. [os.Root] complies, [os.DirFS] does not.
package build

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"

	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// Build is the result of searching a folder.
type Build struct {
	Scripts  []Script  // by path
	Problems []Problem // of pairing, by path and kind; problems of a map are found when it is loaded

	fsys    fs.FS
	options Options
}

// Script is a script in a folder, with the location of its map.
type Script struct {
	Path    string // in the folder, with slashes
	Size    int64  // bytes
	SHA256  [sha256.Size]byte
	DebugID string // from its //# debugId= comment, in lower case; or ""
	Way     Way    // how its map was found
	MapPath string // in the folder; "" if the map is inline or missing
}

// Way is the rule by which the map of a script was found.
type Way string

// Ways, in the order in which they are tried.
const (
	NoMap     Way = ""
	Inline    Way = "inline"   // as a data: URL in the sourceMappingURL comment
	ByComment Way = "comment"  // the sourceMappingURL comment names it
	Beside    Way = "beside"   // it has the name of the script plus .map
	ByDebugID Way = "debug ID" // it has the debugId of the script
	ByFile    Way = "file"     // its file key names the script
)

// Options configures a search.
type Options struct {
	Limits Limits
	// Sources is the folder of the project. Sources without content in the map are read from it. If
	// it is nil, they are not read. It must not follow links out of the folder.
	Sources fs.FS
	// Dir is the path of the build folder within Sources, such as "dist".
	Dir string
}

// Limits bounds the files that are read. A zero field selects its value in [DefaultLimits].
type Limits struct {
	Entries     int   // files and folders in the folder
	Scripts     int   // scripts in the folder
	ScriptBytes int64 // of one script
	MapBytes    int64 // of one map
	SourceBytes int64 // of all sources read for one map
	Map         sourcemap.Limits
}

// DefaultLimits returns 1 million entries, 20,000 scripts, 64 MiB a script, and 256 MiB a map and
// its sources.
func DefaultLimits() Limits {
	return Limits{
		Entries: 1_000_000, Scripts: 20_000,
		ScriptBytes: 64 << 20, MapBytes: 256 << 20, SourceBytes: 256 << 20,
		Map: sourcemap.DefaultLimits(),
	}
}

func (l Limits) withDefaults() Limits {
	def := DefaultLimits()
	l.Entries = cmp.Or(l.Entries, def.Entries)
	l.Scripts = cmp.Or(l.Scripts, def.Scripts)
	l.ScriptBytes = cmp.Or(l.ScriptBytes, def.ScriptBytes)
	l.MapBytes = cmp.Or(l.MapBytes, def.MapBytes)
	l.SourceBytes = cmp.Or(l.SourceBytes, def.SourceBytes)
	return l // sourcemap has its own defaults
}

// Find searches a folder for files that end with .js, .mjs or .cjs, and for their maps. A script
// gets the first map of these:
//
//  1. the target of the last sourceMappingURL comment in its last lines: a data: URL, or a path in
//     the folder. For a remote URL or an absolute path, Find tries only the file with that name in
//     the script's folder.
//  2. the file in the same folder with the name of the script plus .map. 3. a file that ends with
//
// .map, belongs to no other script, and either has the debug ID of the
//
//	script or names the script in its file key.
//
// Find skips folders named node_modules and folders whose name begins with a dot, except for fsys
// itself. It follows links to files, but not to folders. An HTML page with the name of a script is
// not a script.
//
// It returns an error if the folder cannot be read or exceeds a limit.
func Find(fsys fs.FS, o Options) (*Build, error) {
	o.Limits = o.Limits.withDefaults()
	b := &Build{fsys: fsys, options: o}
	files, err := b.walk()
	if err != nil {
		return nil, fmt.Errorf("search folder: %w", err)
	}
	p := pairing{Build: b, lost: map[int]Problem{}}
	for _, path := range files.scripts {
		p.add(path)
	}
	p.share() // first, since a script that lost its map may find another
	p.search(files.maps)
	p.share()
	p.report()
	sortProblems(b.Problems)
	return b, nil
}

func (b *Build) tell(path string, kind Kind, advice, format string, args ...any) {
	b.Problems = append(b.Problems, Problem{path, kind, fmt.Sprintf(format, args...), advice})
}

func sortProblems(problems []Problem) {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What))
	})
}
