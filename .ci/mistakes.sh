#!/usr/bin/env bash
# Plants the mistakes of .ci/mistakes.txt one at a time in a copy of this commit, and says of each what finds it: the first of
# some commands that fails there, and passes without it. It fails if one is not found, or no longer applies.
#
#   .ci/mistakes.sh                       all of them, hours
#   .ci/mistakes.sh 07 13                 those that are named
#   .ci/mistakes.sh -c 'go test $room'    by this command alone, more -c for more, the cheapest first; $room is ./internal/…
set -euo pipefail
cd "$(dirname "$0")/.."
LC_ALL=C # texts are bytes
limit=${MISTAKES_LIMIT:-600} # seconds for one command: a mistake after which it hangs is found

commands=()
while getopts c: option; do
  [[ $option == c ]] || exit 2
  commands+=("$OPTARG")
done
shift $((OPTIND - 1))
# shellcheck disable=SC2016 # $room is known where they run
((${#commands[@]})) || commands=(
  'go test -failfast $room'
  'go test ./internal/change ./internal/quorum -rapid.checks=5000 -rapid.nofailfile'
  'go test ./internal/story -run TestStories'
  'go test ./...'
  'go test -race $room'
  '.ci/postgres.sh go test ./internal/store ./internal/daemon ./cmd/coordinator -run Postgres\|Replica'
  'go test ./internal/story -run Histories\|EverySibling\|EveryQueue -args -history-depth=3 -queue-depth=3'
  'go test ./internal/story -run TestFaults -faults=20'
)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/copy
mkdir "$copy"
git archive HEAD | tar -x -C "$copy"

run() { # COMMAND: in the copy, with its output in a file
  (cd "$copy" && room=$room timeout -k 10 "$limit" bash -c "$1") >"$work/output" 2>&1 </dev/null
}
declare -A sound=() # commands that pass without a mistake
holds() { # COMMAND: whether it passes without a mistake
  local key=${1//\$room/$room}
  [[ -n ${sound[$key]-} ]] || { run "$1" && sound[$key]=1; }
}
reason() { # EXIT: what the output of a command that failed shows first
  case $1 in 124 | 137) echo "it hung" && return ;; esac
  {
    grep -m 1 -oE -e '--- FAIL: [^ ]+/[^ ]+' "$work/output" ||
      grep -m 1 -oE -e '--- FAIL: [^ ]+|WARNING: DATA RACE|^(panic|fatal error): .*' "$work/output" ||
      tail -n 1 "$work/output"
  } | sed 's/^--- FAIL: //'
}

found=0 tried=0
search() { # of the record that was read
  local file=$copy/$path text rest command status why
  room=./${path%/*}
  text=$(<"$file")
  rest=${text#*"$old"}
  if [[ $rest == "$text" || $rest == *"$old"* ]]; then
    echo "DOES NOT APPLY: $name"
    return
  fi
  mistaken() { printf '%s\n' "${text%%"$old"*}$new$rest" >"$file"; }
  restored() { printf '%s\n' "$text" >"$file"; }
  for command in "${commands[@]}"; do
    status=0
    mistaken
    run "$command" || status=$?
    restored
    ((status)) || continue
    if grep -qE '^FAIL.*\[(build|setup) failed\]' "$work/output"; then
      echo "DOES NOT BUILD: $name: $(grep -m 1 -F .go: "$work/output")"
      return
    fi
    why=$(reason "$status")
    if holds "$command"; then
      echo "found by ${command//\$room/$room} ($why): $name"
      found=$((found + 1))
      return
    fi
    echo "USELESS, it fails without a mistake: ${command//\$room/$room}: $(reason 1)"
  done
  echo "NOT FOUND: $name"
}

finish() { # ends a record
  [[ -n $path ]] || return 0
  if [[ -z $* || " $* " == *" $number "* ]]; then
    tried=$((tried + 1)) name="$number $path: $says"
    search
  fi
  path=""
}
path="" newline=$'\n'
while IFS= read -r line || [[ -n $line ]]; do
  case $line in
    '#'*) ;;
    '') finish "$@" ;;
    [0-9]*) read -r number path <<<"$line" && says="" old="" new="" ;;
    -*) old+=${old:+$newline}${line#-} ;;
    +*) new+=${new:+$newline}${line#+} ;;
    *) says=$line ;;
  esac
done <.ci/mistakes.txt
finish "$@"
echo "$found of $tried mistakes are found"
((found == tried && tried))
