package deploy_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/freeaddr"
	"github.com/fieldtrie/fieldtrie/test/programs"
)

// proxies are the programs with a recipe, and how recipes run them.
var proxies = []struct {
	name, file string
	tls        bool
	// edit returns the recipe for an address of this machine, and the command that runs it in dir.
	edit func(dir, recipe, addr string) (text string, cmd *exec.Cmd)
}{
	{"nginx", "nginx.conf", false, func(dir, recipe, addr string) (string, *exec.Cmd) {
		text := fmt.Sprintf("daemon off;\nmaster_process off;\npid %[1]s/pid;\nerror_log stderr;\nevents {}\nhttp "+
			"{\nclient_body_temp_path %[1]s/b;\nproxy_temp_path %[1]s/p;\n"+
			"fastcgi_temp_path %[1]s/f;\nuwsgi_temp_path %[1]s/u;\nscgi_temp_path %[1]s/s;\naccess_log off;\nserver "+
			"{\nlisten %[2]s;\nlocation / { return 200 'the site'; }\n%[3]s}\n}\n", dir, addr, recipe)
		return text, exec.Command("nginx", "-c", filepath.Join(dir, "recipe"), "-e", "stderr", "-p", dir)
	}},
	{"caddy", "Caddyfile", true, func(dir, recipe, addr string) (string, *exec.Cmd) {
		// At startup, Caddy cleans up and removes empty directories, even if it is about to write a
		// certificate.
		for _, host := range []string{"localhost", "profiles.localhost"} {
			folder := filepath.Join(dir, "caddy", "certificates", "local", host)
			if os.MkdirAll(folder, 0o700) == nil {
				_ = os.WriteFile(filepath.Join(folder, "kept"), nil, 0o600)
			}
		}
		_, port, _ := net.SplitHostPort(addr)
		text := "{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\thttps_port " + port +
			"\n\tdefault_bind 127.0.0.1\n}\n" +
			strings.NewReplacer("www.example.com {", "localhost {\n\ttls internal", "profiles.example.com {",
				"profiles.localhost {\n\ttls internal").Replace(recipe)
		cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "recipe"))
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		return text, cmd
	}},
	{"haproxy", "haproxy.cfg", false, func(dir, recipe, addr string) (string, *exec.Cmd) {
		return strings.Replace(recipe, ":443 ssl crt /etc/haproxy/site.pem", addr, 1), exec.Command("haproxy", "-db",
			"-f", filepath.Join(dir, "recipe"))
	}},
}

// The proxy recipes serve the script and its parts below a path of the site, deliver traces with
// the browser's address, and expose nothing of the private address.
func TestProxies(t *testing.T) {
	bin := programs.Path(t, "ingest")
	for _, p := range proxies {
		t.Run(p.name, func(t *testing.T) {
			if _, err := exec.LookPath(p.name); err != nil {
				t.Fatalf("%v; make setup installs it", err)
			}
			dir, err := os.MkdirTemp("", "proxy") // a socket has a short path
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			recipe, err := os.ReadFile(filepath.Join("proxy", p.file))
			if err != nil {
				t.Fatal(err)
			}
			addr := freeaddr.Of(t)
			text, cmd := p.edit(dir, strings.ReplaceAll(string(recipe), "/run/fieldtrie", dir), addr)
			if err := os.WriteFile(filepath.Join(dir, "recipe"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, port, _ := net.SplitHostPort(addr)
			site := "http://127.0.0.1:" + port
			if p.tls {
				site = "https://localhost:" + port
			}
			daemon := exec.Command(bin, "--data", filepath.Join(dir, "data"), "--listen", "unix:"+filepath.Join(dir,
				"public.sock"), "--query-listen", "unix:"+filepath.Join(dir, "private.sock"),
				"--public-url", site+"/p", "--key", "k1", "--rate", "0.001")
			run(t, daemon)
			run(t, cmd)
			checkProxy(t, dir, site, p.tls)
			healthy := exec.Command(bin, "--healthy", "--query-listen", "unix:"+filepath.Join(dir, "private.sock"))
			if out, err := healthy.CombinedOutput(); err != nil {
				t.Errorf("the daemon's check of its own socket: %v: %s", err, out)
			}
		})
	}
}

// run runs a program until the test ends, and logs its output if the test failed.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(cmd.Path), said.String())
		}
	})
}

// checkProxy uses a site behind a proxy like browsers do, and checks the received data.
func checkProxy(t *testing.T, dir, site string, caddy bool) {
	t.Helper()
	from := func(ip string) *http.Client {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
		return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
			DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
				_, port, _ := net.SplitHostPort(addr)
				return d.DialContext(ctx, "tcp", "127.0.0.1:"+port)
			}}}
	}
	ask := func(c *http.Client, method, url, body string, header ...string) (int, string) {
		req, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := c.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	first, second := from("127.0.0.1"), from("127.0.0.2")
	status, text := 0, ""
	for deadline := time.Now().Add(30 * time.Second); status != http.StatusOK; time.Sleep(50 * time.Millisecond) {
		if status, text = ask(first, "GET", site+"/p/load.js", ""); time.Now().After(deadline) {
			t.Fatalf("the script: %d %s", status, text)
		}
	}
	if !strings.Contains(text, "fieldtrie") {
		t.Errorf("the script is %.100q", text)
	}
	for path, want := range map[string]int{"/p/all.js": 200, "/p/rest.mjs": 200, "/p/sdk.json": 200, "/p/metrics": 404,
		"/p/api/v1/pages": 404, "/": 200, "/load.js": 200} {
		status, text := ask(first, "GET", site+path, "")
		if site := path == "/" || path == "/load.js"; status != want || strings.Contains(text, "the site") != site {
			t.Errorf("GET %s: %d %.100q", path, status, text)
		}
	}
	const trace = `{"page": "/feed", "interval": 10, "trace": {"resources": [], "frames": [{"name": "f"}], "stacks": ` +
		`[{"frameId": 0}], "samples": [{"timestamp": 0, "stackId": 0}]}}`
	// Each address may send one request in a long time. Browsers' forwarding headers are ignored.
	for i, x := range []struct {
		client *http.Client
		url    string
		want   int
	}{{first, "/p/t/k1", 202}, {first, "/p/t/k1", 429}, {second, "/p/v1/traces?key=k1", 202},
		{second, "/p/v1/traces?key=k1", 429}} {
		status, text := ask(x.client, "POST", site+x.url, trace, "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))
		if status != x.want {
			t.Errorf("request %d, POST %s: %d %s, want %d", i, x.url, status, text, x.want)
		}
	}
	private := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: func(ctx context.Context,
		_, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, "private.sock"))
	}}}
	status, text = 0, ""
	for deadline := time.Now().Add(30 * time.Second); !strings.HasPrefix(text, "f ") &&
		time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		status, text = ask(private, "GET", "http://x/api/v1/profile?page=/feed&format=folded", "", "Cache-Control",
			"no-cache")
	}
	if status != http.StatusOK || !strings.HasPrefix(text, "f ") {
		t.Errorf("the profile of /feed: %d %s", status, text)
	}
	if caddy {
		url := strings.Replace(site, "localhost", "profiles.localhost", 1)
		if status, text := ask(first, "GET", url+"/", "", "Accept", "text/html"); status != 200 ||
			!strings.Contains(text, "<html") {
			t.Errorf("the dashboard: %d %.200s", status, text)
		}
	}
}
