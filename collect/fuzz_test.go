package collect

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
)

// FuzzPost sends any body with any headers to a collector with a healthy store: it never panics,
// never responds with 5xx, and responds with 202 only if the store received the traces.
func FuzzPost(f *testing.F) {
	binary := traceBinary(f, "f",
		`"page":"/user/1?x","viewId":"1","spans":[{"feature":"s","start":1,"end":2},{"page":"/b","start":3,"end":9},`+
			`{"label":"phase=load","start":1,"end":2}],"labels":{"a":"b"},`)
	text := traceJSON("f", `"page":"/feed","ua":"Mozilla/5.0 Chrome/156.0.0.0","release":"r",`)
	for _, c := range [][3]string{
		{text, "application/json", ""},
		{text + "\n" + text, "text/plain;charset=UTF-8", ""},
		{"[" + text + ",{}]", "", ""},
		{binary, "application/x-protobuf", ""},
		{delimited(binary, binary, "x"), "application/octet-stream", ""},
		{delimited(binary), "", ""},
		{compress(f, "gzip", text), "application/x-ndjson", "gzip"},
		{compress(f, "deflate", text), "application/json", "deflate"},
		{compress(f, "raw", binary), "application/x-protobuf", "deflate"},
		{compress(f, "zstd", binary), "application/x-protobuf", "zstd"},
		{`{"version":1,"profile":{"strings":["a @ b:1:2","unknown"],"stackFrames":{"1":{"name":1},"2":{"name":0,` +
			`"parent":1}},"main-thread":[{"type":"stack","timestamp":1,"stack":2}]}}`, "", ""},
		{withStacks(`{"frameId":0,"parentId":0}`), "application/json", ""},
		{"", "image/png", "br"},
	} {
		f.Add([]byte(c[0]), c[1], c[2])
	}
	for _, bomb := range bombs(f) {
		if len(bomb[1]) < 64<<10 {
			f.Add([]byte(bomb[1]), "", bomb[0])
		}
	}
	// An interval that differs from the unit of times, which our encoder does not write.
	odd := strings.Replace(traceBinary(f, "f", `"page":"/a",`), "/a(\x90N", "/a(\x80N", 1)
	f.Add([]byte(odd), "application/x-protobuf", "")
	for _, text := range realTraces(f) {
		if len(text) < 10<<10 {
			f.Add([]byte(text), "application/json", "")
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, media, encoding string) {
		col, s := newCollector(Options{
			FirstParty: []string{"www.example.com"},
			Limits:     Limits{Body: 64 << 10, Inflated: 256 << 10, Batch: 20, Pages: 3},
		})
		r := httptest.NewRequest(http.MethodPost, "/v1/traces", strings.NewReader(string(body)))
		r.Header["Content-Type"] = []string{media}
		r.Header["Content-Encoding"] = []string{encoding}
		got := send(t, col, r)
		if got.status >= 500 || got.status != 202 && got.Error == "" {
			t.Fatalf("got %d %+v", got.status, got.answer)
		}
		if (got.status == 202) != (got.Accepted > 0) || got.Accepted != len(got.IDs) ||
			got.Accepted-got.Duplicates != len(s.records) {
			t.Fatalf("got %d %+v, %d stored", got.status, got.answer, len(s.records))
		}
		ids := map[string]bool{}
		for _, id := range got.IDs {
			ids[id] = true
		}
		for _, r := range s.records {
			checkRecord(t, r)
			if !ids[r.ID.String()] {
				t.Fatalf("%s is stored and not in the answer %+v", r.ID, got.answer)
			}
		}
		if n := col.inFlight.bytes(); n != 0 {
			t.Fatalf("%d bytes are still in flight", n)
		}
	})
}

// checkRecord checks the properties that the store and its readers rely on.
func checkRecord(t *testing.T, r store.Record) {
	t.Helper()
	tr := traceOf(t, r)
	if len(r.Pages) == 0 || len(r.Pages) > store.MaxPages || len(r.Tags) > store.MaxTags {
		t.Fatalf("%d pages, %d tags", len(r.Pages), len(r.Tags))
	}
	pages := tr.Pages()
	for i, p := range r.Pages {
		checkPage(t, PageRules{}, p)
		if len(p) > store.MaxPage || pages[i] != p {
			t.Fatalf("pages %q, of the trace %q", r.Pages, pages)
		}
	}
	for _, tag := range r.Tags {
		if tag.Value == "" || len(tag.Value) > store.MaxTagValue || strings.Contains(tag.Value, "\x00") {
			t.Fatalf("tag %q", tag)
		}
	}
	// Compare with a re-encoded trace, not with the payload: a trace that needs no repair is stored
	// with the tables as sent, which may differ from ours.
	want, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatalf("the stored trace cannot be encoded: %v", err)
	}
	if encode.Repair(tr) {
		t.Fatalf("the stored trace needs a repair: %q %v", tr.Strings, tr.Frames)
	}
	if again, err := encode.EncodeTrace(tr); err != nil || string(again) != string(want) {
		t.Fatalf("repairing the stored trace changes its context to %+v, %v", tr.Context, err)
	}
	if c := tr.Coalesce(nil); len(c.Nodes) > len(tr.Nodes) {
		t.Fatal("coalescing makes more nodes")
	}
}

// FuzzRequest reads raw requests, as a proxy may forward them.
func FuzzRequest(f *testing.F) {
	trace := traceJSON("f", `"page":"/feed",`)
	for _, head := range []string{
		"POST /v1/traces?key=k HTTP/1.1\r\nHost: x\r\nOrigin: https://www.example.com\r\nX-Forwarded-For: " +
			"203.0.113.9, 10.0.0.2\r\n",
		"POST /v1/views?key=k HTTP/1.1\r\nHost: x\r\nForwarded: " +
			"for=\"[2001:db8::7]:1\";proto=https\r\nContent-Type: text/plain\r\n",
		"OPTIONS /v1/traces HTTP/1.1\r\nHost: x\r\nOrigin: null\r\nAccess-Control-Request-Method: POST\r\n",
		"POST /v1/traces?key=k&key=%00 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ,\r\nX-Forwarded-For: " +
			"unknown\r\nContent-Encoding: gzip\r\nUser-Agent: Chrome/140.0\r\n",
	} {
		for _, header := range []string{"X-Forwarded-For", "Forwarded"} {
			f.Add([]byte(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(trace), trace)), header)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, header string) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return
		}
		r.RemoteAddr = "10.0.0.1:1"
		col, s := newCollector(Options{
			Keys: []Key{{Value: "k", Site: "shop"}}, Origins: []string{"https://*.example.com"},
			Proxies: Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Header: header,
				Direct: true},
			Limits: Limits{Body: 64 << 10, Inflated: 256 << 10, Rate: 1, PageRate: 1, Read: time.Second},
		})
		w := httptest.NewRecorder()
		col.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code == http.StatusAccepted != (len(s.records) > 0) {
			t.Fatalf("got %d %s, %d stored", w.Code, w.Body, len(s.records))
		}
		if n := col.inFlight.bytes(); n != 0 {
			t.Fatalf("%d bytes are still in flight", n)
		}
	})
}
