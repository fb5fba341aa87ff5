#!/usr/bin/env bash
# The action end to end: act plays GitHub's runner on this machine, without containers, and the sandbox on loopback is
# GitHub. Runs every example, and the action built from source and from a release, for each kind of event.
set -euo pipefail
cd "$(dirname "$0")/.."
ACT=$(go tool -modfile=tools/workflows/go.mod -n act)
export ACT
go test -count=1 -timeout 30m -run '^TestAct' . # so that one run may take three minutes
