# Clearbox. `make help` lists what there is to make.

# One set of build tags and C flags everywhere: each further set compiles SQLite,
# which is minutes of work, once more.
TAGS := sqlite_fts5,sqlite_omit_load_extension
export CGO_ENABLED := 1
export CGO_CFLAGS := -O2 -g0
GO := go
# A program with the race detector would sleep for a second whenever it ends.
export GORACE := atexit_sleep_ms=0
RACE := GOFLAGS="$(shell go env GOFLAGS) -race -tags=$(TAGS)"
BIN := bin
STATE := .run
PORT := $(or $(CLEARBOX_PORT),8765)
GENERATED := views
# Many tests wait for processes and browsers: one package more than there are cores.
PACKAGES := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))

.DEFAULT_GOAL := build
.PHONY: build run demo demo-real demo-goal test test-clients test-claude release check generate golden bench storm soak screens cover clean help chromium race-bin

build: ## build the server and its harnesses into bin/
	$(GO) build -tags $(TAGS) -o $(BIN)/ ./cmd/...

run: build ## start the server with mock agents; nothing is spent
	@mkdir -p $(STATE)
	@$(BIN)/clearbox serve --mock --port $(PORT) --db $(STATE)/clearbox.sqlite

demo: build ## the same, with a demo plan running in it
	@mkdir -p $(STATE)
	@$(GO) run -tags $(TAGS) ./examples/demo --server http://127.0.0.1:$(PORT) --wait 60s & \
	$(BIN)/clearbox serve --mock --port $(PORT) --db $(STATE)/clearbox.sqlite

demo-real: build ## watch agents mend a failing test suite, with a scripted model: real tools, no key
	@./examples/fix-the-tests/demo.sh

demo-goal: build ## watch a goal become a plan that you approve, gates included; scripted model, no key
	@./examples/goal/demo.sh

test: build check chromium ## everything: checks, race tests, end-to-end and browser tests
	CLEARBOX_REQUIRE_BROWSER=1 $(RACE) $(GO) test -count=1 -timeout 15m -p $(PACKAGES) ./...

test-clients: build ## drive the built server with clients that others wrote; installs them first
	./packaging/test-clients.sh $(BIN)

test-claude: build ## the same, and everything that harness-claude does with the real program: minutes
	CLEARBOX_CLAUDE=all ./packaging/test-clients.sh $(BIN)

release: ## build static release archives into dist/
	./packaging/release.sh

check: ## generated code up to date, gofmt, vet, staticcheck, who may import whom
	$(RACE) $(GO) tool templ generate -path $(GENERATED) -lazy
	@git diff --exit-code -- $(GENERATED) || { echo "generated code was not up to date: commit it"; exit 1; }
	@files=$$(gofmt -l cmd engine handlers plugin views static internal examples); \
		if [ -n "$$files" ]; then echo "not formatted (run gofmt -w):"; echo "$$files"; exit 1; fi
	GOGC=400 $(RACE) $(GO) vet ./...
	GOGC=400 $(RACE) $(GO) tool staticcheck ./...
	$(RACE) $(GO) test -run TestImports ./cmd/clearbox

generate: ## write generated code anew
	$(GO) tool templ generate -path $(GENERATED)

golden: ## write golden files anew; read the difference before you commit it
	$(GO) test -tags $(TAGS) ./engine/internal/... ./handlers ./views/... ./cmd/... -update

bench: build chromium ## measure, and write BENCHMARKS.md
	$(GO) run -tags $(TAGS) ./internal/bench -bin $(BIN) -out BENCHMARKS.md

screens: chromium ## take pictures of every page and state into .run/screens, to look at
	@mkdir -p $(STATE)/screens
	CLEARBOX_REQUIRE_BROWSER=1 CLEARBOX_SCREENS=$(abspath $(STATE)/screens) $(GO) test -tags $(TAGS) -count=1 -timeout 30m -run 'Screens$$' ./handlers

storm: ## the random tests with many more seeds than make test has (STORMS=200)
	CLEARBOX_STORMS=$(or $(STORMS),200) $(RACE) $(GO) test -count=1 -timeout 2h -run 'InAStorm' ./engine
	CLEARBOX_STORMS=$(or $(STORMS),200) $(GO) test -tags $(TAGS) -count=1 -timeout 2h ./views/graph

soak: build chromium ## hours: a busy plan before a browser; fails when memory keeps growing (SOAK=4h)
	$(GO) run -tags $(TAGS) ./internal/bench -bin $(BIN) -soak $(or $(SOAK),2h)

cover: ## coverage of the tests, by package
	$(GO) test -tags $(TAGS) -coverpkg=./... -coverprofile=$(STATE)/cover.out ./... && $(GO) tool cover -func=$(STATE)/cover.out | tail -1

chromium: ## make sure that there is a Chromium for the browser tests
	@./packaging/ensure-chromium.sh

clean: ## remove what was built and the state of make run
	rm -rf $(BIN) $(STATE)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
