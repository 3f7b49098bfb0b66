package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/authorities"
)

const (
	retries       = 3               // of a request that may succeed later
	maxRetryAfter = 2 * time.Minute // longest Retry-After that is honored
	requestTime   = 5 * time.Minute // for a request and its response
	maxAnswer     = 16 << 20        // bytes; a response may list missing tables
)

// client sends requests to a daemon. All requests are idempotent, so each may be sent again.
type client struct {
	http          *http.Client
	base          string // URL, without a slash at its end
	site          string // owner of the symbols; "" to let the daemon decide
	authorization string // header, "" for none
	wait          time.Duration
	retrying      func(why error, wait time.Duration) // called before each retry; may be nil
}

// newClient returns a client of the daemon at a URL. A user and a password in the URL are
// sent as basic authorization.
func newClient(base *url.URL, wait time.Duration) *client {
	c := &client{wait: wait, http: &http.Client{
		Transport:     authorities.Transport(base),
		CheckRedirect: func(r *http.Request, _ []*http.Request) error { return redirectError{r.URL.Redacted()} },
		Timeout:       requestTime,
	}}
	if base.User != nil {
		password, _ := base.User.Password()
		c.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(base.User.Username()+":"+password))
	}
	bare := *base
	bare.User, bare.RawQuery, bare.Fragment = nil, "", ""
	c.base = strings.TrimSuffix(bare.String(), "/")
	return c
}

// trust makes c trust the given certificate authorities instead of the system's.
func (c *client) trust(roots *x509.CertPool) {
	c.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
}

// redirectError stops redirects, so that the credentials of a request go to no other server.
type redirectError struct{ to string }

func (e redirectError) Error() string {
	return fmt.Sprintf("it redirects to %s, but upload does not follow redirects; use the daemon's own address", e.to)
}

// response is a response of a daemon.
type response struct {
	status  int
	header  http.Header
	ID      string
	Error   string
	Missing []string // hashes of scripts without a stored table
}

// do sends a request, retries temporary failures, and returns the last response, which may be a
// failure.
func (c *client) do(ctx context.Context, method, path string, body []byte) (*response, error) {
	for attempt := 0; ; attempt++ {
		a, err := c.once(ctx, method, path, body)
		why := err
		if err == nil {
			why = a.failure()
		}
		if attempt == retries || ctx.Err() != nil || !passes(a, err) {
			return a, err
		}
		wait := c.wait<<attempt + rand.N(c.wait/4+1)
		if err == nil {
			after, ok := retryAfter(a.header.Get("Retry-After"), time.Now())
			if ok && after > maxRetryAfter {
				return nil, fmt.Errorf("%w; the daemon asks to retry in %v, so run upload again then", why,
					after.Round(time.Second))
			}
			if ok {
				wait = after
			}
		}
		if c.retrying != nil {
			c.retrying(why, wait)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// once sends a request once.
func (c *client) once(ctx context.Context, method, path string, body []byte) (*response, error) {
	if c.site != "" {
		path += "?" + url.Values{"site": {c.site}}.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.authorization != "" {
		req.Header.Set("Authorization", c.authorization)
	}
	switch method {
	case http.MethodPost:
		req.Header.Set("Content-Type", "application/json")
	case http.MethodPut:
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	res, err := c.http.Do(req)
	if err != nil {
		if x, ok := errors.AsType[*url.Error](err); ok {
			err = x.Err // the caller adds the address
		}
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the response: %w", err)
	}
	a := &response{status: res.StatusCode, header: res.Header}
	if json.Unmarshal(text, a) != nil || a.status >= 400 && a.Error == "" {
		a.Error = res.Status
	}
	return a, nil
}

// passes reports whether a failure may be temporary.
func passes(a *response, err error) bool {
	if err == nil {
		switch a.status {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	_, redirected := errors.AsType[redirectError](err)
	_, unvouched := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	return !redirected && !unvouched && !noTLS && !strings.Contains(err.Error(), "HTTPS")
}

// retryAfter parses a header with seconds or a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// failure returns the failure in a response, with advice; nil if there is none.
func (a *response) failure() error {
	switch {
	case a.status < 400:
		return nil
	case a.status == http.StatusUnauthorized:
		return fmt.Errorf("the daemon requires authentication (%s); give a token with the scope symbols by "+
			"--token-file or $%s", a.Error, tokenVariable)
	case a.status == http.StatusForbidden:
		return fmt.Errorf("the daemon rejected the credentials (%s); uploads need the scope symbols in the file of "+
			"ingest --access", a.Error)
	case a.status == http.StatusNotFound, a.status == http.StatusMethodNotAllowed:
		return fmt.Errorf("the daemon does not accept symbols (%s): it is older than upload, or --addr is not its "+
			"private address, see ingest --query-listen", a.Error)
	}
	return fmt.Errorf("daemon: %s", a.Error)
}

// has reports whether the daemon has the table of a script.
func (c *client) has(ctx context.Context, hash string) (bool, error) {
	a, err := c.do(ctx, http.MethodHead, "/v1/symbols/"+hash, nil)
	switch {
	case err != nil:
		return false, err
	case a.status == http.StatusNotFound:
		return false, nil
	// responses to HEAD have no body with the reason
	case a.status == http.StatusBadRequest && !strings.HasPrefix(c.base, "https:"):
		return false, fmt.Errorf("daemon: %s; if it speaks TLS, give its address with https://", a.Error)
	}
	return a.status == http.StatusOK, a.failure()
}

// put sends the table of a script.
func (c *client) put(ctx context.Context, hash string, table []byte) error {
	a, err := c.do(ctx, http.MethodPut, "/v1/symbols/"+hash, table)
	if err != nil {
		return err
	}
	return a.failure()
}

// post sends an upload. It returns its ID, or the hashes of scripts whose tables are missing.
func (c *client) post(ctx context.Context, upload []byte) (id string, missing []string, err error) {
	a, err := c.do(ctx, http.MethodPost, "/v1/symbols/uploads", upload)
	switch {
	case err != nil:
		return "", nil, err
	case a.status == http.StatusConflict && len(a.Missing) > 0:
		return "", a.Missing, nil
	case a.status < 300 && a.ID == "":
		return "", nil, errors.New("the daemon's response has no ID; is --addr the address of ingest?")
	}
	return a.ID, nil, a.failure()
}
