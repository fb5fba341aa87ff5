#!/bin/sh
# Gives the answer of a model, which comes in the environment, to the program, which makes a verdict file from it. The answer
# goes through standard input, and each other input is one argument with its flag, --flag=value, whatever is in it.
set -eu

fail() {
  printf 'coordinator: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit "${3:-2}"
}

[ -n "${COORDINATOR:-}" ] || fail 'there is no program to run'
[ -n "${RUNNER_TEMP:-}" ] || fail 'RUNNER_TEMP is not set' 'this script is a part of an action and runs in a job'

answer=${INPUT_STRUCTURED_OUTPUT:-}${INPUT_FINAL_MESSAGE:-}
case ${INPUT_STRUCTURED_OUTPUT:+claude}${INPUT_FINAL_MESSAGE:+codex}${INPUT_FILE:+plain} in
  claude) form=claude ;;
  codex) form=codex ;;
  plain) form=plain ;;
  '') fail 'there is no answer: structured-output, final-message and file are empty' 'see the step before: the model said nothing, or the input names another step' 1 ;;
  *) fail 'there are several answers' 'give one of structured-output, final-message and file' ;;
esac

dir=$(mktemp -d "$RUNNER_TEMP/review-verdict.XXXXXX")
set -- verdict make "--format=$form" "--out=$dir/review-verdict.json"
[ -z "${INPUT_MIN_SEVERITY:-}" ] || set -- "$@" "--min-severity=$INPUT_MIN_SEVERITY"
[ -z "${INPUT_HEAD:-}" ] || set -- "$@" "--head=$INPUT_HEAD"
[ -z "${INPUT_BASE:-}" ] || set -- "$@" "--base=$INPUT_BASE"
# With the changed files the step says which were not read. Where git does not know them, the coordinator alone does.
changed=${INPUT_CHANGED:-}
if [ -z "$changed" ] && [ -n "${EVENT_BASE:-}" ] &&
  git diff --name-status -z "$EVENT_BASE...${INPUT_HEAD:-${EVENT_HEAD:-}}" -- >"$dir/changed" 2>/dev/null && [ -s "$dir/changed" ]; then
  changed=$dir/changed
fi
[ -z "$changed" ] || set -- "$@" "--changed=$changed"
if [ "$form" = plain ]; then
  exec "$COORDINATOR" "$@" "--from=$INPUT_FILE"
fi
printf '%s' "$answer" | "$COORDINATOR" "$@"
