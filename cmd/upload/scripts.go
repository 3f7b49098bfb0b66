package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/build"
)

// folder is a folder of a build.
type folder struct {
	dir  string // as the command line names it
	root *os.Root
	*build.Build
}

// script is a script of a build, with its results.
type script struct {
	build.Script
	folder   *folder
	hash     string          // SHA-256 in hexadecimal
	report   *symbols.Report // nil until its table is created
	problems []build.Problem
	known    bool // the daemon has its table
}

// open opens the folders, and the project's folder with --sources. The caller must call close.
func (c *command) open() (err error) {
	for _, dir := range c.dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return fmt.Errorf("%s: %w; name the output folder of the bundler, after the build", dir, cause(err))
		}
		c.folders = append(c.folders, &folder{dir: dir, root: root})
	}
	if c.sources != "" {
		if c.project, err = os.OpenRoot(c.sources); err != nil {
			return fmt.Errorf("--sources %s: %w", c.sources, cause(err))
		}
	}
	return nil
}

// close closes the folders.
func (c *command) close() {
	for _, f := range c.folders {
		_ = f.root.Close()
	}
	if c.project != nil {
		_ = c.project.Close()
	}
}

// cause returns an error without its path, which the message names anyway.
func cause(err error) error {
	if x, ok := errors.AsType[*os.PathError](err); ok {
		return x.Err
	}
	return err
}

// find lists the scripts in the folders, by path.
func (c *command) find(ctx context.Context) error {
	for _, f := range c.folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		options := build.Options{}
		if c.project != nil {
			dir, err := below(c.sources, f.dir)
			if err != nil {
				return err
			}
			options.Sources, options.Dir = c.project.FS(), dir
		}
		found, err := build.Find(f.root.FS(), options)
		if err != nil {
			return fmt.Errorf("%s: %w", f.dir, err)
		}
		f.Build = found
		if len(found.Scripts) == 0 {
			return fmt.Errorf(
				"%s: no script in this folder, that is no .js, .mjs or .cjs file; name the output folder of the "+
					"bundler, after the build", f.dir)
		}
		c.add(f)
	}
	slices.SortStableFunc(c.scripts, func(a, b *script) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.hash, b.hash))
	})
	return nil
}

// add adds the scripts of a folder, each with its problems.
func (c *command) add(f *folder) {
	byPath := map[string]*script{}
	for _, s := range f.Scripts {
		x := &script{Script: s, folder: f, hash: hex.EncodeToString(s.SHA256[:])}
		byPath[s.Path] = x
		c.scripts = append(c.scripts, x)
	}
	for _, p := range f.Problems {
		if x := byPath[p.Path]; x != nil {
			x.problems = append(x.problems, p)
		} else {
			c.left = append(c.left, p)
		}
	}
}

// below returns the path of a folder relative to the project, with slashes.
func below(project, dir string) (string, error) {
	var paths [2]string
	for i, name := range [2]string{project, dir} {
		absolute, err := filepath.Abs(name)
		if err == nil {
			absolute, err = filepath.EvalSymlinks(absolute)
		}
		if err != nil {
			return "", fmt.Errorf("--sources: %w", err)
		}
		paths[i] = absolute
	}
	path, err := filepath.Rel(paths[0], paths[1])
	if path = filepath.ToSlash(path); err != nil || path == ".." || strings.HasPrefix(path, "../") {
		return "", fmt.Errorf("--sources %s: %s is outside this folder; name the project folder that contains both",
			project, dir)
	}
	return path, nil
}

// makeTables creates the tables to send or to show.
func (c *command) makeTables(ctx context.Context) error {
	all := c.force || c.dryRun || c.strict
	defer c.progress.clear()
	for i, s := range c.scripts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.known && s.Way == build.NoMap {
			s.problems = nil // an earlier run deleted its map, see --delete-maps
			continue
		}
		if s.known && !all {
			continue
		}
		c.progress.show(fmt.Sprintf("%d of %d scripts read: %s", i, len(c.scripts), s.Path))
		if err := c.makeTable(s); err != nil {
			return err
		}
	}
	return nil
}

// makeTable creates the table of a script with a map. It records a failure as a problem of the
// script.
func (c *command) makeTable(s *script) error {
	if s.Way == build.NoMap {
		return nil
	}
	loaded, err := s.folder.Load(s.Script)
	if err != nil {
		return fmt.Errorf("%s: %w", s.folder.dir, err)
	}
	s.problems = append(s.problems, loaded.Problems...)
	if loaded.Map == nil {
		return nil
	}
	t, report, err := symbols.Make(loaded.Text, loaded.Map)
	if err != nil {
		s.refuse(err)
		return nil
	}
	var encoded bytes.Buffer
	if err := symbols.Encode(&encoded, t); err != nil {
		s.refuse(err)
		return nil
	}
	s.report = &report
	s.judge()
	c.tables[s.hash] = encoded.Bytes()
	return nil
}
