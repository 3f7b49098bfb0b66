package sourcemap

import (
	"fmt"
	"strconv"
)

// Limits bounds the content of a map. A zero field selects its value in [DefaultLimits]. The caller
// of Read bounds the size of the map, which also bounds the contents of sources.
type Limits struct {
	Mappings int // of all sections
	Lines    int // generated lines
	Sources  int // of all sections
	Names    int // of all sections
	Sections int
	Text     int // bytes of the names of sources, with their sourceRoot, and of Names
}

// DefaultLimits returns limits far above any map of a real build, and low enough that a malicious
// map does no harm: 20 million mappings (400 MB), 5 million lines, 100,000 sources, 2 million
// names, 10,000 sections and 64 MiB of names.
func DefaultLimits() Limits {
	return Limits{
		Mappings: 20_000_000,
		Lines:    5_000_000,
		Sources:  100_000,
		Names:    2_000_000,
		Sections: 10_000,
		Text:     64 << 20,
	}
}

func (l Limits) withDefaults() Limits {
	def := DefaultLimits()
	for _, limit := range []struct {
		value *int
		def   int
	}{
		{&l.Mappings, def.Mappings}, {&l.Lines, def.Lines}, {&l.Sources, def.Sources},
		{&l.Names, def.Names}, {&l.Sections, def.Sections}, {&l.Text, def.Text},
	} {
		if *limit.value == 0 {
			*limit.value = limit.def
		}
	}
	return l
}

// tooMany returns the error for exceeding a limit of things.
func tooMany(most int, things string) error {
	return fmt.Errorf("more than %s%s", grouped(most), things)
}

// grouped formats a number with a comma before every three digits.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
