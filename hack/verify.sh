#!/usr/bin/env bash
# Regenerates everything that is generated and fails if that changed a file.
# Changes that were there before don't count.
set -euo pipefail
cd "$(dirname "$0")/.."

# Prints a checksum for every file that git does not ignore.
checksums() {
  git ls-files --cached --others --exclude-standard -z | sort -zu | xargs -0 sha256sum 2>/dev/null || true
}

before=$(checksums)
make generate manifests fmt
go mod tidy
after=$(checksums)

if changed=$(diff <(echo "$before") <(echo "$after")); then
  exit 0
fi
echo "verify: these files were out of date and are new now; add them to your commit:" >&2
awk '/^>/ {print "  " $3}' <<<"$changed" >&2
exit 1
