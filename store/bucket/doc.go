// Package bucket stores objects in an object store with the protocol of Amazon S3. It implements
// [objects.Store] with four calls of that protocol: PutObject with a condition, GetObject,
// ListObjectsV2 and DeleteObjects.
//
// A store that accepts conditions but ignores them would lose data silently, so [Bucket.Probe]
// checks the store before anything is written.
//
// No other package uses the client library.
package bucket
