//go:build !race

package metamorphic

// slowdown is the factor by which operations may be slower than in a plain run.
const slowdown = 1
