package sourcemap

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestStarts checks that functions begin at the places that V8 reports.
func TestStarts(t *testing.T) {
	b, err := os.ReadFile("testdata/starts.json")
	if err != nil {
		t.Fatal(err)
	}
	var scripts map[string][][3]any
	if err := json.Unmarshal(b, &scripts); err != nil {
		t.Fatal(err)
	}
	for script, functions := range scripts {
		text, err := os.ReadFile("testdata/" + script)
		if err != nil {
			t.Fatal(err)
		}
		p := NewPositions(text)
		for _, f := range functions {
			line, column, name := int32(f[0].(float64))-1, int32(f[1].(float64))-1, f[2].(string)
			offset := p.Offset(line, column)
			if begin := name + "("; !strings.HasSuffix(string(text[:offset+1]), begin) {
				t.Errorf("%s:%d:%d is %.20q, not the parameters of %q", script, line, column, text[offset:], name)
			}
			if name == "" && !strings.HasPrefix(string(text[offset:]), "()=>") {
				t.Errorf("%s:%d:%d is %.20q, not an arrow", script, line, column, text[offset:])
			}
			if l, c := p.Place(offset); l != line || c != column {
				t.Errorf("%s: offset %d is at %d:%d, not %d:%d", script, offset, l, c, line, column)
			}
		}
	}
}

func TestPositions(t *testing.T) {
	long := strings.Repeat("x", 200) + "é" + strings.Repeat("𝒳", 100) + "\n" + strings.Repeat("ä", 100)
	for _, c := range []struct {
		name, text   string
		offset       int
		line, column int32
	}{
		{"empty", "", 0, 0, 0},
		{"ASCII", "ab\ncd", 4, 1, 1},
		{"end of a line", "ab\ncd", 2, 0, 2},
		{"end of the text", "ab\ncd", 5, 1, 2},
		{"empty last line", "ab\n", 3, 1, 0},
		{"empty last line, not ASCII", "ä\n", 3, 1, 0},
		{"CRLF is one end", "a\r\nb", 3, 1, 0},
		{"its second half", "a\r\nb", 2, 0, 2},
		{"CR", "a\rb", 2, 1, 0},
		{"LF CR are two", "a\n\rb", 3, 2, 0},
		{"CR at the end", "a\r", 2, 1, 0},
		{"line separator", "a\u2028b", 4, 1, 0},
		{"paragraph separator", "a\u2029b", 4, 1, 0},
		{"neighbours of separators", "\u2027\u202a\u2128b", 9, 0, 3},
		{"next line and form feed end none", "\u0085\f\vb", 4, 0, 3},
		{"two bytes", "éb", 2, 0, 1},
		{"three bytes", "漢b", 3, 0, 1},
		{"four bytes are two units", "𝒳b", 4, 0, 2},
		{"byte order mark", "\ufeffab", 4, 0, 1},
		{"after a byte order mark", "\ufeffab", 3, 0, 0},
		{"byte order mark and more", "\ufeffäb\nc", 5, 0, 1},
		{"only the first byte order mark", "\ufeff\ufeffb", 6, 0, 1},
		{"only a byte order mark", "\ufeff", 3, 0, 0},
		{"beyond a block", long, 200 + 2 + 4*50, 0, 201 + 100},
		{"line beyond a block", long, 200 + 2 + 4*100, 0, 401},
		{"in the line after", long, 200 + 2 + 4*100 + 1 + 2*70, 1, 70},
		{"end after blocks", long, len(long), 1, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPositions([]byte(c.text))
			if line, column := p.Place(c.offset); line != c.line || column != c.column {
				t.Errorf("offset %d is at %d:%d, not %d:%d", c.offset, line, column, c.line, c.column)
			}
			if got := p.Offset(c.line, c.column); got != c.offset {
				t.Errorf("%d:%d is at %d, not %d", c.line, c.column, got, c.offset)
			}
		})
	}
}

