package terminal

import (
	"fmt"
	"math"
)

// Number formats a number with three significant digits, or two below 0.1, like the dashboard:
// 1234, 56.7, 0.012.
func Number(v float64) string { return format("", v) }

// Signed is like Number with a sign: +56.7.
func Signed(v float64) string { return format("+", v) }

func format(flag string, v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return flag + "0"
	case a >= 99.95:
		return fmt.Sprintf("%"+flag+".0f", v)
	case a >= 9.995:
		return fmt.Sprintf("%"+flag+".1f", v)
	case a >= 0.9995:
		return fmt.Sprintf("%"+flag+".2f", v)
	case a >= 0.0995:
		return fmt.Sprintf("%"+flag+".3f", v)
	default:
		return fmt.Sprintf("%"+flag+".2g", v)
	}
}
