// Package hostile makes worst-case files for readers of profiles, for tests and benchmarks.
// Each kind grows with a number, so that the cost of n can be compared with that of 2n.
package hostile
