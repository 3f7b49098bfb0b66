// Package web serves the dashboard: pages that query the API at the same address and draw the
// results.
//
// The scripts are built from src by esbuild, with make web, and are embedded in the binary if
// they existed when it was built. The dashboard loads nothing from other origins.
package web

import (
	"embed"
	"errors"
	"io/fs"
)

// built is what make web wrote. Its .gitkeep is committed, so that the package compiles without.
//
//go:embed all:dist
var built embed.FS

// files returns the built files, from their top folder.
func files() fs.FS {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return dist
}

// ErrNotBuilt says that the dashboard is not in this binary.
var ErrNotBuilt = errors.New(`this program was built without the dashboard; run "make web" and build it again, or ` +
	`use a release`)

// Built reports whether the dashboard is in this binary.
func Built() bool {
	_, err := fs.Stat(files(), "index.html")
	return err == nil
}

// ProfileFile returns the document into which package encode/html puts a profile. It has one
// script and one style, and loads nothing. The error is [ErrNotBuilt] if it is missing.
func ProfileFile() ([]byte, error) { return profileFile(files()) }

func profileFile(from fs.FS) ([]byte, error) {
	document, err := fs.ReadFile(from, "profile-file.html")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	}
	return document, err
}
