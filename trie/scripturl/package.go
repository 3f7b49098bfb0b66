package scripturl

import (
	"net/url"
	"strings"
)

// Package returns the name of the npm package of a script, such as "lodash" or "@babel/core", or ""
// if the script is not in a node_modules folder. It returns the innermost of nested packages, which
// also finds packages in the folders of pnpm
// (node_modules/.pnpm/lodash@4.17.21/node_modules/lodash) and in the archives of Yarn. It supports
// Windows paths and percent-encoding.
func Package(resource string) string {
	const folder = "node_modules"
	path := resource
	if strings.IndexByte(path, '\\') >= 0 {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	i := strings.LastIndex(path, folder+"/")
	for ; i > 0 && path[i-1] != '/'; i = strings.LastIndex(path[:i], folder+"/") {
	}
	if i < 0 {
		return ""
	}
	name, rest, inFolder := strings.Cut(path[i+len(folder)+1:], "/")
	if !inFolder || name == "" || name[0] == '.' {
		return ""
	}
	if strings.IndexByte(name, '%') >= 0 {
		if text, err := url.PathUnescape(name); err == nil {
			name = text
		}
	}
	if name[0] == '@' && !strings.Contains(name, "/") {
		sub, _, inFolder := strings.Cut(rest, "/")
		if !inFolder || sub == "" {
			return ""
		}
		name += "/" + sub
	}
	return name
}
