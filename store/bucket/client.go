package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// client signs and sends requests, and retries those that may be retried. It uses four calls of the
// protocol at https://docs.aws.amazon.com/AmazonS3/latest/API/Welcome.html.
type client struct {
	base     url.URL // address of the bucket; its path ends with a slash
	region   string
	keys     *credentials.Credentials
	keysFrom *http.Client
	sent     *sender
	clock    *objects.Clock
	attempts int
	pause    time.Duration
}

// call is a call of the protocol.
type call struct {
	name        string // Amazon's name of the call
	method      string
	object      string // its key; "" for the bucket
	query       url.Values
	header      http.Header
	body        []byte
	most        int64                   // maximum size of the response's body, in bytes
	parse       func(body []byte) error // if it returns an error, the call is retried; nil if the body is not XML
	attempts    int                     // 0 for the default of the client
	conditional bool                    // see [refused]
	about       string
}

// response is the response to a call.
type response struct {
	header http.Header
	body   []byte
}

// maxError bounds the body of an error response.
const maxError = 64 << 10

// errTooLarge is returned if an object is larger than the caller allows.
var errTooLarge = errors.New("too large")

// do makes a call. Its errors are of type [Error], except for objects that are too large.
func (c *client) do(ctx context.Context, what call) (*response, error) {
	attempts := what.attempts
	if attempts == 0 {
		attempts = c.attempts
	}
	for attempt := 1; ; attempt++ {
		r, err := c.once(ctx, what)
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.again() || attempt >= attempts || ctx.Err() != nil {
			return r, err
		}
		// The first pause is up to half of the maximum, later ones up to the maximum. It is random,
		// so that nodes do not retry at the same time.
		longest := min(c.pause, c.pause/2<<min(attempt-1, 8))
		select {
		case <-time.After(time.Duration(rand.Float64() * float64(longest))):
		case <-ctx.Done():
			return r, err
		}
	}
}

// once makes one attempt of a call.
func (c *client) once(ctx context.Context, what call) (*response, error) {
	failed := func(err error) (*response, error) {
		if sent, ok := errors.AsType[*url.Error](err); ok {
			err = fmt.Errorf("the store cannot be reached: %w", sent.Err)
		}
		return nil, &Error{Call: what.name, Object: what.about, Err: err}
	}
	request, err := c.request(ctx, what)
	if err != nil {
		return failed(err)
	}
	sent := c.clock.Local()
	r, err := c.sent.Do(request)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = r.Body.Close() }() // it was read completely, or no more is needed
	if date, err := http.ParseTime(r.Header.Get("Date")); err == nil {
		c.clock.Note(sent, c.clock.Local(), date)
	}
	if r.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(r.Body, maxError)) // the status is enough
		return nil, refused(what, r.StatusCode, text)
	}
	if r.ContentLength > what.most {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", errTooLarge, r.ContentLength, what.most)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, what.most))
	if err == nil && r.ContentLength >= 0 && int64(len(body)) != r.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return failed(err)
	}
	if what.parse != nil {
		if err := what.parse(body); err != nil { // it was truncated
			return failed(fmt.Errorf("read the response: %w: %w", io.ErrUnexpectedEOF, err))
		}
	}
	return &response{r.Header, body}, nil
}

// request returns a signed request.
func (c *client) request(ctx context.Context, what call) (*http.Request, error) {
	keys, err := c.keys.GetWithContext(&credentials.CredContext{Client: c.keysFrom, Context: ctx})
	if err != nil {
		return nil, err
	}
	at := c.base
	at.Path += what.object
	at.RawPath = s3utils.EncodePath(at.Path)
	at.RawQuery = strings.ReplaceAll(what.query.Encode(), "+", "%20") // as in the signature
	r, err := http.NewRequestWithContext(ctx, what.method, at.String(), bytes.NewReader(what.body))
	if err != nil {
		return nil, err
	}
	for name, values := range what.header {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", "fieldtrie")
	r.Header.Set("Accept-Encoding", "identity") // otherwise net/http requests gzip, which changes sizes
	hash := sha256.Sum256(what.body)
	r.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(hash[:]))
	return signer.SignV4(*r, keys.AccessKeyID, keys.SecretAccessKey, keys.SessionToken, c.region), nil
}

// baseOf returns the address of a bucket. Only Amazon has DNS names for buckets, and its
// certificates do not cover names with dots.
func baseOf(at Location, region string) (url.URL, error) {
	endpoint := at.Endpoint
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
		if endpoint == "" {
			endpoint = os.Getenv(name)
		}
	}
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" {
			return url.URL{}, fmt.Errorf("the endpoint %q is not http://HOST or https://HOST", redact(endpoint))
		}
		return *u.JoinPath(at.Bucket + "/"), nil
	}
	domain := "s3." + region + ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain += ".cn"
	}
	if strings.Contains(at.Bucket, ".") {
		return url.URL{Scheme: "https", Host: domain, Path: "/" + at.Bucket + "/"}, nil
	}
	return url.URL{Scheme: "https", Host: at.Bucket + "." + domain, Path: "/"}, nil
}
