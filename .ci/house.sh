#!/usr/bin/env bash
# How the program is built, in figures with limits; also how many functions one event enters on its way to a check.
#
#   .ci/house.sh [-v]     -v names what was counted
set -euo pipefail
cd "$(dirname "$0")/.."
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
go test ./cmd/coordinator -count=1 -run 'TestAnEventLeadsToACheckByTheMachinesClock$' \
  -coverpkg=./internal/...,./cmd/... -coverprofile="$profile" >&2
go run ./scripts/house -webhook "$profile" "$@"
