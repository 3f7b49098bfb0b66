// Package trie holds sampled stacks as a trie: stacks that share callers share nodes.
//
//	(root)
//	  └─ main            self 0   total 7
//	       ├─ render     self 4   total 4
//	       └─ fetch      self 1   total 3
//	            └─ parse self 2   total 2
//
// A [Trace] is a trie with samples in time order: one recording of one browser. A [Profile] is a
// trie with weights and no time: any number of merged traces. All times are whole microseconds and
// all weights are integers, because sums of integers do not depend on their order, while sums of
// floats do.
//
// # Invariants of a trie
//
//   - Node 0 is the root. It has no frame and no weight.
//   - A node's parent has a smaller id than the node.
//   - String 0 is the empty string.
//   - In a profile no two nodes have the same parent and frame. A trace is untrusted input and may
//     contain such pairs; merging joins them.
//   - Untrusted input may contain the same frame twice. Merging joins such frames, and so does the
//     canonical form.
//
// # Laws
//
// Two profiles are equal, see [Profile.Equal], if they have the same weights for the same stacks
// and labels, however their tables are numbered. Up to this equality:
//
//   - Merge is commutative and associative, and the empty profile is its identity.
//   - Totals add up: the sum of all self weights of a merge is the sum over its inputs.
//   - Subtract(Merge(a, b), b) equals a.
//   - Coalescing is idempotent and commutes with Merge.
//   - Prune keeps the sum of all self weights.
//   - The merged slices of a trace equal the complete trace: self time, unsampled time, stackless
//     and idle time to the microsecond, and every counted sample once.
//
// The package is pure: it imports only the standard library, does no I/O, reads no clock and writes
// no log.
package trie
