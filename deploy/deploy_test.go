package deploy_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/fieldtrie/fieldtrie/test/freeaddr"
	"github.com/fieldtrie/fieldtrie/test/programs"
)

var update = flag.Bool("update", false, "write the ConfigMap with the dashboard")

// object is a YAML mapping.
type object = map[string]any

// at returns the element at keys and indices in a value, or nil.
func at(v any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(object)
			v = m[s]
		case int:
			list, _ := v.([]any)
			if s >= len(list) {
				return nil
			}
			v = list[s]
		}
	}
	return v
}

func text(v any, path ...any) string { return fmt.Sprint(at(v, path...)) }

// read returns the documents of a YAML file.
func read(t *testing.T, name string) []object {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []object
	for _, doc := range strings.Split(string(data), "\n---\n") {
		var o object
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, o)
	}
	return all
}

// manifests returns the objects listed in kustomization.yaml, by kind and name.
func manifests(t *testing.T) map[string]object {
	t.Helper()
	all := map[string]object{}
	named, _ := at(read(t, "kubernetes/kustomization.yaml")[0], "resources").([]any)
	for _, file := range named {
		for _, o := range read(t, "kubernetes/"+fmt.Sprint(file)) {
			all[text(o, "kind")+" "+text(o, "metadata", "name")] = o
		}
	}
	if files, err := filepath.Glob("kubernetes/*.yaml"); err != nil || len(files) != len(named)+1 {
		t.Errorf("%d files, %d of them named in kustomization.yaml, %v", len(files), len(named), err)
	}
	return all
}

// settings writes a settings file and returns the daemon's interpretation, and the path of the
// file.
func settings(t *testing.T, program, file string) (object, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ingest.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, "--config", path, "--check").CombinedOutput()
	if err != nil {
		t.Fatalf("%s\nis refused: %s", file, out)
	}
	var means object
	if err := yaml.Unmarshal(out, &means); err != nil {
		t.Fatal(err)
	}
	return means, path
}

// TestKubernetes checks the manifests against each other and against the daemon.
func TestKubernetes(t *testing.T) {
	all, program := manifests(t), programs.Path(t, "ingest")
	set := all["StatefulSet fieldtrie"]
	pod := at(set, "spec", "template", "spec")
	container := at(pod, "containers", 0)

	means, file := settings(t, program, text(all["ConfigMap fieldtrie"], "data", "ingest.yaml"))
	args := fmt.Sprint(at(container, "args"))
	if args != "[--config /etc/fieldtrie/ingest.yaml]" || text(container, "volumeMounts", 1,
		"mountPath") != "/etc/fieldtrie" {
		t.Errorf("args %s, settings at %s", args, text(container, "volumeMounts", 1, "mountPath"))
	}
	if got := text(container, "volumeMounts", 0, "mountPath"); got != text(means, "data") {
		t.Errorf("the volume is at %s, the data at %s", got, text(means, "data"))
	}

	ports := map[string]string{}
	list, _ := at(container, "ports").([]any)
	for _, p := range list {
		ports[text(p, "name")] = ":" + text(p, "containerPort")
	}
	if ports["public"] != text(means, "listen") || ports["private"] != text(means, "query-listen") {
		t.Errorf("ports %v, settings %v", ports, means)
	}
	labels := text(set, "spec", "template", "metadata", "labels")
	for _, name := range []string{"fieldtrie", "fieldtrie-public"} {
		service := all["Service "+name]
		port := at(service, "spec", "ports", 0)
		if text(service, "spec", "selector") != labels || ":"+text(port, "port") != ports[text(port, "targetPort")] {
			t.Errorf("service %s selects %s, port %v; pods have %s, %v", name, text(service, "spec", "selector"), port,
				labels, ports)
		}
	}
	if text(set, "spec", "serviceName") != "fieldtrie" {
		t.Error("the Service of the StatefulSet does not exist")
	}
	for _, selector := range []string{
		text(set, "spec", "selector", "matchLabels"), text(all["NetworkPolicy fieldtrie"], "spec", "podSelector",
			"matchLabels"),
		text(all["PodDisruptionBudget fieldtrie"], "spec", "selector", "matchLabels"),
	} {
		if selector != labels {
			t.Errorf("selector %s, pods have %s", selector, labels)
		}
	}
	for i, name := range []string{"public", "private"} {
		if got := text(all["NetworkPolicy fieldtrie"], "spec", "ingress", i, "ports", 0, "port"); got != name {
			t.Errorf("the policy opens %s, want %s", got, name)
		}
	}
	monitor := at(all["ServiceMonitor fieldtrie"], "spec")
	wants, _ := at(monitor, "selector", "matchLabels").(object)
	has, _ := at(all["Service fieldtrie"], "metadata", "labels").(object)
	for key, value := range wants {
		if has[key] != value {
			t.Errorf("the monitor selects %s=%v, the service has %v", key, value, has[key])
		}
	}
	if got := text(monitor, "endpoints", 0, "port"); got != text(all["Service fieldtrie"], "spec", "ports", 0, "name") {
		t.Errorf("the monitor uses port %s", got)
	}

	paths := []string{text(monitor, "endpoints", 0, "path")}
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		if port := text(container, probe, "httpGet", "port"); port != "private" {
			t.Errorf("%s uses port %s", probe, port)
		}
		paths = append(paths, text(container, probe, "httpGet", "path"))
	}
	answers(t, program, file, paths)
}

