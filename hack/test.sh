#!/usr/bin/env bash
# Runs the given suites (unit, api, e2e), all of them even if one fails, and
# closes with one line that says how it went.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

summary=()
failed=()
for suite in "$@"; do
  echo "=== ${suite} tests"
  began=$SECONDS
  if make "test-${suite}"; then
    summary+=("${suite} passed in $((SECONDS - began))s")
  else
    summary+=("${suite} FAILED after $((SECONDS - began))s")
    failed+=("${suite}")
  fi
done

printf '\n=== Tests: %s' "${summary[0]}"
printf ', %s' "${summary[@]:1}"
if ((${#failed[@]} > 0)); then
  printf '\n=== FAILED: %s\n' "${failed[*]}"
  exit 1
fi
printf '\n=== ALL PASSED\n'
