package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/test/loadgen"
)

// Tokens of the clients of an attacked daemon, and its access file. No client tries ann's password.
const (
	honestToken, hostileToken = "honest", "hostile"
	accessFile                = `tokens:
  - {name: honest, sha256: %x, scopes: [query, metrics]}
  - {name: hostile, sha256: %x, scopes: [query]}
users:
  - {name: ann, bcrypt: $2y$10$fl/8dALl0ZD4qWj30CnvgeczmaDhiGj9kzhlK1kDA8gu3iqi7Vd3.}
`
)

// writeAccess writes the access file of an attacked daemon, and makes all clients except attackers
// send the honest token.
func writeAccess(dir string) (file string, err error) {
	file = filepath.Join(dir, "access.yaml")
	text := fmt.Appendf(nil, accessFile, sha256.Sum256([]byte(honestToken)), sha256.Sum256([]byte(hostileToken)))
	http.DefaultTransport = tokened{http.DefaultTransport, honestToken}
	return file, os.WriteFile(file, text, 0o600)
}

// tokened sends a token with each request.
type tokened struct {
	http.RoundTripper
	token string
}

// RoundTrip implements [http.RoundTripper].
func (t tokened) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.token)
	return t.RoundTripper.RoundTrip(r)
}

// hostileQuestions are the modes that send expensive queries to the private address. A function
// returns the nth request of its mode.
var hostileQuestions = map[string]func(base string, n int) (*http.Request, error){
	"mcp": func(base string, n int) (*http.Request, error) { // a batch with as many calls as allowed
		var calls []string
		for k := range 16 {
			calls = append(calls,
				fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"pages",`+
					`"arguments":{"since":"%dm"}}}`, k, 60+(n*16+k)%9000))
		}
		r, err := http.NewRequest(http.MethodPost, base+"/mcp", strings.NewReader("["+strings.Join(calls, ",")+"]"))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
		}
		return r, err
	},
	"answers": func(base string, n int) (*http.Request, error) { // all functions, never from the response cache
		v := url.Values{}
		for k := range 16 {
			v.Add("ask", fmt.Sprintf("top?limit=1000&label=browser%%21%%3D%d&since=%dm", n, 60+(n*16+k)%9000))
		}
		return http.NewRequest(http.MethodGet, base+"/api/v1/answers?"+v.Encode(), nil)
	},
	"profiles": func(base string, n int) (*http.Request, error) { // profiles of everything, without the cache
		r, err := http.NewRequest(http.MethodGet,
			fmt.Sprintf("%s/api/v1/profile?format=pprof&group_by=page,release,device,feature&since=%dm", base,
				60+n%9000), nil)
		if err == nil {
			r.Header.Set("Cache-Control", "no-cache")
		}
		return r, err
	},
	"logins": func(base string, n int) (*http.Request, error) { // a different password each time
		r, err := http.NewRequest(http.MethodPost, base+"/login",
			bytes.NewReader(fmt.Appendf(nil, `{"user":"ann","password":"p%d"}`, n)))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
		}
		return r, err
	},
}

// askers is the number of concurrent clients for each mode.
const askers = 32

// ask sends the queries of a mode, one after the other.
func (x *attacker) ask(ctx context.Context, private, mode string, numbers *atomic.Int64) {
	client := &http.Client{Transport: tokened{&http.Transport{}, hostileToken}, Timeout: time.Minute}
	for ctx.Err() == nil {
		r, err := hostileQuestions[mode]("http://"+private, int(numbers.Add(1)))
		if err != nil {
			return
		}
		x.questions.Add(1)
		res, err := client.Do(r.WithContext(ctx))
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		n, _ := io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		x.read.Add(n)
		if res.StatusCode == http.StatusOK {
			x.answered.Add(1)
		} else {
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// cheap is the result of the cheap queries that an honest client repeats.
type cheap struct {
	Questions responses `json:"questions"` // releases of one page
	Health    responses `json:"health"`    // /healthz
}

// cheapEvery is the interval of these queries.
const cheapEvery = 250 * time.Millisecond

// startCheap sends cheap queries until ctx is done.
func startCheap(ctx context.Context, private string) func() *cheap {
	client := &http.Client{Transport: tokened{&http.Transport{}, honestToken}}
	times := map[string]*responseTimes{}
	var all sync.WaitGroup
	for name, target := range map[string]string{
		"questions": "http://" + private + "/api/v1/releases?since=1h&page=" + url.QueryEscape(loadgen.PageName(3)),
		"health":    "http://" + private + "/healthz",
	} {
		t := &responseTimes{byEndpoint: map[string]*responseTime{}}
		times[name] = t
		all.Go(func() {
			tick := time.NewTicker(cheapEvery)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				began := time.Now()
				n, err := dashboardRequest{endpoint: name, target: target}.ask(ctx, client)
				if ctx.Err() == nil {
					t.add(name, time.Since(began), n, err)
				}
			}
		})
	}
	return func() *cheap {
		all.Wait()
		return &cheap{times["questions"].report().All, times["health"].report().All}
	}
}

// asks reports whether honest and hostile clients query a started daemon.
func (c *config) asks() bool {
	return (c.cheap || len(c.attack.modes) > 0) && len(c.options.Addrs) == 0
}

// warmUp is how long an attack lasts before a daemon is told to stop.
const warmUp = 5 * time.Second

// attackAgain attacks daemons that are about to be told to stop, until calm is called.
func (c *config) attackAgain(ctx context.Context, x *cluster) (calm func()) {
	if len(c.attack.modes) == 0 {
		return func() {}
	}
	attacked := c.attack.start(context.WithoutCancel(ctx), x.public[0], x.private[0], c.options.Networks > 0)
	time.Sleep(warmUp)
	return func() { attacked() }
}
