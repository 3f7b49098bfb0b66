# The commands of this project. "make help" lists them.

GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod
TRACES ?= testdata/traces

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

.PHONY: run
run: ## start the daemon, feed it the sample traces, show the result
	@$(GO) build -o bin/ ./cmd/...
	@exec bin/demo

.PHONY: build
build: ## build ingest and aggregate into bin/
	$(GO) build -o bin/ ./cmd/ingest ./cmd/aggregate

# The race detector needs a C compiler.
.PHONY: setup
setup:
	@command -v gcc >/dev/null || { \
	  echo "installing gcc, which the race detector needs"; \
	  SUDO=; [ "$$(id -u)" = 0 ] || SUDO=sudo; \
	  $$SUDO apt-get update -q && $$SUDO apt-get install -qy gcc libc6-dev; }

.PHONY: test
test: setup ## run all tests, with the race detector
	TRACES=$(abspath $(TRACES)) $(GO) test -race ./...

.PHONY: lint
lint: ## check formatting, vet, staticcheck, known vulnerabilities, the schema
	@test -z "$$(gofmt -s -l $$(git ls-files '*.go'))" || { gofmt -s -d $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	GOARCH=386 $(GO) vet ./...
	$(TOOL) staticcheck ./...
	$(TOOL) buf lint
	$(TOOL) buf format -d --exit-code

.PHONY: vuln
vuln: ## look for known vulnerabilities (needs the vulnerability database)
	$(TOOL) govulncheck ./...

.PHONY: generate
generate: ## generate the code of the schema
	$(TOOL) buf generate

.PHONY: check-generate
check-generate: generate ## check that the generated code is that of the schema
	git diff --exit-code -- proto

# A number of inputs, and not a time: when the time is over while an input runs, go test
# fails with "context deadline exceeded" although nothing is wrong.
FUZZTIME ?= 100000x
.PHONY: fuzz
fuzz: ## run each fuzz target on FUZZTIME inputs
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done

.PHONY: bench
bench: ## measure beside the peers: make bench TRACES=DIR
	$(GO) run ./bench $(TRACES)

.PHONY: clean
clean: ## remove what was built
	rm -rf bin bench.json
