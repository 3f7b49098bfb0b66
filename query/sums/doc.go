// Package sums adds up records of rollups for queries.
//
//	facet.go      Facet: which distributions answer a selection
//	functions.go  Functions: how the times of functions spread over page views, by release until they have names
//	day.go        DaySums: a day of a page
//	inview.go     TimeInView: the time of a trace in a selection
//	estimate.go   Estimate: a value with its interval
//	side.go       Side: one side of a comparison, by stratum
package sums
