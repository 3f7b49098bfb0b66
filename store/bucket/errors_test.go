package bucket

import (
	"errors"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// Errors of a busy or failing store are temporary. Refusals are not.
func TestTemporary(t *testing.T) {
	for _, tt := range []struct {
		status int
		code   string
		err    error
		want   bool
	}{
		{http.StatusTooManyRequests, "", nil, true},
		{http.StatusInternalServerError, "InternalError", nil, true},
		{http.StatusServiceUnavailable, "SlowDown", nil, true},
		{http.StatusBadRequest, "SlowDown", nil, true},
		{http.StatusBadRequest, "InvalidRequest", nil, false},
		{http.StatusForbidden, "AccessDenied", nil, false},
		{http.StatusNotFound, "NoSuchKey", objects.ErrNotFound, false},
		{499, "", nil, false},
		{0, "", io.ErrUnexpectedEOF, true},
		{0, "", os.ErrDeadlineExceeded, true},
		{0, "", errors.New("no such host"), false},
	} {
		e := &Error{Call: "GetObject", Status: tt.status, Code: tt.code, Err: tt.err}
		if got := e.Temporary(); got != tt.want {
			t.Errorf("%d %s %v: got %t, want %t", tt.status, tt.code, tt.err, got, tt.want)
		}
	}
}

// A missing key is ErrNotFound, and ErrConflict for a conditional call: another writer deleted it.
func TestMeaningOfRefusal(t *testing.T) {
	for _, tt := range []struct {
		conditional bool
		status      int
		code        string
		want        error // nil if it is neither
	}{
		{false, http.StatusNotFound, "NoSuchKey", objects.ErrNotFound},
		{false, http.StatusNotFound, "", objects.ErrNotFound},
		{true, http.StatusNotFound, "NoSuchKey", objects.ErrConflict},
		{true, http.StatusNotFound, "NotFound", objects.ErrConflict},
		{true, http.StatusNotFound, "NoSuchUpload", nil},
		{true, http.StatusNotFound, "", nil},
		{false, http.StatusNotFound, "NoSuchBucket", nil},
		{true, http.StatusNotFound, "NoSuchBucket", nil},
		{true, http.StatusPreconditionFailed, "PreconditionFailed", objects.ErrConflict},
		{true, http.StatusConflict, "ConditionalRequestConflict", objects.ErrConflict},
		{false, http.StatusPreconditionFailed, "PreconditionFailed", nil},
		{true, http.StatusForbidden, "AccessDenied", nil},
	} {
		body := ""
		if tt.code != "" {
			body = "<Error><Code>" + tt.code + "</Code></Error>"
		}
		err := refused(call{name: "PutObject", conditional: tt.conditional}, tt.status, []byte(body))
		for _, meaning := range []error{objects.ErrNotFound, objects.ErrConflict} {
			if got := errors.Is(err, meaning); got != (meaning == tt.want) {
				t.Errorf("%d %s, with a condition: %t: %q: got %t", tt.status, tt.code, tt.conditional, meaning, got)
			}
		}
	}
}
