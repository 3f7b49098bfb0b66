# The commands of this project. "make help" lists them.

GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod
BUF = tools/node_modules/.bin/buf
PRETTIER = tools/node_modules/.bin/prettier
TRACES ?= testdata/traces
# A folder of profiles and traces of other projects, with references; see docs/formats.md.
# Without one they are not tested.
FIXTURES ?=
export FIXTURES
# A folder of production builds whose functions are known; see docs/benchmarks.md.
SOURCEMAPS ?=
export SOURCEMAPS

# The same flags as for a release, so that both share the build cache. The race detector needs cgo.
export GOFLAGS := $(GOFLAGS) -trimpath
export CGO_ENABLED := 0
# Debian has nginx, haproxy and mkfs there.
export PATH := $(PATH):/usr/sbin:/sbin

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

# The dashboard needs npm. Binaries built without npm report that they have no dashboard.
DASHBOARD = $(if $(shell command -v npm),web/dist/index.html)

# Installed programs decide which files are built, so a second make builds them.
.PHONY: setup setup-run setup-lint setup-test
setup: setup-test ## install what make run, lint and test need and is missing; other commands take SETUP=no to install nothing
setup-run setup-lint setup-test: setup-%:
	@tools/setup.sh $*

.PHONY: run
run: setup-run ## start the daemon with a week of visits of a small shop, show what changed, and where the dashboard is
	@$(MAKE) --no-print-directory --silent build
	@if [ -t 0 ] && [ -t 1 ]; then exec bin/ingest --demo; else exec bin/ingest --demo --demo-ends; fi

# Daemons on one bucket. The store is an S3-compatible one for tests, which keeps objects in a directory.
VERSITYGW = github.com/versity/versitygw/cmd/versitygw@v1.8.0
bin/versitygw:
	@mkdir -p bin
	GOBIN=$(abspath bin) nice $(GO) install $(VERSITYGW)

.PHONY: cluster
cluster: $(DASHBOARD) bin/versitygw ## start three daemons on one bucket behind a load balancer (needs haproxy), kill one, show that nothing is lost
	@$(MAKE) --no-print-directory --silent build
	@$(GO) build -o bin/test/ ./test/cluster && exec bin/test/cluster

.PHONY: test-cluster
test-cluster: bin/versitygw ## kill and stop daemons on one bucket, and the store, under load; check what is stored
	OBJECT_STORE=$(abspath bin/versitygw) $(GO) test ./test/bench/load -count 1 -v -run TestCluster

.PHONY: build
build: $(DASHBOARD) ## build the programs into bin/, as a release has them
	$(GO) build -ldflags '-s -w' -o bin/ ./cmd/...

# For example linux/amd64,linux/arm64; all without it.
PLATFORMS ?=
OUT ?= dist
.PHONY: release
release: web/dist/index.html ## make archives, packages, the image and checksums of the commit: make release [OUT=DIR] [PLATFORMS=linux/amd64] [SIGN=KEY] [MAINTAINER="NAME <MAIL>"]
	cd tools/release && $(GO) run . --source $(CURDIR) --out $(abspath $(OUT)) --platforms "$(PLATFORMS)" $(if $(SIGN),--sign "$(abspath $(SIGN))") $(if $(MAINTAINER),--maintainer "$(MAINTAINER)")

# The second one is made of a clone in another place, whose dashboard is built again.
.PHONY: check-release
check-release: web/node_modules ## make a release for linux/amd64 twice, compare, install and run it; takes root, dpkg and systemd-analyze
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && set -e; \
	$(MAKE) --no-print-directory release PLATFORMS=linux/amd64 OUT=$$work/dist; \
	git clone -q . $$work/clone; cp -a web/node_modules $$work/clone/web/; \
	$(MAKE) --no-print-directory -C $$work/clone release PLATFORMS=linux/amd64 OUT=$$work/again; \
	cd tools/release && RELEASE=$$work/dist AGAIN=$$work/again $(GO) test -count 1 $(VERBOSE) .

.PHONY: web
web: web/dist/index.html ## build the dashboard, which binaries that are built afterwards have
web/dist/index.html: web/build.js web/node_modules $(shell find web/src -type f)
	cd web && node build.js