// answers starts the daemon with a settings file, and checks paths of its private address.
func answers(t *testing.T, program, file string, paths []string) {
	t.Helper()
	private := freeaddr.Of(t)
	cmd := exec.Command(program, "--config", file)
	cmd.Env = append(os.Environ(), "FIELDTRIE_DATA="+t.TempDir(), "FIELDTRIE_LISTEN="+freeaddr.Of(t),
		"FIELDTRIE_QUERY_LISTEN="+private)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, log.String())
		}
	}()
	for end := time.Now().Add(30 * time.Second); exec.Command(program, "--healthy", "--query-listen",
		private).Run() != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the daemon did not become ready")
		}
	}
	for _, path := range paths {
		res, err := http.Get("http://" + private + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
}

// TestDashboard checks the ConfigMap with the Grafana dashboard; go test ./deploy -update writes
// it.
func TestDashboard(t *testing.T) {
	const name = "kubernetes/dashboard.yaml"
	dashboard, err := os.ReadFile("dashboards/fieldtrie.json")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Made of deploy/dashboards/fieldtrie.json by \"go test ./deploy -update\".\napiVersion: " +
		"v1\nkind: ConfigMap\nmetadata:\n" +
		"  name: fieldtrie-dashboard\n  labels:\n    app.kubernetes.io/name: fieldtrie\n    grafana_dashboard: " +
		"\"1\"\ndata:\n  fieldtrie.json: |\n")
	for line := range strings.Lines(string(dashboard)) {
		b.WriteString("    " + line)
	}
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || string(got) != b.String() {
		t.Errorf("%s is outdated, %v; run go test ./deploy -update", name, err)
	}
}

// TestCompose checks the compose file against the daemon and the files that it names, and starts
// the daemon with the settings of packages and of the image.
func TestCompose(t *testing.T) {
	program := programs.Path(t, "ingest")
	for _, name := range []string{"package/ingest.yaml", "package/container.yaml"} {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		settings(t, program, string(file))
	}
	file, err := os.ReadFile("compose/ingest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	means, _ := settings(t, program, string(file))
	compose := read(t, "compose/compose.yaml")[0]
	services, _ := at(compose, "services").(object)
	for name, s := range services {
		mounts, _ := at(s, "volumes").([]any)
		for _, m := range mounts {
			from, _, _ := strings.Cut(fmt.Sprint(m), ":")
			if strings.HasPrefix(from, ".") {
				if _, err := os.Stat(filepath.Join("compose", from)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			} else if _, ok := at(compose, "volumes").(object)[from]; !ok {
				t.Errorf("%s: no volume %s", name, from)
			}
		}
	}
	daemon := services["fieldtrie"]
	mounts := fmt.Sprint(at(daemon, "volumes"))
	if !strings.Contains(mounts, ":"+text(means, "data")+" ") ||
		!strings.Contains(mounts, ":/etc/fieldtrie/ingest.yaml:ro") ||
		fmt.Sprint(at(daemon, "command")) != "[--config /etc/fieldtrie/ingest.yaml]" {
		t.Errorf("mounts %s, command %v, data %v", mounts, at(daemon, "command"), means["data"])
	}
	private := strings.TrimPrefix(text(means, "query-listen"), ":")
	published := fmt.Sprint(at(daemon, "ports"))
	if !strings.Contains(published, "127.0.0.1:"+private+":"+private) ||
		!strings.HasSuffix(published[:strings.Index(published, " ")], text(means, "listen")) {
		t.Errorf("ports %s, settings %v", published, means)
	}
	scrape := read(t, "compose/prometheus.yml")[0]
	if got := text(scrape, "scrape_configs", 0, "static_configs", 0, "targets", 0); got != "fieldtrie:"+private {
		t.Errorf("prometheus queries %s", got)
	}
	if got := text(services["grafana"], "environment", "FIELDTRIE_URL"); got != "http://fieldtrie:"+private {
		t.Errorf("grafana queries %s", got)
	}
}
