package owner

import (
	"net/url"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// PackageVersion returns the version of the npm package of a file, such as "19.2.0", or "" if its
// path does not contain it. source is the name of a source in a source map, or a URL. It must not
// be normalised, which drops the version: it is in the folder in which a package manager stores the
// package, or in the segment name@version of a CDN's URL.
//
//	node_modules/.pnpm/react@19.2.0/node_modules/react/index.js    also .bun, .deno
//	.yarn/cache/react-npm-19.2.0-2f1b8c3a44-5e2d….zip/node_modules/react/index.js
//	https://cdn.jsdelivr.net/npm/lodash@4.17.21/lodash.js
func PackageVersion(source string) string {
	if _, version := cdnPackage(source); version != "" {
		return version
	}
	path := strings.ReplaceAll(source, `\`, "/")
	name := scripturl.Package(path)
	if name == "" {
		return ""
	}
	if i := strings.LastIndex(path, "node_modules/"); i >= 0 {
		path = strings.TrimSuffix(path[:i], "/")
	}
	for path != "" { // the innermost folder that belongs to the package
		folder := path[strings.LastIndexByte(path, '/')+1:]
		if version := storedVersion(folder, name); version != "" {
			return version
		}
		if folder == "node_modules" {
			return ""
		}
		path = strings.TrimSuffix(path[:len(path)-len(folder)], "/")
	}
	return ""
}

// storedVersion returns the version in the name of the folder or archive in which a package
// manager stores a package, or "" if it belongs to another package.
func storedVersion(folder, name string) string {
	if plain, err := url.PathUnescape(folder); err == nil {
		folder = plain
	}
	// pnpm, Bun and Deno: @scope+name@version, then _ or ( and the peer dependencies.
	if rest, ok := strings.CutPrefix(folder, strings.ReplaceAll(name, "/", "+")+"@"); ok {
		return leadingVersion(rest)
	}
	// Yarn: @scope-name-npm-version-hash.
	if rest, ok := strings.CutPrefix(folder, strings.ReplaceAll(name, "/", "-")+"-npm-"); ok {
		if i := strings.LastIndexByte(strings.TrimSuffix(rest, ".zip"), '-'); i > 0 {
			rest = rest[:i]
		}
		if i := strings.LastIndexByte(rest, '-'); i > 0 && isHash(rest[i+1:]) { // archives have two
			rest = rest[:i]
		}
		return leadingVersion(rest)
	}
	return ""
}

// isHash reports whether a text is the short hash that precedes Yarn's long one.
func isHash(text string) bool {
	return len(text) == 10 && strings.Trim(text, "0123456789abcdef") == ""
}

// leadingVersion returns the version at the start of a text: one to three numbers, and an optional
// suffix after - or +.
func leadingVersion(text string) string {
	text = strings.TrimPrefix(text, "v")
	end := 0
	for numbers := 0; numbers < 3; numbers++ {
		from := end
		if numbers > 0 {
			if end == len(text) || text[end] != '.' {
				break
			}
			from++
		}
		to := from
		for to < len(text) && text[to] >= '0' && text[to] <= '9' {
			to++
		}
		if to == from {
			break
		}
		end = to
	}
	if end > 0 && end < len(text) && (text[end] == '-' || text[end] == '+') {
		end++
		for end < len(text) && isVersionByte(text[end]) {
			end++
		}
	}
	return text[:end]
}

func isVersionByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '.' || c == '-' || c == '+'
}

// cdns are the hosts of package CDNs, with the position of the package in their paths.
var cdns = map[string]struct {
	before string // path before the name
	libs   bool   // name/version, not name@version
}{
	"cdn.jsdelivr.net":     {before: "/npm/"},
	"fastly.jsdelivr.net":  {before: "/npm/"},
	"unpkg.com":            {before: "/"},
	"esm.sh":               {before: "/"},
	"esm.run":              {before: "/"},
	"ga.jspm.io":           {before: "/npm:"},
	"cdnjs.cloudflare.com": {before: "/ajax/libs/", libs: true},
	"ajax.googleapis.com":  {before: "/ajax/libs/", libs: true},
}

// cdnPackage returns the package in the URL of a CDN, and its version if the URL has one.
func cdnPackage(resource string) (name, version string) {
	scheme, rest, ok := strings.Cut(resource, "://")
	if !ok || scheme != "https" && scheme != "http" {
		return "", ""
	}
	host, path, _ := strings.Cut(rest, "/")
	cdn, known := cdns[host]
	path, ok = strings.CutPrefix("/"+path, cdn.before)
	if !known || !ok {
		return "", ""
	}
	if cdn.libs {
		name, rest, _ = strings.Cut(path, "/")
		version, _, _ = strings.Cut(rest, "/")
		return name, leadingVersion(version)
	}
	if host == "esm.sh" { // the CDN's own version may precede it
		if first, rest, _ := strings.Cut(path, "/"); first == "stable" || first != "" && first[0] == 'v' &&
			leadingVersion(first) == first[1:] {
			path = rest
		}
	}
	name, rest, inFolder := strings.Cut(path, "/")
	if strings.HasPrefix(name, "@") {
		if !inFolder {
			return "", ""
		}
		sub, _, _ := strings.Cut(rest, "/")
		name += "/" + sub
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		return name[:i], leadingVersion(name[i+1:])
	}
	return name, ""
}
