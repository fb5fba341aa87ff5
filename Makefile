# The few commands that a change needs. CI runs the same ones.

GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod # at the versions that CI uses; built at the first call

.PHONY: all help build action test race properties lint house fuzz bench clean
all: build test lint ## what a change needs at least

help: ## these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the program, the same bytes on every machine
	$(GO) build -trimpath -buildvcs=false -o coordinator ./cmd/coordinator

action: ## the action's program: the same without the daemon
	$(GO) build -tags action -trimpath -buildvcs=false -o coordinator ./cmd/coordinator

test: ## all tests, and those of the action's program
	$(GO) test ./...
	$(GO) test -tags action ./cmd/coordinator

race: ## of all but the root and the pure packages, which cannot race; needs a C compiler
	$(GO) test -race -timeout 40m $$($(GO) list ./... | grep -vE '^[^/]+/[^/]+/[^/]+(/internal/(quorum|pathfilter|review|change|evidence|report|doctor))?$$')

properties: ## what holds of every decision, in 10,000 worlds each
	$(GO) test ./internal/quorum ./internal/pathfilter -rapid.checks=10000
	$(GO) test ./internal/change -rapid.checks=100000

lint: ## golangci-lint v2, configured in .golangci.yml
	$(GO) vet ./...
	$(TOOL) golangci-lint run
	$(TOOL) golangci-lint run --build-tags action ./cmd/coordinator

house: ## how the program is built, in figures with limits (.ci/house.sh -v: where)
	.ci/house.sh

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; $(GO) test $$pkg -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME); \
		done; \
	done

bench: ## how long it takes, and what it allocates
	$(GO) test -run '^$$' -bench . -benchmem ./internal/...

clean: ## removes what the commands above leave
	rm -rf coordinator dist
