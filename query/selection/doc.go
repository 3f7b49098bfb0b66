// Package selection says which part of the stored traces a query is about: pages, features, labels,
// times, and what functions are summed up to.
package selection
