// Package rollup sums up the traces of one page in one time range: which functions took how much
// time, and how page views differ.
//
// A [Builder] adds page views and other records, and writes a [Record]. Records are additive: the
// sum of the records of two time ranges equals the record built from the traces of both, to the
// microsecond, in any order. They can also be subtracted. This is how later chunks of a page view
// are added to a record with the earlier ones.
//
// A record has no strings, frames or nodes: it refers to the nodes of a trie that many records
// share, the stack table of their page.
//
// # Cells and touches
//
// A record stores time by cell. A cell is a set of labels under which time was spent: at most one
// value for each key, and any number of features. Sums of cells are exact for every query over
// these labels.
//
// The number of page views is not such a sum, since most page views have time in several cells. So
// each page view is counted once for each node, under the exact set of cells in which the node
// occurred: a touch. The touch alone determines whether a view matches a query, so page views are
// exact for every query, too.
//
// # Distributions
//
// Distributions cannot be derived from cells, so a record stores them separately: the time of page
// views, for all of the page, for each feature and for each phase; and the time of the heaviest
// functions in each page view. The time of page views excludes the profiling script ([Own]), which
// is in cells and functions. Here, a page view whose labels other than feature and phase change
// counts as one view for each set of them.
//
// # Encoding
//
// Here n is a LEB128 number, ± a zigzag LEB128 number, and text the index of a text in the table at
// the beginning:
//
//	record   version │ level │ texts n × (length n, bytes)
//	         │ cells n × (labels, stackless ±, idle ±, unsampled ±, truncated ±, likely ±)
//	         │ touches n × (cells n × step n, views ±, traces ±)
//	         │ for each cell:  nodes n × (step n, self µs ±, samples ±)
//	         │ for each touch: nodes n × (step n, views ±)
//	         │ distributions n × (labels, spread, spread, population/1000 ±, squares ±)
//	         │ releases n × (text, rest ± ± ±, time, functions n ×
//	           (frame step n, spread, spread, product))
//	         │ outcomes n × (text, views ±)
//	         │ web vitals n × (labels, text, views ±, weight ±, squares of weights ±,
//	           good ±, poor ±, histogram)
//	labels   n × (text, text)
//	spread   time │ histogram
//	time     count ± │ sum µs ± │ squares: a product
//	product  high ±, low n
//	histogram: buckets n × (step n, count ±)
//
//	stacks   version 1 │ preceding: strings n, frames n, nodes n
//	         │ strings n × (length n, bytes)
//	         │ frames n × (name n, resource n, line less that of the frame before ±, column n)
//	         │ nodes n × (own number less that of the parent n, frame n)
//
// The version is 1. In Web Vitals, text is the name, and values are in µs, or for CLS in
// millionths. Steps are differences to the previous row. Values may be negative if later chunks of
// a view arrived.
package rollup
