// Package collect is the public receiving side: an [http.Handler] that takes traces,
// checks them and puts them into a store.
//
//	POST /v1/traces
//
// The body is one trace or several: in the binary format (application/x-protobuf;
// several with the length of each before it as a varint) or as JSON (application/json,
// application/x-ndjson; several as an array or one after the other). text/plain and no
// type at all, as sendBeacon sends them, may be either. The body may be in one of the
// content encodings gzip, deflate and zstd.
//
// A 2xx answer means that every trace that it calls accepted survives kill -9 and power
// loss. What clients should do:
//
//	202           done; in a batch, "rejected" lists the traces that were refused and why
//	400 422       the trace is malformed, or contradicts itself: do not send it again
//	403           the origin is not allowed
//	408           the body came too slowly: send it again later
//	413           too large, before or after decompression
//	415           unknown content type or encoding
//	429 503       send it again after the time in Retry-After
//
// What is stored is not what was sent. The path of a page becomes a page such as
// /user/:id, see [PageRules]. Query strings, fragments, e-mail addresses, tokens and
// user agents are taken out of every text, and fields that this version does not know
// are dropped, since nobody can say what they hold.
package collect
