package sdk

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// Headers of a document that allow or report profiling.
const (
	policyHeader = "Document-Policy"
	policy       = "js-profiling, js-profiling-mode=lazy"
	noPolicy     = "js-profiling=?0"
	timingHeader = "Server-Timing"
)

// serverTiming returns the header with the probability with which the page view was selected, or 0
// if it was not selected.
func serverTiming(share float64) string {
	return "fieldtrie;dur=" + strconv.FormatFloat(share, 'f', -1, 64)
}

// Sampled selects the page views to profile. For each request that loads a document it draws with
// the probability returned by share, from 0 (never) to 1 (always). Selected documents get
//
//	Document-Policy: js-profiling, js-profiling-mode=lazy
//	Server-Timing: fieldtrie;dur=SHARE
//
// and others get Document-Policy: js-profiling=?0, because a document that is not modified would
// otherwise keep its last policy, and Server-Timing: fieldtrie;dur=0. Both are added to existing
// headers with that name; next must also add to them instead of replacing them.
//
// A request loads a document according to Sec-Fetch-Dest or, if that is missing, as on plain HTTP,
// if Accept has text/html. Frames are not selected: either they share the main thread of the outer
// page, or they are separate from it.
//
// # Caches
//
// The selection is part of the response. A shared cache serves the same selection to all visitors:
// all their page views are profiled or none, and the share is wrong either way. Vary cannot help,
// since the selection does not depend on a header of the request. So Sampled sets neither Vary nor
// Cache-Control, and is meant for documents that shared caches do not store (private, no-store,
// no-cache with a new response). If a CDN caches documents, select at its edge instead. The
// browser's own cache does less harm: a view from it repeats the previous selection.
func Sampled(next http.Handler, share func(*http.Request) float64) http.Handler {
	return &sampler{next, share, rand.Float64}
}

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
		r = r.WithContext(context.WithValue(r.Context(), decidedKey{}, share))
	}
	s.next.ServeHTTP(w, r)
}

// decidedKey is the context key of the decision.
type decidedKey struct{}

// Decided returns the decision of [Sampled] for the document of r: the probability with which its
// page view was selected, or 0 if it was not selected or there was no decision. A handler that
// writes it into the document, as the option decided of the script, saves the script the access to
// Server-Timing, a third of its cost for unselected page views.
func Decided(r *http.Request) float64 {
	share, _ := r.Context().Value(decidedKey{}).(float64)
	return share
}

// clamp returns share, limited to the range from 0 to 1.
func clamp(share float64) float64 {
	if !(share > 0) { // not a number is none
		return 0
	}
	return min(share, 1)
}

// loadsDocument reports whether r loads the document of a page.
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
