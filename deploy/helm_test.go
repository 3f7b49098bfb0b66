package deploy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/fieldtrie/fieldtrie/test/programs"
)

// rendered returns the objects of the chart, by kind and name, or the error of Helm.
func rendered(t *testing.T, release, values string) (all map[string]object, text []byte, refused string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	chart, err := filepath.Abs("helm")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".", chart, release, file)
	cmd.Dir = "../test/chart"
	var says bytes.Buffer
	cmd.Stderr = &says
	text, err = cmd.Output()
	if err != nil {
		if !strings.Contains(says.String(), "chart: ") {
			t.Fatalf("%v: %s", err, says.String())
		}
		return nil, nil, says.String()
	}
	all = map[string]object{}
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		var o object
		if err := yaml.Unmarshal([]byte(doc+"\n"), &o); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		all[named(o)] = o
	}
	return all, text, ""
}

func named(o object) string { return text(o, "kind") + " " + text(o, "metadata", "name") }

// With default values the chart equals the manifests.
func TestChartIsTheManifests(t *testing.T) {
	program := programs.Path(t, "ingest")
	want := manifests(t)
	delete(want, "Namespace fieldtrie") // Helm's --create-namespace
	got, _, refused := rendered(t, "fieldtrie", "image: {tag: 1.2.3}")
	if refused != "" {
		t.Fatal(refused)
	}
	const config = "ConfigMap fieldtrie"
	means := func(o object) object {
		m, _ := settings(t, program, text(o, "data", "ingest.yaml"))
		return m
	}
	if w, g := means(want[config]), means(got[config]); !reflect.DeepEqual(w, g) {
		t.Errorf("the settings are\n%v\nand in the manifests\n%v", g, w)
	}
	delete(want, config)
	delete(got, config)
	// These differ intentionally.
	pod := at(got["StatefulSet fieldtrie"], "spec", "template", "spec", "containers", 0).(object)
	if pod["image"] != "fieldtrie:1.2.3" || pod["imagePullPolicy"] != "IfNotPresent" {
		t.Errorf("the image is %v, %v", pod["image"], pod["imagePullPolicy"])
	}
	pod["image"] = "fieldtrie"
	delete(pod, "imagePullPolicy")
	delete(at(got["StatefulSet fieldtrie"], "spec", "template", "metadata").(object), "annotations")
	for name, w := range want {
		if g := got[name]; !reflect.DeepEqual(w, g) {
			t.Errorf("%s is\n%v\nand in the manifests\n%v", name, g, w)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s is not in the manifests", name)
	}
}

// bucket are values for several daemons on a bucket.
const bucketValues = `
image: {repository: registry.example.com/fieldtrie, tag: 1.2.3}
bucket: s3://profiles/fieldtrie
replicas: 3
secret: fieldtrie-access
envFrom: [{secretRef: {name: bucket}}]
settings: {access: /etc/fieldtrie-secret/access.yaml, retention: 14d, allow-origin: ["https://www.example.com"]}
files: {owners.yaml: "packages:\n  - {path: node_modules/a, name: a}\n"}
ingress: {enabled: true, host: profiles.example.com, tlsSecret: tls, className: nginx}
`

// With a bucket there are several daemons without volumes, configured by the values.
func TestChartOnBucket(t *testing.T) {
	all, _, refused := rendered(t, "web", bucketValues)
	if refused != "" {
		t.Fatal(refused)
	}
	set := all["StatefulSet web-fieldtrie"]
	if text(set, "spec", "replicas") != "3" || at(set, "spec", "volumeClaimTemplates") != nil ||
		at(set, "spec", "template", "spec", "volumes", 2, "emptyDir") == nil {
		t.Errorf("the StatefulSet is %v", set)
	}
	file := text(all["ConfigMap web-fieldtrie"], "data", "ingest.yaml")
	// The access file is in a Secret, which does not exist in the test.
	means, _ := settings(t, programs.Path(t, "ingest"), strings.Replace(file,
		"access: /etc/fieldtrie-secret/access.yaml\n", "", 1))
	for key, want := range map[string]string{"data": "s3://profiles/fieldtrie", "spool": "/var/lib/fieldtrie/spool",
		"cache":     "/var/lib/fieldtrie/cache",
		"retention": "14d", "listen": ":8418", "query-listen": ":8419", "allow-origin": "[https://www.example.com]",
		"exit-when-stuck": "true"} {
		if got := text(means, key); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if !strings.Contains(file, "access: /etc/fieldtrie-secret/access.yaml\n") || text(all["ConfigMap web-fieldtrie"],
		"data", "owners.yaml") == "" {
		t.Errorf("the settings are\n%s", file)
	}
	labels := text(set, "spec", "template", "metadata", "labels")
	for _, selector := range []string{text(set, "spec", "selector", "matchLabels"), text(all["Service web-fieldtrie"],
		"spec", "selector"), text(all["Service web-fieldtrie-public"], "spec", "selector"),
		text(all["NetworkPolicy web-fieldtrie"], "spec", "podSelector", "matchLabels"),
		text(all["PodDisruptionBudget web-fieldtrie"], "spec", "selector", "matchLabels")} {
		if selector != labels {
			t.Errorf("selector %s, pods have %s", selector, labels)
		}
	}
	backend := at(all["Ingress web-fieldtrie"], "spec", "rules", 0, "http", "paths", 0, "backend", "service")
	if all["Service "+text(backend, "name")] == nil || text(backend, "port", "name") != "public" {
		t.Errorf("the ingress leads to %v", backend)
	}
}

// Invalid values are rejected with a remedy.
func TestChartRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"{}":                                           "image.tag: it is missing",
		"{image: {tag: a}, replicas: 2}":               "several need a bucket",
		"{image: {tag: a}, bucket: gs://b}":            "bucket",
		"{image: {tag: a}, replica: 2}":                "replica",
		"{image: {tag: a}, ingress: {enabled: true}}":  "ingress.host: it is missing",
		"{image: {tag: a}, volume: {storageclass: x}}": "storageclass",
		"{image: {tag: a}, replicas: 0}":               "replicas",
	} {
		if all, _, refused := rendered(t, "fieldtrie", values); !strings.Contains(refused, want) {
			t.Errorf("%s: %q, %d objects", values, refused, len(all))
		}
	}
}
