package fieldtrie_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fieldtrie/fieldtrie/"

// mayImport is the import direction of this module: what each package may import of the
// module. A package that is not listed fails the test, so extend the table on purpose.
var mayImport = map[string][]string{
	"proto/fieldtrie/v1": {},
	"proto/google/v1":    {},
	"proto/querier/v1":   {"proto/google/v1", "proto/types/v1"},
	"proto/settings/v1":  {},
	"proto/types/v1":     {},

	"internal/ahead":       {},
	"internal/authorities": {},
	"internal/commandline": {"internal/spelling"},
	"internal/disk":        {},
	"internal/fresh":       {},
	"internal/lru":         {},
	"internal/spelling":    {},
	"internal/strictyaml":  {"internal/spelling"},
	"internal/terminal":    {},
	"internal/fair":        {},
	"internal/requests":    {},
	"internal/wire":        {},

	"trie":           {},
	"trie/calls":     {"trie"},
	"trie/rollup":    {"internal/wire", "trie"},
	"trie/scripturl": {},

	"encode":         {"encode/internal/input", "proto/fieldtrie/v1", "trie", "trie/scripturl"},
	"encode/columns": {"trie"},
	"encode/firefox": {"encode/internal/input", "encode/output", "trie"},
	"encode/folded":  {"encode/internal/input", "encode/output", "trie"},
	"encode/formats": {"encode", "encode/firefox", "encode/folded", "encode/html", "encode/internal/input",
		"encode/otlp", "encode/output", "encode/pprof", "encode/speedscope", "encode/v8", "encode/view", "trie"},
	"encode/html":             {"encode/columns", "encode/output", "trie"},
	"encode/internal/fixture": {"encode/output", "trie"},
	"encode/internal/input":   {"trie"},
	"encode/otlp":             {"encode/output", "trie"},
	"encode/output":           {"trie"},
	"encode/pprof":            {"encode/internal/input", "encode/output", "trie"},
	"encode/speedscope":       {"encode/internal/input", "encode/output", "trie"},
	"encode/v8":               {"encode/internal/input", "encode/output", "trie"},
	"encode/view":             {"encode/output", "trie", "trie/scripturl"},

	"symbols":           {"internal/wire", "symbols/outline", "symbols/owner", "symbols/sourcemap"},
	"symbols/build":     {"symbols/sourcemap"},
	"symbols/edits":     {"symbols", "symbols/owner", "trie"},
	"symbols/naming":    {"symbols", "symbols/owner", "trie", "trie/rollup", "trie/scripturl"},
	"symbols/outline":   {},
	"symbols/owner":     {"internal/strictyaml", "trie", "trie/scripturl"},
	"symbols/sourcemap": {},
	"symbols/tables":    {"internal/disk", "internal/lru", "symbols"},
	"symbols/uploads":   {"symbols", "symbols/tables"},
	"symbols/wasm":      {"trie"},

	"rules/access/provider": {"internal/authorities"},
	"rules/access": {"internal/fair", "internal/requests", "internal/strictyaml", "rules/access/provider",
		"rules/feature", "rules/site"},
	"rules/feature": {"rules/site", "trie", "trie/scripturl"},
	"rules/site":    {"internal/strictyaml"},

	"sdk": {},

	"web": {},

	"docs": {},

	"store":             {"trie", "trie/rollup"},
	"store/block":       {"internal/wire"},
	"store/bucket":      {"internal/authorities", "store/objects"},
	"store/commits":     {"internal/disk"},
	"store/directory":   {"internal/disk", "store/commits", "store/objects"},
	"store/metamorphic": {},
	"store/objects":     {},
	"store/shared": {"internal/disk", "store", "store/bucket", "store/directory", "store/objects",
		"store/shared/backup", "store/shared/deletion", "store/shared/layout", "store/shared/check",
		"store/shared/erase", "store/shared/read", "store/shared/roll", "store/shared/write", "symbols/tables",
		"trie/rollup"},
	"store/shared/backup": {"store/objects", "store/shared/layout"},
	"store/shared/layout": {"encode", "internal/wire", "store", "store/block", "store/objects", "trie",
		"trie/rollup"},
	"store/shared/deletion": {"encode", "rules/site", "store", "store/objects", "store/shared/layout", "trie",
		"trie/rollup"},
	"store/shared/erase": {"store/shared/deletion", "store/shared/layout", "store/shared/roll", "trie/rollup"},
	"store/shared/check": {"encode", "store", "store/block", "store/objects", "store/shared/layout",
		"store/shared/roll", "trie", "trie/rollup"},
	"store/shared/read": {"internal/ahead", "internal/lru", "store", "store/block", "store/objects",
		"store/shared/layout", "trie", "trie/rollup"},
	"store/shared/roll": {"encode", "store", "store/block", "store/objects", "store/shared/deletion",
		"store/shared/layout", "trie/rollup"},
	"store/shared/write": {"internal/disk", "store", "store/objects", "store/shared/layout", "trie/rollup"},

	"collect": {"collect/quota", "collect/redact", "encode", "encode/output", "internal/fair",
		"internal/requests", "internal/strictyaml", "rules/feature", "rules/site", "store", "trie", "trie/rollup",
		"trie/scripturl"},
	"collect/quota":  {},
	"collect/redact": {"trie"},

	"notify": {"encode/output", "internal/authorities", "internal/strictyaml", "rules/feature"},

	"query/cost": {"internal/terminal", "query/browsers", "trie/rollup"},
	"query": {"encode", "encode/columns", "encode/output", "internal/fresh", "internal/lru", "query/browsers",
		"query/compare", "query/cost", "query/memory", "query/selection", "query/stretch", "query/sums", "query/vital",
		"rules/site", "store", "symbols", "symbols/edits", "symbols/naming", "symbols/owner", "trie", "trie/rollup",
		"trie/scripturl"},
	"query/agent": {"encode/output", "internal/spelling", "internal/terminal", "query", "query/budget",
		"query/changes", "query/compare", "query/cost", "query/selection", "query/verdict", "query/vital",
		"query/watch", "trie", "trie/calls", "trie/rollup"},
	"query/api": {"encode", "encode/columns", "encode/formats", "encode/output", "internal/authorities",
		"internal/fair", "internal/fresh", "query", "query/changes", "query/compare", "query/memory", "query/rollout",
		"query/selection", "trie", "trie/calls", "trie/rollup"},
	"query/budget": {"internal/strictyaml", "query", "query/cost", "query/selection", "query/watch", "rules/feature",
		"trie/rollup"},
	"query/budget/ci": {"encode/output", "query/budget"},
	"query/browsers":  {},
	"query/compare":   {"encode/output", "query/browsers", "trie"},
	"query/file": {"encode", "encode/columns", "encode/formats", "encode/output", "query", "query/compare",
		"query/selection", "symbols", "symbols/naming", "symbols/owner", "symbols/sourcemap", "trie"},
	"query/memory": {},
	"query/pyroscope": {"encode/columns", "encode/output", "encode/pprof", "proto/google/v1", "proto/querier/v1",
		"proto/settings/v1", "proto/types/v1", "query", "query/api", "query/memory", "query/selection", "trie"},
	"query/rollout":   {"query", "query/selection", "trie/rollup"},
	"query/selection": {"store", "symbols/owner", "trie", "trie/rollup"},
	"query/stretch":   {},
	"query/sums": {"encode/output", "query/browsers", "query/compare", "query/selection", "store", "symbols/edits",
		"symbols/naming", "trie", "trie/rollup"},
	"query/cause": {"internal/terminal", "query", "query/changes", "query/compare", "query/selection",
		"query/watch", "symbols/edits", "symbols/naming", "symbols/owner", "trie", "trie/rollup"},
	"query/changes": {"encode/output", "internal/terminal", "query", "query/browsers", "query/compare",
		"query/selection", "query/watch", "store"},
	"query/vital":   {"encode/output", "internal/terminal", "query/sums", "trie/rollup"},
	"query/watch":   {"query", "query/browsers", "query/compare", "query/rollout", "query/selection", "query/vital"},
	"query/summary": {"encode/output", "internal/terminal", "query", "query/budget", "query/compare", "trie"},
	"query/verdict": {"encode/output", "internal/terminal", "query", "query/changes", "query/compare",
		"query/selection", "query/stretch", "query/watch", "trie"},

	"cmd/aggregate": {"cmd/aggregate/capture", "cmd/aggregate/daemon", "cmd/aggregate/deleting",
		"encode/formats", "encode/output", "internal/commandline", "internal/spelling", "internal/terminal", "query",
		"query/agent", "query/api", "query/budget", "query/budget/ci", "query/cause", "query/changes", "query/compare",
		"query/file", "query/rollout", "query/selection", "query/summary", "query/verdict", "query/vital",
		"query/watch", "rules/access", "rules/site", "sdk", "store/shared", "symbols", "symbols/build", "symbols/edits",
		"symbols/naming", "symbols/owner", "symbols/tables", "symbols/wasm", "trie", "trie/calls", "web"},
	"cmd/aggregate/daemon": {"query/api"},
	"cmd/aggregate/deleting": {"cmd/aggregate/daemon", "encode/output", "internal/commandline", "query/api",
		"query/selection", "rules/site", "store/shared", "store/shared/deletion"},
	"cmd/aggregate/capture": {},
	"cmd/fieldtrie":         {"encode/output", "internal/commandline", "internal/spelling"},
	"cmd/ingest": {"cmd/ingest/address", "cmd/ingest/connections", "cmd/ingest/deletions",
		"cmd/ingest/demo", "cmd/ingest/telemetry", "cmd/ingest/watching", "collect", "docs", "encode/output",
		"internal/commandline", "internal/disk", "internal/fair", "internal/lru", "internal/requests",
		"internal/spelling", "internal/strictyaml", "notify", "query", "query/agent", "query/api", "query/browsers",
		"query/budget", "query/changes", "query/memory", "query/pyroscope", "query/selection", "rules/access",
		"rules/access/provider", "rules/feature", "rules/site", "sdk", "store", "store/objects", "store/shared",
		"store/shared/backup", "store/shared/deletion", "symbols/naming", "symbols/owner", "symbols/tables",
		"symbols/uploads", "web"},
	"cmd/ingest/address":     {},
	"cmd/ingest/connections": {"collect"},
	"cmd/ingest/deletions":   {"query/api", "rules/site", "store/objects", "store/shared/deletion"},
	"cmd/ingest/telemetry":   {"internal/requests"},
	"cmd/ingest/watching": {"notify", "query", "query/api", "query/browsers", "query/cause", "query/changes",
		"query/compare", "query/cost", "query/rollout", "query/selection", "query/watch", "store", "symbols/edits",
		"symbols/naming", "trie", "trie/rollup"},
	"cmd/ingest/demo": {"collect", "encode", "query", "query/budget", "query/compare", "query/selection",
		"store/shared", "symbols", "symbols/edits", "symbols/owner", "symbols/sourcemap", "symbols/tables", "trie",
		"trie/rollup"},
	"cmd/upload": {"encode/output", "internal/authorities", "internal/commandline", "symbols",
		"symbols/build", "symbols/owner"},

	"deploy":            {},
	"deploy/dashboards": {},

	"test/bench": {"encode", "encode/formats", "encode/output", "encode/pprof", "query", "query/api",
		"query/cause", "query/selection", "query/watch", "store", "store/directory", "store/objects", "store/shared",
		"symbols", "symbols/naming", "symbols/outline", "symbols/sourcemap", "test/bundles", "test/fakebucket",
		"test/hostile", "test/simulate", "test/simulate/releases", "test/simulate/site", "trie"},
	"test/bench/load":     {"encode", "proto/querier/v1", "proto/types/v1", "test/loadgen", "trie"},
	"test/bundles":        {},
	"test/bundles/edited": {"symbols", "symbols/edits", "test/bundles"},
	"test/cluster":        {},
	"test/fakebucket":     {"store/bucket"},
	"test/faultyfs":       {"internal/disk"},
	"test/fixture":        {"encode", "query/selection", "store", "test/storetest", "trie", "trie/rollup"},
	"test/freeaddr":       {},
	"test/provider":       {},
	"test/hostile":        {},
	"test/loadgen":        {"collect", "encode", "query", "store", "trie"},
	"test/layouttest":     {"encode", "store", "store/objects", "store/shared/layout", "trie", "trie/rollup"},
	"test/mutate":         {},
	"test/programs":       {},
	"test/scratchdisk":    {},
	"test/summary":        {},
	"test/simulate":       {"query/browsers", "query/compare", "trie", "trie/rollup"},
	"test/simulate/releases": {"query", "query/cause", "query/compare", "query/watch", "symbols/edits",
		"symbols/owner", "trie"},
	"test/simulate/site": {"query", "query/browsers", "query/compare", "query/vital", "query/watch",
		"test/simulate", "trie"},
	"test/storetest": {"store", "store/directory", "store/objects", "store/shared", "test/fakebucket",
		"trie/rollup"},
	"test/viewers": {"encode", "encode/firefox", "encode/folded", "encode/otlp", "encode/output",
		"encode/pprof", "encode/speedscope", "encode/v8", "encode/view", "trie"},
}

