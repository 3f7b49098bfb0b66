package fieldtrie_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fieldtrie/fieldtrie/"

// mayImport is the import direction of this module: what each package may import of the
// module. A package that is not listed fails the test, so extend the table on purpose.
var mayImport = map[string][]string{
	"proto/fieldtrie/v1":      {},
	"proto/google/v1":         {},
	"proto/types/v1":          {},
	"proto/settings/v1":       {},
	"proto/querier/v1":        {"proto/google/v1", "proto/types/v1"},
	"trie":                    {},
	"symbols/wasm":            {"trie"},
	"encode/internal/input":   {"trie"},
	"encode":                  {"trie", "encode/internal/input", "proto/fieldtrie/v1"},
	"encode/output":           {"trie"},
	"encode/v8":               {"trie", "encode/internal/input", "encode/output"},
	"encode/firefox":          {"trie", "encode/internal/input", "encode/output"},
	"encode/speedscope":       {"trie", "encode/internal/input", "encode/output"},
	"encode/folded":           {"trie", "encode/internal/input", "encode/output"},
	"encode/pprof":            {"trie", "encode/internal/input", "encode/output"},
	"encode/otlp":             {"trie", "encode/output"},
	"encode/view":             {"trie", "encode/output"},
	"encode/columns":          {"trie"},
	"encode/html":             {"trie", "encode/columns", "encode/output"},
	"encode/formats":          {"trie", "encode", "encode/internal/input", "encode/output", "encode/v8", "encode/firefox", "encode/speedscope", "encode/folded", "encode/pprof", "encode/otlp", "encode/view", "encode/html"},
	"encode/internal/fixture": {"trie", "encode/output"}, // for tests
	"symbols":                 {"symbols/owner", "symbols/sourcemap", "symbols/outline"},
	"symbols/owner":           {"trie", "internal/strictyaml"},
	"trie/rollup":             {"trie"},
	"query/compare":           {"trie"},
	"rules/feature":           {"trie", "rules/site"},
	"rules/site":              {"internal/strictyaml"},
	"test/simulate":           {"trie", "trie/rollup", "query/compare"},
	"store":                   {"trie", "trie/rollup"},
	"store/local":             {"trie", "trie/rollup", "store", "store/local/read", "store/local/head", "store/local/snapshot", "store/local/rollups", "store/local/part", "store/local/record", "internal/disk"},
	"store/local/read":        {"trie", "trie/rollup", "store", "store/local/head", "store/local/rollups", "store/local/part", "store/local/record"},
	"store/local/head":        {"trie", "trie/rollup", "encode", "store", "store/local/part", "store/local/record"},
	"store/local/snapshot":    {"store", "store/local/rollups", "store/local/part", "store/local/record", "internal/disk"},
	"store/local/rollups":     {"trie", "trie/rollup", "store", "store/local/record", "internal/disk", "internal/lru"},
	"store/local/part":        {"store", "store/local/record", "internal/disk"},
	"store/local/record":      {"store"},
	"store/local/metamorphic": {},
	"internal/disk":           {},
	"symbols/tables":          {"symbols", "internal/disk", "internal/lru"},
	"symbols/uploads":         {"symbols", "symbols/tables"},
	"store/block":             {},
	"store/bucket":            {},
	"store/shared":            {"trie", "encode", "trie/rollup", "store", "internal/disk", "symbols/tables", "store/block", "store/bucket", "internal/lru"},
	"test/fakebucket":         {"store/bucket"}, // for tests
	"internal/lru":            {},
	"test/storetest":          {"store/local", "store/shared", "test/fakebucket", "trie/rollup", "store"}, // for tests
	"collect":                 {"trie", "encode", "trie/rollup", "store", "rules/feature", "rules/site", "internal/strictyaml", "internal/turn"},
	"rules/access":            {"rules/feature", "rules/site", "internal/strictyaml", "internal/turn"},
	"symbols/naming":          {"trie", "symbols/owner", "symbols"},
	"query":                   {"trie", "rules/site", "encode", "encode/columns", "encode/formats", "encode/output", "trie/rollup", "store", "query/compare", "symbols/owner", "symbols/naming", "symbols", "symbols/sourcemap", "internal/turn"},
	"query/pyroscope":         {"trie", "encode/columns", "encode/output", "encode/pprof", "query", "proto/google/v1", "proto/querier/v1", "proto/settings/v1", "proto/types/v1"},
	"query/budget":            {"rules/feature", "query", "trie/rollup", "internal/strictyaml"},
	"cmd/aggregate/capture":   {},
	"query/summary":           {"query/budget", "query/compare", "encode/output", "query"},
	"query/agent":             {"query/budget", "query/compare", "encode/output", "internal/spelling", "query", "trie"},
	"query/budget/ci":         {"query/budget", "encode/output"},
	"symbols/sourcemap":       {},
	"symbols/build":           {"symbols/sourcemap"},
	"test/bundles":            {}, // for tests
	"symbols/outline":         {},
	"sdk":                     {},
	"web":                     {},
	"cmd/ingest":              {"docs", "query/agent", "store/bucket", "store/shared", "encode/output", "symbols/owner", "store", "store/local", "symbols/tables", "collect", "query", "query/pyroscope", "query/budget", "rules/access", "sdk", "symbols/naming", "symbols/uploads", "web", "rules/feature", "rules/site", "internal/disk", "internal/commandline", "internal/lru", "internal/strictyaml", "internal/turn"},
	"cmd/aggregate":           {"rules/site", "cmd/aggregate/capture", "sdk", "internal/spelling", "query/agent", "query/summary", "store/bucket", "store/shared", "rules/access", "trie", "encode/formats", "encode/output", "store", "store/local", "symbols/tables", "query", "query/compare", "query/budget", "query/budget/ci", "symbols/wasm", "web", "symbols/owner", "symbols/naming", "symbols", "symbols/build", "internal/commandline"},
	"cmd/upload":              {"encode/output", "symbols/owner", "symbols", "symbols/build", "internal/commandline"},
	"cmd/demo":                {},
	"test/viewers":            {"trie", "encode", "encode/output", "encode/v8", "encode/firefox", "encode/speedscope", "encode/folded", "encode/pprof", "encode/otlp", "encode/view"},
	"deploy/dashboards":       {},
	"docs":                    {},
	"deploy":                  {},
	"test/bench":              {"store/shared", "store/bucket", "test/fakebucket", "trie", "encode", "encode/formats", "encode/output", "encode/pprof", "store", "store/local", "store/local/record", "query", "test/simulate", "symbols/naming", "symbols", "symbols/outline", "symbols/sourcemap", "test/bundles", "test/hostile"},
	"test/bench/load":         {"trie", "encode", "test/loadgen", "proto/querier/v1", "proto/types/v1"},
	"test/hostile":            {},
	"test/loadgen":            {"trie", "encode", "store", "collect", "query"},
	"test/scratchdisk":        {},
	"internal/commandline":    {},
	"internal/spelling":       {},
	"test/freeaddr":           {}, // for tests
	"internal/strictyaml":     {"internal/spelling"},
	"internal/turn":           {},
}

