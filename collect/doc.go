// Package collect is the public receiving side: an [http.Handler] that takes traces,
// checks them and puts them into a store, and counts the page views that have none.
//
//	POST /v1/traces
//	POST /v1/views
//
// # Traces
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
//	401           the parameter key is not one of the site's
//	403           the origin is not allowed
//	408           the body came too slowly: send it again later
//	413           too large, before or after decompression
//	415           unknown content type or encoding
//	429 503       send it again after the time in Retry-After
//
// An answer of 202 has a rate if [SamplingRules] have one for the page of the last trace:
// the share of the views of that page that should be profiled from now on. 0 means stop.
//
// # Page views
//
// A page view of which there is no profile is one JSON object of up to 4 KiB, as
// application/json, text/plain or without a type:
//
//	{"page": "/feed", "outcome": "unsampled", "weight": 100}
//
// The outcome is one of unsupported, header, unsampled, quota, refused, stopped, cost and
// error; the weight is how many page views the report stands for, 1 if it is absent. The
// answer is 204, or one of those above. A report is counted in
// fieldtrie_ingest_page_views_total, and its weight is added to a count that the store keeps
// for each page, hour and outcome. It has no id, so one that is sent twice counts twice.
// Page views with a profile are counted by the first of their traces.
//
// # What is kept
//
// What is stored is not what was sent. The path of a page becomes a page such as
// /user/:id, see [PageRules]. Query strings, fragments, user names in URLs, e-mail
// addresses, tokens, keys, values that are called secret, card and phone numbers and user
// agents are taken out of every text, and fields that this version does not know are
// dropped, since nobody can say what they hold. Of the header User-Agent the browser's
// name and major version are kept, as the label browser of a trace that has none.
package collect
