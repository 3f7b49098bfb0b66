package sdk

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// packaged has the files of the npm package.
//
//go:embed package.json README.md LICENSE dist/*.mjs dist/*.map dist/types
var packaged embed.FS

// packedAt is the modification time of all files of a package, like npm pack: equal sources have
// equal bytes.
var packedAt = time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)

// Package serves the npm package of this build, which npm install accepts as a URL. version is the
// version of the program, such as v1.2.3; other values, as in builds without a version, become
// 0.0.0-devel.
func Package(version string) http.Handler {
	body, err := pack(packaged, npmVersion(version))
	if err != nil {
		panic(err) // it is made of what was compiled in
	}
	sum := sha256.Sum256(body)
	f := newFile(body, hex.EncodeToString(sum[:])[:hashDigits], "application/gzip")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		f.serve(w, r)
	})
}

// semantic matches npm versions.
var semantic = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// npmVersion converts a Go module version to an npm version.
func npmVersion(version string) string {
	if v := strings.TrimPrefix(version, "v"); semantic.MatchString(v) {
		return v
	}
	return "0.0.0-devel"
}

// ownVersion matches the version in package.json.
var ownVersion = regexp.MustCompile(`"version": "[^"]*"`)

// pack packs files like npm pack: a gzipped tar, in which everything is below package/.
func pack(files fs.FS, version string) ([]byte, error) {
	about, err := fs.ReadFile(files, "package.json")
	if err != nil {
		return nil, err
	}
	about = ownVersion.ReplaceAll(about, []byte(`"version": "`+version+`"`))
	var said struct{ Files []string }
	if err := json.Unmarshal(about, &said); err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // it is a level
	t := tar.NewWriter(z)
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !belongs(name, said.Files) {
			return err
		}
		text := about
		if name != "package.json" {
			if text, err = fs.ReadFile(files, name); err != nil {
				return err
			}
		}
		h := &tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(text)), ModTime: packedAt,
			Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err = t.Write(text)
		return err
	})
	if err == nil {
		err = t.Close()
	}
	if err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}

// belongs reports whether a file is part of a package: a pattern of package.json matches it or its
// folder, or it is a file that every package has.
func belongs(name string, patterns []string) bool {
	return !strings.Contains(name, "/") || slices.ContainsFunc(patterns, func(pattern string) bool {
		matches, _ := path.Match(pattern, name)
		return matches || strings.HasPrefix(name, pattern+"/")
	})
}
