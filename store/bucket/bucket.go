package bucket

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Bucket is a store of objects under a prefix. Keys do not include the prefix. It is safe for
// concurrent use by multiple goroutines.
type Bucket struct {
	at     Location
	client *client

	// unquoted is set if the store compares conditions with tags without quotes, see
	// [Bucket.Probe].
	unquoted bool
}

// Options configures a bucket.
type Options struct {
	// Transport sends requests. The default transport has timeouts, and trusts the authorities of
	// AWS_CA_BUNDLE.
	Transport http.RoundTripper

	// Now is the clock of this machine: time.Now.
	Now func() time.Time

	// Attempts is how many times a call that only reads or deletes is tried: 5. The pauses between
	// attempts are up to [Options.Pause]: 2 s.
	Attempts int
	Pause    time.Duration
}

// Open returns a client for a bucket. It finds access keys in the environment, in ~/.aws, or from
// the machine, like other S3 programs. It sends no request.
func Open(ctx context.Context, at Location, o Options) (*Bucket, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Attempts == 0 {
		o.Attempts = 5
	}
	if o.Pause == 0 {
		o.Pause = 2 * time.Second
	}
	region := regionOf(at)
	base, err := baseOf(at, region)
	if err != nil {
		return nil, fmt.Errorf("set up the client of %s: %w", at, err)
	}
	if o.Transport == nil {
		if o.Transport, err = newTransport(&base); err != nil {
			return nil, fmt.Errorf("set up the client of %s: %w", at, err)
		}
	}
	return &Bucket{at: at, client: &client{base: base, region: region, keys: newChain(),
		keysFrom: &http.Client{Transport: o.Transport},
		sent:     newSender(o.Transport), clock: objects.NewClock(o.Now), attempts: o.Attempts, pause: o.Pause}}, nil
}

// Name implements [objects.Store].
func (b *Bucket) Name() string { return b.at.String() }

// Exclusive implements [objects.Store]. It is false, because other processes may use the bucket.
func (b *Bucket) Exclusive() bool { return false }

// Unready implements [objects.Store]. It returns nil, because only requests show whether a bucket
// responds.
func (b *Bucket) Unready() error { return nil }

// Location returns the location of the objects.
func (b *Bucket) Location() Location { return b.at }

// Clock implements [objects.Store].
func (b *Bucket) Clock() *objects.Clock { return b.client.clock }

// Put implements [objects.Store]. It does not retry, because a second attempt could conflict with
// the object that the first one has stored.
func (b *Bucket) Put(ctx context.Context, key string, body []byte, c objects.Condition) (objects.Tag, error) {
	header := http.Header{}
	switch {
	case c.Absent:
		header.Set("If-None-Match", "*")
	case c.Tag != "":
		tag := string(c.Tag)
		if b.unquoted {
			tag = strings.Trim(tag, `"`)
		}
		header.Set("If-Match", tag)
	}
	r, err := b.client.do(ctx, call{name: "PutObject", method: http.MethodPut, object: b.at.Prefix + key,
		about: b.name(key), header: header, body: body,
		most: maxError, attempts: 1, conditional: c != objects.Condition{}})
	if err != nil {
		return "", err
	}
	return objects.Tag(r.header.Get("ETag")), nil
}

