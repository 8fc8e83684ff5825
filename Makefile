# All commands of this project are targets. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

# A machine may forbid bytecode, which makes every start of a program slow.
unexport PYTHONDONTWRITEBYTECODE

CACHE := $(or $(TRAINWRIGHT_CACHE),$(HOME)/.cache/trainwright)
# The uv of this machine. A machine without one gets a copy in CACHE, because Debian's Python refuses `pip install`.
OWN_UV := $(CACHE)/uv/bin/uv
UV := $(shell for uv in uv "python3 -m uv"; do $$uv --version >/dev/null 2>&1 && echo "$$uv" && exit; done; echo $(OWN_UV))
MISSING_UV := $(filter $(OWN_UV),$(UV))
RUN := $(UV) run --no-sync
STAMP := .venv/.synced
HOROVOD := .venv/.horovod
MODIN_ENVIRONMENT := .venv-modin/.synced
BUILDER ?= $(shell docker version >/dev/null 2>&1 && echo docker || echo buildah)
TAG ?= $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
REGISTRY ?=
IMAGE = $(if $(REGISTRY),$(REGISTRY:/=)/)$(1):$(TAG)
CHROMIUM := /usr/bin/chromium
# The core has a limit of 15 minutes, so Kueue and cert-manager are not in it: each build takes minutes.
CORE := $(addprefix e2e/full_cluster/,test_node.py test_images.py test_mistake.py test_gpu_shapes.py test_same_everywhere.py \
	faults/test_worker_is_killed.py)

.PHONY: help setup demo test test-all test-gpu test-modin test-large tiny-models lint verify chart format generate docs bench bench-all bench-tables bench-strategies bench-models bench-loop bench-data bench-gpu bench-operator bench-full-cluster browser horovod modin operator control-plane kubernetes kueue argocd s3 cluster cluster-down e2e e2e-all images push clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-18s %s\n", $$1, $$2}'

setup: $(STAMP) ## make the environment from the lock file

$(OWN_UV):
	@rm -rf $(CACHE)/uv; export PIP_ROOT_USER_ACTION=ignore; \
	if python3 -m pip --version >/dev/null 2>&1; then python3 -m pip install --quiet --target $(CACHE)/uv "uv>=0.9"; exit; fi; \
	root=""; test "$$(id -u)" = 0 || root=sudo; \
	python3 -c "import ensurepip" 2>/dev/null || { $$root apt-get update -qq && $$root apt-get install -y -qq python3-venv >/dev/null; } \
	  || { echo "python3 has neither pip nor venv: install python3-venv (Debian, Ubuntu), or uv"; exit 1; }; \
	python3 -m venv $(CACHE)/uv; $(CACHE)/uv/bin/python -m pip install --quiet "uv>=0.9"

$(STAMP): pyproject.toml uv.lock | $(MISSING_UV)
	UV_COMPILE_BYTECODE=1 $(UV) sync --frozen --extra trainer --extra text --extra image --extra hyperopt --extra export --extra mlflow --extra operator --extra deepspeed --extra horovod --extra lightning
	@touch $(STAMP)

demo: setup ## train the flights example on 336,776 real flights and show how good it is
	$(RUN) python examples/flights/demo.py

test: setup horovod browser kubernetes s3 ## lint, stale generated files, and every test but the slow ones
	@$(MAKE) --no-print-directory lint verify
	$(RUN) pytest -n auto -m "not slow"

test-all: setup horovod browser kubernetes kueue argocd s3 ## every test, the slow ones too; run before an issue is called resolved
	$(RUN) pytest -n auto
	@$(MAKE) --no-print-directory test-modin

tiny-models: setup ## pretrain a small BERT, a small Llama and a ResNet on data of this machine, in build/tiny-models
	$(RUN) python examples/docstrings/make_data.py
	$(RUN) python -m testkit.tiny_models build/tiny-models

test-gpu: setup horovod ## the tests that need a GPU, on this machine's: every strategy, half precision, compile, pinned copies
	@$(RUN) python -c "import sys, torch; sys.exit(None if torch.cuda.is_available() else 'torch finds no GPU on this machine')"
	$(RUN) pytest tests/gpu

