#!/usr/bin/env bash
# Fuzzes the targets that are named, or all: .ci/fuzz.sh 20s FuzzQuote
set -euo pipefail
cd "$(dirname "$0")/.."
time=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted=" $* " played=0
for package in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do
  while read -r _ target; do
    [[ $# == 0 || $wanted == *" $target "* ]] || continue
    [[ -f $work/${package//\//_}.test ]] || go test -c -fuzz=. -o "$work/${package//\//_}.test" "$package"
    (cd "$package" && "$work/${package//\//_}.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" \
      -test.fuzzminimizetime 10x -test.fuzzcachedir "$work/fuzzed") >"$work/output" 2>&1 || { cat "$work/output"; exit 1; }
    echo "ok $package $target"
    played=$((played + 1))
  done < <(grep -hoE '^func Fuzz[A-Za-z0-9]+' "$package"/*_test.go)
done
((played >= $# && played > 0)) || { echo "of $* only $played targets are there"; exit 1; }
