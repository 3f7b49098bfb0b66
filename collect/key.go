package collect

import (
	"net/http"
	"slices"
)

// checkKey refuses requests without one of the keys, if there are keys. A key stands in
// every page that embeds the script, so it is no secret and proves nothing, and the time
// that it takes to compare it may tell what it likes. It keeps out noise, and lets an
// operator cut off an embed that nobody looks after.
func (c *Collector) checkKey(w http.ResponseWriter, r *http.Request) error {
	key := r.URL.Query().Get("key")
	if len(c.opts.Keys) == 0 || key != "" && slices.Contains(c.opts.Keys, key) {
		return nil
	}
	w.Header().Set("WWW-Authenticate", "Key") // RFC 9110 wants one; browsers ask nobody for a key
	if key == "" {
		return refuse(http.StatusUnauthorized, "key", "parameter key: it is missing; send to %s?key=KEY with the key of this site", r.URL.Path)
	}
	return refuse(http.StatusUnauthorized, "key", "parameter key: %.40q is not one of this site's keys; allow it with --key", key)
}
