// Package selection selects the part of the stored traces that a query is about, by pages,
// features, labels and times, and groups functions into parts.
package selection
