package owner

import (
	"strings"
	"testing"
)

func TestPackageVersion(t *testing.T) {
	for source, want := range map[string]string{
		"../../node_modules/.pnpm/react@19.2.0/node_modules/react/index.js":                                 "19.2.0",
		"webpack://shop/./node_modules/.pnpm/react-dom@18.2.0_react@18.2.0/node_modules/react-dom/index.js": "18.2.0",
		"node_modules/.pnpm/@babel+core@7.0.0-rc.1(supports-color@9.0.0)/" +
			"node_modules/@babel/core/lib/x.js": "7.0.0-rc.1",
		`..\node_modules\.pnpm\vue@3.5.1\node_modules\vue\dist\vue.js`: "3.5.1",
		"turbopack:///[project]/node_modules/.pnpm/next@16.0.1_@babel+core@7.0.0/" +
			"node_modules/next/dist/client/app.js": "16.0.1",
		"node_modules/.bun/react@19.2.0/node_modules/react/index.js":                                     "19.2.0",
		"node_modules/.deno/@types+node@22.1.0/node_modules/@types/node/x.js":                            "22.1.0",
		"node_modules/.store/react-npm-19.2.0-2f1b8c3a44/node_modules/react/index.js":                    "19.2.0",
		"/home/x/.yarn/cache/lodash-npm-4.17.21-6382451519-eb835a2e51.zip/node_modules/lodash/lodash.js": "4.17.21",
		".yarn/cache/@babel-core-npm-7.0.0-beta.2-6382451519-eb835a2e51.zip/" +
			"node_modules/@babel/core/x.js": "7.0.0-beta.2",
		".yarn/__virtual__/react-dom-virtual-12/0/cache/react-dom-npm-18.2.0-dd675bca1c-7d323310bd.zip/" +
			"node_modules/react-dom/x.js": "18.2.0",
		"https://x.example/@fs/srv/node_modules/.pnpm/vue%403.5.1/node_modules/vue/x.js": "3.5.1",
		"https://cdn.jsdelivr.net/npm/lodash@4.17.21/lodash.min.js":                      "4.17.21",
		"https://cdn.jsdelivr.net/npm/@vue/reactivity@3.5.1/dist/x.js":                   "3.5.1",
		"https://unpkg.com/lodash@4.17/lodash.js":                                        "4.17",
		"https://unpkg.com/lodash@latest/lodash.js":                                      "",
		"https://unpkg.com/lodash/lodash.js":                                             "",
		"https://unpkg.com/@scope":                                                       "",
		"https://esm.sh/v135/react@18.2.0/es2022/react.mjs":                              "18.2.0",
		"https://esm.sh/react@19.0.0-rc.1/es2022/react.mjs":                              "19.0.0-rc.1",
		"https://ga.jspm.io/npm:react@18.2.0/index.js":                                   "18.2.0",
		"https://cdnjs.cloudflare.com/ajax/libs/d3/7.9.0/d3.min.js":                      "7.9.0",
		"https://ajax.googleapis.com/ajax/libs/jquery/3.7.1/jquery.min.js":               "3.7.1",
		"https://shop.example/assets/shop@1.2.3/app.js":                                  "",

		"":                            "",
		"src/a.ts":                    "",
		"src/react@19.2.0/a.ts":       "",
		"node_modules/react/index.js": "",
		"node_modules/.pnpm/react@19.2.0/node_modules/scheduler/index.js":   "", // a dependency next to react
		"node_modules/.pnpm/a@1.0.0/node_modules/a/node_modules/b/index.js": "", // bundled in a
		"node_modules/.pnpm/a@1.0.0/node_modules/a/node_modules/a/index.js": "", // another copy in a
		"node_modules/.pnpm/react@file+react/node_modules/react/index.js":   "", // no version
		"node_modules/.pnpm/a@https+++x.example+a/node_modules/a/index.js":  "",
		"node_modules/.store/react-npm-19.2.0/node_modules/react/index.js":  "19.2.0",
	} {
		if got := PackageVersion(source); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}

func FuzzPackageVersion(f *testing.F) {
	f.Add("node_modules/.pnpm/react@19.2.0/node_modules/react/index.js")
	f.Add(".yarn/cache/lodash-npm-4.17.21-6382451519-eb835a2e51.zip/node_modules/lodash/lodash.js")
	f.Add("https://esm.sh/v135/react@18.2.0/x")
	f.Fuzz(func(t *testing.T, source string) {
		if got := PackageVersion(source); got != "" && (got[0] < '0' || got[0] > '9') || strings.Contains(got, "/") {
			t.Errorf("%q: got %q", source, got)
		}
	})
}
