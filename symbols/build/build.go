// Package build finds the scripts in the output folder of a bundler, and the source map of each.
//
// [Find] searches the folder and pairs scripts with maps. It keeps no file in memory, so
// [Build.Load] reads a script and its map again. A fault of a script is not an error but a
// [Problem] with a path and advice, as a build has many scripts and most are fine. The results of
// both are deterministic, including their order.
//
// The file system must not follow links out of the folder: that of [os.Root] does not, that of
// [os.DirFS] does.
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

// Script is a script in a folder with the location of its map.
type Script struct {
	Path    string // in the folder, with slashes
	Size    int64  // bytes
	SHA256  [sha256.Size]byte
	DebugID string // of its //# debugId= comment, in lower case; "" if there is none
	Way     Way    // how its map was found
	MapPath string // in the folder; "" if the map is in the script, or there is none
}

// Way is the rule by which the map of a script was found.
type Way string

// Ways, in the order in which they are tried.
const (
	NoMap     Way = ""
	Inline    Way = "inline"   // as a data: URL in the sourceMappingURL comment
	ByComment Way = "comment"  // the sourceMappingURL comment names it
	Beside    Way = "beside"   // its name is that of the script and .map
	ByDebugID Way = "debug ID" // its debugId is that of the script
	ByFile    Way = "file"     // its file key names the script
)

// Options say what to read.
type Options struct {
	Limits Limits
	// Sources is the folder of the project. Sources without content in the map are read from it;
	// nil to not read them. It must not follow links out of it.
	Sources fs.FS
	// Dir is the path of the build folder within Sources, such as "dist".
	Dir string
}

// Limits bound the files that are read. A limit of 0 is that of [DefaultLimits].
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
//  1. what the last sourceMappingURL comment in its last lines says: a data: URL, or a path in
//     the folder. Of a URL of the network, and of an absolute path, only the file of that name
//     beside the script is tried.
//  2. the file beside it with the name of the script and .map.
//  3. a file that ends with .map and belongs to no other script, and has the debug ID of the
//     script, or names it by its file key.
//
// Folders called node_modules and folders whose name begins with a dot are skipped, except for
// fsys itself. Links to files are followed, links to folders are not. An HTML page with the name
// of a script is not a script.
//
// The error says that the folder cannot be read, or exceeds a limit as a whole.
func Find(fsys fs.FS, o Options) (*Build, error) {
	o.Limits = o.Limits.withDefaults()
	b := &Build{fsys: fsys, options: o}
	files, err := b.walk()
	if err != nil {
		return nil, fmt.Errorf("look through folder: %w", err)
	}
	p := pairing{Build: b, lost: map[int]Problem{}}
	for _, path := range files.scripts {
		p.add(path)
	}
	p.share() // before the search, in which a script that lost its map may find another
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
