package receivers

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/notify"
)

// alert is an alert in a response of Alertmanager.
type alert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL"`
}

// alertmanager builds and starts Alertmanager, and returns its URL.
func alertmanager(t *testing.T) string {
	t.Helper()
	program, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "alertmanager").Output()
	if err != nil {
		t.Fatalf("build Alertmanager: %v", err)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "alertmanager.yml")
	if err := os.WriteFile(config, []byte("route: {receiver: none}\nreceivers: [{name: none}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strings.TrimSpace(string(program)), "--config.file", config, "--storage.path", dir,
		"--web.listen-address", addr, "--cluster.listen-address", "")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails if it has ended
		_ = cmd.Wait()
		_ = log.Close()
	})
	for range 300 {
		if res, err := http.Get("http://" + addr + "/-/ready"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return "http://" + addr
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	said, _ := os.ReadFile(log.Name())
	t.Fatalf("Alertmanager does not start: %s", said)
	return ""
}

// active returns Alertmanager's active alerts by the change that they are about.
func active(t *testing.T, url string) map[string]alert {
	t.Helper()
	res, err := http.Get(url + "/api/v2/alerts")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var list []alert
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", res.Status, err)
	}
	out := map[string]alert{}
	for _, a := range list {
		if _, twice := out[a.Labels["change"]]; twice {
			t.Errorf("change %s is two alerts", a.Labels["change"])
		}
		out[a.Labels["change"]] = a
	}
	return out
}

// Alertmanager has one alert for each open change, in spite of repeats, and none for a resolved
// one.
func TestAlertmanager(t *testing.T) {
	url := alertmanager(t)
	c := channel(t, `{name: am, kind: alertmanager, target: "`+url+`", allow_private: true}`, "")
	var all []notify.Message
	for i, name := range hostile {
		m := change(notify.Found, fmt.Sprintf("%016x", i), name)
		all = append(all, m)
		if r := send(t, c, m); r.Outcome != notify.Accepted {
			t.Fatalf("%q: got %+v", name, r)
		}
	}
	if got := active(t, url); len(got) != len(hostile) {
		t.Fatalf("got %d alerts of %d", len(got), len(hostile))
	}
	file := notify.File{Channels: []notify.Channel{*c}}
	batches := file.Repeats(all, nil, time.Now())
	if len(batches) != 1 {
		t.Fatalf("got %d batches of repeats", len(batches))
	}
	before := active(t, url)
	if r := new(notify.Sender).Send(t.Context(), batches[0]); r.Outcome != notify.Accepted {
		t.Fatalf("got %+v", r)
	}
	for change, a := range active(t, url) {
		if !a.EndsAt.After(before[change].EndsAt) || !a.StartsAt.Equal(before[change].StartsAt) ||
			time.Until(a.EndsAt) > 5*time.Minute {
			t.Errorf("repeated: got %+v after %+v", a, before[change])
		}
		if a.Labels["alertname"] != "FieldtrieChange" || a.Labels["page"] != "/feed" ||
			a.GeneratorURL != "https://profiles.example.com/changes/"+change || strings.ContainsAny(fmt.Sprint(a),
			"<>\x00\x1b\u202e") {
			t.Errorf("got %+v", a)
		}
	}
	if len(active(t, url)) != len(hostile) {
		t.Errorf("a repeat created another alert")
	}
	for i, name := range hostile {
		if r := send(t, c, change(notify.Resolved, fmt.Sprintf("%016x", i), name)); r.Outcome != notify.Accepted {
			t.Fatalf("%q: got %+v", name, r)
		}
		if got := active(t, url); len(got) != len(hostile)-i-1 {
			t.Errorf("%q is resolved: %d alerts are active", name, len(got))
		}
	}
	if r := new(notify.Sender).Send(t.Context(), notify.TestBatch(c, time.Now())); r.Outcome != notify.Accepted ||
		len(active(t, url)) != 1 {
		t.Errorf("got %+v", r)
	}
}
