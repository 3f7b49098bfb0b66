package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
)

// Bucket is a store of objects under a prefix. Keys are without the prefix. Its methods may be
// called at once.
type Bucket struct {
	at     Location
	client *s3.Client
	clock  *Clock
	sent   *sender

	// unquoted says that the store compares conditions with tags without quotes, see [Bucket.Probe].
	unquoted bool
}

// Options say how a bucket is reached.
type Options struct {
	// Transport carries requests. By default there is one with time-outs, and with the
	// authorities of AWS_CA_BUNDLE.
	Transport http.RoundTripper

	// Now is the clock of this machine: time.Now.
	Now func() time.Time

	// Attempts is how often a call that only reads, or deletes, is tried: 5. Between them there
	// are pauses of up to [Options.Pause]: 2 s.
	Attempts int
	Pause    time.Duration
}

// Open prepares to use a bucket. Keys to it come from the environment, from ~/.aws, or from the
// machine, as with all programs for S3. It sends nothing.
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
	load := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{}), config.WithHTTPClient(newHTTPClient()), config.WithRetryer(func() aws.Retryer {
		return retry.NewStandard(func(r *retry.StandardOptions) {
			r.MaxAttempts, r.MaxBackoff = o.Attempts, o.Pause
			r.RateLimiter = unlimited{} // one slow minute must not make the next one fail
		})
	})}
	if at.Region != "" {
		load = append(load, config.WithRegion(at.Region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("set up the client of %s: %w", at, err)
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1" // what other stores take for granted
	}
	b := &Bucket{at: at, clock: newClock(o.Now), sent: &sender{next: cfg.HTTPClient}}
	b.client = s3.NewFromConfig(cfg, func(s *s3.Options) {
		if at.Endpoint != "" {
			s.BaseEndpoint = aws.String(at.Endpoint)
		}
		s.UsePathStyle = s.BaseEndpoint != nil // names of buckets are in no DNS but Amazon's
		s.EndpointResolverV2 = &oneEndpoint{find: s3.NewDefaultEndpointResolverV2()}
		// Older stores refuse the newer checksums.
		s.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		s.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		if o.Transport != nil {
			b.sent.next = &http.Client{Transport: o.Transport}
		}
		s.HTTPClient = b.sent
	})
	return b, nil
}

// unlimited lets every attempt be made.
type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}
func (unlimited) AddTokens(uint) error { return nil }

// Location returns where the objects are.
func (b *Bucket) Location() Location { return b.at }

// Clock returns the clock of the store.
func (b *Bucket) Clock() *Clock { return b.clock }

// Tag names a state of an object. Equal contents may have equal ones.
type Tag string

// Condition says what must be there, or else nothing is put.
type Condition struct {
	absent bool
	tag    Tag
}

// Absent is the condition that there is no such object.
var Absent = Condition{absent: true}

// Is returns the condition that the object is as it was.
func Is(t Tag) Condition { return Condition{tag: t} }

// Put stores an object and returns its tag. [ErrConflict] says that the condition is not met, and
// that nothing is stored. After other errors it is not known what is stored. It is tried once, since
// a second attempt of the same call would meet what the first one left.
func (b *Bucket) Put(ctx context.Context, key string, body []byte, c Condition) (Tag, error) {
	in := &s3.PutObjectInput{Bucket: &b.at.Bucket, Key: b.key(key), Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body)))}
	switch {
	case c.absent:
		in.IfNoneMatch = aws.String("*")
	case c.tag != "":
		tag := string(c.tag)
		if b.unquoted {
			tag = strings.Trim(tag, `"`)
		}
		in.IfMatch = &tag
	}
	sent := b.clock.Local()
	out, err := b.client.PutObject(ctx, in, once)
	if err != nil {
		return "", b.failed("PutObject", key, err, c != Condition{})
	}
	b.clock.saw(sent, out.ResultMetadata)
	return Tag(aws.ToString(out.ETag)), nil
}

// once makes a call have one attempt.
func once(o *s3.Options) { o.Retryer = aws.NopRetryer{} }

// Object is what a key has.
type Object struct {
	Body []byte
	Tag  Tag
}

