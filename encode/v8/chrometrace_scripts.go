package v8

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
)

// Bounds of the scripts and source maps in a trace. Anything beyond is left out.
const (
	maxScripts     = 20_000
	maxScriptBytes = 256 << 20 // of all scripts and maps
	maxScriptValue = 128 << 20 // of one text or map
	maxScriptParts = 1 << 10
	maxScriptField = 8 << 10 // of a URL or number
)

// carriedScripts are the scripts and source maps that DevTools saved with a trace. V8 writes
// events of two categories: one of v8-source-rundown has the name of a script, and those of
// v8-source-rundown-sources have its text, in parts of a million characters. DevTools adds the
// maps as metadata, see ScriptsHandler.ts of its frontend.
type carriedScripts struct {
	event scriptEvent // being read
	byKey map[scriptKey]*carriedScript
	order []*carriedScript
	maps  []carriedMap
	bytes int // of texts and maps
	left  int // scripts and maps that are beyond a bound
}

type scriptKey struct {
	pid         int64
	isolate, id string
}

// scriptEvent holds the arguments of an event about a script as the texts of JSON values. Its
// memory is reused, since other events have arguments with these names, too.
type scriptEvent struct {
	isolate, id, url, sourceURL, mapURL, text []byte
	line, column, part, parts                 []byte
	given                                     bool // some argument is set
	beyond                                    bool // the text is too large
}

// carriedScript is a script as its events describe it.
type carriedScript struct {
	scriptKey
	url, sourceURL string // sourceURL is from the script's comment
	mapURL         string
	inline         bool     // in a page: places count from the beginning of that
	parts          [][]byte // of the text
}

func (e *scriptEvent) clear() {
	if !e.given {
		return
	}
	for _, f := range [...]*[]byte{&e.isolate, &e.id, &e.url, &e.sourceURL, &e.mapURL, &e.text, &e.line, &e.column,
		&e.part, &e.parts} {
		*f = (*f)[:0]
	}
	e.given, e.beyond = false, false
	if cap(e.text) > 4<<20 {
		e.text = nil
	}
}

// field returns the destination and the maximum length of the value of an argument; nil if the
// argument is not used.
func (c *carriedScripts) field(key []byte) (*[]byte, int) {
	e := &c.event
	switch string(key) {
	case "isolate":
		return &e.isolate, maxScriptField
	case "scriptId":
		return &e.id, maxScriptField
	case "url":
		return &e.url, maxScriptField
	case "sourceUrl":
		return &e.sourceURL, maxScriptField
	case "sourceMapUrl":
		return &e.mapURL, c.room()
	case "sourceText":
		return &e.text, c.room()
	case "startLine":
		return &e.line, maxScriptField
	case "startColumn":
		return &e.column, maxScriptField
	case "splitIndex":
		return &e.part, maxScriptField
	case "splitCount":
		return &e.parts, maxScriptField
	}
	return nil, 0
}

// room returns how many bytes another text or map may have.
func (c *carriedScripts) room() int { return min(maxScriptValue, maxScriptBytes-c.bytes) }

// member reads the value of a key if it belongs to a script.
func (c *carriedScripts) member(r *input.JSON) bool {
	field, most := c.field(r.Name)
	if field == nil {
		return false
	}
	value, whole := r.AppendValue((*field)[:0], most)
	*field = value
	c.event.given = true
	if !whole && (field == &c.event.text || field == &c.event.mapURL) {
		c.event.beyond = true
	}
	return true
}

// keep adds the data of an event about a script.
func (c *carriedScripts) keep(pid int64, name string) {
	switch name {
	case "ScriptCatchup", "LargeScriptCatchup":
	case "TooLargeScriptCatchup": // V8 leaves the text out
		c.left++
		return
	default:
		return
	}
	e := &c.event
	key := scriptKey{pid, textValue(e.isolate), textValue(e.id)}
	s := c.byKey[key]
	if s == nil {
		if len(c.order) == maxScripts || c.room() <= 0 {
			c.left++
			return
		}
		s = &carriedScript{scriptKey: key}
		if c.byKey == nil {
			c.byKey = map[scriptKey]*carriedScript{}
		}
		c.byKey[key] = s
		c.order = append(c.order, s)
		c.bytes += len(key.isolate) + len(key.id)
	}
	if e.beyond {
		c.left++
	}
	if len(e.text) > 0 {
		c.keepText(s)
		return
	}
	s.inline = s.inline || numberValue(e.line, 0) > 0 || numberValue(e.column, 0) > 0
	c.setText(&s.url, e.url)
	c.setText(&s.sourceURL, e.sourceURL)
	c.setText(&s.mapURL, e.mapURL)
}

// setText sets a text to a JSON value, if there is one.
func (c *carriedScripts) setText(to *string, value []byte) {
	if text := textValue(value); text != "" {
		c.bytes += len(text) - len(*to)
		*to = text
	}
}

// keepText adds a text, or a part of one. The same script and the same parts may come again.
func (c *carriedScripts) keepText(s *carriedScript) {
	e := &c.event
	part, parts := numberValue(e.part, 0), numberValue(e.parts, 1)
	if parts < 1 || parts > maxScriptParts || part < 0 || part >= parts {
		return
	}
	if len(s.parts) != parts {
		c.forget(s)
		s.parts = make([][]byte, parts)
	}
	c.bytes -= len(s.parts[part])
	s.parts[part] = []byte(textValue(e.text))
	c.bytes += len(s.parts[part])
}

// forget frees the text of s.
func (c *carriedScripts) forget(s *carriedScript) {
	for _, p := range s.parts {
		c.bytes -= len(p)
	}
	s.parts = nil
}

// text returns the text of s, or nil if it is incomplete.
func (s *carriedScript) text() []byte {
	if len(s.parts) == 0 {
		return nil
	}
	for _, p := range s.parts {
		if p == nil {
			return nil
		}
	}
	if len(s.parts) == 1 {
		return s.parts[0]
	}
	return bytes.Join(s.parts, nil)
}

// textValue returns a JSON string, or a number as text; "" for other values.
func textValue(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	var s string
	switch c := value[0]; {
	case c == '"':
		if json.Unmarshal(value, &s) != nil {
			return ""
		}
	case c == '-' || c-'0' <= 9:
		s = string(value)
	}
	return s
}

// numberValue returns a whole number, or missing if there is none.
func numberValue(value []byte, missing int) int {
	if len(value) == 0 {
		return missing
	}
	n, err := strconv.Atoi(textValue(value))
	if err != nil {
		return -1
	}
	return n
}
