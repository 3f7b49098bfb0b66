package encode

import (
	"strings"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Repair brings t, which must be valid, into the form that all traces have before they
// are stored, whatever they were sent as:
//
//   - A name that is UTF-8 read as Latin-1 is decoded. Chromium reports the names of
//     functions so when they are not ASCII.
//   - A resource has no user, password, query or fragment but a debug ID, see
//     [trie.CutDebugID]. Of a blob: URL the origin is kept, as the rest is new in every page
//     view; of a data: URL the media type.
//   - A frame of a browser extension is [trie.FrameUnknown]: it is none of the site's
//     business what a visitor has installed. [trie.Trace.Coalesce] joins runs of them.
//   - A frame without a resource has no line and no column.
//   - Strings that no frame has are dropped, since nobody can say what they hold.
//   - A page is a path: it has no origin, query or fragment.
//
// It changes t in place, and replaces its tables where that is needed. Repairing twice
// is repairing once. It is quick where there is nothing to do, and reports whether it
// changed anything but the context.
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

// repairTables makes new tables for t, in which each string and each frame stands once.
// Nodes that become equal are left for merging and coalescing to join.
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
	// Taken out of its trie, so that the maps of the latter are not kept.
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

// repairName decodes a name that is UTF-8 read as Latin-1, as often as it was.
func repairName(s string) string {
	for {
		b, ok := fromLatin1(s)
		if !ok {
			return s
		}
		s = string(b)
	}
}

// fromLatin1 returns the characters of s as bytes if they are the bytes of a text in
// UTF-8 that is not ASCII.
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

// cutScheme takes the scheme, such as "data:", off the front of s in either case.
func cutScheme(s, scheme string) (rest string, ok bool) {
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return s, false
	}
	return s[len(scheme):], true
}

// isExtension reports whether a script is part of a browser extension. All browsers
// have a scheme for that whose name ends alike: chrome-extension, moz-extension,
// safari-web-extension.
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

// repairResource takes from a URL what may tell a person from another, and what makes
// the same script differ from one page view to the next.
func repairResource(s string) string {
	url, id := trie.CutDebugID(s)
	return trie.WithDebugID(repairURL(url), id)
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

// mediaType returns the media type at the front of what follows "data:", "" if there is
// none.
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

// cutUser takes the user and the password out of a URL.
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

// pagePath returns the path of a page that is given as a path or as a whole URL.
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
