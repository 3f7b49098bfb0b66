package build

import (
	"bytes"
	"strings"
)

// commentLines is the number of non-empty lines at the end of a script that are searched for
// comments. Bundlers write their comments last, and other tools add a few lines.
const commentLines = 10

// comments are the comments at the end of a script that describe it.
type comments struct {
	mapURL  string // of sourceMappingURL
	debugID string // in lower case
}

// readComments returns the last comment of each kind in the last lines of a script. Text followed
// by code or a quote is not a comment, but part of a string. ECMA-426 defines the search in
// JavaScriptExtractSourceMapURL.
func readComments(text []byte) comments {
	var found comments
	for lines := 0; lines < commentLines && len(text) > 0; {
		end := bytes.LastIndexAny(text, "\r\n")
		line := bytes.TrimSpace(text[end+1:])
		text = text[:max(end, 0)]
		if len(line) == 0 {
			continue
		}
		lines++
		if found.mapURL == "" {
			found.mapURL = commentValue(line, "sourceMappingURL=")
		}
		if id := commentValue(line, "debugId="); found.debugID == "" && isDebugID(id) {
			found.debugID = strings.ToLower(id)
		}
	}
	return found
}

// commentValue returns the text after a key in a comment at the end of a line, or "".
func commentValue(line []byte, key string) string {
	at := bytes.LastIndex(line, []byte(key))
	if at < 0 {
		return ""
	}
	value := bytes.TrimSpace(line[at+len(key):])
	before := bytes.TrimRight(line[:at], " \t")
	switch {
	case bytes.HasSuffix(before, []byte("//#")), bytes.HasSuffix(before, []byte("//@")):
	case bytes.HasSuffix(before, []byte("/*#")), bytes.HasSuffix(before, []byte("/*@")):
		inner, closed := bytes.CutSuffix(value, []byte("*/"))
		if !closed {
			return ""
		}
		value = bytes.TrimSpace(inner)
	default:
		return ""
	}
	if bytes.ContainsAny(value, " \t'\"`") {
		return ""
	}
	return string(value)
}

// isDebugID reports whether s is a UUID, with or without its dashes.
func isDebugID(s string) bool {
	digits := strings.ReplaceAll(s, "-", "")
	return len(digits) == 32 && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
}

// isPage reports whether a file is an HTML page that a server or a tool wrote instead of a script.
func isPage(text []byte) bool {
	begin := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	begin = bytes.ToLower(begin[:min(len(begin), len("<!doctype"))])
	return bytes.HasPrefix(begin, []byte("<!doctype")) || bytes.HasPrefix(begin, []byte("<html"))
}
