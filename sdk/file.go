package sdk

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// file is a response that is the same for everybody.
type file struct {
	body   []byte
	zipped []byte // body in gzip; nil if that is no shorter
	hash   string
	media  string // Content-Type
	cache  string // Cache-Control
}

// newFile returns a file that browsers cache and revalidate each time.
func newFile(body []byte, hash, media string) *file {
	f := &file{body: body, hash: hash, media: media, cache: "no-cache"}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(body)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil && b.Len() < len(body) { // else it is served as it is
		f.zipped = b.Bytes()
	}
	return f
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	body, tag := f.body, `"`+f.hash+`"`
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Cache-Control", f.cache)
	h.Add("Vary", "Accept-Encoding")
	if f.zipped != nil && acceptsGzip(r.Header) {
		// A different encoding needs a different tag.
		body, tag = f.zipped, `"`+f.hash+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	if f.known(r.Header) {
		h.Del("Content-Type")
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have gone
	}
}

// known reports whether the client has the file cached, in any encoding.
func (f *file) known(h http.Header) bool {
	for _, line := range h.Values("If-None-Match") {
		for tag := range strings.SplitSeq(line, ",") {
			tag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`)
			if tag == "*" || strings.TrimSuffix(tag, "-gzip") == f.hash {
				return true
			}
		}
	}
	return false
}

// acceptsGzip reports whether the client accepts gzip.
func acceptsGzip(h http.Header) bool {
	for _, line := range h.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			name, param, _ := strings.Cut(part, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			if name != "gzip" && name != "x-gzip" {
				continue
			}
			q, given := strings.CutPrefix(strings.ToLower(strings.TrimSpace(param)), "q=")
			weight, err := strconv.ParseFloat(q, 64)
			return !given || err == nil && weight > 0
		}
	}
	return false
}
