#!/usr/bin/env bash
# Known vulnerabilities that the program reaches, in its modules and in the Go that a release is built with. One that is reached fails.
# The database is vuln.go.dev as it is now. Where that cannot be reached, it is the newest version of the Go module that has the same
# entries. Without either this fails, as nothing was looked up.
set -euo pipefail
cd "$(dirname "$0")/.."
scan=$(go tool -modfile=tools/go.mod -n govulncheck)

database=https://vuln.go.dev
updated=$(timeout 30 "$scan" -db "$database" -version | sed -n 's/^DB updated: //p') || updated=
if [[ -z $updated ]]; then
  module=$(cd / && timeout 120 go mod download -json golang.org/x/vulndb@latest) || true # it contains the error
  entries=$(sed -n 's/^\t"Dir": "\(.*\)",$/\1/p' <<<"$module")/data/osv
  if [[ ! -f $entries/GO-2020-0001.json ]]; then
    printf 'FAIL: no vulnerability was looked up: vuln.go.dev cannot be reached, and the module golang.org/x/vulndb cannot be had\n%s\n' "$module"
    exit 1
  fi
  database=file://$entries
  updated=$(sed -n 's/^\t"Version": "v0[.]0[.]0-\([0-9]\{8\}\).*/\1/p' <<<"$module") # its commit's day
fi

[[ -n $updated ]] || { echo "FAIL: nothing says how old the database is"; exit 1; }
days=$((($(date +%s) - $(date +%s -d "${updated:0:10}")) / 86400))
((days <= 45)) || echo "WARNING: the database is $days days old"

# The Go that releases are built with reports its own version, whatever this machine has.
GOTOOLCHAIN=go$(cat scripts/go-version)
export GOTOOLCHAIN
go=$(go version)
echo "database $database of $updated; $go"
"$scan" -db "$database" ./...
