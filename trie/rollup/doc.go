// Package rollup sums up what was received of one page in one stretch of time: who spent
// how much time where, and how page views differ.
//
// A [Builder] takes page views and other records, and writes a [Record]. Records add up:
// adding those of two stretches gives what building one from the traces of both gives, to
// the microsecond, in any order. What was added can be taken away again, which is how the
// later chunks of a page view find their way into a record that has the earlier ones.
//
// A record has no strings, frames or nodes: it refers to the nodes of a trie that many
// records share, the stack table of their page.
//
// # Cells and touches
//
// The time of a record is kept by cells. A cell is the set of labels under which time was
// spent: at most one value for each key, and any number of features. Sums of cells
// are exact for whatever is asked of these labels.
//
// How many page views there were is no such sum, since most page views have time in
// several cells. So each page view is counted once for each node, under the very set of
// cells in which it was there: a touch. Whether a view is in an answer depends on its
// touch alone, so page views are exact for whatever is asked, too.
//
// # Distributions
//
// What can not be had by adding cells is kept on its own: how long page views took,
// for all of the page, for each feature and for each phase; and how long the heaviest
// functions took of each page view. A page view whose labels change in the middle, other
// than feature and phase, is one view for each set of them here.
//
// # Bytes
//
// Here n is a LEB128 number, ± one in zigzag, and text the number of a text in the table at the
// beginning:
//
//	record   version │ level │ texts n × (length n, bytes)
//	         │ cells n × (labels, stackless ±, idle ±, unsampled ±, truncated ±)
//	         │ touches n × (cells n × step n, views ±, traces ±)
//	         │ for each cell:  nodes n × (step n, self µs ±, samples ±)
//	         │ for each touch: nodes n × (step n, views ±)
//	         │ distributions n × (labels, spread, spread, population/1000 ±, squares ±)
//	         │ releases n × (text, rest ± ± ±, functions n × (frame step n, spread, spread))
//	         │ outcomes n × (text, views ±)
//	         │ web vitals n × (labels, text, views ±, weight ±, squares of weights ±,
//	           good ±, poor ±, histogram)
//	labels   n × (text, text)
//	spread   count ± │ sum µs ± │ squares: high ±, low n │ histogram
//	histogram: buckets n × (step n, count ±)
//
//	stacks   version 1 │ what comes before: strings n, frames n, nodes n
//	         │ strings n × (length n, bytes)
//	         │ frames n × (name n, resource n, line less that of the frame before ±, column n)
//	         │ nodes n × (own number less that of the parent n, frame n)
//
// The version is 2 if there are Web Vitals; without any it is 1, and the record ends before them.
// Their text is the name, and their values are in µs, those of CLS in millionths. Steps count from
// the row before. Values may be negative where a view got later chunks.
package rollup