// onlyIn lists the packages that may import a third-party module, with the reason.
var onlyIn = map[string]struct {
	packages []string
	why      string
}{
	"github.com/dgraph-io/badger": {[]string{"store/commits"},
		"only the package that closes a Badger store has a handle to it"},
	"github.com/minio":         {[]string{"store/bucket"}, "one package hides the protocol of object stores"},
	"github.com/johannesboyne": {[]string{"test/fakebucket"}, "it is for tests"},
	"github.com/go-sourcemap":  {[]string{"test/bench"}, "benchmarks compare against it"},
	"github.com/google/pprof":  {[]string{"encode/pprof", "test/bench"}, "pprof is one format among several"},
	"github.com/spf13/pflag": {[]string{"cmd/aggregate", "cmd/aggregate/daemon", "cmd/aggregate/deleting",
		"cmd/fieldtrie", "cmd/ingest", "cmd/upload", "internal/commandline", "test/bench", "test/bench/load"},
		"libraries have no command line"},
	"log/slog": {[]string{"cmd/ingest", "collect", "internal/disk", "internal/requests",
		"store/shared", "store/shared/read", "store/shared/roll", "store/shared/write", "test/provider",
		"test/storetest", "cmd/ingest/telemetry", "cmd/ingest/watching"}, "only the outer packages log"},
	"net/http": {[]string{"cmd/aggregate", "cmd/aggregate/capture", "cmd/aggregate/deleting",
		"cmd/ingest", "cmd/ingest/connections", "cmd/ingest/deletions", "cmd/ingest/demo", "cmd/upload", "collect",
		"docs", "internal/authorities", "internal/requests", "notify", "query/agent", "query/api", "query/budget",
		"query/pyroscope", "rules/access", "rules/access/provider", "sdk", "store/bucket", "symbols/uploads",
		"test/bench", "test/bench/load", "test/cluster", "test/fakebucket", "test/loadgen", "test/provider", "web",
		"cmd/ingest/telemetry", "cmd/ingest/watching"}, "the core does no I/O"},
	"google.golang.org/protobuf": {[]string{"collect", "encode", "encode/internal/fixture", "encode/otlp",
		"encode/pprof", "proto/fieldtrie/v1", "proto/google/v1", "proto/querier/v1", "proto/settings/v1",
		"proto/types/v1", "query/pyroscope", "test/bench/load"}, "tries are values, not messages"},
	"github.com/prometheus": {[]string{"cmd/ingest", "cmd/ingest/connections", "collect", "query/api",
		"cmd/ingest/telemetry", "cmd/ingest/watching"}, "only daemons have metrics"},
	"github.com/klauspost/compress": {[]string{"collect", "query/api", "query/pyroscope", "store/block", "symbols",
		"test/bench", "test/bench/load", "test/bundles"}, "formats do not compress"},
	"github.com/getkin/kin-openapi":   {nil, "it is for tests"},
	"github.com/rogpeppe/go-internal": {nil, "it is for tests"},
	"github.com/modelcontextprotocol": {[]string{"cmd/aggregate", "query/agent"},
		"one package serves agents, and one starts it"},
	"github.com/chromedp":        {[]string{"cmd/aggregate/capture"}, "one package drives a browser"},
	"github.com/ianlancetaylor":  {[]string{"symbols/wasm"}, "only compiled code has mangled names"},
	"go.opentelemetry.io/proto":  {[]string{"encode/otlp"}, "OTLP is one format among several"},
	"github.com/goccy/go-yaml":   {[]string{"internal/strictyaml"}, "one package parses settings files, strictly"},
	"go.opentelemetry.io/otel":   {[]string{"cmd/ingest/telemetry"}, "only daemons have metrics"},
	"github.com/KimMachineGun":   {[]string{"cmd/ingest"}, "only a daemon bounds its memory"},
	"github.com/coreos/go-oidc":  {[]string{"rules/access/provider"}, "one package logs users in with a provider"},
	"github.com/go-jose/go-jose": {[]string{"rules/access/provider"}, "only tokens of a provider have signatures"},
	"golang.org/x/oauth2":        {[]string{"rules/access/provider"}, "one package logs users in with a provider"},
	"github.com/zitadel/oidc":    {[]string{"test/provider"}, "it is for tests"},
	"github.com/yuin/goldmark":   {[]string{"docs"}, "only the documentation is Markdown"},
	"golang.org/x/crypto/bcrypt": {[]string{"rules/access"}, "only access control has passwords"},
	"golang.org/x/crypto/x509roots": {[]string{"internal/authorities"},
		"one package defines the trusted authorities"},
	"golang.org/x/text": {[]string{"encode/formats"}, "only files have other encodings than UTF-8"},
}

