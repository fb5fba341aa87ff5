#!/bin/sh
# Gets the program of this very version for this runner and writes its path to GITHUB_OUTPUT as "coordinator".
#
# It is the program that release.sh calls coordinator-action: without the daemon (-tags action), as a job starts it for
# every event. What may run is decided by scripts/checksums.txt, which is part of the commit that the workflow names: a release file is
# only a way to spare the build. If the table has a row for this runner, exactly these bytes will do, and everything
# else ends here: there is no way from a wrong checksum, or from a download that fails, to another program. If it has none
# (a commit between releases, a rare architecture), the program is built from the source of that same commit.
set -eu

fail() {
  printf 'coordinator: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
releases=https://github.com/review-coordinator/coordinator/releases/download
[ -n "${RUNNER_TEMP:-}" ] || fail 'RUNNER_TEMP is not set' 'this script is a part of the action and runs in a job'
[ -n "${GITHUB_OUTPUT:-}" ] || fail 'GITHUB_OUTPUT is not set' 'this script is a part of the action and runs in a job'

version=$(cat -- "$root/VERSION")
printf '%s\n' "$version" | awk 'NR > 1 || !/^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$/ { bad = 1 } END { exit bad }' ||
  fail 'VERSION holds no version'

case ${RUNNER_OS:-} in
  Linux) os=linux ;;
  macOS) os=darwin ;;
  Windows) os=windows ;;
  *) os=other ;;
esac
case ${RUNNER_ARCH:-} in
  X64) arch=amd64 ;;
  ARM64) arch=arm64 ;;
  *) arch=other ;;
esac
exe=
[ "$os" != windows ] || exe=.exe
file=coordinator-action_${version}_${os}_${arch}${exe}

# Tests serve a release of their own, and only on this machine.
if [ -n "${REVIEW_COORDINATOR_RELEASES:-}" ]; then
  printf '%s\n' "$REVIEW_COORDINATOR_RELEASES" |
    awk 'NR > 1 || !/^http:\/\/127\.0\.0\.1:[0-9]+(\/[0-9A-Za-z._-]+)*$/ { bad = 1 } END { exit bad }' ||
    fail 'REVIEW_COORDINATOR_RELEASES is not on loopback' 'it is for tests: unset it'
  releases=$REVIEW_COORDINATOR_RELEASES
fi

dir=$(mktemp -d "$RUNNER_TEMP/review-coordinator.XXXXXX")
path=$dir/coordinator$exe
case $path in
  *'
'*) fail 'RUNNER_TEMP holds a line break' ;;
esac

digest() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1"
  elif command -v shasum >/dev/null; then
    shasum -a 256 <"$1"
  else
    fail 'there is neither sha256sum nor shasum' 'install one of them on the runner'
  fi | awk '{ print $1 }'
}

download() {
  command -v curl >/dev/null || fail 'there is no curl' 'install it on the runner'
  case $releases in
    https://*) set -- --proto '=https' --proto-redir '=https' --tlsv1.2 "$@" ;;
    *) set -- --proto '=http' --max-redirs 0 --noproxy '*' "$@" ;;
  esac
  curl --fail --silent --show-error --location --connect-timeout 20 --max-time 300 --max-filesize 100000000 \
    --retry 3 --retry-connrefused --output "$path.part" "$@" "$releases/$version/$file" ||
    fail "$file could not be downloaded" "is $releases within the runner's reach?"
}

# A Go toolchain builds the same commit. What a job's environment says to go for its own project is not for this one.
build() {
  command -v go >/dev/null ||
    fail "there is no release of $version for ${RUNNER_OS:-this system} on ${RUNNER_ARCH:-this machine}, and no Go to build it with" \
      'name a released version of the action, or add actions/setup-go before it'
  (
    CDPATH='' cd -- "$root"
    unset GOOS GOARCH
    GOFLAGS=-trimpath GOWORK=off CGO_ENABLED=0 go build -tags action -trimpath -buildvcs=false -ldflags "-s -w -X main.release=$version" -o "$path" ./cmd/coordinator
  ) || fail 'the program could not be built'
}

want=$(awk -v file="$file" '$2 == file { print $1 }' "$root/scripts/checksums.txt")
case $want in
  '')
    printf 'building coordinator %s from source: there is no release of it for %s %s\n' "$version" "${RUNNER_OS:-?}" "${RUNNER_ARCH:-?}"
    build
    ;;
  *[!0-9a-f]*) fail "scripts/checksums.txt does not say what $file is" ;; # two rows are a line break
  *)
    [ ${#want} -eq 64 ] || fail "scripts/checksums.txt does not say what $file is"
    download
    got=$(digest "$path.part")
    if [ "$got" != "$want" ]; then
      rm -rf -- "$dir"
      fail "$file has the wrong checksum: $got, not $want" 'nothing of it was run; report it, somebody may have replaced the release'
    fi
    chmod 0755 "$path.part"
    mv -- "$path.part" "$path"
    printf 'coordinator %s, SHA-256 %s\n' "$version" "$want"
    ;;
esac

printf 'coordinator=%s\n' "$path" >>"$GITHUB_OUTPUT"
