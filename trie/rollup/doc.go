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
package rollup
