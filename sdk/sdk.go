// Package sdk serves the browser script, and helps sites written in Go to profile a
// share of their page views.
//
// # The script
//
// [Scripts] serves the built script under these names:
//
//	/sdk.js        the loader, a classic script
//	/sdk.mjs       the same as a module
//	/sdk-all.js    everything in one file
//	/sdk-all.mjs   the same as a module
//	/sdk-core.js   the core alone in one file
//	/sdk-core.mjs  the same as a module
//	/sdk.json      paths and integrity of the current versions
//
// and the parts that the loader loads if a page view is profiled, each with its
// integrity after the name: /rest.mjs?sha256-…, which is /sdk-rest.mjs, too
//
// Each script is also served with a part of its hash in its name, such as
// /sdk.0123456789ab.js. The content of such a URL never changes, so browsers cache it
// for a year without revalidation. A page that uses it should also set integrity, and
// then runs exactly this script or none:
//
//	<script src="https://collect.example.com/sdk.0123456789ab.js"
//	    integrity="sha256-…" crossorigin="anonymous" async></script>
//
// [Script] and /sdk.json give a deployment both values. A new version of this package
// serves only the new hash, and 404 for the old one. So a page that cannot be deployed
// together with the collector should embed /sdk.js, which browsers revalidate each
// time and rarely need to load again.
//
// [Package] serves the script as an npm package for bundlers; npm install accepts its URL.
//
// # The header
//
// A browser profiles a page only if its document has the header
//
//	Document-Policy: js-profiling, js-profiling-mode=lazy
//
// The header has a cost in every page view, whether or not the script then starts the
// profiler. So the server chooses: only the views to profile get the header, and every
// document has a Server-Timing header with the probability of its choice for the
// script, or 0 if it was not chosen. [Sampled] does both:
//
//	site = sdk.Sampled(site, func(r *http.Request) float64 {
//		if strings.HasPrefix(r.URL.Path, "/checkout") {
//			return 0.5
//		}
//		return 0.01
//	})
//
// Sites that are not written in Go do the same in their own language or in the
// configuration of their server.
//
// # Demo
//
// [Demo] and [DemoThirdParty] serve a page to try the script with; see ingest --demo.
package sdk

import "embed"

//go:embed dist/*.js dist/*.mjs brotli/*.br
var dist embed.FS

//go:embed demo
var demo embed.FS
