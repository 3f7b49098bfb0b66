package symbols

import "strings"

// SourceName normalises the name of a source in a map, so that a file has the same name on all
// machines and with all bundlers. It removes query, scheme and host, leading steps out of the build
// folder, and for packages everything before the last node_modules.
//
//	webpack://shop/./src/table/Row.tsx?4c2a        src/table/Row.tsx
//	../../node_modules/.pnpm/react@19.2.0/node_modules/react/index.js
//	                                               node_modules/react/index.js
//	turbopack:///[project]/app/page.tsx            app/page.tsx
func SourceName(name string) string {
	name, _, _ = strings.Cut(name, "?")
	name = strings.ReplaceAll(name, `\`, "/")
	if scheme, rest, ok := strings.Cut(name, "://"); ok && !strings.Contains(scheme, "/") {
		_, name, _ = strings.Cut(rest, "/") // the host: webpack writes the name of the project there
		if name == "" {
			name = rest
		}
	}
	if i := strings.LastIndex(name, "node_modules/"); i >= 0 && (i == 0 || name[i-1] == '/') {
		return name[i:]
	}
	name = strings.TrimPrefix(name, "[project]/")
	for {
		switch {
		case strings.HasPrefix(name, "./"):
			name = name[2:]
		case strings.HasPrefix(name, "../"):
			name = name[3:]
		case strings.HasPrefix(name, "/"):
			name = name[1:]
		default:
			return name
		}
	}
}

// keySource returns the name of a source in keys. Parts of one file that bundlers treat as separate
// files, such as the template of a component, stay separate.
func keySource(name string) string {
	key := SourceName(name)
	_, query, _ := strings.Cut(name, "?")
	for parameter := range strings.SplitSeq(query, "&") {
		if strings.HasPrefix(parameter, "type=") {
			return key + "?" + parameter
		}
	}
	return key
}

// minifiedText reports whether a source looks minified already. Then its names come from a
// minifier.
func minifiedText(text []byte) bool {
	const long = 500 // bytes of a line, on average
	lines := 1
	for _, c := range text {
		if c == '\n' {
			lines++
		}
	}
	return len(text) > 4*long && len(text)/lines > long
}