sdk/node_modules web/node_modules tools/node_modules test/viewers/node_modules test/bench/peers/node_modules test/bundlers/node_modules test/bundlers/next/node_modules test/bundlers/server/nuxt/node_modules: %/node_modules: %/package.json %/package-lock.json
	cd $* && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# Tests of this module run as a release is built, against programs as a release has them, in memory where there is enough:
# programs that tests build are run from there.
MEMORY := $(shell findmnt -bnro OPTIONS,AVAIL /dev/shm 2>/dev/null | awk '!/noexec/ && $$2 > 4e9 {print "TMPDIR=/dev/shm"; exit}')
BIN = PROGRAMS=$(abspath bin)
GOTEST = METAMORPHIC_FOR=2s $(BIN) nice -n 4 $(REPORT) -short -vet=off -p 3 -timeout 20m

# Each part of the tests leaves a report in the format of JUnit, which make test counts.
REPORTS = bin/reports
PARTS = go bucket race race-store script dashboard
REPORT = bin/test/gotestsum --format pkgname-and-test-fails --format-hide-empty-pkg --hide-summary skipped \
  --junitfile $(REPORTS)/$(PART).xml --
NODE_REPORT = NODE_TEST_FLAGS="--test-reporter=spec --test-reporter-destination=stdout \
  --test-reporter=junit --test-reporter-destination=$(abspath $(REPORTS))/$(PART).xml"
bin/test/gotestsum: tools/go.mod
	@$(GO) build -modfile=tools/go.mod -o $@ gotest.tools/gotestsum
$(REPORTS):
	@mkdir -p $@

# The race detector makes tests up to eight times slower, so here it only runs on tests of concurrency:
# small packages that use locks, and tests of large packages selected by name. make race runs it on
# everything. The tests use the disk, because some of them test it.
RACED = ./internal/... ./store/commits ./store/directory ./store/shared/write
RACED_PARTLY = ./store/shared ./store/shared/read ./rules/access
RACING = AtOnce|Beside|Cache|Close|Commit|Concurrent|During|Many|Race|Share|Stuck|Together|UnderLoad|Wait|While
# What is built with the detector waits for a second at its end otherwise, for goroutines that are left.
RACE = CGO_ENABLED=1 GORACE=atexit_sleep_ms=50 nice -n 4 $(REPORT) -race -vet=off -timeout 50m

# Browsers on one side; on the other, what lets them go first (see nice), since browsers measure.
.PHONY: test
test: setup-test ## run all tests, with the race detector where code is concurrent; the last line counts them
	@$(MAKE) --no-print-directory build sdk/node_modules web/node_modules bin/test/gotestsum
	@rm -rf $(REPORTS)
	@status=0; \
	$(MAKE) --no-print-directory --output-sync=target -k -j2 -o build TRACES=$(abspath $(TRACES)) \
	  test-browsers test-programs || status=2; \
	$(GO) run ./test/summary $(PARTS:%=$(REPORTS)/%.xml) || status=2; \
	exit $$status

.PHONY: test-browsers test-programs
test-browsers:
	@$(MAKE) --no-print-directory -k -j1 -o build test-sdk test-web
test-programs:
	@$(MAKE) --no-print-directory -k -j1 test-go test-bucket test-race test-race-store
.PHONY: test-go test-bucket test-race test-race-store test-sdk test-web test-engines test-bundlers test-viewers test-alerts test-receivers
test-go test-bucket test-race test-race-store race: bin/test/gotestsum | $(REPORTS)
test-go: PART = go
test-go:
	$(MEMORY) $(GOTEST) $(filter-out $(shell $(GO) list $(RACED)),$(shell $(GO) list ./...))
test-bucket: PART = bucket
test-bucket:
	$(MEMORY) BACKEND=bucket $(GOTEST) ./query ./query/pyroscope ./query/budget ./collect
test-race: PART = race
test-race:
	$(RACE) -short $(RACED)
test-race-store: PART = race-store
test-race-store:
	$(RACE) -short -run '$(RACING)' $(RACED_PARTLY)
