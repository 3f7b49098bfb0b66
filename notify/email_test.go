package notify

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"
)

// letter is a mail as parsed by the standard library.
type letter struct {
	mail.Header
	parts map[string]string // by media type
}

func readMail(t *testing.T, data []byte) (l letter) {
	t.Helper()
	for line := range bytes.Lines(data) {
		if len(line) > 1000 || !bytes.HasSuffix(line, []byte("\r\n")) {
			t.Fatalf("line %.100q of %d bytes", line, len(line))
		}
	}
	m, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	l = letter{m.Header, map[string]string{}}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s: %v", kind, err)
	}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := r.NextPart() // decodes quoted-printable
		if err == io.EOF {
			return l
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		l.parts[p.Header.Get("Content-Type")] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}

func TestMail(t *testing.T) {
	if _, _, err := (&Channel{From: "Fieldtrie ü <f@example.com>", To: []string{"a@example.com",
		"B, C <b@example.com>"}}).addresses(); err == nil {
		t.Fatal("an unquoted comma is accepted in a name")
	}
	from, to, err := (&Channel{From: "Fieldtrie ü <f@example.com>", To: []string{"a@example.com",
		`"B, C" <b@example.com>`}}).addresses()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 5, 1, 12, 30, 0, 0, time.UTC)
	threads := map[string]bool{}
	for _, m := range hostileMessages() {
		c := cleaned(m)
		data, err := mailOf(from, to, Batch{ID: m.ID, Due: []Due{{Message: c}}}, now)
		if err != nil {
			t.Fatal(err)
		}
		l := readMail(t, data)
		var names []string
		for name, values := range l.Header {
			if names = append(names, name); len(values) != 1 {
				t.Errorf("%s occurs %d times", name, len(values))
			}
		}
		slices.Sort(names)
		if want := []string{"Auto-Submitted", "Content-Type", "Date", "From", "Message-Id", "Mime-Version",
			"References", "Subject", "To"}; !slices.Equal(names, want) {
			t.Fatalf("got headers %v", names)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(l.Get("Subject"))
		if want := strings.ReplaceAll(withEvent(c), "=?", "= ?"); err != nil || subject != want {
			t.Errorf("got %q, %v, want %q", subject, err, want)
		}
		if list, err := l.AddressList("To"); err != nil || len(list) != 2 || list[1].Name != "B, C" {
			t.Errorf("got %v, %v", list, err)
		}
		if date, err := l.Date(); err != nil || !date.Equal(now) || l.Get("Message-Id") != "<"+m.ID+"@example.com>" {
			t.Errorf("got %v, %v", date, l.Header)
		}
		threads[l.Get("References")] = true
		want := strings.Join(append([]string{withEvent(c)}, c.Lines...), "\n\n")
		if text := l.parts["text/plain; charset=utf-8"]; !strings.HasPrefix(text, want) {
			t.Errorf("got %q, want %q", text, want)
		}
		text, links := textOf(t, l.parts["text/html; charset=utf-8"])
		if got := strings.Fields(text); !slices.Equal(got[:len(strings.Fields(want))], strings.Fields(want)) ||
			m.Event == Found && !slices.Equal(links, []string{m.Link}) {
			t.Errorf("got %q with %q", text, links)
		}
	}
	if len(threads) != 1 {
		t.Errorf("mails about one change are in the threads %v", threads)
	}
	var many Batch
	for i := range maxDigest + 3 {
		many.Due = append(many.Due, Due{Message: Message{Title: fmt.Sprintf("change %d.", i), Event: Found}})
	}
	data, err := mailOf(from, to, many, now)
	if err != nil {
		t.Fatal(err)
	}
	l := readMail(t, data)
	if text := l.parts["text/plain; charset=utf-8"]; l.Get("Subject") != "103 changes" ||
		!strings.Contains(text, "change 99.") || strings.Contains(text, "change 100.") ||
		!strings.HasSuffix(text, "and 3 more\n") {
		t.Errorf("got %q", text)
	}
}
