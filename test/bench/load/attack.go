package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// attack is a set of hostile clients in parallel with the load. All are in one network, or in none
// if the load has no networks.
type attack struct {
	modes []string
	rate  float64 // requests a second of each mode that sends traces
	slow  int     // connections of each mode that holds them
}

// hostile is a mode that sends valid traces made to use up resources. They have their own pages;
// the measurement is their effect on the pages of the load.
type hostile struct {
	trace  func() *trie.Trace           // makes the trace that is sent repeatedly
	change func(x *trie.Context, n int) // changes the nth
	anew   bool                         // it has different functions each time
}

// hostileModes returns the modes that send traces.
func hostileModes() map[string]hostile {
	of := func(prefix string, n int) func() *trie.Trace { return func() *trie.Trace { return wide(prefix, n) } }
	many, few := of("f", manyFunctions), of("f", 3)
	text := of(strings.Repeat("a", 8100), 400)
	secrets := of(strings.Repeat("https://a:b@c.example/?token=%2541a@b.example ", 100), 400)
	return map[string]hostile{
		// the same functions under a new release each time
		"releases": {trace: many, change: func(x *trie.Context, n int) {
			x.Page, x.Release = "/attacked-releases", "r"+word(n)
		}},
		"stacks": {trace: many, anew: true, change: func(x *trie.Context, _ int) { // stacks that no other trace has
			x.Page = "/attacked-stacks"
		}},
		"text": {trace: text, change: func(x *trie.Context, n int) { // names of the maximum length
			x.Page = "/attacked-" + word(n)
		}},
		"features": {trace: many, change: manyFeatures},
		"names":    {trace: few, change: manyNames},
		"labels": {trace: few, change: func(x *trie.Context, n int) { // new values of a site's labels
			x.Page = "/attacked-labels"
			x.Labels = trie.MakeLabels("browser", "attack "+word(n), "connection", "attack "+word(n), "device",
				"attack "+word(n))
		}},
		"times": {trace: years, change: func(x *trie.Context, _ int) {
			x.Page, x.Interval, x.SamplingShare = "/attacked-times", 60_000_000, 1e-300
		}},
		// texts with secrets to redact
		"secrets": {trace: secrets, change: func(x *trie.Context, _ int) {
			x.Page = "/attacked-secrets"
		}},
	}
}

// manyFeatures puts each stack under each of many features.
func manyFeatures(x *trie.Context, n int) {
	x.Page = "/attacked-features"
	const spans = 60
	for k := range int64(spans) {
		length := int64(manyFunctions) * hostileInterval / spans
		x.Spans = append(x.Spans, trie.Span{Kind: trie.SpanFeature, Name: "attack " + word((n*spans+int(k))%2000),
			Start: k * length, Length: length})
	}
	trie.SortSpans(x.Spans)
}

// manyNames makes up a page, a release, a feature and 63 labels.
func manyNames(x *trie.Context, n int) {
	x.Page, x.Release, x.Environment = "/attack-"+word(n), "attack"+word(n), "attack"+word(n)
	for k := range 63 {
		x.Labels = append(x.Labels, trie.Label{Key: fmt.Sprintf("k%02d", k), Value: word(n)})
	}
	x.Labels = x.Labels.Sort()
	x.Spans = []trie.Span{{Kind: trie.SpanFeature, Name: "attack" + word(n), Length: 20_000}}
}

// years has samples that claim to cover years.
func years() *trie.Trace {
	t := wide("f", 3)
	node := t.Samples[0].Node
	t.Samples = nil
	for i := range int64(60_000) {
		t.Samples = append(t.Samples, trie.Sample{Time: i * (1<<32 - 1), Node: node})
	}
	return t
}

const (
	manyFunctions   = 19_000
	hostileInterval = 10_000 // µs
)

// wide has n functions, each called by main and sampled once.
func wide(prefix string, n int) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	frame := trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 1, Column: 1}
	for i := range n {
		node := t.Insert(frame, trie.Frame{Name: fmt.Sprint(prefix, i), Resource: frame.Resource, Line: uint32(i + 2),
			Column: 1})
		t.Samples = append(t.Samples, trie.Sample{Time: int64(i) * hostileInterval, Node: node})
	}
	return t
}

// word returns a word that does not look like an identifier.
func word(n int) string {
	var b []byte
	for range 5 {
		b = append(b, "bdfgklmnprst"[n%12], "aeiou"[n/12%5])
		n /= 60
	}
	return string(b)
}

// hostileConnections are the modes that hold connections, with the data sent first and then each
// second.
var hostileConnections = map[string]struct {
	at    string
	fill  int // bytes more
	every string
}{
	"slow-header": {at: "POST /v1/traces HTTP/1.1\r\nHost: x\r\n", every: "X: a\r\n"},
	"slow-body":   {at: "POST /v1/traces HTTP/1.1\r\nHost: x\r\n%sContent-Length: 200000\r\n\r\n", every: "x"},
	"held-body":   {at: "POST /v1/traces HTTP/1.1\r\nHost: x\r\n%sContent-Length: 262144\r\n\r\n", fill: 262_143},
	"idle":        {at: "GET /sdk.json HTTP/1.1\r\nHost: x\r\n\r\n"},
}