test-modin: modin ## the tests of `processor: modin`, which are skipped elsewhere, in its own environment
	.venv-modin/bin/pytest tests/laws/test_processors.py tests/trainwright_trainer/frames \
	  tests/trainwright_trainer/backends/ray/test_processors.py tests/trainwright_trainer/backends/ray/test_modin.py

test-large: setup s3 ## one epoch on 10 GB in S3 within 2 GiB (local) and 6 GiB (ray, dask); needs root and 40 GB of disk
	$(RUN) pytest -n 0 -s e2e/large

lint: setup ## ruff, mypy --strict, import-linter
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy crds operator trainer_image helm bench e2e testkit docs/site
	$(RUN) lint-imports

verify: setup kubernetes ## check that the generated files are up to date: CRD, reference, chart, manifests
	$(RUN) python -m trainwright_api.generate --check
	$(RUN) python -m helm.generate --check

chart: verify ## the chart: up to date, rendered, and installed on a real API server
	$(RUN) pytest tests/helm e2e/control_plane/test_chart.py

format: setup ## format the code with ruff
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

generate: setup kubernetes ## write the CRD, docs/reference.md, and the files that follow from the chart
	$(RUN) python -m trainwright_api.generate
	$(RUN) python -m helm.generate

docs: | $(MISSING_UV) ## build the documentation site in build/site/html, with every link checked
	$(UV) run --isolated --frozen --only-group docs python docs/site/build.py

bench: setup ## time ours against the hand-written baseline, side by side; refreshes bench/results.json
	$(RUN) python -m bench

bench-all: setup ## the same, with 10 M rows in the scaling table
	$(RUN) python -m bench --all

bench-tables: setup ## how good the smallest file's models are on eight tables, 20 splits each, beside scikit-learn
	$(RUN) python -m bench.tables

bench-strategies: setup ## the memory that each strategy keeps on a rank, beside the theory
	$(RUN) python -m bench.strategies

bench-models: setup ## time texts, images, cached embeddings and three families of models beside hand-written programs
	$(RUN) python -m bench.models

bench-loop: setup horovod ## time the loop beside a hand-written one, what checkpoints and a slow tracker cost, and what communication overlaps
	$(RUN) python -m bench.loop
	$(RUN) python -m bench.overlap
	$(RUN) python -m bench.tracking

bench-data: setup s3 ## time loaders and preprocessing beside hand-written code, with 10 M rows
	$(RUN) python -m bench.data

bench-gpu: setup ## time training on this machine's GPU beside hand-written programs, and its waits for data
	$(RUN) python -m bench.gpu

bench-operator: setup kubernetes ## time the operator on the control plane: 1,000 jobs against a baseline, 10,000 at a restart, 2,000 pods that post
	$(RUN) python -m bench.cluster

bench-full-cluster: setup ## time kubectl apply to the first step on the full cluster, beside a bare RayJob; it needs root
	$(RUN) python -m bench.full_cluster

operator: setup ## the operator and its webhook beside the API server that $KUBECONFIG names, until Ctrl-C
	@test -n "$${KUBECONFIG:-}" || { echo "KUBECONFIG names no cluster: start one by 'make control-plane'"; exit 1; }
	kubectl apply -f crds/trainwright.dev_trainingjobs.yaml --server-side
	kubectl apply -f operator/manifests/namespace.yaml -f operator/manifests/webhook-local.yaml
	$(RUN) python -m trainwright_operator || test $$? = 130  # 130: by Ctrl-C

control-plane: setup ## a Kubernetes API server with our definitions, until Ctrl-C; it prints how to use it
	@$(RUN) python -m testkit.cluster

kubernetes: setup ## build the programs of the tests' control plane, and helm, where that was not done yet
	@$(RUN) python -m testkit.cluster --build

kueue: setup ## build Kueue for its tests, where that was not done yet; this takes some minutes
	@$(RUN) python -m testkit.cluster.kueue_manager