// floors are the rooms of this module, the top-level folders with Go code, from the ground up. A
// room imports from floors below its own, and from no other room.
var floors = [][]string{
	{"internal", "proto"},
	{"trie"},
	{"encode", "symbols", "rules", "sdk", "web", "docs"},
	{"store"},
	{"collect", "notify", "query"},
	{"cmd", "test", "deploy"},
}

func floorOf(pkg string) int {
	room, _, _ := strings.Cut(pkg, "/")
	return slices.IndexFunc(floors, func(rooms []string) bool { return slices.Contains(rooms, room) })
}

func sameRoom(a, b string) bool {
	roomA, _, _ := strings.Cut(a, "/")
	roomB, _, _ := strings.Cut(b, "/")
	return roomA == roomB
}

// TestImportDirection holds what is imported against the table, and the table's laws.
func TestImportDirection(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg, inside := strings.CutPrefix(fields[0], module)
		if !inside {
			continue // the root, which has this test alone
		}
		allowed, listed := mayImport[pkg]
		if !listed || floorOf(pkg) < 0 {
			t.Errorf("package %s is not in the table of import directions, or its room is on no floor", pkg)
		}
		for _, imp := range fields[1:] {
			own, ok := strings.CutPrefix(imp, module)
			if ok && !slices.Contains(allowed, own) {
				t.Errorf("%s must not import %s", pkg, own)
			}
			if ok && !sameRoom(pkg, own) && floorOf(own) >= floorOf(pkg) {
				t.Errorf("%s must not import %s, which is not below it", pkg, own)
			}
			if pkg == "trie" && strings.Contains(imp, ".") {
				t.Errorf("trie must import the standard library alone, not %s", imp)
			}
			for prefix, rule := range onlyIn {
				if (imp == prefix || strings.HasPrefix(imp, prefix+"/")) && !slices.Contains(rule.packages, pkg) {
					t.Errorf("%s must not import %s: %s", pkg, imp, rule.why)
				}
			}
		}
	}
}

