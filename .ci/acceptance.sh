#!/usr/bin/env bash
# The acceptance suite, through each shell. Of what is played in part the seed says which part; as many seeds one after another
# play all of it.
#
#   .ci/acceptance.sh SUITE PROGRAM SEED        in .ci/run
#   .ci/acceptance.sh SUITE PROGRAM SEED whole  in .ci/deep
set -euo pipefail
cd "$(dirname "$0")/.."
suite=$1 program=$2 seed=$3
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$suite" "$copy/suite"
chmod -R u+w "$copy/suite"
(cd "$copy/suite" && go build -o "$copy/accept" .)

part() { # FOLDER SKIPPED: every third scenario, but those of a part
  local n=0 file
  mkdir -p "$1"
  for file in "$copy"/suite/scenarios/*; do
    [[ -n $2 ]] && grep -qx "part: $2" "$file" && continue
    ((n++ % 3 == seed % 3)) && cp "$file" "$1"
  done
  return 0
}
part "$copy/run" loop
part "$copy/serve" ""
[[ ${4-} != whole ]] || { cp "$copy"/suite/scenarios/* "$copy/run"; cp "$copy"/suite/scenarios/* "$copy/serve"; }

tell() { "$copy/accept" -bin "$program" -schema 2 -known .ci/known-stories.txt -j 6 "$@"; }
failed=0
for shell in events serve; do
  echo "shell $shell"
  tell -shell "$shell" "$copy/suite/scenarios" || failed=1
done
echo "shell run, loop"
tell -shell run -part loop "$copy/suite/scenarios" || failed=1
echo "shell run, of the rest $(find "$copy/run" -type f | wc -l) stories"
tell -shell run -part core,daemon "$copy/run" || failed=1
echo "shell serve on PostgreSQL"
# shellcheck disable=SC2317 # the shell below calls it
on_postgres() { tell -shell serve -postgres "$COORDINATOR_POSTGRES" "$copy/serve"; }
export -f tell on_postgres
export copy program
.ci/postgres.sh bash -c on_postgres || failed=1
exit "$failed"
