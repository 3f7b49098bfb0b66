package pyroscope

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Every message, field and value of this project's schema is in Pyroscope's, with the same name,
// number and type. The test parses the text, because one program cannot register both schemas.
func TestSchema(t *testing.T) {
	for _, name := range []string{"google/v1/profile", "querier/v1/querier", "settings/v1/setting", "types/v1/types"} {
		data, err := os.ReadFile(filepath.FromSlash("../../../proto/" + name + ".proto"))
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.ReplaceAll(filepath.Dir(name), "/", ".")
		begin := regexp.MustCompile(`^(message|enum|service) (\w+) \{`)
		field := regexp.MustCompile(`^  (repeated |optional |)([\w.]+) (\w+) = (\d+);`)
		value := regexp.MustCompile(`^  (\w+) = (\d+);`)
		rpc := regexp.MustCompile(`^  rpc (\w+)\(([\w.]+)\) returns \(([\w.]+)\)`)
		var in protoreflect.Descriptor
		checked := 0
		for line := range strings.Lines(string(data)) {
			if m := begin.FindStringSubmatch(line); m != nil {
				if in, err = protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(pkg + "." +
					m[2])); err != nil {
					t.Fatalf("%s.%s: %v", pkg, m[2], err)
				}
			} else if m := field.FindStringSubmatch(line); m != nil {
				checkField(t, pkg, in.(protoreflect.MessageDescriptor), m)
				checked++
			} else if m := value.FindStringSubmatch(line); m != nil {
				v := in.(protoreflect.EnumDescriptor).Values().ByName(protoreflect.Name(m[1]))
				if v == nil || fmt.Sprint(v.Number()) != m[2] {
					t.Errorf("%s: %s is not %v", in.FullName(), m[0], v)
				}
				checked++
			} else if m := rpc.FindStringSubmatch(line); m != nil {
				r := in.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(m[1]))
				if r == nil || string(r.Input().FullName()) != absolute(pkg, m[2]) ||
					string(r.Output().FullName()) != absolute(pkg, m[3]) {
					t.Errorf("%s: %s is not %v", in.FullName(), m[0], r)
				}
				checked++
			} else if text := strings.TrimSpace(line); strings.Contains(text, " = ") && !strings.HasPrefix(text,
				"//") && !strings.HasPrefix(text, "option") && !strings.HasPrefix(text, "syntax") {
				t.Errorf("%s: cannot parse %q", name, text)
			}
		}
		if want := strings.Count(string(data), ";\n"); checked < want/2 {
			t.Errorf("%s: %d things of %d were looked at", name, checked, want)
		}
	}
}

// absolute returns the full name of a message that is named in a package.
func absolute(pkg, name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return pkg + "." + name
}

func checkField(t *testing.T, pkg string, in protoreflect.MessageDescriptor, m []string) {
	t.Helper()
	f := in.Fields().ByName(protoreflect.Name(m[3]))
	if f == nil || fmt.Sprint(f.Number()) != m[4] {
		t.Errorf("%s: %s is not %v", in.FullName(), m[0], f)
		return
	}
	want := f.Kind().String()
	switch f.Kind() {
	case protoreflect.MessageKind:
		want = string(f.Message().FullName())
	case protoreflect.EnumKind:
		want = string(f.Enum().FullName())
	}
	got := m[2]
	if f.Kind() == protoreflect.MessageKind || f.Kind() == protoreflect.EnumKind {
		got = absolute(pkg, got)
	}
	if got != want || (m[1] == "repeated ") != f.IsList() || (m[1] == "optional ") != f.HasOptionalKeyword() {
		t.Errorf("%s: %s has the type %s in Pyroscope", in.FullName(), m[0], want)
	}
}
