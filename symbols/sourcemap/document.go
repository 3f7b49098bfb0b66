package sourcemap

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// document is the JSON of a map or section, before its mappings are decoded.
type document struct {
	file, debugID string
	sources       []Source
	names         []string
	mappings      []byte    // as encoded
	sections      []section // of an index map; nil otherwise
}

// section is a map in an index map, and the generated place where it begins.
type section struct {
	line, column int32
	document
}

// reader reads documents and counts the limited quantities over all sections.
type reader struct {
	scanner
	limits         Limits
	inSection      bool
	sources, names int
	nameBytes      int64
}

// fields are the undecoded values of a map's keys. A slice is nil if its key is missing.
type fields struct {
	document
	version             int32 // -1 if missing
	root, oldID         string
	contents            [][]byte
	ignored, oldIgnored []int32
}

// aMap is the expected value at the start of a map, for errors.
const aMap = "an object, a source map,"

// document parses a map. The last of repeated keys applies.
func (r *reader) document() (document, error) {
	f := fields{version: -1}
	err := r.object(aMap, func(key string) error {
		return r.field(&f, key)
	})
	if err != nil {
		return document{}, err
	}
	return r.combine(&f)
}

// field reads the value of a key.
func (r *reader) field(f *fields, key string) (err error) {
	switch key {
	case "version":
		f.version, err = r.index("the number 3")
	case "file":
		f.file, err = r.optional()
	case "sourceRoot":
		f.root, err = r.optional()
	case "debugId":
		f.debugID, err = r.optional()
	case "debug_id":
		f.oldID, err = r.optional()
	case "mappings":
		f.mappings, err = r.string("a string")
	case "sources":
		return r.sourceNames(f)
	case "sourcesContent":
		return r.sourceContents(f)
	case "names":
		return r.symbolNames(f)
	case "ignoreList":
		return r.indices(key, &f.ignored)
	case "x_google_ignoreList":
		return r.indices(key, &f.oldIgnored)
	case "sections":
		return r.sections(f)
	default:
		return r.skip()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// list reads an array of at most most elements. It prefixes errors with the key and the index
// of the element.
func (r *reader) list(key string, most int, element func(i int) error) error {
	inElement := false
	err := r.array(func(i int) error {
		var err error
		if i < most {
			err = element(i)
		} else {
			err = tooMany(most, "")
		}
		if err != nil {
			inElement = true
			return fmt.Errorf("%s[%d]: %w", key, i, err)
		}
		return nil
	})
	if err != nil && !inElement {
		return fmt.Errorf("%s: %w", key, err)
	}
	return err
}

// optional reads a string, or null as "". It counts toward the limit of names. Invalid UTF-8
// becomes U+FFFD.
func (r *reader) optional() (string, error) {
	if r.null() {
		return "", nil
	}
	value, err := r.string("a string")
	if err != nil {
		return "", err
	}
	if err := r.spend(int64(len(value))); err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(value), "\uFFFD"), nil
}

// spend counts bytes of names.
func (r *reader) spend(n int64) error {
	if n > int64(r.limits.Text)-r.nameBytes {
		return tooMany(r.limits.Text, " bytes of names")
	}
	r.nameBytes += n
	return nil
}

func (r *reader) sourceNames(f *fields) error {
	f.sources = []Source{}
	return r.list("sources", r.limits.Sources, func(int) error {
		if r.sources++; r.sources > r.limits.Sources {
			return tooMany(r.limits.Sources, "")
		}
		name, err := r.optional()
		f.sources = append(f.sources, Source{Name: name})
		return err
	})
}

func (r *reader) sourceContents(f *fields) error {
	f.contents = nil
	return r.list("sourcesContent", r.limits.Sources, func(int) error {
		var content []byte
		var err error
		if !r.null() {
			content, err = r.string("a string or null")
		}
		f.contents = append(f.contents, content)
		return err
	})
}

func (r *reader) symbolNames(f *fields) error {
	f.names = nil
	return r.list("names", r.limits.Names, func(int) error {
		if r.names++; r.names > r.limits.Names {
			return tooMany(r.limits.Names, "")
		}
		name, err := r.optional()
		f.names = append(f.names, name)
		return err
	})
}

func (r *reader) indices(key string, list *[]int32) error {
	*list = []int32{}
	return r.list(key, r.limits.Sources, func(int) error {
		if r.null() {
			return nil
		}
		index, err := r.index("an index of sources")
		*list = append(*list, index)
		return err
	})
}

func (r *reader) sections(f *fields) error {
	if r.inSection {
		return errors.New("nested sections are not supported")
	}
	if r.null() {
		return nil // some tools write this key in all maps
	}
	r.inSection = true
	defer func() { r.inSection = false }()
	f.sections = []section{}
	return r.list("sections", r.limits.Sections, func(i int) error {
		s, err := r.section()
		if err != nil {
			return err
		}
		if i > 0 {
			last := f.sections[i-1]
			if s.line < last.line || s.line == last.line && s.column < last.column {
				return fmt.Errorf("it begins at line %d, column %d, before the previous section", s.line, s.column)
			}
		}
		f.sections = append(f.sections, s)
		return nil
	})
}

func (r *reader) section() (s section, err error) {
	hasMap, hasOffset := false, false
	err = r.object("an object with offset and map", func(key string) error {
		switch key {
		case "offset":
			hasOffset = true
			return r.offset(&s)
		case "map":
			hasMap = true
			doc, err := r.document()
			if err != nil {
				return fmt.Errorf("map: %w", err)
			}
			s.document = doc
			return nil
		case "url":
			if r.null() {
				return nil
			}
			return errors.New(
				"url: sections in other files are not supported; configure the build tool to write them into this file")
		}
		return r.skip()
	})
	switch {
	case err != nil:
	case !hasOffset:
		err = errors.New("no offset")
	case !hasMap:
		err = errors.New("no map")
	}
	return s, err
}

func (r *reader) offset(s *section) error {
	return r.object("an object with line and column", func(key string) (err error) {
		switch key {
		case "line":
			s.line, err = r.index("a line")
		case "column":
			s.column, err = r.index("a column")
		default:
			err = r.skip()
		}
		if err != nil {
			return fmt.Errorf("offset: %w", err)
		}
		return nil
	})
}

// combine checks that the required keys exist and combines the fields of each source.
func (r *reader) combine(f *fields) (document, error) {
	doc := f.document
	doc.debugID = f.id()
	switch {
	case f.version >= 0 && f.version != 3:
		return document{}, fmt.Errorf("version: %d is not supported, only 3", f.version)
	case doc.sections != nil:
		return doc, nil
	case f.version < 0:
		return document{}, errors.New("version is missing")
	case doc.sources == nil:
		return document{}, errors.New("sources is missing")
	case doc.mappings == nil:
		return document{}, errors.New("mappings is missing")
	}
	if err := r.prefix(doc.sources, f.root); err != nil {
		return document{}, fmt.Errorf("sourceRoot: %w", err)
	}
	for i := range min(len(doc.sources), len(f.contents)) {
		doc.sources[i].Content = f.contents[i]
	}
	key, ignored := "ignoreList", f.ignored
	if ignored == nil {
		key, ignored = "x_google_ignoreList", f.oldIgnored
	}
	for i, source := range ignored {
		if int(source) >= len(doc.sources) {
			return document{}, fmt.Errorf("%s[%d]: %d, but there are %d sources", key, i, source, len(doc.sources))
		}
		doc.sources[source].Ignored = true
	}
	return doc, nil
}

// id returns the debug ID, under its current or its old name.
func (f *fields) id() string { return strings.ToLower(cmp.Or(f.debugID, f.oldID)) }

// prefix puts the sourceRoot before names of sources, separated by a slash, like browsers do. It
// does not change URLs. It checks the size of the result first, because a long root of many sources
// takes far more than the map itself.
func (r *reader) prefix(sources []Source, root string) error {
	if root == "" {
		return nil
	}
	if err := r.spend(int64(len(root)+1) * int64(len(sources))); err != nil {
		return err
	}
	for i := range sources {
		name := sources[i].Name
		switch {
		case name == "" || isURL(name):
		case strings.HasSuffix(root, "/") || strings.HasPrefix(name, "/"):
			sources[i].Name = root + name
		default:
			sources[i].Name = root + "/" + name
		}
	}
	return nil
}

// isURL reports whether a name begins with the scheme of a URL. One letter is the drive of a
// Windows path.
func isURL(name string) bool {
	scheme, _, found := strings.Cut(name, ":")
	if !found || len(scheme) < 2 {
		return false
	}
	for i, c := range []byte(scheme) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return true
}
