package capture

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/profiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Options configures a recording. URL, Runs and Collector are required.
type Options struct {
	URL       string  // of the page
	Runs      int     // number of visits, each with a fresh browser
	CPU       float64 // CPU slowdown factor; 1 for full speed
	Actions   string  // JavaScript with a visitor's actions, awaited after the page has loaded; may be empty
	Collector string  // the public address of a daemon, as a URL
	Key       string  // the daemon's key for sending, if it requires one
	Release   string
	Script    []byte        // the browser script as a single file
	Chromium  string        // path of the browser; empty to search for one
	Settle    time.Duration // how long a visit continues after the load and the actions; usually 1 s
	Limit     time.Duration // most time of a visit; 0 for 2 minutes
	// Done is called after each visit. Its error ends the recording.
	Done func(Visit) error
}

// Visit is one recorded page view.
type Visit struct {
	Number  int    // from 1
	Traces  int    // accepted by the daemon
	Profile []byte // of DevTools, a .cpuprofile
}

// Label is the label of all recorded page views.
const Label = "source=lab"

// Environment is the environment of recorded page views. Rollups use it to distinguish them from
// page views of users.
const Environment = "lab"

// visitTime is the default limit of a visit.
const visitTime = 2 * time.Minute

// Record records page views one after the other. It returns when all are done, one failed, or ctx
// is done. It leaves no browser and no files behind.
func Record(ctx context.Context, o Options) error {
	program, err := find(o.Chromium)
	if err != nil {
		return err
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		chromedp.Flag("mute-audio", true))
	if os.Geteuid() == 0 { // Chromium has no sandbox for root
		flags = append(flags, chromedp.NoSandbox)
	}
	ctx, stop := chromedp.NewExecAllocator(ctx, flags...)
	defer stop()
	browser, end := chromedp.NewContext(ctx)
	defer end()
	if _, err := chromedp.CallBrowser(browser, cdpbrowser.GetVersion, cdp.Empty{}); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	o.Limit = cmp.Or(o.Limit, visitTime)
	for n := range o.Runs {
		v, err := visit(browser, o)
		if err != nil {
			return fmt.Errorf("visit %d of %d: %w", n+1, o.Runs, err)
		}
		v.Number = n + 1
		if err := o.Done(v); err != nil {
			return err
		}
	}
	return nil
}

// find returns the path of an installed Chromium.
func find(program string) (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Chromium.app/Contents/MacOS/Chromium"}
	if program != "" {
		names = []string{program}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium found: none of %s can be run; install Chromium, or name it with --chromium PATH",
		strings.Join(names, ", "))
}

// sink is the address to which the script sends its traces. These requests do not leave the
// browser: they are intercepted and passed on from here, so that no policy of the page and no list
// of origins can block them.
const sink = "https://traces.fieldtrie.invalid"

// visit visits the page once, with a fresh browser.
func visit(browser context.Context, o Options) (v Visit, err error) {
	tab, close := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	defer close()
	tab, cancel := context.WithTimeout(tab, o.Limit)
	defer cancel()
	s := &session{o: o, tab: tab, sent: make(chan struct{}, 100)}
	if err := s.prepare(); err != nil {
		return v, err
	}
	v, err = s.record()
	if errors.Is(tab.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("the visit did not end within %v: the page runs JavaScript endlessly or never finishes "+
			"loading: %w", o.Limit, err)
	}
	return v, err
}

// record opens the page and records it.
func (s *session) record() (v Visit, err error) {
	if _, err := chromedp.Run(s.tab, chromedp.Navigate(s.o.URL)); err != nil {
		return v, fmt.Errorf("open %s: %w", s.o.URL, err)
	}
	if err := s.act(); err != nil {
		return v, err
	}
	if _, err := chromedp.Run(s.tab, chromedp.Sleep(s.o.Settle)); err != nil {
		return v, err
	}
	recorded, err := chromedp.Call(s.tab, profiler.Stop, cdp.Empty{})
	if err == nil {
		v.Profile, err = json.Marshal(recorded.Profile)
	}
	if err != nil {
		return v, fmt.Errorf("stop the profiler: %w", err)
	}
	v.Traces, err = s.finish()
	return v, err
}

