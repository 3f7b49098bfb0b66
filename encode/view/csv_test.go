package view

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
)

// TestCSV checks that the output can be read again, and adds up.
func TestCSV(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(fixture.Written(t, EncodeCSV, fixture.HostileProfile(),
		output.Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+len(fixture.HostileNames()) {
		t.Fatalf("got %d rows", len(rows))
	}
	var self int64
	for _, row := range rows[1:] {
		v, err := strconv.ParseInt(row[5], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		self += v
		for _, cell := range row {
			if cell != "" && strings.Contains("=+-@\t\r", cell[:1]) {
				t.Errorf("a spreadsheet interprets %q as a formula", cell)
			}
		}
	}
	if flat, _ := fixture.HostileProfile().Flat(); self != output.SelfSum(flat) {
		t.Errorf("got %d, want %d", self, output.SelfSum(flat))
	}
}

func TestCSVText(t *testing.T) {
	for s, want := range map[string]string{"": "", "a": "a", "=1+1": "'=1+1", "@f": "'@f", "-": "'-", "\tx": "\ufffdx",
		"a\x1b[2J\u202e": "a\ufffd[2J\ufffd", "a=b": "a=b"} {
		if got := csvText(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
