// Package collect receives traces: an [http.Handler] that checks traces and writes them to a store,
// and that counts page views without a profile.
//
//	POST /v1/traces
//	POST /v1/views
//
// # Traces
//
// The body contains one or more traces: in the binary format (application/x-protobuf, several
// traces with their lengths as varints before them) or as JSON (application/json,
// application/x-ndjson, several traces as an array or one after another). With text/plain or
// without a content type, as sendBeacon sends it, the body may be in either format. The content
// encodings gzip, deflate and zstd are supported.
//
// With a 2xx status, all traces reported as accepted survive kill -9 and power loss. Clients should
// act on the status:
//
//	202           done; in a batch, "rejected" lists the traces that were refused and why
//	400 422       the trace is malformed, or contradicts itself: do not send it again
//	401           the parameter key is not one of the site's
//	403           the origin is not allowed
//	408           the body came too slowly: send it again later
//	413           too large, before or after decompression
//	415           unknown content type or encoding
//	429 503       send it again after the time in Retry-After
//
// A response with status 202 contains a rate if [SamplingRules] match the page of the last trace:
// the share of the page's views that should be profiled from now on. 0 means stop.
//
// # Page views
//
// A page view without a profile is reported as one JSON object of up to 4 KiB, as application/json,
// text/plain or without a content type:
//
//	{"page": "/feed", "outcome": "unsampled", "weight": 100}
//
// The outcome is one of unsupported, header, unsampled, quota, refused, stopped, cost and error.
// The weight is the number of page views that the report stands for, 1 if it is absent. The
// response has status 204 or one of the above. The collector counts a report in
// fieldtrie_ingest_page_views_total, and adds its weight to a count that the store keeps for each
// page, hour and outcome. A report has no id, so a report sent twice counts twice. Page views with
// a profile are counted by their first trace.
//
// # Stored data
//
// The collector changes traces before it stores them. The path of a page becomes a page such as
// /user/:id, see [PageRules]. Query strings, fragments, user names in URLs, e-mail addresses,
// tokens, keys, values with secret names, card and phone numbers and user agents are removed from
// every text. Unknown fields are dropped, since they may contain personal data. The browser's name
// and major version from the header User-Agent become the label browser if the trace has none.
package collect
