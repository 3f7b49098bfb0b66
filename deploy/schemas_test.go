package deploy_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSchemas checks the manifests with kubeconform. The Kubernetes schemas come from a module that
// checks manifests itself; that module and kubeconform are used as published.
func TestSchemas(t *testing.T) {
	const (
		kubeconform = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"
		kubernetes  = "sigs.k8s.io/kubectl-validate@v0.0.4"
		operator    = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
		version     = "1.30"
	)
	schemas := t.TempDir()
	builtin := filepath.Join(download(t, kubernetes), "pkg/openapiclient/builtins", version)
	for _, group := range []string{"api/v1", "apis/apps/v1", "apis/networking.k8s.io/v1", "apis/policy/v1"} {
		data, err := os.ReadFile(filepath.Join(builtin, group+".json"))
		if err != nil {
			t.Fatal(err)
		}
		writeSchemas(t, schemas, data)
	}
	crd := read(t, filepath.Join(download(t, operator),
		"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"))
	writeSchema(t, schemas, "monitoring.coreos.com", "v1", "ServiceMonitor",
		strict(at(crd[len(crd)-1], "spec", "versions", 0, "schema", "openAPIV3Schema")))

	args := []string{"run", kubeconform, "-strict", "-summary", "-output", "json", "-schema-location",
		schemas + "/{{.ResourceKind}}{{.KindSuffix}}.json"}
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range map[string]string{"volume": "image: {tag: 1.2.3}", "bucket": bucketValues} {
		_, text, refused := rendered(t, "web", values)
		file := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil || refused != "" {
			t.Fatal(err, refused)
		}
		files = append(files, file)
	}
	// kustomization.yaml is not a cluster object.
	files = slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "kustomization.yaml" })
	out, err := exec.CommandContext(t.Context(), "go", append(args, files...)...).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte(`"skipped": 0`)) {
		t.Errorf("kubeconform: %v\n%s", err, out)
	}
	// The check must be able to fail.
	wrong := filepath.Join(t.TempDir(), "wrong.yaml")
	set, err := os.ReadFile("kubernetes/statefulset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(wrong, bytes.Replace(set, []byte("containerPort: 8418"),
		[]byte("containerPort: many\n              hostport: 1"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", append(args, wrong)...).CombinedOutput(); err == nil {
		t.Errorf("an invalid manifest is accepted: %s", out)
	}
}

// download returns the directory of a module.
func download(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // outside of a module, so that it does not become a dependency
	out, err := cmd.Output()
	var m struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil {
		t.Fatalf("download %s: %v\n%s", module, err, out)
	}
	return m.Dir
}

// writeSchemas writes a schema for each kind in an API description.
func writeSchemas(t *testing.T, dir string, openapi []byte) {
	t.Helper()
	var api object
	if err := json.Unmarshal(bytes.ReplaceAll(openapi, []byte("#/components/schemas/"), []byte("#/definitions/")),
		&api); err != nil {
		t.Fatal(err)
	}
	definitions, _ := strict(at(api, "components", "schemas")).(object)
	for name, s := range definitions {
		kinds, _ := at(s, "x-kubernetes-group-version-kind").([]any)
		for _, k := range kinds {
			schema := object{"$ref": "#/definitions/" + name, "definitions": definitions}
			writeSchema(t, dir, text(k, "group"), text(k, "version"), text(k, "kind"), schema)
		}
	}
}

// writeSchema writes a schema where kubeconform expects it: the suffix of a kind is the first part
// of its group, and its version.
func writeSchema(t *testing.T, dir, group, version, kind string, schema any) {
	t.Helper()
	group, _, _ = strings.Cut(group, ".")
	suffix := strings.TrimPrefix(group+"-"+version, "-")
	data, err := json.Marshal(schema)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ToLower(kind+"-"+suffix)+".json"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// strict makes objects with properties refuse others, like the server with strict validation.
func strict(v any) any {
	switch v := v.(type) {
	case object:
		for _, inner := range v {
			strict(inner)
		}
		if _, ok := v["properties"].(object); ok && v["additionalProperties"] == nil &&
			v["x-kubernetes-preserve-unknown-fields"] != true {
			v["additionalProperties"] = false
		}
	case []any:
		for _, inner := range v {
			strict(inner)
		}
	}
	return v
}
