package encode

import "strings"

// BrowserOf returns family and major version of the browser with the user agent ua,
// such as "Chrome 156", or "" if it is unknown.
func BrowserOf(ua string) string {
	for _, b := range []struct{ token, family string }{
		// The order matters: most claim to be some of those after them.
		{"EdgA/", "Edge"}, {"EdgiOS/", "Edge"}, {"Edg/", "Edge"}, {"OPR/", "Opera"},
		{"SamsungBrowser/", "SamsungBrowser"}, {"FxiOS/", "Firefox"}, {"Firefox/", "Firefox"},
		{"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Version/", "Safari"},
	} {
		_, version, ok := strings.Cut(ua, b.token)
		if !ok || b.family == "Safari" && !strings.Contains(version, "Safari/") {
			continue
		}
		digits := len(version) - len(strings.TrimLeft(version, "0123456789"))
		if digits == 0 || digits > 4 { // more is not a version, and might name a person
			return ""
		}
		return b.family + " " + version[:digits]
	}
	return ""
}
