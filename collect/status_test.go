package collect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestRefusals checks every response other than 202 that does not need a store.
func TestRefusals(t *testing.T) {
	const protobuf, jsonType = "application/x-protobuf", "application/json"
	good := traceBinary(t, "f", "")
	profile := func() string {
		p := trie.NewProfile()
		p.Add(nil, p.Insert(trie.Frame{Name: "f"}), trie.Weight{Self: 1})
		b, err := encode.EncodeProfile(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}()
	for _, c := range []struct {
		name, body string
		media      string // Content-Type
		encoding   string
		limits     Limits
		status     int
		reason     string
		want       string // a part of the message
	}{
		{name: "empty", media: jsonType, status: 400, reason: "empty", want: "body: it is empty"},
		{name: "white space", body: " \n", media: jsonType, status: 400, reason: "empty", want: "it has no trace"},
		{name: "empty array", body: "[]", media: jsonType, status: 400, reason: "empty", want: "it has no trace"},
		{name: "empty in gzip", body: compress(t, "gzip", ""), media: jsonType, encoding: "gzip", status: 400,
			reason: "empty", want: "empty after decompression"},
		{name: "not JSON", body: "hello", media: jsonType, status: 400, reason: "malformed",
			want: `body: malformed: byte 0: 'h'`},
		{name: "truncated JSON", body: `{"trace":{`, media: jsonType, status: 400, reason: "malformed",
			want: "the document ends"},
		{name: "other JSON", body: `{"hello":1}`, media: jsonType, status: 400, reason: "malformed",
			want: "malformed: resources: missing"},
		{name: "missing time", body: strings.Replace(traceJSON("f", ""), `"timestamp":10,`, "", 1), media: jsonType,
			status: 400, reason: "malformed", want: "trace.samples[1].timestamp: missing"},
		{name: "wrong type", body: strings.Replace(traceJSON("f", ""), `"line":1`, `"line":"1"`, 1), media: jsonType,
			status: 400, reason: "malformed", want: "trace.frames[0]"},
		{name: "binary as JSON", body: good, media: jsonType, status: 400, reason: "malformed",
			want: "body: malformed"},
		{name: "JSON as binary", body: traceJSON("f", ""), media: protobuf, status: 400, reason: "malformed",
			want: "neither a trace nor the length of one"},
		{name: "truncated binary", body: good[:len(good)-3], media: protobuf, status: 400, reason: "malformed",
			want: "malformed: at byte "},
		{name: "length too long", body: "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", media: protobuf, status: 400,
			reason: "malformed", want: "at byte 0: neither a trace nor the length of one"},
		{name: "length of nothing", body: "\x00", media: protobuf, status: 400, reason: "malformed",
			want: "not in the binary format"},
		{name: "newer version", body: good[:4] + "\x09" + good[5:], media: protobuf, status: 400, reason: "malformed",
			want: "format version 9; this program reads versions 1 and 2"},
		{name: "not gzip", body: traceJSON("f", ""), media: jsonType, encoding: "gzip", status: 400, reason: "body",
			want: "undo gzip: gzip: invalid header"},
		{name: "truncated gzip", body: compress(t, "gzip", traceJSON("f", ""))[:60], media: jsonType, encoding: "gzip",
			status: 400, reason: "body", want: "undo gzip: unexpected EOF"},
		{name: "gzip with a wrong sum", body: flip(compress(t, "gzip", traceJSON("f", "")), -5), media: jsonType,
			encoding: "gzip", status: 400, reason: "body", want: "undo gzip: gzip: invalid checksum"},
		{name: "deflate with a wrong sum", body: flip(compress(t, "deflate", traceJSON("f", "")), -1), media: jsonType,
			encoding: "deflate", status: 400, reason: "body", want: "undo deflate: zlib: invalid checksum"},
		{name: "two deflate streams", body: strings.Repeat(compress(t, "deflate", traceJSON("f", "")), 2),
			media: jsonType, encoding: "deflate", status: 400, reason: "body", want: "bytes after the end"},
		{name: "not zstd", body: traceJSON("f", ""), media: jsonType, encoding: "zstd", status: 400, reason: "body",
			want: "undo zstd: "},

		{name: "body", body: strings.Repeat(" ", 101), media: jsonType, limits: Limits{Body: 100}, status: 413,
			reason: "body_size", want: "body: over 100 bytes"},
		{name: "inflated", body: compress(t, "gzip", strings.Repeat(" ", 101)), media: jsonType, encoding: "gzip",
			limits: Limits{Inflated: 100}, status: 413, reason: "inflated_size",
			want: "body: over 100 bytes after decompression"},
		{name: "batch", body: "{}{}{}", media: jsonType, limits: Limits{Batch: 2}, status: 413, reason: "batch_size",
			want: "body: over 2 traces"},
		{name: "binary batch", body: delimited(good, good, good), media: protobuf, limits: Limits{Batch: 2},
			status: 413, reason: "batch_size", want: "body: over 2 traces"},
		{name: "samples", body: traceJSON("f", ""), media: jsonType, limits: Limits{Trace: encode.Limits{Samples: 1}},
			status: 413, reason: "trace_size", want: "too large: trace.samples: more than 1"},
		{name: "binary samples", body: good, media: protobuf, limits: Limits{Trace: encode.Limits{Samples: 1}},
			status: 413, reason: "trace_size", want: "too large: sample_time: 2, the most is 1"},
		{name: "string", body: traceJSON(strings.Repeat("f", 8<<10+1), ""), media: jsonType, status: 413,
			reason: "trace_size", want: "too large: trace.frames[0].name: 8193 bytes"},

		{name: "type", body: "{}", media: "image/png", status: 415, reason: "content_type",
			want: `header Content-Type: "image/png"; use`},
		{name: "form", body: "{}", media: "application/x-www-form-urlencoded", status: 415, reason: "content_type",
			want: "use application/x-protobuf"},
		{name: "odd type", body: "{}", media: "application/", status: 415, reason: "content_type",
			want: "header Content-Type: mime:"},
		{name: "encoding", body: "{}", media: jsonType, encoding: "br", status: 415, reason: "encoding",
			want: `header Content-Encoding: "br"; use one of gzip, deflate, zstd, or none`},
		{name: "nested encodings", body: "{}", media: jsonType, encoding: "gzip, gzip", status: 415, reason: "encoding",
			want: `"gzip, gzip"`},

		{name: "cycle of one", body: withStacks(`{"frameId":0,"parentId":0}`), media: jsonType, status: 422,
			reason: "invalid", want: "invalid: trace.stacks[0].parentId: 0 does not come before it"},
		{name: "cycle of two", body: withStacks(`{"frameId":0,"parentId":1},{"frameId":0,"parentId":0}`),
			media: jsonType, status: 422, reason: "invalid", want: "trace.stacks[0].parentId"},
		{name: "frame out of range", body: withStacks(`{"frameId":1}`), media: jsonType, status: 422, reason: "invalid",
			want: "trace.stacks[0].frameId: 1, but there are 1 frames"},
		{name: "stack out of range", body: strings.Replace(traceJSON("f", ""), `"stackId":0`, `"stackId":7`, 1),
			media: jsonType, status: 422, reason: "invalid",
			want: "trace.samples[0].stackId: 7, but there are 1 stacks"},
		{name: "resource out of range", body: strings.Replace(traceJSON("f", ""), `"resourceId":0`, `"resourceId":7`,
			1), media: jsonType, status: 422, reason: "invalid", want: "trace.frames[0].resourceId: 7"},
		{name: "negative", body: strings.Replace(traceJSON("f", ""), `"stackId":0`, `"stackId":-1`, 1), media: jsonType,
			status: 422, reason: "invalid", want: "trace.samples[0].stackId"},
		{name: "profile", body: profile, media: protobuf, status: 422, reason: "invalid",
			want: "it is a profile, which has no times; send traces"},
	} {
		t.Run(c.name, func(t *testing.T) {
			col, s := newCollector(Options{Limits: c.limits})
			headers := []string{"Content-Type", c.media}
			if c.encoding != "" {
				headers = append(headers, "Content-Encoding", c.encoding)
			}
			got := post(t, col, c.body, headers...)
			if got.status != c.status || !strings.Contains(got.Error, c.want) {
				t.Errorf("got %d %q, want %d with %q", got.status, got.Error, c.status, c.want)
			}
			if got.Accepted != 0 || len(got.IDs) != 0 || s.appends != 0 {
				t.Errorf("%d accepted, ids %v, %d calls of the store", got.Accepted, got.IDs, s.appends)
			}
			if got.header.Get("Ingest-Durability") != "" || got.header.Get("Retry-After") != "" {
				t.Errorf("headers %v", got.header)
			}
			if n := s.metric(t, "refused_total", c.reason); n != 1 {
				t.Errorf("refused for reason %s is %v, want 1", c.reason, n)
			}
			if n := s.metric(t, "requests_total", strconv.Itoa(c.status)); n != 1 {
				t.Errorf("requests with code %d are %v, want 1", c.status, n)
			}
			if n := col.inFlight.bytes(); n != 0 {
				t.Errorf("%d bytes are still in flight", n)
			}
		})
	}
}

// flip changes one byte of s, counted from the end if at is negative.
func flip(s string, at int) string {
	b := []byte(s)
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 0x55
	return string(b)
}

func withStacks(stacks string) string {
	return strings.Replace(traceJSON("f", ""), `"stacks":[{"frameId":0}]`, `"stacks":[`+stacks+`]`, 1)
}

// TestStoreFailures checks the responses to errors of the store.
func TestStoreFailures(t *testing.T) {
	for _, c := range []struct {
		err    error
		reason string
		want   string
		wait   [2]int // bounds of Retry-After
	}{
		{store.ErrBusy, "busy", "the store is behind", [2]int{1, 5}},
		{fmt.Errorf("%w: 3 MiB", store.ErrNoSpace), "no_space", "the disk is nearly full", [2]int{20, 100}},
		{fmt.Errorf("%w: delivery has been waiting for its commit for 11s", store.ErrStuck), "stuck",
			"the store has not written for too long", [2]int{1, 5}},
		{store.ErrClosed, "closing", "shutting down", [2]int{1, 5}},
		{errors.New("commit to partition: input/output error"), "store", "could not be stored", [2]int{1, 5}},
	} {
		col, s := newCollector(Options{})
		s.fail = func([]store.Record) error { return c.err }
		waits := map[string]bool{}
		for range 30 {
			got := post(t, col, traceJSON("f", "")+"\n{}")
			if got.status != http.StatusServiceUnavailable || !strings.Contains(got.Error, c.want) ||
				!strings.Contains(got.Error, "again later") {
				t.Fatalf("%v: got %d %q", c.err, got.status, got.Error)
			}
			if strings.Contains(got.Error, "input/output") {
				t.Errorf("%v: the response contains %q", c.err, got.Error)
			}
			if got.Accepted != 0 || len(got.IDs) != 0 || got.header.Get("Ingest-Durability") != "" {
				t.Errorf("%v: got %+v", c.err, got)
			}
			after := got.header.Get("Retry-After")
			if n, err := strconv.Atoi(after); err != nil || n < c.wait[0] || n > c.wait[1] {
				t.Errorf("%v: Retry-After is %q", c.err, after)
			}
			waits[after] = true
		}
		if len(waits) == 1 {
			t.Errorf("%v: all clients have to retry after %v s", c.err, waits)
		}
		if n := s.metric(t, "refused_total", c.reason); n != 30 {
			t.Errorf("refused for reason %s is %v, want 30", c.reason, n)
		}
		if n := s.metric(t, "traces_total", "accepted"); n != 0 {
			t.Errorf("%v: %v traces are counted as accepted", c.err, n)
		}
		// The client retries successfully.
		s.fail = nil
		if got := post(t, col, traceJSON("f", "")); got.status != 202 || len(s.records) != 1 {
			t.Errorf("%v: got %d afterwards, %d stored", c.err, got.status, len(s.records))
		}
	}
}

// TestStoreRefusesOne checks that a record that the store rejects does not affect the others.
func TestStoreRefusesOne(t *testing.T) {
	col, s := newCollector(Options{})
	s.fail = func(recs []store.Record) error {
		if i := slices.IndexFunc(recs, func(r store.Record) bool { return len(r.Tags) > 0 }); i >= 0 {
			return &store.RecordError{Index: i, ID: recs[i].ID, Reason: "payload is too large"}
		}
		return nil
	}
	good, bad := func(n int) string {
		return traceJSON(fmt.Sprint("good", n), "")
	}, func(n int) string { return traceJSON(fmt.Sprint("bad", n), `"release":"r",`) }
	got := post(t, col, strings.Join([]string{bad(1), good(1), "{}", bad(2), good(2)}, "\n"))
	if got.status != 202 || got.Accepted != 2 || len(s.records) != 2 || len(got.IDs) != 2 {
		t.Errorf("got %+v, %d stored", got.answer, len(s.records))
	}
	var at, statuses []int
	for _, r := range got.Rejected {
		at, statuses = append(at, r.Index), append(statuses, r.Status)
	}
	if !slices.Equal(at, []int{0, 2, 3}) || !slices.Equal(statuses, []int{413, 400, 413}) {
		t.Errorf("rejected: %+v", got.Rejected)
	}
	if got := post(t, col, bad(1)); got.status != 413 || got.Error != "trace: payload is too large" ||
		got.Rejected != nil {
		t.Errorf("got %d %+v", got.status, got.answer)
	}
}

// TestClientGone checks that a complete request is stored even if the client is gone.
func TestClientGone(t *testing.T) {
	col, s := newCollector(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/traces", strings.NewReader(traceJSON("f", "")))
	if got := send(t, col, r); got.status != 202 || len(s.records) != 1 {
		t.Errorf("got %d %q, %d stored", got.status, got.Error, len(s.records))
	}
}

func TestRate(t *testing.T) {
	now := noon
	col, _ := newCollector(Options{Limits: Limits{Rate: 1}, Now: func() time.Time { return now }})
	from := func(addr string) reply {
		r := httptest.NewRequest(http.MethodPost, "/v1/traces", strings.NewReader(traceJSON("f", "")))
		r.RemoteAddr = addr
		return send(t, col, r)
	}
	for i, want := range []int{202, 202, 429} { // the burst is twice the rate
		got := from(fmt.Sprintf("192.0.2.1:%d", i))
		if got.status != want {
			t.Errorf("request %d: got %d, want %d", i, got.status, want)
		}
		if want == 429 && (got.header.Get("Retry-After") == "" || !strings.Contains(got.Error,
			"over 1 requests a second")) {
			t.Errorf("got %v %q", got.header, got.Error)
		}
	}
	if got := from("192.0.2.2:1"); got.status != 202 {
		t.Errorf("another address: got %d", got.status)
	}
	for i, want := range []int{202, 202, 429} { // all addresses of one client count together
		if got := from(fmt.Sprintf("[2001:db8::%d]:1", i)); got.status != want {
			t.Errorf("IPv6 request %d: got %d, want %d", i, got.status, want)
		}
	}
	now = now.Add(time.Second)
	if got := from("192.0.2.1:9"); got.status != 202 {
		t.Errorf("a second later: got %d", got.status)
	}
	for i := range maxLimiters + 10 {
		col.bounds.Load().clients.allow(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if n := len(col.bounds.Load().clients.of); n > maxLimiters {
		t.Errorf("%d clients are remembered", n)
	}
}
