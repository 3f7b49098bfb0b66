package sourcemap

import (
	"fmt"
	"strconv"
)

// Limits bound what a map may hold. A limit of 0 is that of [DefaultLimits]. The text of the
// map itself is bounded by its reader: contents of sources take no more than that.
type Limits struct {
	Mappings int // of all sections
	Lines    int // generated lines
	Sources  int // of all sections
	Names    int // of all sections
	Sections int
	Text     int // bytes of the names of sources, with their sourceRoot, and of Names
}

// DefaultLimits returns limits that no map of a real build comes near to, and with which a
// hostile one does no harm: 20 million mappings (400 MB), 5 million lines, 100,000 sources,
// 2 million names, 10,000 sections and 64 MiB of names.
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

// tooMany is the error for more than most things.
func tooMany(most int, things string) error {
	return fmt.Errorf("more than %s%s", grouped(most), things)
}

// grouped writes a number with a comma before each three digits.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
