#!/bin/sh
# Builds the programs of a release, the same bytes on every machine, and the table that says which bytes these are.
# There are two for each platform: coordinator has every command, coordinator-action is what the action downloads and
# starts for every event, without the daemon (-tags action).
#
#   scripts/release.sh prepare v1.2.3 the last commit before the tag: the table, the date in CHANGELOG.md, and the image's tag in deploy/
#   scripts/release.sh table v1.2.3   writes VERSION and scripts/checksums.txt alone
#   scripts/release.sh images         fails unless all images of others that a release rests on are named by their digest
#   scripts/release.sh notes v1.2.3   prints what CHANGELOG.md says of it
#   scripts/release.sh build DIR      builds the programs of VERSION into DIR
#   scripts/release.sh compare DIR    fails unless DIR holds what the table says (between releases: if it says anything)
#   scripts/release.sh verify DIR     both, and VERSION has to be a release
#
# prepare and verify begin with images.
#
# After prepare, table, build and verify come platforms, such as linux/amd64; all six if there are none. A release has all: one of
# fewer is a rehearsal, which .ci/rehearse.sh plays.
#
# The same bytes need the same compiler, so its version stands in scripts/go-version; paths and version control are
# kept out by the flags, the C compiler by CGO_ENABLED=0. The table is no input of the build, and so can be in the
# commit that it describes; the version is one, and stands in VERSION.
set -eu

fail() {
  printf 'release: %s\n' "$1" >&2
  exit 1
}

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
table=$root/scripts/checksums.txt

digests() { # of the programs in the folder
  (
    CDPATH='' cd -- "$1"
    if command -v sha256sum >/dev/null; then sha256sum -- coordinator[_-]*; else shasum -a 256 -- coordinator[_-]*; fi
  ) | sed 's/ \*/  /' | LC_ALL=C sort -k 2
}

is_release() {
  printf '%s\n' "$1" | awk 'NR > 1 || !/^v[0-9]+\.[0-9]+\.[0-9]+$/ { bad = 1 } END { exit bad }'
}

# A tag can be moved, so that a release named by one is not what was reviewed. Ours is made after the commit that names it.
images() { # of others: the base of our image, and what deploy/ starts beside it
  named=$(
    sed -n 's/^defaultBaseImage: */.ko.yaml: /p' "$root/.ko.yaml"
    for file in deploy/compose/compose.yaml deploy/kubernetes/deployment.yaml; do
      sed -n "s,^[ -]*image: *,$file: ,p" "$root/$file"
    done
  )
  case $named in .ko.yaml:*) ;; *) fail '.ko.yaml names no base image' ;; esac
  if grep -q '^baseImageOverrides:' "$root/.ko.yaml"; then fail '.ko.yaml overrides its base image'; fi
  by_tag=$(printf '%s\n' "$named" | sed 's/ *#.*//' |
    grep -Ev '^[^ ]+: (ghcr[.]io/review-coordinator/coordinator:[^ ]+|[^ ]+@sha256:[0-9a-f]{64})$' || :)
  [ -z "$by_tag" ] || fail "an image is named by a tag, which can be moved: add its @sha256: digest (docs/release.md)
$by_tag"
}

build() { # into the folder, the platforms that are named after it, or all
  mkdir -p -- "$1"
  out=$(CDPATH='' cd -- "$1" && pwd)
  shift
  [ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
  version=$(cat -- "$root/VERSION")
  toolchain=go$(cat -- "$root/scripts/go-version")
  cd -- "$root"
  for platform; do
    os=${platform%/*} arch=${platform#*/} exe=
    [ "$os" != windows ] || exe=.exe
    for tags in '' action; do
      GOOS=$os GOARCH=$arch GOTOOLCHAIN=$toolchain GOENV=off GOFLAGS='' GOWORK=off GOEXPERIMENT='' GOAMD64=v1 GOARM64=v8.0 GOFIPS140=off CGO_ENABLED=0 \
        go build -tags "$tags" -trimpath -buildvcs=false -ldflags "-s -w -X main.release=$version" \
        -o "$out/coordinator${tags:+-$tags}_${version}_${os}_${arch}${exe}" ./cmd/coordinator
    done
  done
}

compare() { # the programs in the folder with the table
  rows=$(sed '/^#/d' "$table")
  if ! is_release "$(cat -- "$root/VERSION")"; then
    [ -z "$rows" ] || fail 'VERSION is no release, and yet scripts/checksums.txt has rows'
    return
  fi
  [ "$(digests "$1")" = "$rows" ] || {
    digests "$1" >&2
    fail 'these are not the bytes that scripts/checksums.txt promises'
  }
  printf 'these are the bytes that scripts/checksums.txt promises\n'
}

make_table() { # of a version, for the platforms that are named after it, or all
  version=$1
  shift
  dir=$(mktemp -d)
  trap 'rm -rf -- "$dir"' EXIT
  printf '%s\n' "$version" >"$root/VERSION"
  build "$dir" "$@"
  {
    sed -n '/^#/p' "$table"
    digests "$dir"
  } >"$dir/table"
  cat -- "$dir/table" >"$table"
  cat -- "$table"
}

rewrite() { # a file, by a script of sed; dir is there
  sed "$2" "$root/$1" >"$dir/rewritten"
  cat -- "$dir/rewritten" >"$root/$1"
}

notes() { # of a version, which must have some
  awk -v version="## ${1#v}" 'index($0, "## ") == 1 { on = $0 == version || index($0, version " ") == 1 } on' "$root/CHANGELOG.md" |
    awk '{ print } NR > 1 && NF { said = 1 } END { exit !said }' || fail "CHANGELOG.md says nothing of $1"
}

case ${1:-} in
  prepare)
    is_release "${2:-}" || fail 'which version? such as v1.2.3'
    images
    shift
    make_table "$@"
    release=$(cat -- "$root/VERSION")
    rewrite CHANGELOG.md "s/^## Unreleased\$/## ${release#v} - $(date -u +%Y-%m-%d)/"
    for file in deploy/compose/compose.yaml deploy/kubernetes/deployment.yaml; do
      rewrite "$file" "s,\(image: ghcr.io/review-coordinator/coordinator\):v[0-9.]*,\1:$release,"
    done
    notes "$release" >"$dir/notes"
    ;;
  images) images ;;
  table)
    is_release "${2:-}" || fail 'which version? such as v1.2.3'
    shift
    make_table "$@"
    ;;
  notes)
    is_release "${2:-}" || fail 'which version? such as v1.2.3'
    notes "$2"
    ;;
  build)
    [ -n "${2:-}" ] || fail 'into which folder?'
    shift
    build "$@"
    digests "$out"
    ;;
  compare)
    [ -n "${2:-}" ] || fail 'which folder?'
    compare "$2"
    ;;
  verify)
    [ -n "${2:-}" ] || fail 'into which folder?'
    is_release "$(cat -- "$root/VERSION")" || fail 'VERSION is no release'
    images
    shift
    build "$@"
    compare "$out"
    ;;
  *) fail 'prepare VERSION, table VERSION, images, notes VERSION, build DIR, compare DIR or verify DIR' ;;
esac
