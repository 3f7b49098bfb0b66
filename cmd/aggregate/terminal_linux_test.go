package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fieldtrie/fieldtrie/encode"
)

// openTerminal returns both ends of a pseudo-terminal: the screen and the end a program writes to.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return screen, program
}

// Binary formats are not written to a terminal.
func TestBinaryOnTerminal(t *testing.T) {
	for _, format := range []string{"pprof", "trie", "otlp", "html"} {
		_, program := openTerminal(t)
		err := run(t.Context(), []string{"-f", format, "a.folded"}, strings.NewReader(""), program, io.Discard)
		if want := "will not write " + format + " to a terminal"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", format, err, want)
		}
	}
}

// Formats for programs have raw names, except on a terminal.
func TestFormatsOnTerminal(t *testing.T) {
	data, err := encode.EncodeTrace(hostileTrace(0))
	if err != nil {
		t.Fatal(err)
	}
	trace := t.TempDir() + "/hostile.trie"
	if err := os.WriteFile(trace, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"folded", "csv", "json", "d3", "speedscope", "cpuprofile", "firefox", "svg",
		"top", "tree"} {
		t.Run(format, func(t *testing.T) {
			screen, program := openTerminal(t)
			shown := make(chan string)
			go func() {
				text, _ := io.ReadAll(screen) // ends with an error when the other end is closed
				shown <- string(text)
			}()
			var stderr bytes.Buffer
			err := run(t.Context(), []string{"-f", format, trace}, strings.NewReader(""), program, &stderr)
			if err := program.Close(); err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(<-shown, "\r\n", "\n") // the terminal's line breaks
			text = strings.ReplaceAll(text, "        ", "")   // and its tabs
			if err != nil || len(text) < 100 {
				t.Fatalf("wrote %d bytes, %v", len(text), err)
			}
			if bad := unfit(strings.ReplaceAll(text, "\t", "")); len(bad) > 0 {
				t.Errorf("a terminal got %s", bad)
			}
		})
	}
}
