package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fieldtrie/fieldtrie/test/freeaddr"
	"github.com/fieldtrie/fieldtrie/test/programs"
)

var update = flag.Bool("update", false, "rewrite the expected output of scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, programs.Commands(map[string]func(){"ingest": main}))
}

func TestScripts(t *testing.T) {
	traces, err := filepath.Abs("../../testdata/traces")
	if err != nil {
		t.Fatal(err)
	}
	aggregate, upload := programs.Path(t, "aggregate"), programs.Path(t, "upload")
	shop, err := filepath.Abs("../upload/testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": waitFor,
			"get":     get,
			"post":    post,
			"save":    save,
			"hup":     hup,
			"mcp":     askAgent,
			"pair":    pair,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("TRACES", traces)
			env.Setenv("AGGREGATE", aggregate)
			env.Setenv("UPLOAD", upload)
			env.Setenv("SHOP", shop)
			env.Setenv("PUBLIC", freeaddr.Of(t))
			env.Setenv("PRIVATE", freeaddr.Of(t))
			return nil
		},
	})
}

// client trusts any server. The scripts check certificates with aggregate.
var client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	DisableKeepAlives: true}}

// pair writes a self-signed certificate for 127.0.0.1 and its key: pair CERT KEY.
func pair(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pair CERT KEY")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	ts.Check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		0o600))
}

// waitFor waits until a URL answers 200 with a text in the body: waitfor URL [TEXT].
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: waitfor URL [TEXT]")
	}
	text := strings.Join(args[1:], "")
	for range 200 {
		if res, err := client.Get(args[0]); err == nil {
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err == nil && res.StatusCode == http.StatusOK && strings.Contains(string(body), text) {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s did not answer with %q", args[0], text)
}

// askAgent calls a daemon's tool as a coding agent does, with a token, and prints the text of the
// result: mcp URL TOKEN TOOL.
func askAgent(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: mcp URL TOKEN TOOL")
	}
	withToken := &http.Client{Transport: tokenTransport(args[1])}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(),
		&mcp.StreamableClientTransport{Endpoint: args[0], HTTPClient: withToken, DisableStandaloneSSE: true}, nil)
	if (err != nil) != neg {
		ts.Fatalf("connect: %v", err)
	}
	if err != nil {
		return
	}
	defer func() { _ = session.Close() }()
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: args[2]})
	ts.Check(err)
	_, err = fmt.Fprintln(ts.Stdout(), res.Content[0].(*mcp.TextContent).Text)
	ts.Check(err)
}

// tokenTransport sends a token with each request.
type tokenTransport string

func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(t))
	return client.Transport.RoundTrip(r)
}

// hup sends SIGHUP to all running daemons: hup.
func hup(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: hup")
	}
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGHUP))
	}
}

// get prints status and body of a response: get URL [HEADER: VALUE]...
func get(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: get URL [HEADER: VALUE]...")
	}
	request(ts, http.MethodGet, args[0], nil, args[1:])
}

// save writes the body of a response with status 200 to a file: save URL FILE.
func save(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: save URL FILE")
	}
	res, err := http.Get(args[0])
	ts.Check(err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	if res.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %d %s", args[0], res.StatusCode, body)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), body, 0o644))
}

// post sends a file: post URL FILE [HEADER: VALUE]...
func post(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: post URL FILE [HEADER: VALUE]...")
	}
	request(ts, http.MethodPost, args[0], []byte(ts.ReadFile(args[1])), args[2:])
}

// request sends a request and prints the status, the relevant headers and the body.
func request(ts *testscript.TestScript, method, url string, body []byte, headers []string) {
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	ts.Check(err)
	req.Header.Set("Cache-Control", "no-cache") // the daemon rolls up new traces first
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ":")
		req.Header.Set(k, strings.TrimSpace(v))
		if k == "Host" { // net/http does not treat Host as a header
			req.Host = strings.TrimSpace(v)
		}
	}
	res, err := client.Do(req)
	ts.Check(err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d\n", res.StatusCode)
	for _, h := range []string{"Retry-After", "Ingest-Durability", "Access-Control-Allow-Origin", "Cache-Control",
		"Document-Policy", "Server-Timing", "Content-Security-Policy", "WWW-Authenticate"} {
		if v := res.Header.Get(h); v != "" {
			fmt.Fprintf(ts.Stdout(), "%s: %s\n", h, v)
		}
	}
	_, err = ts.Stdout().Write(text)
	ts.Check(err)
}

// TestUnchanged repeats queries with the ETag of the last response: they are answered 304 until a
// new trace is stored.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	d := launch(t, programs.Path(t, "ingest"), t.TempDir())
	defer d.end()
	ask := func(tag string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			d.private+"/api/v1/top?since=2020-01-01T00:00:00Z", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("If-None-Match", tag)
		res, err := patient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("ETag")
	}
	var last string
	for n := range 3 {
		var tag string
		until(t, "a response has its own tag", func() bool { // a response of the cache has none
			status, got := ask(last)
			tag = got
			return status == http.StatusOK && tag != "" && tag != last
		})
		if status, got := ask(tag); status != http.StatusNotModified || got != tag {
			t.Errorf("%d traces: with the tag %q: got %d with %q, want 304", n, tag, status, got)
		}
		last = tag
		if got := d.sendTrace(n); got.status != http.StatusAccepted {
			t.Fatalf("trace %d: got %+v, want status 202", n, got)
		}
	}
}
