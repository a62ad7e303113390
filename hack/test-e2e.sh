#!/usr/bin/env bash
# Runs the end-to-end tests against the current code on the local cluster. A
# cluster that was up before stays up; one that is started here is ended again.
# Arguments go to ginkgo.
set -euo pipefail
cd "$(dirname "$0")/.."

localcluster=bin/localcluster
evidence=bin/e2e
kubectl() { .cluster/bin/kubectl --kubeconfig .cluster/kubeconfig "$@"; }

# What a failure leaves behind, before the cluster goes.
keep_evidence() {
  mkdir -p "$evidence"
  kubectl -n toolcall-system logs deployment/toolcall-operator --tail=-1 >"$evidence/operator.log" 2>&1 || true
  kubectl get events -A --sort-by=.lastTimestamp >"$evidence/events.txt" 2>&1 || true
  kubectl get toolbatches,toolcalls,jobs,pods -A -o yaml >"$evidence/objects.yaml" 2>&1 || true
  echo "The operator's log, all events and objects are in $evidence." >&2
}

finish() {
  local code=$?
  if ((code != 0)) && [[ -e .cluster/kubeconfig ]]; then
    keep_evidence
  fi
  if [[ -n ${started:-} ]]; then
    "$localcluster" down || code=1
  fi
  exit "$code"
}

started=
if ! "$localcluster" env >/dev/null 2>&1; then
  started=yes
fi
trap finish EXIT
make deploy CLUSTER=local

KUBECONFIG=$PWD/.cluster/kubeconfig go tool ginkgo run \
  --tags=e2e --procs="${E2E_PROCS:-6}" --randomize-all --keep-going --fail-on-empty \
  --timeout=30m --poll-progress-after=90s --silence-skips \
  "$@" ./test/e2e
