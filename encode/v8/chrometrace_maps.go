package v8

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// carriedMap is a source map in the metadata.
type carriedMap struct {
	url, mapURL string
	text        []byte
	used        bool
}

// readMetadata reads the source maps in the metadata of a trace.
func (c *carriedScripts) readMetadata(r *input.JSON) {
	if r.Peek() != '{' {
		r.Skip()
		return
	}
	for r.Object(); r.Key(); {
		if string(r.Name) != "sourceMaps" || r.Peek() != '[' {
			r.Skip()
			continue
		}
		for r.Array(); r.Element(); {
			c.readMap(r)
		}
	}
}

// readMap reads a map of the metadata: {"url": …, "sourceMapUrl": …, "sourceMap": {…}}.
func (c *carriedScripts) readMap(r *input.JSON) {
	if r.Peek() != '{' {
		r.Skip()
		return
	}
	var m carriedMap
	fits := true
	for r.Object(); r.Key(); {
		switch string(r.Name) {
		case "url":
			value, _ := r.AppendValue(nil, maxScriptField)
			m.url = textValue(value)
		case "sourceMapUrl":
			value, _ := r.AppendValue(nil, maxScriptField)
			m.mapURL = textValue(value)
		case "sourceMap":
			m.text, fits = r.AppendValue(nil, c.room())
		default:
			r.Skip()
		}
	}
	switch {
	case r.Err != nil, fits && len(m.text) == 0:
	case !fits, len(c.maps) == maxScripts:
		c.left++
	default:
		if m.text[0] == '"' {
			m.text = []byte(textValue(m.text))
		}
		c.bytes += len(m.text)
		c.maps = append(c.maps, m)
	}
}

// scripts returns the scripts with a map, followed by the maps without a script in the trace.
func (c *carriedScripts) scripts() (out []trie.Script) {
	byURL, byMapURL := map[string]*carriedMap{}, map[string]*carriedMap{}
	for i := range c.maps {
		m := &c.maps[i]
		byURL[m.url], byMapURL[m.mapURL] = m, m
	}
	delete(byURL, "")
	delete(byMapURL, "")
	for _, s := range c.order {
		script := trie.Script{URL: cmp.Or(s.sourceURL, s.url), Text: s.text()}
		if script.URL == "" || s.inline {
			continue
		}
		m := byMapURL[s.mapURL]
		if m == nil {
			m = byMapURL[resolve(script.URL, s.mapURL)]
		}
		if m == nil {
			m = byURL[s.url]
		}
		if m == nil {
			m = byURL[s.sourceURL]
		}
		switch {
		case strings.HasPrefix(s.mapURL, "data:"):
			script.Map = dataOf(s.mapURL)
		case m != nil:
			script.Map, m.used = m.text, true
		default: // later versions write no data: URL into the event
			script.Map = dataOf(commentURL(script.Text))
		}
		if script.Map != nil {
			out = append(out, script)
		}
	}
	for _, m := range c.maps {
		if !m.used && m.url != "" {
			out = append(out, trie.Script{URL: m.url, Map: m.text})
		}
	}
	return out
}

// resolve resolves ref, which may be relative to base. If either is invalid, it returns ref.
func resolve(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil || ref == "" {
		return ref
	}
	u, err := b.Parse(ref)
	if err != nil {
		return ref
	}
	return u.String()
}

// commentURL returns the data: URL of the sourceMappingURL comment at the end of a script, or
// "".
func commentURL(text []byte) string {
	const mark = "# sourceMappingURL="
	at := bytes.LastIndex(text, []byte(mark+"data:"))
	if at < 0 {
		return ""
	}
	value, rest := text[at+len(mark):], []byte(nil)
	if end := bytes.IndexAny(value, " \t\r\n*'\"`"); end >= 0 {
		value, rest = value[:end], bytes.Trim(value[end:], " \t\r\n*/")
	}
	if len(rest) > 0 && !bytes.HasPrefix(rest, []byte("#")) { // the comment is not the last thing
		return ""
	}
	return string(value)
}

// dataOf returns the content of a data: URL. If it cannot be decoded, it is returned undecoded,
// so that the reader of the map reports the error; nil if text is no such URL.
func dataOf(text string) []byte {
	if text == "" {
		return nil
	}
	kind, data, _ := strings.Cut(strings.TrimPrefix(text, "data:"), ",")
	if decoded, err := url.PathUnescape(data); err == nil {
		data = decoded
	}
	if strings.HasSuffix(strings.ToLower(kind), ";base64") {
		if content, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "=")); err == nil {
			return content
		}
	}
	return []byte(data)
}