// Get returns an object of at most so many bytes. It is nil if it is as known says. [ErrNotFound] says that
// there is none.
func (b *Bucket) Get(ctx context.Context, key string, most int64, known Tag) (*Object, error) {
	in := &s3.GetObjectInput{Bucket: &b.at.Bucket, Key: b.key(key)}
	if known != "" {
		in.IfNoneMatch = (*string)(&known)
	}
	out, body, err := b.read(ctx, key, in, most)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusNotModified {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Object{Body: body, Tag: Tag(aws.ToString(out.ETag))}, nil
}

// Range returns n bytes of an object from an offset on, and how many bytes the object has. An offset
// that is negative counts from the end; then there may be fewer.
func (b *Bucket) Range(ctx context.Context, key string, offset, n int64) (body []byte, size int64, err error) {
	in := &s3.GetObjectInput{Bucket: &b.at.Bucket, Key: b.key(key)}
	if offset < 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d", offset))
		n = -offset
	} else {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+n-1))
	}
	out, body, err := b.read(ctx, key, in, n)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusRequestedRangeNotSatisfiable && offset < 0 {
		whole, err := b.Get(ctx, key, n, "") // some stores want no more than there is
		if err != nil {
			return nil, 0, err
		}
		return whole.Body, int64(len(whole.Body)), nil
	}
	if err != nil {
		return nil, 0, err
	}
	// bytes FIRST-LAST/SIZE; a store that ignores the range sends no such header.
	_, total, ok := strings.Cut(aws.ToString(out.ContentRange), "/")
	if size, err = strconv.ParseInt(total, 10, 64); !ok || err != nil {
		return nil, 0, fmt.Errorf("get a range of %s: the store sends no Content-Range but %q", b.name(key), aws.ToString(out.ContentRange))
	}
	if int64(len(body)) < n && (offset >= 0 || int64(len(body)) < size) {
		return nil, 0, fmt.Errorf("get a range of %s: %d bytes came instead of %d: %w", b.name(key), len(body), n, io.ErrUnexpectedEOF)
	}
	return body, size, nil
}

// read gets an object, or a part of it. What breaks off while the body is read is tried again, too.
func (b *Bucket) read(ctx context.Context, key string, in *s3.GetObjectInput, most int64) (*s3.GetObjectOutput, []byte, error) {
	for attempt := 0; ; attempt++ {
		sent := b.clock.Local()
		out, err := b.client.GetObject(ctx, in)
		if err != nil {
			return nil, nil, b.failed("GetObject", key, err, false)
		}
		b.clock.saw(sent, out.ResultMetadata)
		if n := aws.ToInt64(out.ContentLength); n > most {
			_ = out.Body.Close()
			return nil, nil, fmt.Errorf("get %s: it has %d bytes, at most %d are read", b.name(key), n, most)
		}
		body, err := io.ReadAll(io.LimitReader(out.Body, most))
		if cerr := out.Body.Close(); err == nil {
			err = cerr
		}
		if err == nil && out.ContentLength != nil && int64(len(body)) != *out.ContentLength {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			return out, body, nil
		}
		if attempt > 1 || ctx.Err() != nil {
			return nil, nil, fmt.Errorf("get %s: %w", b.name(key), err)
		}
	}
}

// Entry is an object in a list.
type Entry struct {
	Key      string
	Size     int64
	Modified time.Time // by the clock of the store
}

// List yields the objects whose keys begin with prefix and are behind after, sorted by key. It ends
// with an error, if there is one.
func (b *Bucket) List(ctx context.Context, prefix, after string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		in := &s3.ListObjectsV2Input{Bucket: &b.at.Bucket, Prefix: b.key(prefix)}
		if after != "" {
			in.StartAfter = b.key(after)
		}
		for pages := s3.NewListObjectsV2Paginator(b.client, in); pages.HasMorePages(); {
			sent := b.clock.Local()
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(Entry{}, b.failed("ListObjectsV2", prefix, err, false))
				return
			}
			b.clock.saw(sent, page.ResultMetadata)
			for _, x := range page.Contents {
				e := Entry{Key: strings.TrimPrefix(aws.ToString(x.Key), b.at.Prefix), Size: aws.ToInt64(x.Size), Modified: aws.ToTime(x.LastModified)}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// MaxDelete is how many objects one request deletes.
const MaxDelete = 1000

// Delete deletes objects, at most [MaxDelete]. Those that are not there are fine.
func (b *Bucket) Delete(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	if len(keys) > MaxDelete {
		return fmt.Errorf("delete %d objects of %s: at most %d at once", len(keys), b.at, MaxDelete)
	}
	list := make([]types.ObjectIdentifier, len(keys))
	for i, k := range keys {
		list[i].Key = b.key(k)
	}
	sent := b.clock.Local()
	out, err := b.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &b.at.Bucket,
		Delete: &types.Delete{Objects: list, Quiet: aws.Bool(true)}})
	if err != nil {
		return b.failed("DeleteObjects", keys[0], err, false)
	}
	b.clock.saw(sent, out.ResultMetadata)
	for _, e := range out.Errors {
		if code := aws.ToString(e.Code); code != "NoSuchKey" {
			return &Error{Call: "DeleteObjects", Object: "s3://" + b.at.Bucket + "/" + aws.ToString(e.Key), Code: code, Err: fmt.Errorf("%s", aws.ToString(e.Message))}
		}
	}
	return nil
}

func (b *Bucket) key(key string) *string { return aws.String(b.at.Prefix + key) }

// name names an object in messages.
func (b *Bucket) name(key string) string { return b.at.String() + key }
