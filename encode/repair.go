package encode

import (
	"strings"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// Repair normalises t, which must be valid, before it is stored, whatever format it arrived
// in:
//
//   - A name that is UTF-8 read as Latin-1 is decoded. Chromium reports function names that
//     are not ASCII in this way.
//   - A resource loses user, password, query and fragment, except for a debug ID, see
//     [scripturl.CutDebugID]. A blob: URL keeps only its origin, as the rest is new in every page
//     view, and a data: URL its media type.
//   - A frame of a browser extension becomes [trie.FrameUnknown]: which extensions a visitor
//     has installed is private. [trie.Trace.Coalesce] joins runs of them.
//   - A frame without a resource loses line and column.
//   - Strings without a frame are dropped, since their content is unknown.
//   - A page becomes a path, without origin, query or fragment.
//
// Repair changes t in place and replaces its tables where needed. It is idempotent, fast if
// there is nothing to do, and reports whether it changed anything but the context.
func Repair(t *trie.Trace) bool {
	repairPages(&t.Context)
	if !needsRepair(&t.Trie) {
		return false
	}
	repairTables(t)
	return true
}

func repairPages(c *trie.Context) {
	c.Page = pagePath(c.Page)
	changed := false
	for i := range c.Spans {
		s := &c.Spans[i]
		if s.Kind != trie.SpanPage {
			continue
		}
		if p := pagePath(s.Name); p != s.Name {
			s.Name, changed = p, true
		}
	}
	if changed {
		trie.SortSpans(c.Spans)
	}
}

// needsRepair reports whether repairTables would change anything.
func needsRepair(t *trie.Trie) bool {
	const name, resource = 1, 2
	var few [512]uint8 // saves most traces an allocation
	uses := few[:]     // what each string is used as; one string may be both
	if len(t.Strings) > len(few) {
		uses = make([]uint8, len(t.Strings))
	}
	for _, f := range t.Frames {
		uses[f.Name] |= name
		uses[f.Resource] |= resource
		if f.Resource == 0 && f.Line|f.Column != 0 {
			return true
		}
	}
	for i, s := range t.Strings {
		switch use := uses[i]; {
		case s == "":
		case use == 0,
			use&name != 0 && repairName(s) != s,
			use&resource != 0 && (isExtension(s) || repairResource(s) != s):
			return true
		}
	}
	return false
}

// repairTables makes new tables for t with unique strings and frames. Nodes that become
// equal are joined later, by merging and coalescing.
func repairTables(t *trie.Trace) {
	out := trie.New()
	frameOf := make([]trie.FrameID, len(t.Frames))
	for i := range t.Frames {
		frameOf[i] = out.Intern(repairFrame(t.FrameOf(trie.FrameID(i))))
	}
	for i := range t.Nodes[1:] {
		n := &t.Nodes[i+1]
		n.Frame = frameOf[n.Frame]
	}
	// Copied out of its trie, so that the maps of the trie can be freed.
	t.Trie = trie.Trie{Strings: out.Strings, Frames: out.Frames, Nodes: t.Nodes}
}

func repairFrame(f trie.Frame) trie.Frame {
	if isExtension(f.Resource) {
		return trie.Frame{Name: trie.FrameUnknown}
	}
	f.Name, f.Resource = repairName(f.Name), repairResource(f.Resource)
	if f.Resource == "" {
		f.Line, f.Column = 0, 0
	}
	return f
}

// repairName decodes a name that is UTF-8 read as Latin-1, as many times as it was encoded
// so.
func repairName(s string) string {
	for {
		b, ok := fromLatin1(s)
		if !ok {
			return s
		}
		s = string(b)
	}
}

// fromLatin1 returns the characters of s as bytes, if these are UTF-8 text that is not
// ASCII.
func fromLatin1(s string) ([]byte, bool) {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	if i == len(s) {
		return nil, false
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for _, c := range s[i:] {
		if c > 0xff {
			return nil, false
		}
		b = append(b, byte(c))
	}
	return b, utf8.Valid(b)
}

// cutScheme cuts the scheme, such as "data:", off the front of s, ignoring case.
func cutScheme(s, scheme string) (rest string, ok bool) {
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return s, false
	}
	return s[len(scheme):], true
}

// isExtension reports whether a script is part of a browser extension. The schemes of all
// browsers for extensions end alike: chrome-extension, moz-extension, safari-web-extension.
func isExtension(resource string) bool {
	for {
		rest, ok := cutScheme(resource, "blob:")
		if !ok {
			break
		}
		resource = rest
	}
	const suffix = "-extension"
	scheme, _, ok := strings.Cut(resource, ":")
	return ok && len(scheme) > len(suffix) && strings.EqualFold(scheme[len(scheme)-len(suffix):], suffix)
}

// repairResource removes from a URL everything that may identify a person, or that makes the
// same script differ between page views.
func repairResource(s string) string {
	url, id := scripturl.CutDebugID(s)
	return scripturl.WithDebugID(repairURL(url), id)
}

func repairURL(s string) string {
	if rest, ok := cutScheme(s, "data:"); ok {
		return s[:len(s)-len(rest)] + mediaType(rest)
	}
	s = cutQuery(s)
	if rest, ok := cutScheme(s, "blob:"); ok {
		from := strings.Index(rest, "://") + 1 // of an opaque origin, blob:null/uuid, 0
		if from > 0 {
			from += 2
		}
		if i := strings.IndexByte(rest[from:], '/'); i >= 0 {
			rest = rest[:from+i]
		}
		return s[:len("blob:")] + cutUser(rest)
	}
	return cutUser(s)
}

// mediaType returns the media type at the front of the text after "data:", or "".
func mediaType(s string) string {
	if i := strings.IndexAny(s, ",;"); i >= 0 {
		s = s[:i]
	}
	slash := false
	for _, c := range []byte(s) {
		switch {
		case c == '/' && !slash:
			slash = true
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9', strings.IndexByte("+-._", c) >= 0:
		default:
			return ""
		}
	}
	if !slash {
		return ""
	}
	return s
}

func cutQuery(s string) string {
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		return s[:i]
	}
	return s
}

// cutUser removes the user and the password from a URL.
func cutUser(s string) string {
	i := strings.Index(s, "://")
	if i < 0 {
		return s
	}
	i += len("://")
	host := s[i:]
	if j := strings.IndexByte(host, '/'); j >= 0 {
		host = host[:j]
	}
	if j := strings.LastIndexByte(host, '@'); j >= 0 {
		return s[:i] + s[i+j+1:]
	}
	return s
}

// pagePath returns the path of a page given as a path or as a full URL.
func pagePath(s string) string {
	if s == "" {
		return ""
	}
	s = cutQuery(s)
	if i := strings.Index(s, "://"); i > 0 && strings.IndexByte(s[:i], '/') < 0 {
		s = s[i+len("://"):]
		s = s[max(strings.IndexByte(s, '/'), 0):]
		if !strings.HasPrefix(s, "/") {
			s = "" // it was a host alone
		}
	}
	if s == "" {
		return "/"
	}
	return s
}
