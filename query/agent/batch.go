package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// mostCalls is the maximum number of calls in a request, like the maximum of /api/v1/answers. A
// call of some ten bytes can return a text and values of up to 48 KiB each.
const mostCalls = 16

// boundBatches refuses requests with more calls, before any call runs.
func boundBatches(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the request has more than %d bytes", large.Limit))
			return
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, fmt.Errorf("read the request: %w", err))
			return
		}
		if err := checkBatch(body); err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// checkBatch returns an error for a batch of more than mostCalls. It accepts anything but a batch,
// and leaves invalid JSON to the next handler.
func checkBatch(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	for n := 0; d.More(); n++ {
		if n == mostCalls {
			return fmt.Errorf("a batch of more than %d calls: send them one by one", mostCalls)
		}
		var call json.RawMessage
		if err := d.Decode(&call); err != nil {
			return fmt.Errorf("call %d of the batch: %w", n+1, err)
		}
	}
	return nil
}

// refuse writes an error like the HTTP API.
func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}
