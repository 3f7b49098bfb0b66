package terminal

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// Random tables fit the width if their fixed columns do, and keep all columns without a limit.
func TestTableFits(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 6))
		table := Table{Columns: []Column{{Title: "FUNCTION", Least: 10}, {Title: "STATUS", Color: func(string) Color {
			return Red
		}}}}
		for range r.IntN(6) {
			table.Columns = append(table.Columns, Column{Title: strings.Repeat("X", 1+r.IntN(9)), Right: r.IntN(2) == 0,
				Drop: 1 + r.IntN(9)})
		}
		for range 1 + r.IntN(9) {
			row := make([]string, len(table.Columns))
			for i := range row {
				row[i] = strings.Repeat("ü", 1+r.IntN(6))
			}
			row[0] = strings.Repeat("ä", 1+r.IntN(60))
			table.Row(row...)
		}
		table.Screen.Width = 20 + r.IntN(100)
		for _, line := range written(t, &table) {
			if n := utf8.RuneCountInString(line); n > table.Screen.Width {
				t.Fatalf("seed %d: %d of %d characters: %q", seed, n, table.Screen.Width, line)
			}
		}
		table.Screen.Width = 0
		for i, line := range written(t, &table) {
			if got := len(strings.Fields(line)); got != len(table.Columns) {
				t.Fatalf("seed %d, line %d: %d columns of %d", seed, i, got, len(table.Columns))
			}
		}
	}
}

func written(t *testing.T, table *Table) []string {
	t.Helper()
	var b strings.Builder
	if _, err := table.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func TestColor(t *testing.T) {
	table := Table{Columns: []Column{{Title: "A"}, {Title: "B", Right: true, Color: func(text string) Color {
		if text == "slower" {
			return Red
		}
		return Plain
	}}}}
	table.Row("x", "slower")
	table.Row("y", "faster")
	table.Screen.Color = true
	if got, want := strings.Join(written(t, &table), "\n"),
		"A       B\nx  \x1b[31mslower\x1b[0m\ny  faster"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScreen(t *testing.T) {
	env := map[string]string{}
	getenv := func(k string) string { return env[k] }
	if got := Of(&strings.Builder{}, Auto, getenv); got != (Screen{}) {
		t.Errorf("no terminal: %+v", got)
	}
	env["COLUMNS"], env["NO_COLOR"] = "80", "1"
	if got := Of(&strings.Builder{}, Always, getenv); got != (Screen{80, true}) {
		t.Errorf("got %+v", got)
	}
	env["COLUMNS"] = "-3"
	if got := Of(&strings.Builder{}, Never, getenv); got != (Screen{}) {
		t.Errorf("got %+v", got)
	}
}

// A number is rounded to three digits and has no unneeded ones.
func TestNumber(t *testing.T) {
	for want, v := range map[string]float64{"0": 0, "1235": 1234.6, "100": 99.96, "56.7": 56.71, "10.0": 9.996,
		"1.00": 0.9996, "0.012": 0.0123, "0.0001": 0.0001, "-3.46": -3.456} {
		if got := Number(v); got != want {
			t.Errorf("%g: got %s, want %s", v, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		v := math.Exp(r.NormFloat64() * 6)
		text := Signed(v)
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || text[0] != '+' || math.Abs(back-v) > 0.051*v || v >= 0.1 && math.Abs(back-v) > 0.0051*v {
			t.Fatalf("%g: %s", v, text)
		}
	}
	if got := Signed(0); got != "+0" {
		t.Errorf("got %s", got)
	}
	for want, s := range map[string]Screen{"±1.50": {Width: 80}, "(+1.00 to +4.00)": {Width: 200}} {
		if got := s.Interval(1, 4, Signed); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, x := range []struct {
		width, indent int
		text, want    string
	}{
		{0, 2, "as it is", "as it is"},
		{8, 2, "state   open", "state  \n  open"},
		{9, 2, "ä ö ü ß é è ê ë", "ä ö ü ß é\n  è ê ë"},
		{4, 0, "a longest b", "a\nlongest\nb"},
	} {
		if got := (Screen{Width: x.width}).Wrap(x.text, x.indent); got != x.want {
			t.Errorf("%q in %d: got %q, want %q", x.text, x.width, got, x.want)
		}
	}
}
