package build

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
)

// reference is the content of a sourceMappingURL comment, as paths in the folder to try.
type reference struct {
	inline  bool   // the map is in the URL
	path    string // target of the comment; "" if outside the folder
	beside  string // for a target outside: the file with its name in the script's folder
	outside string // why the target is outside the folder; "" if inside
}

// refer resolves the comment of a script.
func refer(script, mapURL string) reference {
	if strings.HasPrefix(mapURL, "data:") {
		return reference{inline: true}
	}
	name := mapURL
	if end := strings.IndexAny(name, "?#"); end >= 0 {
		name = name[:end]
	}
	var r reference
	scheme, rest, isURL := strings.Cut(name, ":")
	switch {
	case isURL && !strings.Contains(scheme, "/"):
		name, r.outside = rest, "a URL"
	case strings.HasPrefix(name, "//"):
		r.outside = "a URL"
	case strings.HasPrefix(name, "/"):
		r.outside = "an absolute path"
	}
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	folder := path.Dir(script)
	if target := path.Join(folder, name); r.outside == "" {
		if isLocal(target) {
			r.path = target
			return r
		}
		r.outside = "a path outside the folder"
	}
	if base := path.Base(name); base != "." && base != "/" && isLocal(path.Join(folder, base)) {
		r.beside = path.Join(folder, base)
	}
	return r
}

// isLocal reports whether a clean path stays in the folder on every operating system.
func isLocal(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "\\\x00")
}

// decodeDataURL returns the content of a data: URL.
func decodeDataURL(text string) ([]byte, error) {
	kind, data, found := strings.Cut(strings.TrimPrefix(text, "data:"), ",")
	if !found {
		return nil, errors.New("a data: URL without a comma")
	}
	if strings.Contains(data, "%") {
		var err error
		if data, err = url.PathUnescape(data); err != nil {
			return nil, fmt.Errorf("decode data: URL: %w", err)
		}
	}
	if !strings.HasSuffix(strings.ToLower(kind), ";base64") {
		return []byte(data), nil
	}
	content, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	if err != nil {
		return nil, fmt.Errorf("decode base64 of data: URL: %w", err)
	}
	return content, nil
}
