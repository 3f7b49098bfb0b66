package wasm

import (
	"bytes"
	"fmt"
	"io"
)

// Module holds the names of the functions of a WebAssembly module.
type Module struct {
	Name    string // file name as given by the user
	Imports int    // number of imported functions, which come first

	own    string            // the module's own name, or ""
	names  map[uint32]string // by number of the function, as in the file
	fromGo bool              // compiled by the standard Go compiler
	hashes []uint32          // see urlHash
}

// maxModule is the maximum size of a module, in bytes, which is also the limit of browsers.
const maxModule = 1 << 30

// header begins each module: a magic number and the version. Components have another
// number instead of the version.
var header = [8]byte{0, 'a', 's', 'm', 1}

// Sections of a module that have names, or the data to assign them.
const (
	sectionCustom = 0
	sectionImport = 2
	sectionExport = 7
)

// Read reads a module. name is its display name, such as the name of its file. A function
// without an entry in the name section gets the name of its export or import.
func Read(r io.Reader, name string) (*Module, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxModule+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m := &Module{Name: name, names: map[uint32]string{}}
	if err := m.read(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

func (m *Module) read(data []byte) error {
	switch {
	case len(data) > maxModule:
		return fmt.Errorf("more than %d bytes", maxModule)
	case bytes.HasPrefix(data, header[:4]) && len(data) >= len(header) && !bytes.HasPrefix(data, header[:]):
		return fmt.Errorf("WebAssembly version %x is not supported, only version 1", data[4:len(header)])
	case !bytes.HasPrefix(data, header[:]):
		return fmt.Errorf("not a WebAssembly module")
	}
	c := &cursor{data: data, pos: len(header)}
	named := map[uint32]string{} // from imports and exports
	custom, nameSection := 0, 0  // bytes in all custom sections, and in the name section
	for c.more() {
		start := c.pos
		id := c.byte()
		s := c.part()
		switch id {
		case sectionCustom:
			custom += c.pos - start
			switch title := s.text(); {
			case title == "name":
				nameSection += c.pos - start
				m.readNames(s)
			case title == "go:buildid", title == "go.buildid":
				m.fromGo = true
			}
		case sectionImport:
			m.readImports(s, named)
		case sectionExport:
			readExports(s, named)
		}
		c.take(s)
	}
	if c.err != nil {
		return c.err
	}
	for i, name := range named {
		if m.names[i] == "" {
			m.names[i] = name
		}
	}
	m.hashes = urlHashes(data, len(data)-nameSection, len(data)-custom)
	return nil
}

// readNames reads the name section: parts for the module, its functions and more.
func (m *Module) readNames(c *cursor) {
	for c.more() {
		id := c.byte()
		s := c.part()
		switch id {
		case 0:
			m.own = s.text()
		case 1:
			for n := s.number(); n > 0 && s.err == nil; n-- {
				i := s.number()
				if name := s.text(); m.names[i] == "" && s.err == nil {
					m.names[i] = name
				}
			}
		}
		c.take(s)
	}
}

// Kinds of imports and exports.
const (
	kindFunction = iota
	kindTable
	kindMemory
	kindGlobal
	kindTag
)

// readImports counts the imported functions and names them module.name.
func (m *Module) readImports(c *cursor, named map[uint32]string) {
	for n := c.number(); n > 0 && c.err == nil; n-- {
		module, name := c.text(), c.text()
		switch kind := c.byte(); kind {
		case kindFunction:
			c.number() // its type
			if c.err == nil {
				named[uint32(m.Imports)] = module + "." + name
				m.Imports++
			}
		case kindTable:
			c.valueType()
			c.limits()
		case kindMemory:
			c.limits()
		case kindGlobal:
			c.valueType()
			c.byte() // mutability
		case kindTag:
			c.byte()
			c.number() // its type
		default:
			c.fail("an import of the unknown kind %d", kind)
		}
	}
}

func readExports(c *cursor, named map[uint32]string) {
	for n := c.number(); n > 0 && c.err == nil; n-- {
		name, kind, i := c.text(), c.byte(), c.number()
		if kind == kindFunction && c.err == nil && named[i] == "" {
			named[i] = name
		}
	}
}
