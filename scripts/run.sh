#!/bin/sh
# Turns the inputs of the action, which come in the environment, into the arguments of the program, and becomes it.
# Each is one argument with its flag, --flag=value, whatever is in it: a value that looks like a flag stays a value.
set -eu

fail() {
  printf 'coordinator: %s\n' "$1" >&2
  exit 2
}

# A misspelt true must not quietly be a false.
truth() {
  case $2 in
    true) return 0 ;;
    false | '') return 1 ;;
    *) fail "the input $1 is neither true nor false" ;;
  esac
}

[ -n "${COORDINATOR:-}" ] || fail 'there is no program to run'
set -- run
[ -z "${INPUT_CONFIG:-}" ] || set -- "$@" "--config=$INPUT_CONFIG"
[ -z "${INPUT_POLICY_REPOSITORY:-}" ] || set -- "$@" "--policy-repository=$INPUT_POLICY_REPOSITORY"
[ -z "${INPUT_PR:-}" ] || set -- "$@" "--pr=$INPUT_PR"
[ -z "${INPUT_HOLD:-}" ] || set -- "$@" "--hold=$INPUT_HOLD"
[ -z "${INPUT_POLL:-}" ] || set -- "$@" "--poll=$INPUT_POLL"
[ -z "${INPUT_FAIL_ON:-}" ] || set -- "$@" "--fail-on=$INPUT_FAIL_ON"
if truth wait "${INPUT_WAIT:-}"; then set -- "$@" --wait; fi
if truth dry-run "${INPUT_DRY_RUN:-}"; then set -- "$@" --dry-run; fi
exec "$COORDINATOR" "$@"
