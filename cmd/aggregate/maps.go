package main

import (
	"fmt"
	"os"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/build"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
)

// readMaps reads the symbols for --maps.
func (c *command) readMaps() error {
	if len(c.maps) == 0 {
		return nil
	}
	tables := map[string]*symbols.Table{}
	for _, dir := range c.maps {
		if err := c.readBuild(dir, tables); err != nil {
			return fmt.Errorf("--maps %s: %w", dir, err)
		}
	}
	if len(tables) == 0 {
		return fmt.Errorf("--maps: no script with a source map in %v; name the output folder of the bundler, built "+
			"with source maps", c.maps)
	}
	c.pick.Symbols = naming.New(naming.NewMemory("", tables))
	return nil
}

// readBuild adds the tables of the scripts in a folder, by path.
func (c *command) readBuild(dir string, tables map[string]*symbols.Table) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return cause(err)
	}
	defer func() { _ = root.Close() }()
	found, err := build.Find(root.FS(), build.Options{})
	if err != nil {
		return err
	}
	problems := found.Problems
	p := c.progress()
	for i, s := range found.Scripts {
		p.show(fmt.Sprintf("%d of %d scripts read: %s", i, len(found.Scripts), s.Path))
		loaded, err := found.Load(s)
		if err != nil {
			return err
		}
		problems = append(problems, loaded.Problems...)
		if loaded.Map == nil {
			continue
		}
		t, _, err := symbols.Make(loaded.Text, loaded.Map)
		if err != nil { // other scripts still get names
			c.warn([]string{fmt.Sprintf("--maps: %s: %v", s.Path, err)})
			continue
		}
		tables[s.Path] = t
	}
	p.clear()
	for _, problem := range problems {
		c.warn([]string{"--maps: " + problem.String()})
	}
	return nil
}

// tellNames prints how much of the result has readable names.
func (c *command) tellNames(names *naming.Coverage) {
	for _, line := range names.Lines() {
		fmt.Fprintln(c.stderr, "aggregate: names:", line)
	}
}