test-sdk: PART = script
test-sdk: build sdk/node_modules | $(REPORTS)
	cd sdk && $(BIN) $(NODE_REPORT) npm test
test-web: PART = dashboard
test-web: build web/node_modules | $(REPORTS)
	$(GO) build -o bin/test/ ./test/provider
	cd web && npx tsc && $(NODE_REPORT) npm test
# Two browsers with 300 MB of packages, and a display for one of them.
test-engines: build sdk/node_modules ## run the browser script in Firefox and WebKitGTK, which it installs
	@SUDO=; [ "$$(id -u)" = 0 ] || SUDO=sudo; command -v firefox-esr WebKitWebDriver xvfb-run >/dev/null || \
	  { $$SUDO apt-get update -q && $$SUDO apt-get install -qy --no-install-recommends firefox-esr webkit2gtk-driver xvfb xauth; }
	cd sdk && $(BIN) xvfb-run -a node --test test/engines/*.test.js

# Next and Nuxt are for ALL: the packages of each are as large as all others.
test-bundlers: build sdk/node_modules test/bundlers/node_modules $(if $(ALL),$(addprefix test/bundlers/,next/node_modules server/nuxt/node_modules)) ## build apps with bundlers, check that upload names their functions: make test-bundlers [ALL=1]
	cd test/bundlers && UPLOAD=$(abspath bin/upload) AGGREGATE=$(abspath bin/aggregate) ALL=$(ALL) npm test
test-viewers: build test/viewers/node_modules ## open what is written in the viewers of others
	cd test/viewers/pyroscope && $(BIN) $(GO) test ./...
	cd test/viewers && npm test
test-alerts: ## load the alerts into Prometheus and fire each of them
	cd deploy/dashboards/rules && nice -n 4 $(GO) test ./...

test-receivers: ## send notifications to Alertmanager, a mail server and the reference of Standard Webhooks
	cd test/receivers && nice -n 4 $(GO) test ./...

# 240 packages, 150 MB.
.PHONY: test-mcp
test-mcp: ## have the inspector of the Model Context Protocol ask aggregate mcp; npx installs it
	INSPECTOR="npx --yes @modelcontextprotocol/inspector@2.12.0 --cli" $(GO) test ./cmd/aggregate -count 1 -v -run 'TestInspector|TestMCP'

.PHONY: sdk
sdk: sdk/node_modules ## build the browser script into sdk/dist
	cd sdk && npm run --silent build

.PHONY: package
package: sdk/node_modules ## check the package of the browser script as those who install it get it
	cd sdk && npm run --silent package

# What computes with numbers from outside, and so could differ where they are narrow. The others are built for 386 by what
# they import, which takes a minute.
NARROW = ./encode/... ./trie/... ./store/... ./query/compare ./symbols/... ./rules/feature

.PHONY: lint
lint: setup-lint ## check formatting, lengths of lines, phrases, vet, staticcheck, the schema, generated code, the npm package
	@$(MAKE) --no-print-directory tools/node_modules package check-generate
	@test -z "$$(gofmt -s -l $$(git ls-files '*.go'))" || { gofmt -s -d $$(git ls-files '*.go'); exit 1; }
	$(PRETTIER) --check --log-level warn $$(git ls-files '*.js' '*.mjs' '*.ts' '*.tsx' '*.css')
	cd tools && $(GO) test ./prose && $(GO) run ./prose ..
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	$(BUF) lint
	$(BUF) format -d --exit-code

.PHONY: narrow
narrow: ## vet what computes with numbers from outside for a processor of 32 bits
	GOARCH=386 $(GO) vet $(NARROW)

# Takes root, 3 GB and half an hour; SUITE is a release of Debian with node 20 or later.
SUITE ?= trixie
.PHONY: check-fresh
check-fresh: ## run make run and make test of the commit in a new Debian that has Go, git and make alone
	tools/check-fresh.sh $(SUITE) $(abspath .)

# What takes too long for each change.
.PHONY: nightly race test-long
nightly: ## run what takes too long for each change, and end with a table: race detector on all, fuzzing, faults, load, benchmarks, releases
	.ci/nightly
race: PART = race-all
race: ## run all tests of Go with the race detector
	$(RACE) ./...
test-long: ## run all tests of Go in their long form
	$(BIN) nice -n 4 $(GO) test -timeout 50m ./...
	BACKEND=bucket $(BIN) nice -n 4 $(GO) test -timeout 50m ./query/... ./collect/...

# ONLY is a regular expression of names or files.
.PHONY: mutants
mutants: ## change the code in one place at a time, and list the changes that no test detects: make mutants [ONLY=trie]
	$(GO) run ./test/mutate --only "$(ONLY)"

.PHONY: vuln
vuln: ## look for known vulnerabilities (needs the vulnerability database)
	$(TOOL) govulncheck ./...

.PHONY: generate
generate: sdk tools/node_modules ## generate the code of the schema, and the browser script
	$(BUF) generate

.PHONY: check-generate
check-generate: sdk/node_modules tools/node_modules ## check that the generated code is up to date
	@before=$$(mktemp -d) && trap 'rm -rf "$$before"' EXIT && cp -a proto sdk/dist sdk/brotli "$$before" && \
	$(MAKE) --no-print-directory --silent generate && \
	{ diff -qr "$$before/proto" proto && diff -qr "$$before/dist" sdk/dist && diff -qr "$$before/brotli" sdk/brotli || \
	  { echo "the generated code was out of date; commit the new one"; exit 1; }; }

# A number of inputs, and not a time: when the time is over while an input runs, go test
# fails with "context deadline exceeded" although nothing is wrong. The tests of a package are
# built once for all its targets.
FUZZTIME ?= 100000x
FUZZ_IN ?= ./...
.PHONY: fuzz
fuzz: ## run each fuzz target on FUZZTIME inputs
	@tests=$$(mktemp -d) && trap 'rm -rf "$$tests"' EXIT; \
	cache=$$($(GO) env GOCACHE)/fuzz; \
	for dir in $$($(GO) list -f '{{.Dir}}' $(FUZZ_IN)); do \
	  targets=$$(sed -nE 's/^func (Fuzz\w+)\(.*/\1/p' $$dir/*_test.go 2>/dev/null); \
	  [ -n "$$targets" ] || continue; \
	  $(GO) test -c -fuzz . -o "$$tests/fuzz" $$dir || exit 1; \
	  package=$$($(GO) list $$dir) || exit 1; \
	  for f in $$targets; do \
	    echo "$$dir $$f"; \
	    (cd $$dir && "$$tests/fuzz" -test.run '^$$' -test.fuzz "^$$f$$" -test.fuzztime $(FUZZTIME) \
	      -test.fuzzcachedir "$$cache/$$package") || exit 1; \
	  done; \
	done

