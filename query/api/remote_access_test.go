package api

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Credentials are sent to the daemon, and never to the target of a redirect.
func TestRemoteAuthorization(t *testing.T) {
	var got []string
	note := func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		http.Error(w, `{"error":"no"}`, http.StatusUnauthorized)
	}
	other := httptest.NewServer(http.HandlerFunc(note))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/", note)
	mux.HandleFunc("/away/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/same/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/here", http.StatusFound)
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	ask := func(addr, token string) string {
		t.Helper()
		r, err := NewRemote(addr)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.SetToken(token)
		}
		_, _, err = r.get(t.Context(), "/api/v1/catalog", url.Values{})
		if err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: error %v", addr, err)
		}
		return err.Error()
	}
	for _, c := range []struct{ addr, token, want string }{
		{host, "", ""},
		{host, "abc", "Bearer abc"},
		{"http://ann:hidden@" + host, "", "Basic YW5uOmhpZGRlbg=="},
		{"http://ann:hid%64en@" + host + "/prefix", "", "Basic YW5uOmhpZGRlbg=="},
		{"http://ann@" + host, "", "Basic YW5uOg=="},
		{"http://ann:hidden@" + host, "abc", "Bearer abc"},
	} {
		got = nil
		if err := ask(c.addr, c.token); !strings.Contains(err, "daemon: no") || len(got) != 1 || got[0] != c.want {
			t.Errorf("%+v: sent %q, error %s", c, got, err)
		}
	}
	got = nil
	for path, to := range map[string]string{"/away": other.URL, "/same": srv.URL + "/here"} {
		if err := ask("http://ann:hidden@"+host+path, ""); !strings.Contains(err, "it redirects to "+to) {
			t.Errorf("%s: error %s", path, err)
		}
	}
	if got != nil {
		t.Errorf("redirects were followed with %q", got)
	}
	for _, addr := range []string{"http://ann:hidden@", "ftp://ann:hidden@host", "http://ann:hidden@ho st",
		"ann:hid@den@:::"} {
		if _, err := NewRemote(addr); err == nil || strings.Contains(err.Error(), "hid") {
			t.Errorf("%s: error %v", addr, err)
		}
	}
}
