package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A query for Web Vitals by a label that they are not stored by is an error that lists the labels.
func TestVitalsRefused(t *testing.T) {
	h := Handler(vitalField(t), Options{})
	for _, path := range []string{
		"/api/v1/vitals?label=phase=load", "/api/v1/vitals?feature=edit", "/api/v1/vitals?label=navigation=reload",
		"/api/v1/vitals?group_by=visibility",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(),
			"web vitals are stored by page, release, environment, device, browser, connection, arm and element") {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
}
