package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
)

// Remote asks a daemon.
type Remote struct {
	client *http.Client
	base   string
}

// SocketName is the name of the Unix socket in its data directory on which a daemon
// serves [Handler].
const SocketName = "query.sock"

// maxAnswer bounds what is read of one answer.
const maxAnswer = 1 << 30

// NewRemote returns a source that asks the daemon at addr, "host:port" or a URL.
func NewRemote(addr string) (*Remote, error) {
	text := addr
	if !strings.Contains(addr, "://") {
		text = "http://" + addr
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not an address such as 127.0.0.1:8419 or http://host:8419", addr)
	}
	u.RawQuery, u.Fragment = "", ""
	return &Remote{http.DefaultClient, strings.TrimSuffix(u.String(), "/")}, nil
}

// NewSocketRemote returns a source that asks the daemon that listens on a Unix socket.
func NewSocketRemote(path string) *Remote {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &Remote{&http.Client{Transport: &http.Transport{DialContext: dial}}, "http://ingest"}
}

// Alive reports whether a daemon accepts connections.
func (r *Remote) Alive() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/healthz", nil)
	if err != nil {
		return false
	}
	res, err := r.client.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func (r *Remote) get(ctx context.Context, path string, v url.Values) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path+"?"+v.Encode(), nil)
	if err != nil {
		return nil, nil, err
	}
	res, err := r.client.Do(req)
	if err != nil {
		if x, ok := errors.AsType[*url.Error](err); ok {
			err = x.Err // without the whole query
		}
		return nil, nil, fmt.Errorf("ask the daemon: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read the daemon's answer: %w", err)
	}
	if len(body) > maxAnswer {
		return nil, nil, fmt.Errorf("daemon's answer: over %d bytes; ask for less", maxAnswer)
	}
	if res.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("daemon: %w", readError(res.Status, body))
	}
	return body, res.Header, nil
}

// Profile implements [Source]; it does not call progress.
func (r *Remote) Profile(ctx context.Context, sel Selection, _ func(uint64)) (Result, error) {
	v := sel.values()
	v.Set("format", "trie")
	body, header, err := r.get(ctx, "/api/v1/profile", v)
	if err != nil {
		return Result{}, err
	}
	doc, err := encode.DecodeBinary(body, encode.FileLimits())
	if err != nil {
		return Result{}, fmt.Errorf("daemon's answer: %w", err)
	}
	if doc.Profile == nil {
		return Result{}, errors.New("daemon's answer: a trace where a profile was asked for")
	}
	out := Result{Profile: doc.Profile}
	if err := json.Unmarshal([]byte(header.Get(statsHeader)), &out.Stats); err != nil {
		return Result{}, fmt.Errorf("daemon's answer: stats: %w", err)
	}
	return out, nil
}

// Report implements [Source].
func (r *Remote) Report(ctx context.Context, sel Selection) (out Report, err error) {
	body, _, err := r.get(ctx, "/api/v1/stats", sel.values())
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return out, fmt.Errorf("daemon's answer: %w", err)
	}
	return out, nil
}

// Catalog implements [Source].
func (r *Remote) Catalog(ctx context.Context, since, until time.Time) (Catalog, error) {
	v := url.Values{}
	setTimes(v, since, until)
	body, _, err := r.get(ctx, "/api/v1/catalog", v)
	if err != nil {
		return Catalog{}, err
	}
	var c Catalog
	if err := json.Unmarshal(body, &c); err != nil {
		return Catalog{}, fmt.Errorf("daemon's answer: %w", err)
	}
	return c, nil
}
