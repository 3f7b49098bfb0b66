// Package collect is the public receiving side: an [http.Handler] that takes traces,
// checks them and puts them into a store.
//
//	POST /v1/traces
//
// The body is one trace or several, in the binary format (application/x-protobuf; several
// with their length before each as a varint) or as JSON (application/json, text/plain as
// sendBeacon sends it, application/x-ndjson; several as an array or one after the other),
// plain or in one of the encodings gzip, deflate and zstd.
//
// A 2xx answer means that every trace that it calls accepted survives kill -9 and power
// loss. What clients should do:
//
//	202           done; in a batch, "rejected" lists the traces that were refused and why
//	400 422       the trace is malformed, or contradicts itself: do not send it again
//	403           the origin is not allowed
//	408           the body came too slowly
//	413           too large, before or after decompression
//	415           unknown content type or encoding
//	429 503       send it again after the time in Retry-After
package collect