// onlyIn says which packages may import a module of others, and why.
var onlyIn = map[string]struct {
	packages []string
	why      string
}{
	"github.com/dgraph-io/badger":     {[]string{"store/local/part"}, "no handle on a partition leaves the package that closes it"},
	"github.com/aws":                  {[]string{"store/bucket"}, "what stores speak is the secret of one package"},
	"github.com/johannesboyne":        {[]string{"test/fakebucket"}, "it is for tests"},
	"github.com/go-sourcemap":         {[]string{"test/bench"}, "it is what ours is compared with"},
	"github.com/google/pprof":         {[]string{"encode/pprof", "test/bench"}, "pprof is one format among several"},
	"github.com/spf13/pflag":          {[]string{"internal/commandline", "cmd/ingest", "cmd/aggregate", "cmd/upload", "test/bench", "test/bench/load"}, "libraries have no command line"},
	"log/slog":                        {[]string{"test/storetest", "store/local", "store/local/head", "store/local/part", "store/local/snapshot", "internal/disk", "store/shared", "collect", "cmd/ingest"}, "logging is for the edges"},
	"net/http":                        {[]string{"cmd/aggregate/capture", "docs", "query/agent", "collect", "query", "query/pyroscope", "symbols/uploads", "query/budget", "rules/access", "sdk", "web", "cmd/ingest", "cmd/aggregate", "cmd/upload", "cmd/demo", "test/bench", "test/bench/load", "test/loadgen", "store/bucket", "test/fakebucket"}, "the core does no I/O"},
	"google.golang.org/protobuf":      {[]string{"proto/fieldtrie/v1", "proto/google/v1", "proto/querier/v1", "proto/settings/v1", "proto/types/v1", "encode", "encode/pprof", "encode/otlp", "encode/internal/fixture", "collect", "store/local/part", "query/pyroscope", "test/bench/load"}, "tries are values, not messages"},
	"github.com/prometheus":           {[]string{"collect", "query", "cmd/ingest"}, "what is measured is what a daemon serves"},
	"github.com/klauspost/compress":   {[]string{"store/local/record", "store/local/rollups", "store/block", "collect", "query", "query/pyroscope", "symbols", "test/bundles", "test/bench", "test/bench/load"}, "formats do not compress"},
	"github.com/getkin/kin-openapi":   {nil, "it is for tests"},
	"github.com/rogpeppe/go-internal": {nil, "it is for tests"},
	"github.com/modelcontextprotocol": {[]string{"query/agent", "cmd/aggregate"}, "agents are answered by one package"},
	"github.com/chromedp":             {[]string{"cmd/aggregate/capture"}, "one package drives a browser"},
	"github.com/ianlancetaylor":       {[]string{"symbols/wasm"}, "only compiled code has mangled names"},
	"go.opentelemetry.io/proto":       {[]string{"encode/otlp"}, "OTLP is one format among several"},
	"github.com/goccy/go-yaml":        {[]string{"internal/strictyaml"}, "files of settings are read strictly, and all in one way"},
	"github.com/yuin/goldmark":        {[]string{"docs"}, "nobody else reads Markdown"},
	"golang.org/x/crypto/bcrypt":      {[]string{"rules/access"}, "passwords are for the guard"},
	"golang.org/x/crypto/x509roots":   {[]string{"cmd/ingest", "cmd/aggregate", "cmd/upload"}, "whom a program trusts is said by the program"},
	"golang.org/x/text":               {[]string{"encode/formats"}, "all but files is UTF-8"},
}

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
		if !listed {
			t.Errorf("package %s is not in the table of import directions", pkg)
		}
		for _, imp := range fields[1:] {
			if own, ok := strings.CutPrefix(imp, module); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s must not import %s", pkg, own)
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
