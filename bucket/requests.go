package bucket

import (
	"net/http"
	"sync/atomic"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Requests are how many requests were sent since the start, each attempt counted, by what stores charge for.
type Requests struct {
	Put, Get, List, Delete uint64
}

// counting sends requests, and counts them.
type counting struct {
	next                   s3.HTTPClient
	put, get, list, delete atomic.Uint64
}

// Do implements [s3.HTTPClient].
func (c *counting) Do(r *http.Request) (*http.Response, error) {
	switch {
	case r.Method == http.MethodPut:
		c.put.Add(1)
	case r.Method == http.MethodPost || r.Method == http.MethodDelete:
		c.delete.Add(1)
	case r.URL.Query().Has("list-type"):
		c.list.Add(1)
	default:
		c.get.Add(1)
	}
	return c.next.Do(r)
}

// Requests returns how many requests were sent.
func (b *Bucket) Requests() Requests {
	return Requests{Put: b.sent.put.Load(), Get: b.sent.get.Load(), List: b.sent.list.Load(), Delete: b.sent.delete.Load()}
}

// atOnce is how many connections are kept for the next requests: as many as a question needs, and more.
const atOnce = 64

// newHTTPClient returns what carries requests by default.
func newHTTPClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = atOnce, atOnce
	})
}
