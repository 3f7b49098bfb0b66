// Package hostile makes files that a reader of profiles has the most work with, for tests and
// measurements: each kind grows with a number, so that what n of something take can be compared
// with what 2n take.
package hostile
