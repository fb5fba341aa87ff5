# shellcheck shell=bash
# Sourced by .ci/run and .ci/deep: steps with their times, and one group of steps in the background.
work=$(mktemp -d)
aside="" # the process group in the background
status=0
finish() { # prints what the background has done so far, and how long each step took
  status=$?
  set +e
  if [[ -n $aside ]]; then
    kill -- "-$aside" 2>/dev/null
    ((status == 0)) || cat "$work/background.txt"
  fi
  jobs -p | xargs -r kill 2>/dev/null
  end_step
  table
  rm -rf "$work"
}
trap finish EXIT
mkdir "$work/bin"
export work PATH="$work/bin:$PATH"
export GOFLAGS=-trimpath # built for one folder, the cache serves every other one, too

step_name="" step_began=0
step() { # NAME…: ends the step before and begins this one
  end_step
  step_name=$* step_began=$SECONDS
  printf '\n=== %s (%s)\n' "$*" "$(date -u +%H:%M:%S)"
}
end_step() {
  [[ -z $step_name ]] || printf '%5d s  %s\n' $((SECONDS - step_began)) "$step_name" >>"$work/times.txt"
  step_name=""
}
table() { # how long each step took, in the order of their ends
  [[ -s $work/times.txt ]] || return 0
  printf '\n=== %d s, exit %d; by step:\n' "$SECONDS" "$status"
  cat "$work/times.txt"
}

# Two cores: steps that compute run in the background at low priority, while others wait for clocks and servers. Their output
# is printed in await_background, and their failure is the script's.
background() { # FUNCTION
  end_step
  set -m # a process group of its own
  (
    trap - EXIT
    set -euo pipefail
    renice -n 10 "$BASHPID" >/dev/null
    "$1"
    end_step
  ) >"$work/background.txt" 2>&1 &
  set +m
  aside=$!
}
await_background() {
  step "waiting for what runs in the background"
  local failed=0
  wait "$aside" || failed=$?
  aside=""
  cat "$work/background.txt"
  ((failed == 0)) || echo "FAIL: what ran in the background ended with $failed"
  return "$failed"
}

counted() { # PATTERN COMMAND…: prints the lines that match; everything, if the command fails or plays no test
  local pattern=$1 output
  output=$(mktemp -p "$work")
  shift
  "$@" >"$output" 2>&1 || { cat "$output"; return 1; }
  if grep -F 'no tests to run' "$output"; then
    echo "FAIL: $*"
    return 1
  fi
  grep -E "$pattern" "$output"
}

stories() { # TESTS FLAG…: tests of internal/story, with their counts
  counted '^ *(---|ok|FAIL)|moves, depth| seed |→' \
    go test ./internal/story -count=1 -timeout "${limit:-20m}" -run "$1" -v -args "${@:2}"
}
daemon_stories() { # TESTS FLAG…: tests of cmd/coordinator, with their figures
  counted '^ *(---|ok|FAIL|PASS)|serve_[a-z]*_test' go test ./cmd/coordinator -count=1 -timeout "${limit:-20m}" -run "$1" -v -args "${@:2}"
}

debian() { # [NAME…]: installs what is missing on a clean machine, and the packages that are named
  local missing=()
  command -v gcc >/dev/null || missing+=(gcc libc6-dev) # for the race detector
  command -v shellcheck >/dev/null || missing+=(shellcheck)
  command -v jq >/dev/null || missing+=(jq) # an example of a reviewer uses it
  command -v psql >/dev/null || missing+=(postgresql-client)
  [[ -n $(find /usr/lib/postgresql -maxdepth 3 -name initdb 2>/dev/null) ]] || missing+=(postgresql)
  local name
  for name; do dpkg -s "$name" >/dev/null 2>&1 || missing+=("$name"); done
  ((${#missing[@]} == 0)) || {
    local sudo=()
    ((EUID == 0)) || sudo=(sudo)
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
  }
}
