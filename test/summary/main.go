// Command summary prints how many tests ran, failed and were skipped, and why they were skipped.
// Its arguments are reports in the format of JUnit, one for each part of the tests, which the base
// name of the file names. It exits with status 1 if a report cannot be read or has no tests, for
// example after an interrupted run.
package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
}

func run(files []string, out io.Writer) error {
	var errs []error
	var parts []string
	for _, name := range files {
		c, err := read(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		part := strings.TrimSuffix(filepath.Base(name), ".xml")
		skipped := 0
		for _, reason := range slices.Sorted(maps.Keys(c.skipped)) {
			skipped += c.skipped[reason]
			fmt.Fprintf(out, "%s: %d skipped: %s\n", part, c.skipped[reason], reason)
		}
		text := fmt.Sprintf("%s %d", part, c.tests-skipped)
		if c.failed > 0 {
			text += fmt.Sprintf(", %d failed", c.failed)
		}
		parts = append(parts, fmt.Sprintf("%s, %d skipped", text, skipped))
	}
	fmt.Fprintf(out, "tests run: %s\n", strings.Join(parts, "; "))
	return errors.Join(errs...)
}

// counts are the numbers of tests in a report.
type counts struct {
	tests, failed int
	skipped       map[string]int // by reason
}

// read counts the test cases of a report, at any depth. If a test that is marked as todo fails,
// node --test reports both a failure and a reason to skip it: such a test counts as skipped.
func read(name string) (counts, error) {
	c := counts{skipped: map[string]int{}}
	text, err := os.ReadFile(name)
	if err != nil {
		return c, err
	}
	text = bytes.Map(withoutControl, text)
	failed, skipped := false, false // of the current test case
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && c.tests > 0 {
			return c, nil
		}
		if err != nil {
			return c, fmt.Errorf("read %s: %w", name, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "testcase":
				failed, skipped = false, false
			case "failure", "error":
				failed = true
			case "skipped":
				skipped = true
				c.skipped[reason(e)]++
			}
		case xml.EndElement:
			if e.Name.Local == "testcase" {
				c.tests++
				if failed && !skipped {
					c.failed++
				}
			}
		}
	}
}

// withoutControl drops control characters that XML forbids. node --test writes the colors of error
// messages unchanged.
func withoutControl(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
		return -1
	}
	return r
}

// logged is a line of a Go test's output: the place and the text of a call of Log or Skip.
var logged = regexp.MustCompile(`(?m)^ *[\w-]+\.go:\d+: (.*)$`)

// reason returns why a test was skipped. gotestsum gives the whole output of the test, node the
// reason alone.
func reason(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local != "message" {
			continue
		}
		if lines := logged.FindAllStringSubmatch(a.Value, -1); len(lines) > 0 {
			return lines[len(lines)-1][1]
		}
		return strings.TrimSpace(a.Value)
	}
	return "no reason"
}
