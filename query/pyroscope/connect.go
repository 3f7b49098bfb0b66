package pyroscope

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/query/memory"
)

// maxRequest bounds the body of a request in bytes, both as sent and decompressed.
const maxRequest = 1 << 20

// code is an error code of Connect, https://connectrpc.com/docs/protocol.
type code string

const (
	canceled          code = "canceled"
	invalidArgument   code = "invalid_argument"
	deadlineExceeded  code = "deadline_exceeded"
	resourceExhausted code = "resource_exhausted"
	unimplemented     code = "unimplemented"
	internalError     code = "internal"
	unavailable       code = "unavailable"
)

// status returns Connect's HTTP status for c.
func (c code) status() int {
	switch c {
	case canceled:
		return 499
	case invalidArgument:
		return http.StatusBadRequest
	case deadlineExceeded:
		return http.StatusGatewayTimeout
	case resourceExhausted:
		return http.StatusTooManyRequests
	case unimplemented:
		return http.StatusNotImplemented
	case unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// failed is an error response.
type failed struct {
	code code
	err  error
}

func (f *failed) Error() string { return f.err.Error() }
func (f *failed) Unwrap() error { return f.err }

func failure(c code, format string, args ...any) error {
	return &failed{c, fmt.Errorf(format, args...)}
}

// asFailure returns err with a code.
func asFailure(err error) *failed {
	if f, ok := errors.AsType[*failed](err); ok {
		return f
	}
	if _, ok := errors.AsType[*selection.RefusedError](err); ok {
		return &failed{invalidArgument, err}
	}
	if _, ok := errors.AsType[*memory.TooLargeError](err); ok {
		return &failed{resourceExhausted, err}
	}
	return &failed{internalError, err}
}

func writeError(w http.ResponseWriter, err error) {
	f := asFailure(err)
	writeJSON(w, f.code.status(), map[string]string{"code": string(f.code), "message": f.Error()})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

// encoded is a response already in the wire format of protobuf.
type encoded struct {
	proto.Message        // for responses in JSON
	wire          []byte // of the same message, or nil
}

// method serves one method of a service.
type method func(ctx context.Context, read func(proto.Message) error, asJSON bool) (encoded, error)

// unaryMethod makes a method from f.
func unaryMethod[Q any, PQ interface {
	*Q
	proto.Message
}, A proto.Message](f func(context.Context, PQ) (A, error)) method {
	return func(ctx context.Context, read func(proto.Message) error, _ bool) (encoded, error) {
		q := PQ(new(Q))
		if err := read(q); err != nil {
			return encoded{}, err
		}
		a, err := f(ctx, q)
		return encoded{Message: a}, err
	}
}

// unary serves a method over Connect's unary protocol.
func (a *backend) unary(w http.ResponseWriter, r *http.Request, m method) {
	if r.Method != http.MethodPost {
		refuseMethod(w, http.MethodPost)
		return
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/proto" && media != "application/json" {
		w.Header().Set("Accept-Post", "application/proto, application/json")
		http.Error(w, "the body must be application/proto or application/json", http.StatusUnsupportedMediaType)
		return
	}
	asJSON := media == "application/json"
	timeout, err := a.timeoutOf(r.Header)
	if err != nil {
		writeError(w, err)
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		writeError(w, err)
		return
	}
	read := func(q proto.Message) error {
		var err error
		if asJSON && len(body) > 0 {
			err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, q)
		} else {
			err = proto.Unmarshal(body, q)
		}
		if err != nil {
			return failure(invalidArgument, "read the request: %w", err)
		}
		return nil
	}
	var out []byte
	err = a.inTurn(r.Context(), timeout, func(ctx context.Context) error {
		answer, err := m(ctx, read, asJSON)
		switch {
		case err != nil:
		case asJSON:
			out, err = protojson.Marshal(answer.Message)
		case answer.wire != nil:
			out = answer.wire
		default:
			out, err = proto.Marshal(answer.Message)
		}
		return err
	})
	if err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(out) // the client may have gone
}

// timeoutOf returns the timeout of a request, and checks the version of the
// protocol.
func (a *backend) timeoutOf(h http.Header) (time.Duration, error) {
	if v := h.Get("Connect-Protocol-Version"); v != "" && v != "1" {
		return 0, failure(invalidArgument, "Connect-Protocol-Version is %q; known is 1", v)
	}
	text := h.Get("Connect-Timeout-Ms")
	if text == "" {
		return a.opts.Timeout, nil
	}
	ms, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(text) > 10 { // digits, as the protocol has it
		return 0, failure(invalidArgument, "Connect-Timeout-Ms is %q, no number of up to ten digits", text)
	}
	return min(a.opts.Timeout, time.Duration(ms)*time.Millisecond), nil
}

// readBody returns the body of a request, decompressed.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body io.Reader = http.MaxBytesReader(w, r.Body, maxRequest)
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, readFailure(err)
		}
		body = z
	default:
		return nil, failure(unimplemented, "Content-Encoding is %q; known are gzip and identity", encoding)
	}
	data, err := io.ReadAll(io.LimitReader(body, maxRequest+1))
	if err != nil {
		return nil, readFailure(err)
	}
	if len(data) > maxRequest {
		return nil, failure(resourceExhausted, "the request is larger than %d bytes", maxRequest)
	}
	return data, nil
}

func readFailure(err error) error {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return failure(resourceExhausted, "the request is larger than %d bytes", maxRequest)
	}
	return failure(invalidArgument, "read the request: %w", err)
}