// TestBeyond converts places outside the text.
func TestBeyond(t *testing.T) {
	const most = 1<<31 - 1
	for _, c := range []struct {
		name, text   string
		line, column int32
		want         int
	}{
		{"column beyond a line", "ab\ncd", 0, most, 2},
		{"column beyond one that ends with CRLF", "ab\r\ncd", 0, most, 3},
		{"column beyond one that ends with CR", "ab\rcd", 0, most, 2},
		{"column beyond one that ends with a separator", "ab\u2028cd", 0, most, 2},
		{"column beyond one that is not ASCII", "äb\ncd", 0, most, 3},
		{"just beyond one that is not ASCII", "äb\ncd", 0, 3, 3},
		{"column beyond the last line", "ab\ncd", 1, most, 5},
		{"column beyond the last line, not ASCII", "ab\nä", 1, most, 5},
		{"line beyond the text", "ab\ncd", 2, 0, 5},
		{"last line there can be", "ab\ncd", most, most, 5},
		{"negative", "ab\ncd", -1, -1, 0},
		{"negative column", "ab\ncd", 1, -5, 3},
		{"second half of a pair", "a𝒳b", 0, 2, 1},
		{"empty", "", 3, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := NewPositions([]byte(c.text)).Offset(c.line, c.column); got != c.want {
				t.Errorf("%d:%d is at %d, not %d", c.line, c.column, got, c.want)
			}
		})
	}
	p := NewPositions([]byte("ab\ncd"))
	if line, column := p.Place(-5); line != 0 || column != 0 {
		t.Errorf("offset -5 is at %d:%d", line, column)
	}
	if line, column := p.Place(99); line != 1 || column != 2 {
		t.Errorf("offset 99 is at %d:%d", line, column)
	}
}

// checkPositions iterates over the characters of a text and compares places with a count.
func checkPositions(t *testing.T, text []byte) {
	t.Helper()
	p := NewPositions(text)
	line, column := int32(0), int32(0)
	begin := 0
	if strings.HasPrefix(string(text), byteOrderMark) {
		begin = len(byteOrderMark)
	}
	for at := begin; at <= len(text); {
		if l, c := p.Place(at); l != line || c != column {
			t.Fatalf("%.200q: offset %d is at %d:%d, not %d:%d", text, at, l, c, line, column)
		}
		if got := p.Offset(line, column); got != at {
			t.Fatalf("%.200q: %d:%d is at %d, not %d", text, line, column, got, at)
		}
		if at == len(text) {
			break
		}
		char, size := utf8.DecodeRune(text[at:])
		next := byte(0)
		if at+1 < len(text) {
			next = text[at+1]
		}
		at += size
		column++
		switch {
		case char >= 0x10000:
			column++
		case char == '\n', char == '\r' && next != '\n', char == '\u2028', char == '\u2029':
			line, column = line+1, 0
		}
	}
	if int(line)+1 != p.Lines() {
		t.Fatalf("%.200q: %d lines, not %d", text, p.Lines(), line+1)
	}
}

// checkRoundTrip checks for any bytes that each character start is found again, and that no place
// is outside the text or in the next line.
func checkRoundTrip(t *testing.T, text []byte, line, column int32) {
	t.Helper()
	p := NewPositions(text)
	begin := p.Offset(0, 0)
	for at := begin; at < len(text); at++ {
		if width(text[at]) == 0 {
			continue
		}
		l, c := p.Place(at)
		if got := p.Offset(l, c); got != at {
			t.Fatalf("%.200q: offset %d is at %d:%d, which is at %d", text, at, l, c, got)
		}
	}
	at := p.Offset(line, column)
	if at < 0 || at > len(text) {
		t.Fatalf("%.200q: %d:%d is at %d, outside", text, line, column, at)
	}
	if l, _ := p.Place(at); line >= 0 && int(line) < p.Lines() && l != line {
		t.Fatalf("%.200q: %d:%d is at %d, in line %d", text, line, column, at, l)
	}
}

func TestRandomTexts(t *testing.T) {
	pieces := []string{"a", "b", "\n", "\r", "\r\n", "\u2028", "\u2029", "é", "漢", "𝒳", "\ufeff",
		strings.Repeat("x", 63), "ä𝒳"}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		kinds := 1 + r.IntN(len(pieces))
		var text []byte
		for range r.IntN(60) {
			text = append(text, pieces[r.IntN(kinds)]...)
		}
		checkPositions(t, text)
		checkRoundTrip(t, text, int32(r.IntN(10)), int32(r.IntN(300)))
	}
}
