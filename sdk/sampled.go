package sdk

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// Headers with which a document may be profiled, and says so.
const (
	policyHeader = "Document-Policy"
	policy       = "js-profiling, js-profiling-mode=lazy"
	noPolicy     = "js-profiling=?0"
	timingHeader = "Server-Timing"
)

// serverTiming returns what tells the script that its page view was chosen with
// probability share, or that it was not: 0.
func serverTiming(share float64) string {
	return "fieldtrie;dur=" + strconv.FormatFloat(share, 'f', -1, 64)
}

// Sampled chooses which page views are to be profiled. For each request that loads a
// document it draws with the probability that share returns, from 0 (never) to 1
// (always). The documents that are chosen get
//
//	Document-Policy: js-profiling, js-profiling-mode=lazy
//	Server-Timing: fieldtrie;dur=SHARE
//
// and the others Document-Policy: js-profiling=?0, or a document that is not modified would
// keep the policy of the last time, and Server-Timing: fieldtrie;dur=0. Both are added to headers of that name
// that are set already; next must add to them too, and not replace them.
//
// A request loads a document if Sec-Fetch-Dest says so, or, where it is missing, as it is
// on plain HTTP, if Accept has text/html. Frames are not chosen: they share the main
// thread of the page around them, or are none of its business.
//
// # Caches
//
// The choice is a part of the answer. A cache that keeps the answer hands one choice to
// all who get it from there: all their page views are profiled or none, and the share
// is wrong either way. Vary can not help, since the choice depends on no header of the
// request. So Sampled sets neither Vary nor Cache-Control, and fits documents that
// shared caches do not keep (private, no-store, no-cache with a new answer). Where a CDN
// keeps documents, choose there, at its edge. The cache of the browser itself does less
// harm: a view from there has the choice of the one before it.
func Sampled(next http.Handler, share func(*http.Request) float64) http.Handler {
	return &sampler{next, share, rand.Float64}
}

// sampler is the handler of Sampled.
type sampler struct {
	next  http.Handler
	share func(*http.Request) float64
	draw  func() float64 // from 0 to less than 1, uniformly
}

func (s *sampler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if loadsDocument(r) {
		share := clamp(s.share(r))
		if s.draw() < share {
			w.Header().Add(policyHeader, policy)
		} else {
			w.Header().Add(policyHeader, noPolicy)
			share = 0
		}
		w.Header().Add(timingHeader, serverTiming(share))
	}
	s.next.ServeHTTP(w, r)
}

// clamp returns share if it is a probability, or the one next to it.
func clamp(share float64) float64 {
	if !(share > 0) { // not a number is none
		return 0
	}
	return min(share, 1)
}

// loadsDocument reports whether r asks for the document of a page.
func loadsDocument(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest != "" {
		return dest == "document"
	}
	for _, line := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(line, ",") {
			media, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(media), "text/html") {
				return true
			}
		}
	}
	return false
}
