# Every habit of this project is a target here. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

# A machine may forbid bytecode, which makes every start of a program slow.
unexport PYTHONDONTWRITEBYTECODE

UV := $(shell command -v uv || echo "python3 -m uv")
RUN := $(UV) run --no-sync
STAMP := .venv/.synced
CHROMIUM := /usr/bin/chromium

.PHONY: help setup demo test test-all lint format generate bench bench-all bench-operator browser operator control-plane kubernetes clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(STAMP) ## make the environment from the lock file

$(STAMP): pyproject.toml uv.lock
	@$(UV) --version >/dev/null 2>&1 || python3 -m pip install --quiet "uv>=0.9"
	UV_COMPILE_BYTECODE=1 $(UV) sync --frozen --extra trainer --extra operator
	@touch $(STAMP)

demo: setup ## train the flights example on 336,776 real flights and show how good it is
	$(RUN) python examples/flights/demo.py

test: setup browser kubernetes ## lint, stale generated files, and every test but the slow ones
	@$(MAKE) --no-print-directory lint
	$(RUN) python -m trainwright_api.generate --check
	$(RUN) pytest -n auto -m "not slow"

test-all: setup browser kubernetes ## every test, the slow ones too; run before an issue is called resolved
	$(RUN) pytest -n auto

lint: setup ## ruff, mypy --strict, import-linter
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy crds operator trainer_image bench e2e
	$(RUN) lint-imports

format: setup ## rewrite the code in the house's format
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

generate: setup ## write the CRD and docs/reference.md from the models
	$(RUN) python -m trainwright_api.generate

bench: setup ## time ours against the hand-written floor, side by side; refreshes bench/results.json
	$(RUN) python -m bench

bench-all: setup ## the same, with 10 M rows in the scaling table
	$(RUN) python -m bench --all

bench-operator: setup kubernetes ## time the operator on the control plane: 1,000 jobs against a floor, 10,000 at a restart
	$(RUN) python -m bench.cluster

operator: setup ## the operator and its webhook beside the API server that $KUBECONFIG names, until Ctrl-C
	@test -n "$${KUBECONFIG:-}" || { echo "KUBECONFIG names no cluster: start one by 'make control-plane'"; exit 1; }
	kubectl apply -f crds/trainwright.dev_trainingjobs.yaml --server-side
	kubectl apply -f operator/manifests/namespace.yaml -f operator/manifests/webhook-local.yaml
	$(RUN) python -m trainwright_operator || test $$? = 130  # 130: by Ctrl-C

control-plane: setup ## a Kubernetes API server with our definitions, until Ctrl-C; it prints how to use it
	@$(RUN) python -m e2e.cluster

kubernetes: setup ## build the programs of the tests' control plane, where that was not done yet
	@$(RUN) python -m e2e.cluster --build

browser: ## install the browser that the report's test looks through (Debian's chromium)
	@test -x $(CHROMIUM) || { \
	  root=""; test "$$(id -u)" = 0 || root=sudo; \
	  $$root apt-get update -qq && $$root apt-get install -y -qq chromium >/dev/null; }

clean: ## remove what the targets made
	rm -rf .venv build out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
