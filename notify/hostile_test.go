package notify

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// hostileNames are names from browsers that would be markup if they were not escaped.
func hostileNames() []string {
	return []string{
		"formatPrice", "Ünïcödé 価格", "a\nb", "x\r\nBcc: evil@example.com\r\n\r\nbody", "@channel @here @everyone",
		"<!here>", "<!channel|x>", "<@U024BE7LH>", "<https://evil.example|click>",
		"@torvalds", "me@evil.example", "#1", "acme/shop#12", "GH-7", "gh-7", "https://github.com/acme/shop/issues/1",
		"www.evil.example", "0123456789abcdef0123456789abcdef01234567",
		"[click](javascript:alert(1))", "![x](https://evil.example/x.png)", "[x]: https://evil.example",
		"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</b></p></body>", "--> <!-- x",
		"`code`", "```\ncode", "# heading", "- item", "1. item", "> quote", "| a | b |\n|---|---|",
		"*bold* _it_ ~no~ __x__", "$x$", ":smile:", "&lt;b&gt; &#64;x",
		"\u202egnp.exe", "\u200bzero\u2060width\ufeff", "\u2028line\u2029", "\x00\x1b[31mred\x07", "\xff\xfe not UTF-8",
		"e" + strings.Repeat("\u0301", 1000), "=?utf-8?q?=0D=0ABcc:_x?=", ".", "..\n.\n",
		strings.Repeat("ä<&>😀@#", 1000), strings.Repeat("x", 10_000), "", " ",
	}
}

// hostileMessages have each hostile name in every field.
func hostileMessages() (out []Message) {
	ms := 12.5
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for i, name := range hostileNames() {
		m := Message{ID: "id-" + string(rune('a'+i%26)), Time: at, Event: Found, Change: "0123456789abcdef",
			Title: name + " became slower by 12.5 ms on " + name, Lines: []string{name, "cause: " + name},
			Labels: map[string]string{"function": name, "page": name, name: "value", "direction": "slower"},
			Pages:  []string{name}, Milliseconds: &ms,
			Link: "https://profiles.example.com:8419/changes/0123456789abcdef?a=b&c=d", Begin: at.Add(-time.Hour),
			Commit: "0123456789abcdef0123456789abcdef01234567"}
		out = append(out, m)
		resolved := m
		resolved.Event, resolved.End, resolved.Link = Resolved, at, name
		out = append(out, resolved)
	}
	return out
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"price": "price", " a\nb ": "a\ufffdb", "\u202egnp.exe": "\ufffdgnp.exe", "": "", "1234567890": "1234567890",
		"12345678901": "1234567…", "äöüäöü": "äöü…",
	} {
		if got := clean(text, 10); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, m := range hostileMessages() {
		c := cleaned(m)
		texts := append([]string{c.Title, c.Link}, c.Lines...)
		for key, value := range c.Labels {
			if !noLabelAtAll(key) {
				t.Errorf("%q is not a valid name of a label", key)
			}
			texts = append(texts, value)
		}
		for _, text := range texts {
			if len(text) > maxLine || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
				return !unicode.IsPrint(r) && r != utf8.RuneError
			}) {
				t.Errorf("got %q", text)
			}
		}
	}
}

func noLabelAtAll(key string) bool {
	return key != "" && !noLabel.MatchString(key)
}

func TestToken(t *testing.T) {
	for _, id := range append(hostileNames(), "0123456789abcdef", "digest-12") {
		got := token(id)
		if !plainID.MatchString(got) || got != token(id) || plainID.MatchString(id) && got != id {
			t.Errorf("%q: got %q", id, got)
		}
	}
}