# Megabytes of the recordings that are made for it.
IMPORT_MB ?= 120
# Traces that are stored to see what they take on disk, and to query a day of them; days of
# the month that is queried.
DISK_TRACES ?= 100000
ROLLUP_TRACES ?= 1000000
ROLLUP_DAYS ?= 30
# Simulated comparisons for each figure.
COMPARE_RUNS ?= 500
# Simulated months of each page for each figure.
WATCH_SEEDS ?= 10
CAUSE_SEEDS ?= 100
# Tabs that are closed to count the traces that arrive.
CLOSES ?= 200
# Traces of the day whose answers are named, and more folders of builds.
NAMES_TRACES ?= 50000
BUILDS ?=
# How long the daemon is loaded.
INGEST_TIME ?= 10s
# Traces of the larger day that is in a bucket.
CLUSTER_TRACES ?= 100000
# How often flame graphs are drawn; pages are changed 20 times as often.
WEB_ROUNDS ?= 5
ONLY ?=
.PHONY: screenshots
screenshots: setup-test build web/node_modules ## take the pictures in docs/images, of the shop of the demo
	node web/screenshots.js

.PHONY: bench
bench: setup-test build sdk/node_modules test/bench/peers/node_modules test/viewers/node_modules ## measure next to the peers: make bench TRACES=DIR [ONLY=PART]
	cd web && node build.js --tests
	$(GO) run ./test/bench --import-mb $(IMPORT_MB) --disk-traces $(DISK_TRACES) --rollup-traces $(ROLLUP_TRACES) \
	  --rollup-days $(ROLLUP_DAYS) --compare-runs $(COMPARE_RUNS) --watch-seeds $(WATCH_SEEDS) --cause-seeds $(CAUSE_SEEDS) --closes $(CLOSES) --names-traces $(NAMES_TRACES) --cluster-traces $(CLUSTER_TRACES) --ingest-time $(INGEST_TIME) --web-rounds $(WEB_ROUNDS) \
	  $(foreach dir,$(SOURCEMAPS) $(BUILDS),--builds $(dir)) --only "$(ONLY)" $(if $(JUDGE),--judge) $(TRACES)

