# `make help` lists the targets.

# Which cluster deploy and demo use:
#   local    one that this checkout builds and runs (Linux, root)
#   kind     a kind cluster, made if there is none of the name KIND_CLUSTER
#   current  the cluster of your kubeconfig; give IMG, an image it can pull
CLUSTER ?= local
KIND_CLUSTER ?= toolcall
ifeq (,$(filter local kind current,$(CLUSTER)))
$(error CLUSTER is "$(CLUSTER)": want local, kind or current)
endif

# The operator's image, and what it is based on; with no BASE the Dockerfile's.
IMG ?= $(if $(filter current,$(CLUSTER)),,localhost/toolcall-operator:dev)
BASE ?=
CONTAINER_TOOL ?= $(or $(notdir $(firstword $(shell command -v docker podman buildah))),docker)

# What the demo's tools run: only the local cluster has an image of its own.
TOOL_IMAGE ?= $(if $(filter local,$(CLUSTER)),,busybox:1.37)

# Specs that run at the same time: they wait far more than they compute.
E2E_PROCS ?= 6
# For example TEST_ARGS=-run=TestDecide, E2E_ARGS=--focus=deadline.
TEST_ARGS ?=
E2E_ARGS ?=

SHELL := /bin/bash -o pipefail
MAKEFLAGS += --no-print-directory
# Nothing here needs C, and one setting for all keeps one set of compiled
# packages.
export CGO_ENABLED = 0
# Colours are for terminals; ginkgo doesn't look.
ifeq (,$(MAKE_TERMOUT))
export GINKGO_NO_COLOR = yes
endif

LOCALCLUSTER := bin/localcluster
DEPLOY := bin/deploy
DEMO := bin/demo
# Pinned in hack/tools/go.mod; Go keeps the linked tools in its build cache.
tool = "$$(go -C $(CURDIR)/hack/tools tool -n $(1))"
deploy = $(DEPLOY) -cluster=$(CLUSTER) -image=$(IMG) -engine=$(CONTAINER_TOOL) -kind-cluster=$(KIND_CLUSTER)

.DEFAULT_GOAL := help

##@ General

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Try it

.PHONY: demo
demo: deploy $(DEMO) ## Run four tool calls on a cluster and show their results (CLUSTER=local|kind|current)
	@$(DEMO) -cluster=$(CLUSTER) -tool-image=$(TOOL_IMAGE)

.PHONY: demo-down
demo-down: $(DEPLOY) $(if $(filter local,$(CLUSTER)),$(LOCALCLUSTER)) ## Remove all that the demo made
	@$(deploy) purge

.PHONY: cluster-up
cluster-up: $(LOCALCLUSTER) ## Start the local cluster; its state and kubeconfig are in .cluster
	@$(LOCALCLUSTER) up

.PHONY: cluster-down
cluster-down: $(LOCALCLUSTER) ## End the local cluster
	@$(LOCALCLUSTER) down

##@ Develop

.PHONY: generate
generate: ## Generate the methods of the API types
	@$(call tool,controller-gen) object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: ## Generate the CRDs and the operator's role
	@$(call tool,controller-gen) crd:generateEmbeddedObjectMeta=true,maxDescLen=0 paths=./api/... output:crd:dir=config/crd/bases
	@go run ./hack/crddefaults config/crd/bases/toolcall.dev_toolcalls.yaml
	@$(call tool,controller-gen) rbac:roleName=toolcall-manager paths=./controllers/... paths=./cmd/... output:rbac:dir=config/rbac

.PHONY: fmt
fmt: ## Format the code
	@$(call tool,golangci-lint) fmt

.PHONY: lint
lint: ## Lint the code of all modules
	@status=0; for module in . hack/localcluster hack/tools; do \
		(cd $$module && $(call tool,golangci-lint) run) || status=1; \
	done; exit $$status

.PHONY: verify
verify: ## Fail if generated files are out of date or the linters object
	@hack/verify.sh
	@$(MAKE) lint

.PHONY: build
build: ## Build the operator into bin/manager
	@go build -ldflags='-s -w' -o bin/manager ./cmd/manager

##@ Test

.PHONY: test
test: ## Run all tests: unit, on an API server, and end to end on real pods
	@hack/test.sh unit api e2e

.PHONY: test-unit
test-unit: ## Run the tests that need nothing else
	@go test $(TEST_ARGS) ./...
	@go -C hack/localcluster test $(TEST_ARGS) ./...

.PHONY: test-api
test-api: $(LOCALCLUSTER) ## Run the tests on an API server, which is built if it isn't there
	@assets=$$($(LOCALCLUSTER) assets) && \
		KUBEBUILDER_ASSETS=$$assets go test -tags apiserver $(TEST_ARGS) ./api/... ./controllers/...

.PHONY: test-race
test-race: $(LOCALCLUSTER) ## Run the unit and API server tests with the race detector (needs a C compiler)
	@assets=$$($(LOCALCLUSTER) assets) && \
		KUBEBUILDER_ASSETS=$$assets CGO_ENABLED=1 go test -race -tags apiserver $(TEST_ARGS) ./...

.PHONY: test-e2e
test-e2e: $(LOCALCLUSTER) ## Run the tests on real pods of the local cluster, which is started if it isn't up
	@E2E_PROCS=$(E2E_PROCS) hack/test-e2e.sh $(E2E_ARGS)

##@ Deploy

.PHONY: image
image: build ## Build the operator's image (IMG, BASE, CONTAINER_TOOL)
	@test -n "$(IMG)" || { echo "image: give IMG=REGISTRY/NAME:TAG" >&2; exit 1; }
	$(CONTAINER_TOOL) build $(if $(filter buildah,$(CONTAINER_TOOL)),--isolation chroot) $(if $(BASE),--build-arg BASE=$(BASE)) --tag $(IMG) .

.PHONY: install
install: ## Install only the CRDs, with kubectl
	kubectl apply --server-side --force-conflicts --kustomize config/crd

.PHONY: uninstall
uninstall: ## Remove the CRDs and all objects of their kinds, with kubectl
	kubectl delete --ignore-not-found --kustomize config/crd

.PHONY: deploy
deploy: $(if $(filter local,$(CLUSTER)),$(LOCALCLUSTER)) $(DEPLOY) ## Put the operator into a cluster (CLUSTER=local|kind|current)
	@$(deploy) up

.PHONY: undeploy
undeploy: $(DEPLOY) ## Remove the operator, the CRDs and all objects of their kinds
	@$(deploy) down

# go build decides what is up to date.
.PHONY: $(LOCALCLUSTER) $(DEPLOY) $(DEMO)
$(LOCALCLUSTER): folder = hack/localcluster
$(DEPLOY): folder = hack/deploy
$(DEMO): folder = hack/demo
$(LOCALCLUSTER) $(DEPLOY) $(DEMO):
	@test -e $@ || echo "Building $@…"
	@go build -C $(folder) -o $(CURDIR)/$@ .
