package encode

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"
)

// TestCSV: what is written can be read again, and adds up.
func TestCSV(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(written(t, EncodeCSV, hostileProfile(), Output{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+len(hostileNames()) {
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
				t.Errorf("a spreadsheet takes %q for a formula", cell)
			}
		}
	}
	if flat, _ := hostileProfile().Flat(); self != sum(flat) {
		t.Errorf("got %d, want %d", self, sum(flat))
	}
}

func TestCSVText(t *testing.T) {
	for s, want := range map[string]string{"": "", "a": "a", "=1+1": "'=1+1", "@f": "'@f", "-": "'-", "\tx": "'\tx", "a=b": "a=b"} {
		if got := csvText(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