// prepare sets up the browser before the page loads.
func (s *session) prepare() error {
	start, err := startScript(s.o)
	if err != nil {
		return err
	}
	if err := chromedp.Listen(s.tab, s.event); err != nil {
		return fmt.Errorf("open a tab: %w", err)
	}
	held := fetch.EnableParams{Patterns: []*fetch.RequestPattern{
		{URLPattern: sink + "/*"}, {URLPattern: "*", ResourceType: network.ResourceTypeDocument,
			RequestStage: fetch.RequestStageResponse},
	}}
	_, err = chromedp.Call(s.tab, fetch.Enable, held)
	call := func(what string, f func() error) {
		if err == nil {
			if err = f(); err != nil {
				err = fmt.Errorf("%s: %w", what, err)
			}
		}
	}
	call("bypass policies", func() error {
		_, err := chromedp.Call(s.tab, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
		return err
	})
	call("slow the processor down", func() error {
		_, err := chromedp.Call(s.tab, emulation.SetCPUThrottlingRate,
			emulation.SetCPUThrottlingRateParams{Rate: max(s.o.CPU, 1)})
		return err
	})
	call("add the script", func() error {
		_, err := chromedp.Call(s.tab, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: start})
		return err
	})
	call("start the profiler", func() error {
		if _, err := chromedp.Call(s.tab, profiler.Enable, cdp.Empty{}); err != nil {
			return err
		}
		// The unit is µs: one sample every millisecond.
		if _, err := chromedp.Call(s.tab, profiler.SetSamplingInterval,
			profiler.SetSamplingIntervalParams{Interval: 1000}); err != nil {
			return err
		}
		_, err := chromedp.Call(s.tab, profiler.Start, cdp.Empty{})
		return err
	})
	return err
}

// startScript returns the script that runs first in each document: the browser script with options
// that profile this visit.
func startScript(o Options) (string, error) {
	options, err := json.Marshal(map[string]any{"url": sink, "key": o.Key, "release": o.Release,
		"environment": Environment,
		"sampleRate":  1, "reportRate": 0, "labels": map[string]string{"source": "lab"}})
	if err != nil {
		return "", err
	}
	// The page's own calls reach this script. So features keep their names, and the page's daemon
	// does not receive the visit as a visit of a user.
	return fmt.Sprintf("if (window === window.top && location.protocol.startsWith('http')) "+
		"{\n%s\n;fieldtrie.start({...%s, decided: 1});\n"+
		"Object.defineProperty(window, 'fieldtrie', {value: fieldtrie, writable: false, configurable: false});\n}",
		o.Script, options), nil
}

// session is the state of a visit.
type session struct {
	o    Options
	tab  context.Context
	sent chan struct{} // one value for each forwarded request of the script

	mu     sync.Mutex
	traces int
	err    error // first error of a forwarded request
}

