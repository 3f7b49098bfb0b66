// Package sums adds up records of rollups for queries.
//
//	facet.go      Facet: which distributions answer a selection
//	functions.go  Functions: distributions of function times, by release until named
//	day.go        DaySums: a day of a page
//	inview.go     TimeInView: the time of a trace in a selection
//	estimate.go   Estimate: a value with its interval
//	side.go       Side: one side of a comparison, by stratum
package sums
