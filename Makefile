# Every target works the second time and, once set up, without a network.
.DEFAULT_GOAL := help
.PHONY: help setup run watch debug test check unit integration faults silence chat-faults recovery rollouts fuzz attack sbom gen format bench clean clean-data chart clients cluster image-test

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

test: setup ## All checks and tests; ends with "N passed, N failed"
	@exec node deploy/local/src/testing/test.ts

check: setup ## Types, format and lint, layers and import cycles, floating promises, proto rules, generated code
	@exec node deploy/local/src/testing/check.ts

unit: setup ## The tests next to the code
	@exec vitest run /src/

integration: setup ## The tests of whole services, in test/ folders
	@exec vitest run /test/

gen: setup ## Generates gen/ from proto/, documentation of events, files of the Helm chart and of the chat widget
	@buf generate
	@node packages/event-schemas/src/write-docs.ts
	@node deploy/chart/src/write-files.ts
	@biome format --write docs/events charts/toolgate
	@node packages/chat-widget/src/build.ts

format: setup ## Formats the code and applies safe lint fixes
	@exec biome check --write .

bench: setup ## Measures calls, deliveries, hooks, chat and noisy neighbours beside peers, writes bench/RESULTS.md (10 min)
	@exec node bench/run.ts

faults: export FAULT_ROUNDS ?= 20
faults: setup ## Kills each process and server 20 times under load and counts (FAULT_ROUNDS)
	@exec vitest run --no-file-parallelism deploy/installation/test/faults/faults.test.ts deploy/installation/test/faults/hooks

fuzz: export FUZZ_CASES ?= 100000
fuzz: export FUZZ_SEED := $(or $(FUZZ_SEED),$(shell date +%s))
fuzz: setup ## Sends 100,000 random calls to hooks and checks what they caused (FUZZ_CASES, FUZZ_SEED)
	@exec vitest run deploy/installation/test/fuzz

attack: export ATTACK_ROUNDS ?= 1
attack: setup ## Attacks the sandbox, also over HTTP in both topologies, and counts what others lose and wait (ATTACK_ROUNDS)
	@exec vitest run --no-file-parallelism installation/test/attacks attack-errors.test bombs.test compiler.test cpu.test kept-state.test memory.test escape.test

silence: export SILENCE_ROUNDS ?= 3
silence: setup ## Kills each part under a steady load of deliveries and shows how long endpoints get nothing (SILENCE_ROUNDS)
	@exec vitest run deploy/installation/test/silence

chat-faults: export CHAT_FAULT_ANSWERS ?= 200
chat-faults: setup ## Kills workers, gateway and NATS during 200 streamed answers of chats (CHAT_FAULT_ANSWERS, FAULT_SEED)
	@exec vitest run deploy/installation/test/chat/faults

recovery: export RECOVERY := 1
recovery: setup ## Loses Redis, NATS, both, and each server of a NATS cluster, restores a dump, and PostgreSQL to a moment, and uses everything afterwards
	@exec vitest run --no-file-parallelism deploy/installation/test/recovery

rollouts: export ROLLOUTS := 1
rollouts: setup ## Restarts every role under load, scales workers, upgrades from the previous version, and counts (7 min; ROLLOUT_FROM)
	@exec vitest run --no-file-parallelism deploy/installation/test/rollouts

chart: setup ## Lints and renders the Helm chart with every profile and checks what it makes
	@exec vitest run deploy/chart

cluster: setup ## Installs the Helm chart on a real control plane with simulated nodes (needs Go, and long the first time)
	@exec node deploy/cluster/src/main.ts $(FILES)

image-test: setup ## Runs every role from the file tree of a built image (IMAGE_ROOT; as root), see docs/kubernetes.md
	@exec vitest run deploy/installation/test/image

clients: setup ## Calls tools with clients that four generators make from an OpenAPI document (one needs Python)
	@test -d deploy/clients/node_modules || npm ci --prefix deploy/clients
	@sh deploy/clients/install-python.sh
	@exec vitest run deploy/installation/test/clients

sbom: setup ## Prints what Toolgate consists of, with checksums and licences, as CycloneDX
	@exec npm sbom --package-lock-only --sbom-format=cyclonedx --omit=dev

clean: ## Removes packages and tools; data stays
	@rm -rf node_modules .tools coverage

clean-data: setup ## Removes the data of make run (DATA_DIR)
	@exec node deploy/local/src/clean-data.ts
