# Every target works the second time and, once set up, without a network.
.DEFAULT_GOAL := help
.PHONY: help setup run watch debug test verify check unit gen format bench chart docs screenshots sbom clean clean-data

# The tools that setup fetched come first; a machine whose own node is new enough has no .tools/bin.
export PATH := $(CURDIR)/.tools/bin:$(CURDIR)/node_modules/.bin:$(PATH)
# The first start compiles every file; later ones need less memory and a third less CPU.
run watch debug test: export NODE_COMPILE_CACHE ?= $(CURDIR)/node_modules/.cache/compiled
run_node = node --max-semi-space-size=32 --v8-pool-size=1

help: ## Shows this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## Fetches Node 24 when this machine's own is older, and the packages
	@exec sh deploy/local/setup.sh

run: setup ## Starts everything with a demo workspace (PORT, DATA_DIR, TOPOLOGY=split, DATABASE_URL, NATS_URL, REDIS_URL)
	@exec $(run_node) deploy/local/src/run.ts

watch: setup ## As run, and restarts whenever a source file changes
	@exec $(run_node) --watch deploy/local/src/run.ts

debug: setup ## As run in one process, under the inspector at 127.0.0.1:9229
	@exec $(run_node) --inspect deploy/local/src/run.ts

test: setup ## Types, lint, protos and tests on real servers; ends with "N passed, N failed"
	@exec node deploy/local/src/testing/test.ts

verify: setup ## Faults, attacks, rollouts and all else that takes long: docs/testing.md (PART="faults rollouts" for some)
	@test -d deploy/clients/node_modules || npm ci --prefix deploy/clients
	@test -d docs/site/node_modules || npm ci --prefix docs/site
	@sh deploy/clients/install-python.sh
	@sh deploy/clients/install-openapi-generator.sh
	@exec node deploy/local/src/testing/test.ts verify $(PART)

check: setup ## Types, format and lint, layers and import cycles, floating promises, proto rules, generated code
	@exec node deploy/local/src/testing/check.ts

unit: setup ## The tests next to the code
	@exec vitest run /src/

gen: setup ## Generates gen/ from proto/, documentation of events, files of the Helm chart and of the chat widget
	@buf generate
	@node packages/event-schemas/src/write-docs.ts
	@node deploy/chart-tests/write-processes.ts
	@biome format --write docs/events
	@node packages/chat-widget/src/build.ts

docs: setup ## Builds the documentation, which the gateway then serves under /docs
	@test -d docs/site/node_modules || npm ci --prefix docs/site
	@npm run --silent build --prefix docs/site

screenshots: setup ## Takes the pictures of docs/admins.md (needs Chromium)
	@SCREENSHOTS=docs/images exec vitest run deploy/installation/test/console/five-minutes.test.ts

format: setup ## Formats the code and applies safe lint fixes
	@exec biome check --write .

bench: setup ## Measures calls, deliveries, hooks, chat and neighbours, writes bench/RESULTS.md (12 min on a quiet machine)
	@exec node bench/run.ts

chart: setup ## Lints and renders the Helm chart with every profile and checks what it makes
	@exec vitest run deploy/chart-tests

sbom: setup ## Prints what Toolgate consists of, with checksums and licences, as CycloneDX
	@exec npm sbom --package-lock-only --sbom-format=cyclonedx --omit=dev

clean: ## Removes packages and tools; data stays
	@rm -rf node_modules .tools coverage

clean-data: setup ## Removes the data of make run (DATA_DIR)
	@exec node deploy/local/src/clean-data.ts