// Get implements [objects.Store].
func (b *Bucket) Get(ctx context.Context, key string, most int64, known objects.Tag) (*objects.Object, error) {
	header := http.Header{}
	if known != "" {
		header.Set("If-None-Match", string(known))
	}
	r, err := b.read(ctx, key, header, most)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusNotModified {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &objects.Object{Body: r.body, Tag: objects.Tag(r.header.Get("ETag"))}, nil
}

// Range implements [objects.Store].
func (b *Bucket) Range(ctx context.Context, key string, offset, n int64) (body []byte, size int64, err error) {
	wanted := fmt.Sprintf("bytes=%d-%d", offset, offset+n-1)
	if offset < 0 {
		wanted, n = fmt.Sprintf("bytes=%d", offset), -offset
	}
	r, err := b.read(ctx, key, http.Header{"Range": {wanted}}, n)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusRequestedRangeNotSatisfiable && offset < 0 {
		whole, err := b.Get(ctx, key, n, "") // some stores reject a range that is longer than the object
		if err != nil {
			return nil, 0, err
		}
		return whole.Body, int64(len(whole.Body)), nil
	}
	if err != nil {
		return nil, 0, err
	}
	// The format is "bytes FIRST-LAST/SIZE". A store that ignores the range does not send this
	// header.
	said := r.header.Get("Content-Range")
	_, total, ok := strings.Cut(said, "/")
	if size, err = strconv.ParseInt(total, 10, 64); !ok || err != nil {
		return nil, 0, fmt.Errorf("get a range of %s: the store sent an invalid Content-Range %q", b.name(key), said)
	}
	if got := int64(len(r.body)); got < n && (offset >= 0 || got < size) {
		return nil, 0, fmt.Errorf("get a range of %s: got %d bytes instead of %d: %w", b.name(key), got, n,
			io.ErrUnexpectedEOF)
	}
	return r.body, size, nil
}

// read gets an object or a part of it.
func (b *Bucket) read(ctx context.Context, key string, header http.Header, most int64) (*response, error) {
	r, err := b.client.do(ctx, call{name: "GetObject", method: http.MethodGet, object: b.at.Prefix + key,
		about: b.name(key), header: header, most: most})
	if errors.Is(err, errTooLarge) {
		return nil, fmt.Errorf("get %s: %w", b.name(key), err)
	}
	return r, err
}

// List implements [objects.Store].
func (b *Bucket) List(ctx context.Context, prefix, after string) iter.Seq2[objects.Entry, error] {
	return func(yield func(objects.Entry, error) bool) {
		query := url.Values{"list-type": {"2"}, "prefix": {b.at.Prefix + prefix}}
		if after != "" {
			query.Set("start-after", b.at.Prefix+after)
		}
		for {
			page, err := b.list(ctx, prefix, query)
			if err != nil {
				yield(objects.Entry{}, err)
				return
			}
			for _, x := range page.Contents {
				if !yield(objects.Entry{Key: strings.TrimPrefix(x.Key, b.at.Prefix), Size: x.Size,
					Modified: x.LastModified}, nil) {
					return
				}
			}
			if !page.IsTruncated || page.NextContinuationToken == "" {
				return
			}
			query.Set("continuation-token", page.NextContinuationToken)
		}
	}
}

// listing is a page of a list in the format of the protocol.
type listing struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Contents []struct {
		Key          string
		Size         int64
		LastModified time.Time
	}
	IsTruncated           bool
	NextContinuationToken string
}

// maxList bounds a page, which has up to 1,000 keys.
const maxList = 16 << 20

func (b *Bucket) list(ctx context.Context, prefix string, query url.Values) (*listing, error) {
	var page listing
	parse := func(body []byte) error {
		page = listing{}
		return xml.Unmarshal(body, &page)
	}
	if _, err := b.client.do(ctx, call{name: "ListObjectsV2", method: http.MethodGet, query: query,
		about: b.name(prefix), most: maxList, parse: parse}); err != nil {
		return nil, err
	}
	return &page, nil
}

// Delete implements [objects.Store].
func (b *Bucket) Delete(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	if len(keys) > objects.MaxDelete {
		return fmt.Errorf("delete %d objects of %s: at most %d are allowed in one call", len(keys), b.at,
			objects.MaxDelete)
	}
	var list struct {
		XMLName xml.Name `xml:"Delete"`
		Quiet   bool
		Object  []struct{ Key string }
	}
	list.Quiet = true
	for _, k := range keys {
		list.Object = append(list.Object, struct{ Key string }{b.at.Prefix + k})
	}
	body, err := xml.Marshal(list)
	if err != nil {
		return fmt.Errorf("delete %d objects of %s: %w", len(keys), b.at, err)
	}
	hash := md5.Sum(body) // all stores accept this checksum, and some require it
	var result struct {
		Error []struct{ Key, Code, Message string }
	}
	parse := func(body []byte) error {
		result.Error = nil
		return xml.Unmarshal(body, &result)
	}
	if _, err := b.client.do(ctx, call{name: "DeleteObjects", method: http.MethodPost,
		query: url.Values{"delete": {""}}, about: b.name(keys[0]), body: body, most: maxList, parse: parse,
		header: http.Header{"Content-Md5": {base64.StdEncoding.EncodeToString(hash[:])},
			"Content-Type": {"application/xml"}}}); err != nil {
		return err
	}
	for _, e := range result.Error {
		if e.Code != "NoSuchKey" {
			return &Error{Call: "DeleteObjects", Object: "s3://" + b.at.Bucket + "/" + e.Key, Code: e.Code,
				Err: errors.New(e.Message)}
		}
	}
	return nil
}

// name returns the name of an object for messages.
func (b *Bucket) name(key string) string { return b.at.String() + key }