// TestParts requires docs/design.md to name each package in the row of its folder. Packages for
// tests, schemas and internal helpers of one folder are known by the folder.
func TestParts(t *testing.T) {
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, parts, _ := strings.Cut(string(text), "| folder | contents |")
	parts, _, _ = strings.Cut(parts, "\n\n")
	for pkg := range mayImport {
		room, below, _ := strings.Cut(pkg, "/")
		_, row, found := strings.Cut(parts, "\n| `"+room+"` |")
		row, _, _ = strings.Cut(row, "\n")
		switch {
		case !found:
			t.Errorf("%s is not in the table of parts", room)
		case below == "" || room == "test" || room == "proto" || strings.Contains(below, "internal/"):
		case !strings.Contains(row, "`"+path.Base(pkg)+"`"):
			t.Errorf("%s is not in the row of %s in the table of parts", pkg, room)
		}
	}
}

// TestSize stops packages from growing without a thought.
func TestSize(t *testing.T) {
	const mostFiles, mostBytes = 25, 140 << 10 // some 4,000 lines
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{.Dir}} {{join .GoFiles " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		files, size := fields[2:], 0
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(fields[1], name))
			if err != nil {
				t.Fatal(err)
			}
			size += len(text)
		}
		if len(files) > mostFiles || size > mostBytes {
			t.Errorf("%s has %d files and %d bytes, the most are %d and %d", fields[0], len(files), size,
				mostFiles, mostBytes)
		}
	}
}