// attackModes returns the names of all modes, sorted; --attack all selects them.
func attackModes() (names []string) {
	for name := range hostileModes() {
		names = append(names, name)
	}
	for name := range hostileConnections {
		names = append(names, name)
	}
	for name := range hostileQuestions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// parseAttack parses --attack.
func parseAttack(modes []string) ([]string, error) {
	if slices.Equal(modes, []string{"all"}) {
		return attackModes(), nil
	}
	for _, m := range modes {
		if !slices.Contains(attackModes(), m) {
			return nil, fmt.Errorf("--attack: %q is not one of all, %s", m, strings.Join(attackModes(), ", "))
		}
	}
	return modes, nil
}

// attacked is the result of an attack.
type attacked struct {
	Modes    []string `json:"modes"`
	Requests int64    `json:"requests"`
	Accepted int64    `json:"accepted_requests"`
	Bytes    int64    `json:"body_bytes"`
	Opened   int64    `json:"held_connections"` // and opened again

	Questions int64 `json:"questions"`
	Answered  int64 `json:"answered_questions"`
	Read      int64 `json:"answer_bytes"`
}

// attacker is the state of an attack.
type attacker struct {
	addr, forwarded                   string
	requests, accepted, bytes, opened atomic.Int64
	questions, answered, read         atomic.Int64
}

// start attacks a daemon at its public and its private address until the returned function is
// called, which returns the result.
func (a attack) start(ctx context.Context, addr, private string, networks bool) func() *attacked {
	ctx, stop := context.WithCancel(ctx)
	x := &attacker{addr: addr}
	if networks {
		x.forwarded = "X-Forwarded-For: 203.0.113.66\r\n"
	}
	var all sync.WaitGroup
	traces := hostileModes()
	for _, mode := range a.modes {
		if of, ok := traces[mode]; ok {
			all.Go(func() { x.send(ctx, of, time.Duration(float64(time.Second)/a.rate)) })
			continue
		}
		if _, ok := hostileQuestions[mode]; ok {
			numbers := new(atomic.Int64)
			for range askers {
				all.Go(func() { x.ask(ctx, private, mode, numbers) })
			}
			continue
		}
		for range a.slow {
			all.Go(func() { x.hold(ctx, mode) })
		}
	}
	return func() *attacked {
		stop()
		all.Wait()
		if len(a.modes) == 0 {
			return nil
		}
		return &attacked{a.modes, x.requests.Load(), x.accepted.Load(), x.bytes.Load(), x.opened.Load(),
			x.questions.Load(), x.answered.Load(), x.read.Load()}
	}
}

// Limits of a request: its body, and the decompressed body.
const (
	mostHostile  = 250 << 10
	mostInflated = 4<<20 - 64
	mostBatch    = 900
)

// send sends traces, as many in each request as fit.
func (x *attacker) send(ctx context.Context, of hostile, every time.Duration) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20),
		zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err) // impossible with the options above
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	trace := of.trace()
	for n, most := 0, mostBatch; ; {
		var body []byte
		first := n
		for n < first+most {
			t := *trace
			if of.anew {
				t = *wide(fmt.Sprintf("x%d_", n), manyFunctions)
			}
			t.Context = trie.Context{Interval: hostileInterval, ViewID: hostileView()}
			of.change(&t.Context, n)
			data, err := encode.EncodeTrace(&t)
			if err != nil {
				panic(err) // impossible with the trace above
			}
			if n > first && len(body)+len(data)+4 > mostInflated {
				break
			}
			body = append(binary.AppendUvarint(body, uint64(len(data))), data...)
			n++
		}
		sent := z.EncodeAll(body, nil)
		if short := len(body)/99 - len(sent); short > 0 { // a skippable frame lowers the ratio
			frame := binary.LittleEndian.AppendUint32([]byte{0x50, 0x2a, 0x4d, 0x18}, uint32(short))
			sent = append(append(frame, make([]byte, short)...), sent...)
		}
		if len(sent) > mostHostile && n > first+1 {
			most = (n - first + 1) / 2
			n = first
			continue
		}
		x.post(ctx, sent)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func hostileView() string {
	id := make([]byte, 16)
	for i := range id {
		id[i] = byte(rand.Uint32())
	}
	id[0] = 1
	return string(id)
}

func (x *attacker) post(ctx context.Context, body []byte) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+x.addr+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("Content-Encoding", "zstd")
	if name, value, ok := strings.Cut(strings.TrimSpace(x.forwarded), ": "); ok {
		req.Header.Set(name, value)
	}
	x.requests.Add(1)
	x.bytes.Add(int64(len(body)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res.StatusCode == http.StatusAccepted {
		x.accepted.Add(1)
	}
}

// hold opens a connection, and reopens it when the daemon has closed it.
func (x *attacker) hold(ctx context.Context, mode string) {
	of := hostileConnections[mode]
	at := of.at
	if strings.Contains(at, "%s") {
		at = fmt.Sprintf(at, x.forwarded)
	}
	for ctx.Err() == nil {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", x.addr)
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		x.opened.Add(1)
		_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
		_, err = io.WriteString(conn, at)
		if err == nil && of.fill > 0 {
			_, err = conn.Write(make([]byte, of.fill))
		}
		for err == nil && ctx.Err() == nil {
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			if _, gone := conn.Read(make([]byte, 4096)); gone == io.EOF {
				break
			}
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			_, err = io.WriteString(conn, of.every)
		}
		_ = conn.Close()
	}
}

// print adds the result of the attack to a table.
func (a *attacked) print(row func(name, format string, args ...any)) {
	row("attack", "%s: %d requests, %d accepted, %.1f MiB; %d connections held; %d questions, %d answered, %.1f MiB",
		strings.Join(a.Modes, ", "),
		a.Requests, a.Accepted, mebi(a.Bytes), a.Opened, a.Questions, a.Answered, mebi(a.Read))
}