RATE ?= 1000
FOR ?= 30s
# Further flags, such as "--json --kill-every 5s --retry"; "go run ./test/bench/load --help" lists
# them.
LOAD ?=
.PHONY: load
load: ## send traces at a rate, check what is stored: make load TRACES=DIR RATE=2000 FOR=60s
	$(GO) run ./test/bench/load --rate $(RATE) --for $(FOR) $(TRACES) $(LOAD)

# In turns, since the disk may be slow for a while.
ROUNDS ?= 3
.PHONY: dashboards
dashboards: ## measure the load of dashboards while traces arrive: make dashboards TRACES=DIR RATE=1500 FOR=60s
	for round in $$(seq $(ROUNDS)); do for n in 0 50; do echo "== round $$round, $$n dashboards"; \
	  $(GO) run ./test/bench/load --rate $(RATE) --for $(FOR) --batch 5 --verify=false --dashboards $$n $(TRACES) || exit 1; done; done

# All known attacks concurrently, against a daemon with 1 GB of memory. It needs root.
ATTACK_FOR ?= 10m
ATTACK ?= all
.PHONY: attack
attack: ## attack a daemon that has 1 GB beside honest clients, check what of theirs is stored: make attack TRACES=DIR
	$(GO) run ./test/bench/load --rate 200 --for $(ATTACK_FOR) --site --networks 500 --attack $(ATTACK) --memory 1000000000 $(TRACES)

# Every operation on a file, every response of a bucket and every object fails once, in all that a store does. make test
# tries some of them.
.PHONY: sweeps
sweeps: ## fail each file operation, response and object of a store once
	SWEEP=all $(MEMORY) nice $(GO) test ./store/commits ./store/directory ./store/shared -count 1 -timeout 120m -run 'Each|LostAnswers|FailingFiles|Sweep'

# How often the power is cut, which needs root, and how long a daemon gets traces that is killed every two seconds. Inputs
# that are made up take an hour more.
SOAK_CUTS ?= 48
SOAK_FOR ?= 200s
SOAK_FUZZ ?= 400000x
.PHONY: soak
soak: ## cut the power and kill the daemon again and again, check what is stored
	SOAK_CUTS=$(SOAK_CUTS) $(GO) test ./store/shared -count 1 -timeout 0 -v -run TestPowerCut
	$(GO) run ./test/bench/load --rate 300 --for $(SOAK_FOR) --kill-every 2s --retry $(TRACES)
	$(MAKE) fuzz FUZZTIME=$(SOAK_FUZZ)

# Megabytes of scripts that others wrote, so they are built where they are needed. Next takes
# as long to install as all others together.
.PHONY: bundles
bundles: sdk/node_modules test/bundlers/node_modules $(if $(ALL),test/bundlers/next/node_modules) ## build apps with bundlers, with the true names of their functions: make bundles OUT=DIR [ALL=1]
	@test -n "$(OUT)" || { echo "OUT is missing: make bundles OUT=DIR"; exit 1; }
	nice node test/bundlers/make.js $(abspath $(OUT)) $(if $(ALL),all)

# Visits of each page of each release of the shop.
VISITS ?= 14
.PHONY: recordings
recordings: web/node_modules ## record the visits that ingest --demo replays, which takes a quarter of an hour
	node test/shop/record.js cmd/ingest/demo/recordings $(VISITS)

.PHONY: clean
clean: ## remove what was built
	rm -rf bin bench.json