argocd: setup ## build Argo CD for its tests, where that was not done yet; on two cores this takes some minutes
	@$(RUN) python -m testkit.cluster.argocd_processes

s3: setup ## build the S3 server of the tests, where that was not done yet
	@$(RUN) python -m testkit.cluster.object_store

cluster: setup ## a full Kubernetes cluster with KubeRay, S3 and our images on this machine, in the background; it needs root
	@$(RUN) python -m testkit.cluster.node up

cluster-down: setup ## end that cluster and remove all that it made, but not the images
	@$(RUN) python -m testkit.cluster.node down

e2e: setup ## our chart, operator and trainer on that cluster, or on the one of KUBECONFIG and IMAGES: the core
	$(RUN) pytest -m "not slow" $(CORE)

e2e-all: setup ## that and all the rest: every fault, installs, Kueue, the audit log, and that a cluster leaves nothing; needs root
	@$(MAKE) --no-print-directory cluster-down
	$(RUN) pytest e2e/machine
	$(RUN) pytest e2e/full_cluster

horovod: $(HOROVOD) ## install Horovod, for its strategy; the first time, this builds it, which takes some minutes

$(HOROVOD): $(STAMP) trainer_image/build_horovod.py
	@for tool in g++ make cmake; do command -v $$tool >/dev/null || { \
	  root=""; test "$$(id -u)" = 0 || root=sudo; \
	  $$root apt-get update -qq && $$root apt-get install -y -qq g++ make cmake >/dev/null; break; }; done
	@folder=$(CACHE)/horovod/$$($(RUN) python -c "import sys, torch; print(sys.version, torch.__version__)" \
	  | cat - trainer_image/build_horovod.py | sha256sum | cut -c1-16); \
	test -e $$folder/*.whl || $(RUN) python trainer_image/build_horovod.py $$folder; \
	$(UV) pip install --quiet --no-deps $$folder/*.whl
	@touch $(HOROVOD)

modin: $(MODIN_ENVIRONMENT) ## make the environment .venv-modin, with Modin and the older pandas that it needs: .venv-modin/bin/trainwright

$(MODIN_ENVIRONMENT): pyproject.toml uv.lock | $(MISSING_UV)
	UV_PROJECT_ENVIRONMENT=.venv-modin UV_COMPILE_BYTECODE=1 $(UV) sync --frozen --no-default-groups --group modin-tests --extra trainer --extra modin
	@touch $(MODIN_ENVIRONMENT)

browser: ## install the browser of the report's tests (Debian's chromium)
	@test -x $(CHROMIUM) || { \
	  root=""; test "$$(id -u)" = 0 || root=sudo; \
	  $$root apt-get update -qq && $$root apt-get install -y -qq chromium >/dev/null; }

images: ## build the images with docker or buildah: make images [push] [REGISTRY=registry.example.com/ml] [TAG=1] [MODIN=1] [CPU=1]
	BUILDAH_LAYERS=true $(BUILDER) build -f Dockerfile.operator -t $(call IMAGE,trainwright-operator) .
	BUILDAH_LAYERS=true $(BUILDER) build -f Dockerfile.gpu $(if $(MODIN),--build-arg MODIN=1) -t $(call IMAGE,trainwright) .
	$(if $(CPU),BUILDAH_LAYERS=true $(BUILDER) build -f Dockerfile.gpu $(if $(MODIN),--build-arg MODIN=1) --build-arg TORCH=cpu -t $(call IMAGE,trainwright-cpu) .)

push: ## push the images to REGISTRY: make push REGISTRY=registry.example.com/ml [CPU=1]
	@test -n "$(REGISTRY)" || { echo "set REGISTRY: make push REGISTRY=registry.example.com/ml"; exit 1; }
	$(BUILDER) push $(call IMAGE,trainwright-operator)
	$(BUILDER) push $(call IMAGE,trainwright)
	$(if $(CPU),$(BUILDER) push $(call IMAGE,trainwright-cpu))

clean: ## remove what the targets made
	rm -rf .venv .venv-modin build out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