// event handles requests that the browser pauses: documents, and traces sent by the script. It also
// closes dialogs, because an open dialog blocks the page.
func (s *session) event(e any) {
	if _, ok := e.(*page.EventJavascriptDialogOpening); ok {
		go func() { // fails if the dialog is already closed
			_, _ = chromedp.Call(s.tab, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	}
	paused, ok := e.(*fetch.EventRequestPaused)
	if !ok {
		return
	}
	go func() { // an event handler must not wait for a response of the browser
		var err error
		if strings.HasPrefix(paused.Request.URL, sink) {
			err = s.pass(paused)
		} else {
			err = s.document(paused)
		}
		if err != nil && s.tab.Err() == nil {
			s.fail(err)
		}
	}()
}

func (s *session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// document adds the header that allows profiling to a document.
func (s *session) document(e *fetch.EventRequestPaused) error {
	if e.ResponseStatusCode == 0 || e.ResponseErrorReason != "" {
		_, err := chromedp.Call(s.tab, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		return err
	}
	var headers []*fetch.HeaderEntry
	for _, h := range e.ResponseHeaders {
		if !strings.EqualFold(h.Name, "Document-Policy") {
			headers = append(headers, h)
		}
	}
	headers = append(headers, &fetch.HeaderEntry{Name: "Document-Policy", Value: "js-profiling"})
	_, err := chromedp.Call(s.tab, fetch.ContinueResponse, fetch.ContinueResponseParams{RequestID: e.RequestID,
		ResponseCode: e.ResponseStatusCode, ResponseHeaders: headers})
	return err
}

// pass forwards a request of the script to the daemon.
func (s *session) pass(e *fetch.EventRequestPaused) error {
	defer func() { s.sent <- struct{}{} }()
	cors := []*fetch.HeaderEntry{{Name: "Access-Control-Allow-Origin", Value: "*"},
		{Name: "Access-Control-Allow-Headers", Value: "*"}}
	answer := func(status int, body []byte) error {
		_, err := chromedp.Call(s.tab, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID,
			ResponseCode: int64(status), ResponseHeaders: cors, Body: body})
		return err
	}
	if e.Request.Method != http.MethodPost {
		return answer(http.StatusNoContent, nil)
	}
	var body []byte
	for _, part := range e.Request.PostDataEntries {
		body = append(body, part.Bytes...)
	}
	to := strings.TrimSuffix(s.o.Collector, "/") + strings.TrimPrefix(e.Request.URL, sink)
	status, said, err := s.post(to, e.Request.Headers, body)
	if err != nil {
		_, failed := chromedp.Call(s.tab, fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID,
			ErrorReason: network.ErrorReasonFailed})
		return errors.Join(err, failed)
	}
	return answer(status, said)
}

// post sends a request of the script unchanged and returns the number of accepted traces.
func (s *session) post(to string, headers network.Headers, body []byte) (status int, said []byte, err error) {
	req, err := http.NewRequestWithContext(s.tab, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for _, name := range []string{"Content-Type", "Content-Encoding", "User-Agent"} {
		for key, value := range headers {
			if text, ok := value.(string); ok && strings.EqualFold(key, name) {
				req.Header.Set(name, text)
			}
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("send traces: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	said, err = io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return 0, nil, fmt.Errorf("read the daemon's response: %w", err)
	}
	if res.StatusCode >= 400 {
		return 0, nil, fmt.Errorf("the daemon at %s returned %s: %s", s.o.Collector, res.Status, bytes.TrimSpace(said))
	}
	var answer struct{ Accepted int }
	if u, err := url.Parse(to); err == nil && takesTraces.MatchString(u.Path) && json.Unmarshal(said, &answer) == nil {
		s.mu.Lock()
		s.traces += answer.Accepted
		s.mu.Unlock()
	}
	return res.StatusCode, said, nil
}

// act runs the actions of a visitor, if there are any.
func (s *session) act() error {
	if s.o.Actions == "" {
		return nil
	}
	yes := true
	got, err := chromedp.Call(s.tab, runtime.Evaluate, runtime.EvaluateParams{Expression: "(async () => {" +
		s.o.Actions + "\n})()", AwaitPromise: &yes, UserGesture: &yes})
	if err == nil && got.ExceptionDetails != nil {
		err = thrown(got.ExceptionDetails)
	}
	if err != nil {
		return fmt.Errorf("run the script: %w", err)
	}
	return nil
}

// thrown returns the exception of a script as an error.
func thrown(e *runtime.ExceptionDetails) error {
	if e.Exception != nil && e.Exception.Description != "" {
		return errors.New(e.Exception.Description)
	}
	return errors.New(e.Text)
}

// finish makes the script send its data and returns the number of accepted traces.
func (s *session) finish() (int, error) {
	state, err := chromedp.Run(s.tab,
		chromedp.Evaluate[string](
			`typeof fieldtrie != 'object' ? 'gone ' + location.protocol : typeof Profiler != 'function' ? `+
				`'unsupported' : (fieldtrie.stop(), 'stopped')`))
	switch {
	case err != nil:
		return 0, fmt.Errorf("end the recording: %w", err)
	case state == "unsupported":
		return 0, errors.New("this browser has no JS Self-Profiling API; use Chromium, Chrome or Edge")
	case strings.HasPrefix(state, "gone "):
		return 0, fmt.Errorf("at the end the tab shows a document of %s// instead of the page: did the page "+
			"navigate away, or the connection fail?", strings.TrimPrefix(state, "gone "))
	}
	wait := time.NewTimer(sendTime)
	defer wait.Stop()
	for {
		s.mu.Lock()
		traces, err := s.traces, s.err
		s.mu.Unlock()
		if err != nil || traces > 0 {
			return traces, err
		}
		select {
		case <-s.sent:
		case <-wait.C:
			return 0, errors.New(
				"the script sent nothing: does the page run JavaScript, and is it served over HTTPS or from this " +
					"machine?")
		case <-s.tab.Done():
			return 0, s.tab.Err()
		}
	}
}

// sendTime bounds how long the script may take to send its data.
const sendTime = 10 * time.Second

// takesTraces matches the collector's paths for traces. The path of the script ends in the key.
var takesTraces = regexp.MustCompile(`/(v1/traces|t/[^/]*)$`)
