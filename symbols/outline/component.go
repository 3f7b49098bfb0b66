package outline

import (
	"bytes"
	"strings"
)

// ComponentScripts returns a single-file component of Vue, Svelte or Astro in which everything
// except code is blanked. The code is the contents of <script> and the text between lines --- at
// the start. Length and line ends stay the same, so offsets in both are equal. Data in a <script>,
// such as JSON, is blanked too.
func ComponentScripts(text []byte) []byte {
	scripts := make([]byte, 0, len(text))
	kept := 0
	keep := func(start, end int) {
		scripts = appendBlanks(scripts, text[kept:start])
		scripts = append(scripts, text[start:end]...)
		kept = end
	}
	at := 0
	if start, end := frontmatter(text); end > 0 {
		keep(start, end)
		at = end
	}
	for at < len(text) {
		open := bytes.IndexByte(text[at:], '<')
		if open < 0 {
			break
		}
		at += open
		if bytes.HasPrefix(text[at:], []byte("<!--")) {
			at = indexAfter(text, at, "-->")
			continue
		}
		attributes, start := scriptTag(text, at)
		if start < 0 {
			at++
			continue
		}
		at = start
		if strings.HasSuffix(attributes, "/") { // self-closing
			continue
		}
		end := closingTag(text, start)
		if !strings.Contains(attributes, "json") {
			keep(start, end)
		}
		at = end
	}
	return appendBlanks(scripts, text[kept:])
}

// frontmatter returns the range between lines --- at the start of a text; end is 0 if there
// is none.
func frontmatter(text []byte) (start, end int) {
	const fence = "---"
	start = len(text) - len(bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n"))
	if !bytes.HasPrefix(text[start:], []byte(fence)) {
		return 0, 0
	}
	start += len(fence)
	length := bytes.Index(text[start:], []byte("\n"+fence))
	if length < 0 {
		return 0, 0
	}
	return start, start + length + 1
}

// scriptTag returns the attributes of the tag <script> at an offset, and the start of its
// contents, or -1 if there is no such tag.
func scriptTag(text []byte, at int) (attributes string, start int) {
	const name = "<script"
	if len(text)-at <= len(name) || !strings.EqualFold(string(text[at:at+len(name)]), name) {
		return "", -1
	}
	if c := text[at+len(name)]; c != '>' && c != '/' && c > ' ' { // another tag
		return "", -1
	}
	quote := byte(0)
	for i := at + len(name); i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return string(text[at+len(name) : i]), i + 1
		}
	}
	return "", -1
}

// closingTag returns the offset of </script, or the end of the text if there is none.
func closingTag(text []byte, at int) int {
	const name = "</script"
	for {
		length := bytes.Index(text[at:], []byte("</"))
		if length < 0 {
			return len(text)
		}
		at += length
		if len(text)-at >= len(name) && strings.EqualFold(string(text[at:at+len(name)]), name) {
			return at
		}
		at++
	}
}

// indexAfter returns the offset after the next mark, the end of the text if there is none.
func indexAfter(text []byte, at int, mark string) int {
	length := bytes.Index(text[at:], []byte(mark))
	if length < 0 {
		return len(text)
	}
	return at + length + len(mark)
}

// appendBlanks appends a blank for each byte of text, but keeps line ends.
func appendBlanks(blanks, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n' || c == '\r':
			blanks = append(blanks, c)
		case c == 0xe2 && (bytes.HasPrefix(text[i:], []byte("\u2028")) || bytes.HasPrefix(text[i:], []byte("\u2029"))):
			blanks = append(blanks, text[i:i+3]...)
			i += 2
		default:
			blanks = append(blanks, ' ')
		}
	}
	return blanks
}
