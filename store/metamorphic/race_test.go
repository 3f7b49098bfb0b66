//go:build race

package metamorphic

// slowdown is how much longer things may take than in a plain run.
const slowdown = 3
