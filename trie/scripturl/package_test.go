package scripturl

import "testing"

func TestPackageOf(t *testing.T) {
	for _, tt := range []struct{ resource, want string }{
		{"", ""},
		{"https://example.com/app.js", ""},
		{"/srv/app/node_modules/lodash/lodash.js", "lodash"},
		{"node_modules/lodash/lodash.js", "lodash"},
		{"file:///srv/node_modules/@babel/core/lib/index.js", "@babel/core"},
		{"file:///srv/node_modules/%40babel/core/lib/index.js", "@babel/core"},
		{"/a/node_modules/%40babel%2Fcore/lib/index.js", "@babel/core"},
		{"/a/node_modules/.pnpm/react-dom@18.2.0_react@18.2.0/node_modules/react-dom/index.js", "react-dom"},
		{"/a/node_modules/.pnpm/@babel+core@7.0.0/node_modules/@babel/core/index.js", "@babel/core"},
		{"/a/.yarn/cache/lodash-npm-4.17.21-6382451519-eb835a2e51.zip/node_modules/lodash/lodash.js", "lodash"},
		{"/a/.yarn/__virtual__/react-dom-virtual-12/0/cache/x.zip/node_modules/react-dom/index.js", "react-dom"},
		{`C:\app\node_modules\@scope\pkg\index.js`, "@scope/pkg"},
		{"webpack:///./node_modules/outer/node_modules/inner/index.js", "inner"},
		{"webpack-internal:///(app)/./node_modules/next/dist/client.js?1234", "next"},
		{"/a/my_node_modules/lodash/lodash.js", ""},
		{"/a/node_modules/pkg/my_node_modules/x.js", "pkg"},
		{"/a/node_modules/single.js", ""},
		{"/a/node_modules/@scope/single.js", ""},
		{"/a/node_modules/.vite/deps/react.js", ""},
		{"/a/node_modules//x.js", ""},
	} {
		if got := Package(tt.resource); got != tt.want {
			t.Errorf("Package(%q) = %q, want %q", tt.resource, got, tt.want)
		}
	}
}
