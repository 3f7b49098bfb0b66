// Package sdk serves the browser script, and helps sites that are written in Go to
// profile a share of their page views.
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
//	/sdk.json      where the present versions are, and their integrity
//
// and the parts that the loader loads where a page view is profiled, each with its
// integrity behind the name: /sdk-rest.mjs?sha256-…
//
// Each script is also served with a part of its hash in its name, such as
// /sdk.0123456789ab.js. What is under that name never changes, so browsers keep it for
// a year and never ask again; a page that names it should give the value of integrity
// too, and then runs this very script or none:
//
//	<script src="https://collect.example.com/sdk.0123456789ab.js"
//	    integrity="sha256-…" crossorigin="anonymous" async></script>
//
// [Script] and /sdk.json tell a deployment both. A new version of this package serves
// the new hash alone and answers 404 for the old one, so a page that can not be
// deployed together with the collector should embed /sdk.js, which browsers ask for
// again each time and mostly need not load again.
//
// # The header
//
// A browser profiles a page only if its document came with the header
//
//	Document-Policy: js-profiling, js-profiling-mode=lazy
//
// The header costs something in every page view that has it, whether or not the script
// then starts the profiler. So the server chooses: the views that are to be profiled
// get the header, and all documents say in a Server-Timing header with which
// probability theirs was chosen, which the script reads. 0 means that it was not.
// [Sampled] does both:
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

//go:embed dist/*.js dist/*.mjs
var dist embed.FS

//go:embed demo
var demo embed.FS
