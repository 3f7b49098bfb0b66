package owner

import (
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

const rulesFile = `
app:
  packages: ["@acme/*", shop-ui]
  sources:
    - vendor/ours/
    - node_modules/.generated/**
    - webpack/runtime/shop.ts
frameworks: ["@tanstack/*-router", "@acme/engine"]
packages:
  - {path: src/vendor/d3/**, name: d3}
  - {path: src/vendor/vue-fork/, name: vue}
  - {path: src/vendor/d3/ours.ts, name: "@acme/d3"}
teams:
  - {path: node_modules/@acme/ui/, team: "@acme/design"}
  - {path: src/vendor/, team: "@acme/platform"}
  - {path: src/checkout/legacy/**, team: Checkout veterans}
`

const codeowners = `
*               @acme/everyone
/src/checkout/  @acme/checkout @acme/web
/src/checkout/legacy/ @acme/nobody
/src/free/
`

func TestOf(t *testing.T) {
	rules, err := Parse(strings.NewReader(rulesFile))
	if err != nil {
		t.Fatal(err)
	}
	teams, warnings, err := ParseCodeowners(codeowners)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	for _, tt := range []struct {
		rules *Rules
		from  Origin
		want  Owner
	}{
		// Without rules.
		{Default(), Origin{Source: "src/table/Row.tsx"}, Owner{Kind: App}},
		{Default(), Origin{Source: "index.ts"}, Owner{Kind: App}},
		{Default(), Origin{Source: "node_modules/react-dom/cjs/react-dom-client.production.js"}, Owner{Kind: Framework,
			Name: "react-dom"}},
		{Default(), Origin{Source: "node_modules/react-dom/index.js", Version: "19.2.0"}, Owner{Kind: Framework,
			Name: "react-dom", Version: "19.2.0"}},
		{Default(), Origin{Source: "node_modules/react-server-dom-webpack/client.js"}, Owner{Kind: Framework,
			Name: "react-server-dom-webpack"}},
		{Default(), Origin{Source: "node_modules/@vue/runtime-core/dist/x.js"}, Owner{Kind: Framework,
			Name: "@vue/runtime-core"}},
		{Default(), Origin{Source: "node_modules/react-router/dist/x.mjs"}, Owner{Kind: Package, Name: "react-router"}},
		{Default(), Origin{Source: "node_modules/little-loader/index.js"}, Owner{Kind: Package, Name: "little-loader"}},
		{Default(), Origin{Source: "node_modules/lodash/lodash.js", Version: "4.17.21", Ignored: true},
			Owner{Kind: Package, Name: "lodash", Version: "4.17.21"}},
		{Default(), Origin{Source: "node_modules/.prisma/client/index.js"}, Owner{Kind: Package, Name: ".prisma"}},
		{Default(), Origin{Source: "node_modules/single.js"}, Owner{Kind: Package, Name: "single.js"}},
		{Default(), Origin{Source: "vendor/three/src/math/Color.js", Ignored: true}, Owner{Kind: Package,
			Name: "vendor/three"}},
		{Default(), Origin{Source: "src/vendor/d3/arc/arc.js", Ignored: true}, Owner{Kind: Package,
			Name: "src/vendor/d3"}},
		{Default(), Origin{Source: "src/vendor/jquery.js", Ignored: true}, Owner{Kind: Package,
			Name: "src/vendor/jquery.js"}},
		{Default(), Origin{Source: "legacy/a/b.js", Ignored: true}, Owner{Kind: Package, Name: "legacy"}},
		{Default(), Origin{Source: "polyfills.js", Ignored: true}, Owner{Kind: Package, Name: "polyfills.js"}},
		{Default(), Origin{Source: "src/vendor/d3/arc.js"}, Owner{Kind: App}},

		// Code that bundlers add.
		{Default(), Origin{Source: "webpack/bootstrap"}, Owner{Kind: Runtime, Name: "webpack"}},
		{Default(), Origin{Source: "webpack/runtime/define property getters", Teams: teams}, Owner{Kind: Runtime,
			Name: "webpack"}},
		{Default(), Origin{Source: "webpack/loaders.ts"}, Owner{Kind: App}},
		{Default(), Origin{Source: `external "React"`}, Owner{Kind: Runtime, Name: "webpack"}},
		{Default(), Origin{Source: "node_modules/webpack/hot/dev-server.js"}, Owner{Kind: Runtime, Name: "webpack"}},
		{Default(), Origin{Source: "[turbopack]/browser/runtime/base/runtime-base.ts"}, Owner{Kind: Runtime,
			Name: "turbopack"}},
		{Default(), Origin{Source: "[next]/entry/page-loader.ts"}, Owner{Kind: Runtime, Name: "next"}},
		{Default(), Origin{Source: "<anon>"}, Owner{Kind: Runtime, Name: "parcel"}},
		{Default(), Origin{Source: "node_modules/@parcel/runtime-js/lib/runtime-1f.js"}, Owner{Kind: Runtime,
			Name: "parcel"}},
		{Default(), Origin{Source: "\x00vite/preload-helper.js"}, Owner{Kind: Runtime, Name: "vite"}},
		{Default(), Origin{Source: "src/\x00commonjsHelpers.js"}, Owner{Kind: Runtime, Name: "rollup"}},
		{Default(), Origin{Source: "\x00rolldown/runtime.js"}, Owner{Kind: Runtime, Name: "rolldown"}},
		{Default(), Origin{Source: "rolldown:runtime"}, Owner{Kind: Runtime, Name: "rolldown"}},
		{Default(), Origin{Source: "vite/preload-helper"}, Owner{Kind: Runtime, Name: "vite"}},
		{Default(), Origin{Source: "vite/plugins.ts"}, Owner{Kind: App}},
		{Default(), Origin{Source: "<runtime>"}, Owner{Kind: Runtime, Name: "esbuild"}},

		// With rules.
		{rules, Origin{Source: "node_modules/@acme/cart/index.ts"}, Owner{Kind: App}},
		{rules, Origin{Source: "node_modules/shop-ui/Button.tsx", Ignored: true}, Owner{Kind: App}},
		{rules, Origin{Source: "node_modules/@acme/engine/index.ts"}, Owner{Kind: App}},
		{rules, Origin{Source: "node_modules/@acme-corp/x/index.ts"}, Owner{Kind: Package, Name: "@acme-corp/x"}},
		{rules, Origin{Source: "node_modules/@tanstack/react-router/x.js"}, Owner{Kind: Framework,
			Name: "@tanstack/react-router"}},
		{rules, Origin{Source: "node_modules/react/index.js"}, Owner{Kind: Framework, Name: "react"}},
		{rules, Origin{Source: "vendor/ours/x.js", Ignored: true}, Owner{Kind: App}},
		{rules, Origin{Source: "node_modules/.generated/api.ts"}, Owner{Kind: App}},
		{rules, Origin{Source: "webpack/runtime/shop.ts"}, Owner{Kind: App}},

		// Teams.
		{rules, Origin{Source: "src/vendor/d3/arc.js"}, Owner{Kind: Package, Name: "d3", Team: "@acme/platform"}},
		{rules, Origin{Source: "src/vendor/vue-fork/x.js"}, Owner{Kind: Framework, Name: "vue",
			Team: "@acme/platform"}},
		{rules, Origin{Source: "src/vendor/d3/ours.ts"}, Owner{Kind: App, Team: "@acme/platform"}},
		{rules, Origin{Source: "src/checkout/Pay.tsx", Teams: teams},
			Owner{Kind: App, Team: "@acme/checkout @acme/web"}},
		{rules, Origin{Source: "src/checkout/legacy/Pay.js", Teams: teams},
			Owner{Kind: App, Team: "Checkout veterans"}},
		{rules, Origin{Source: "src/free/x.ts", Teams: teams}, Owner{Kind: App}},
		{rules, Origin{Source: "src/x.ts", Teams: teams}, Owner{Kind: App, Team: "@acme/everyone"}},
		{rules, Origin{Source: "node_modules/lodash/lodash.js", Teams: teams}, Owner{Kind: Package, Name: "lodash"}},
		{rules, Origin{Source: "node_modules/@acme/cart/index.ts", Teams: teams}, Owner{Kind: App}},
		{rules, Origin{Source: "node_modules/@acme/ui/index.ts", Teams: teams}, Owner{Kind: App, Team: "@acme/design"}},
	} {
		if got := tt.rules.Of(trie.Frame{Name: "f", Resource: tt.from.Source, Line: 3}, tt.from); got != tt.want {
			t.Errorf("%q: got %+v, want %+v", tt.from.Source, got, tt.want)
		}
	}
}

func TestOfFramesWithoutSource(t *testing.T) {
	rules, err := Parse(strings.NewReader("app: {packages: [shop]}"))
	if err != nil {
		t.Fatal(err)
	}
	for resource, want := range map[string]Owner{
		"https://shop.example/assets/app-3f9a81bc.js": {Kind: Unmapped},
		"assets/app.js":                                   {Kind: Unmapped}, // a script with symbols
		"blob:https://shop.example":                       {Kind: Unmapped},
		"data:text/javascript":                            {Kind: Unmapped},
		"wasm://wasm/app-3b507e7a":                        {Kind: Unmapped},
		"chrome-extension://abcdef/x.js":                  {Kind: Extension},
		"blob:moz-extension://abc/x":                      {Kind: Extension},
		"safari-web-extension://A/x.js":                   {Kind: Extension},
		"resource://gre/modules/x.mjs":                    {Kind: Browser},
		"chrome://global/content/x.js":                    {Kind: Browser},
		"node:internal/timers":                            {Kind: Browser},
		"https://x.example/node_modules/lodash/lodash.js": {Kind: Package, Name: "lodash"},
		"https://x.example/@fs/node_modules/.pnpm/vue@3.5.1/node_modules/vue/x.js": {Kind: Framework, Name: "vue",
			Version: "3.5.1"},
		"https://x.example/node_modules/shop/x.js": {Kind: App},
		"https://cdn.jsdelivr.net/npm/lodash@4.17.21/lodash.min.js": {Kind: Package, Name: "lodash",
			Version: "4.17.21"},
		"https://unpkg.com/@vue/runtime-core@3/dist/x.js": {Kind: Framework,
			Name: "@vue/runtime-core", Version: "3"},
		"https://cdnjs.cloudflare.com/ajax/libs/d3/7.9.0/d3.min.js": {Kind: Package, Name: "d3",
			Version: "7.9.0"},
		"https://unpkg.com.example/lodash@4/lodash.js": {Kind: Unmapped},
	} {
		if got := rules.Of(trie.Frame{Name: "f", Resource: resource}, Origin{}); got != want {
			t.Errorf("%q: got %+v, want %+v", resource, got, want)
		}
	}
	for name, want := range map[string]Owner{
		"":                          {Kind: Browser},
		"getBoundingClientRect":     {Kind: Browser},
		"[Symbol.iterator]":         {Kind: Browser},
		trie.FrameGC:                {Kind: Browser},
		trie.FrameLayout:            {Kind: Browser},
		trie.FrameIdle:              {Kind: Browser},
		trie.FrameProgram:           {Kind: Browser},
		trie.FrameUnknown:           {Kind: Unknown},
		trie.FrameOther:             {Kind: Unknown},
		"(third-party ads.example)": {Kind: ThirdParty, Name: "ads.example"},
		"(extension)":               {Kind: Extension},
		"(app of another)":          {Kind: Browser},
	} {
		if got := rules.Of(trie.Frame{Name: name}, Origin{}); got != want {
			t.Errorf("%q: got %+v, want %+v", name, got, want)
		}
	}
}

// Each pattern of the list is valid and unique.
func TestFrameworks(t *testing.T) {
	var n names
	for i, name := range frameworks {
		if err := n.add(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if slices.Contains(frameworks[:i], name) {
			t.Errorf("%s occurs twice", name)
		}
	}
}
