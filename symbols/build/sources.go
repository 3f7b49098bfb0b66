package build

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// withoutContent returns the sources that a map names without their content.
func withoutContent(m *sourcemap.Map) (missing []Missing) {
	for i, s := range m.Sources {
		if s.Content == nil && s.Name != "" {
			missing = append(missing, Missing{Source: i, Name: s.Name})
		}
	}
	return missing
}

// Missing is a source without content in its map.
type Missing struct {
	Source int    // index in Sources of the map
	Name   string // as the map has it
	Why    string // it was not read; "" if nobody tried
}

// Complete reads the sources without content in the map from the folder of a project, and adds
// their content to the map. It returns those still missing, in the order of the map. It reads at
// most most bytes in all.
//
// Names are relative to the folder of the map, whose path in root is mapPath, or, as bundlers
// write them with a scheme of their own, to root. Only files of languages with script functions
// are read, and none outside root; root must not follow links out of it. A file with fewer lines
// than the map refers to is not the one that was built, and is skipped.
func Complete(m *sourcemap.Map, root fs.FS, mapPath string, most int64) (missing []Missing) {
	lastLines := make([]int32, len(m.Sources))
	for _, mapping := range m.Mappings() {
		if mapping.Source >= 0 {
			lastLines[mapping.Source] = max(lastLines[mapping.Source], mapping.SourceLine)
		}
	}
	for _, lacks := range withoutContent(m) {
		content, err := readSource(root, path.Dir(mapPath), lacks.Name, most)
		if err == nil && sourcemap.NewPositions(content).Lines() <= int(lastLines[lacks.Source]) {
			err = errors.New("it has fewer lines than when it was built")
		}
		if err != nil {
			lacks.Why = err.Error()
			missing = append(missing, lacks)
			continue
		}
		most -= int64(len(content))
		m.Sources[lacks.Source].Content = content
	}
	return missing
}

// sourceSuffixes are the suffixes of files that have functions.
var sourceSuffixes = map[string]bool{
	".js": true, ".mjs": true, ".cjs": true, ".jsx": true,
	".ts": true, ".mts": true, ".cts": true, ".tsx": true,
	".vue": true, ".svelte": true, ".astro": true,
}

// readSource reads a source from root. dir is the folder of its map there.
func readSource(root fs.FS, dir, name string, most int64) ([]byte, error) {
	file := strings.ReplaceAll(name, `\`, "/")
	if scheme, rest, found := strings.Cut(file, "://"); found {
		switch scheme {
		case "webpack", "turbopack", "rspack":
		default:
			return nil, errors.New("a URL is not read")
		}
		_, file, _ = strings.Cut(rest, "/") // the name of the program
		dir, file = ".", strings.TrimPrefix(file, "[project]/")
	}
	if strings.Contains(file, "?") {
		return nil, errors.New("it was made by the build")
	}
	if !sourceSuffixes[path.Ext(file)] {
		return nil, errors.New("not a script")
	}
	if strings.HasPrefix(file, "/") {
		return nil, errors.New("an absolute path is not read")
	}
	file = path.Join(dir, file)
	if !isLocal(file) {
		return nil, errors.New("outside the folder of the project")
	}
	content, err := read(root, file, most)
	if err != nil {
		return nil, err
	}
	return content, nil
}
