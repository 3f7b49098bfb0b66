package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// mostCalls bounds the calls of one request, as /api/v1/answers bounds its queries: an answer has a
// text and values of up to 48 KiB each for a call of some ten bytes.
const mostCalls = 16

// boundBatches refuses requests with more calls than that, before any is answered.
func boundBatches(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Errorf("a request of over %d bytes", large.Limit))
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

// checkBatch refuses a batch of more than mostCalls. What is no batch, or no JSON, is for the next
// one to answer.
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

// refuse answers as the API does.
func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}
