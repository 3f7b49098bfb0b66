package owner

import (
	"errors"
	"fmt"
	"strings"
)

// Limits in bytes. No path of a repository exceeds them.
const (
	maxPattern = 256
	maxPath    = 1024
)

// pattern is a path pattern of a CODEOWNERS file. Its syntax is like .gitignore, without ! and [ ],
// and a last segment * does not match in subfolders.
//
//	*.js       files of that name in all folders
//	/docs/     all below docs at the top
//	docs/*     what is directly in docs at the top
//	apps/      all below any folder apps
//	**/logs    logs in all folders, and all below if it is a folder
type pattern struct {
	parts []part
	tail  tail
}

// part matches one part of a path. deep stands for any number of parts.
type part struct {
	glob
	deep bool
}

// tail is what may follow the segments of a pattern in a path.
type tail uint8

const (
	anything  tail = iota // nothing, or content of a folder
	nothing               // it matched a file
	something             // it matched a folder
)

// newPattern reads a pattern.
func newPattern(text string) (pattern, error) {
	switch {
	case text == "" || strings.Trim(text, "/") == "":
		return pattern{}, errors.New("an empty pattern; * is all files")
	case len(text) > maxPattern:
		return pattern{}, fmt.Errorf("a pattern of over %d bytes", maxPattern)
	case text[0] == '!':
		return pattern{}, errors.New("! is not supported; write a later line for files with another owner")
	}
	var p pattern
	path, folder := strings.CutSuffix(text, "/")
	if folder {
		p.tail = something
	}
	top := strings.Contains(path, "/")
	path = strings.TrimPrefix(path, "/")
	if !top {
		p.parts = append(p.parts, part{deep: true})
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "**" {
			if n := len(p.parts); n == 0 || !p.parts[n-1].deep {
				p.parts = append(p.parts, part{deep: true})
			}
			continue
		}
		g, err := newGlob(name)
		if err != nil {
			return pattern{}, err
		}
		p.parts = append(p.parts, part{glob: g})
	}
	last := &p.parts[len(p.parts)-1]
	switch {
	case last.deep && folder: // any folder inside
		all, err := newGlob("*")
		p.parts = append(p.parts, part{glob: all})
		return p, err
	case last.deep: // all that is inside
		p.parts, p.tail = p.parts[:len(p.parts)-1], something
	case last.all() && top && !folder:
		p.tail = nothing
	}
	return p, nil
}

// fits reports whether path, in segments, matches the pattern. Each ** takes as few segments as
// possible, which leaves the most to later ones. So only the last ** may need to take more, and no
// segment is compared twice with the same segment of the pattern.
func (p *pattern) fits(path []string) bool {
	i, k := 0, 0               // positions in the pattern and in the path
	afterDeep, resume := -1, 0 // where the last ** ended
	for {
		switch {
		case i == len(p.parts):
			if p.tail.fits(len(path) - k) {
				return true
			}
		case p.parts[i].deep:
			i++
			afterDeep, resume = i, k
			continue
		case k < len(path) && p.parts[i].fits(path[k]):
			i, k = i+1, k+1
			continue
		}
		if afterDeep < 0 || resume == len(path) {
			return false
		}
		resume++
		i, k = afterDeep, resume
	}
}

func (t tail) fits(left int) bool {
	switch t {
	case nothing:
		return left == 0
	case something:
		return left > 0
	}
	return true
}

// pathRules map paths to texts. The last matching rule wins.
type pathRules []pathRule

// pathRule maps the paths that match a pattern to text.
type pathRule struct {
	pattern
	text string
}

// of returns the text of the last matching rule, and false if none matches. A path that is too long
// matches none.
func (r pathRules) of(path string) (text string, ok bool) {
	if len(r) == 0 || len(path) > maxPath {
		return "", false
	}
	var few [24]string
	parts := few[:0]
	for name := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(path, "./"), "/"), "/") {
		parts = append(parts, name)
	}
	for i := len(r) - 1; i >= 0; i-- {
		if r[i].fits(parts) {
			return r[i].text, true
		}
	}
	return "", false
}
