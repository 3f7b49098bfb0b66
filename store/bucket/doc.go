// Package bucket keeps objects in a store that speaks the protocol of Amazon S3, as [objects.Store] says. It has no more
// of that protocol than six calls: put under a condition, get, get a range, list, delete, and a
// probe, which tells whether the store does what it says.
//
// A store that accepts conditions and ignores them loses data without a word, so [Bucket.Probe] looks before
// anything is written.
//
// No other package knows the client library.
package bucket
