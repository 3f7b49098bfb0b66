package sdk

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// file is a response that is the same for all clients.
type file struct {
	body    []byte
	encoded []encoding // the same, shorter; the shortest first
	hash    string
	media   string // Content-Type
	cache   string // Cache-Control
}

// encoding is a body in a Content-Encoding.
type encoding struct {
	name string // as in Accept-Encoding
	body []byte
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
		f.encoded = []encoding{{"gzip", b.Bytes()}}
	}
	return f
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	body, tag := f.body, `"`+f.hash+`"`
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Cache-Control", f.cache)
	h.Add("Vary", "Accept-Encoding")
	for _, e := range f.encoded {
		if accepts(r.Header, e.name) {
			// A different encoding needs a different tag.
			body, tag = e.body, `"`+f.hash+"-"+e.name+`"`
			h.Set("Content-Encoding", e.name)
			break
		}
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
			if tag == "*" || strings.TrimSuffix(strings.TrimSuffix(tag, "-gzip"), "-br") == f.hash {
				return true
			}
		}
	}
	return false
}

// accepts reports whether the client accepts an encoding.
func accepts(h http.Header, name string) bool {
	for _, line := range h.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			own, param, _ := strings.Cut(part, ";")
			if strings.TrimPrefix(strings.ToLower(strings.TrimSpace(own)), "x-") != name {
				continue
			}
			q, given := strings.CutPrefix(strings.ToLower(strings.TrimSpace(param)), "q=")
			weight, err := strconv.ParseFloat(q, 64)
			return !given || err == nil && weight > 0
		}
	}
	return false
}
