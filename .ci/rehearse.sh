#!/usr/bin/env bash
# The next release, up to the step that only a person can do: in a copy of this commit it is prepared, built again, compared, and
# described. Nothing is tagged, pushed or published, and the work tree stays as it is.
#
#   .ci/rehearse.sh linux/amd64     for the platforms that are named
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

version=$(cat VERSION)
release=${version%%-*}
git archive HEAD | tar -x -C "$copy" # of a commit: that is what a tag names
cd "$copy"

echo "rehearsal of $release on $*"
# A tag of an image must be refused. Then each gets a digest that is made up: none is pulled here.
images=(.ko.yaml deploy/compose/compose.yaml)
sed -i -E 's/@sha256:[0-9a-f]{64}//' "${images[@]}"
if refusal=$(sh scripts/release.sh prepare "$release" "$@" 2>&1); then
  echo "FAIL: a release is made of images that are named by tags"
  exit 1
fi
printf '%s\n' "$refusal" | grep -A 9 'an image is named by a tag' # and not for another reason
test "$version" = "$(cat VERSION)"
digest=@sha256:$(printf '%064d' 0)
sed -i -E "s,^(defaultBaseImage: .*|  +image: postgres:.*)$,\1$digest," "${images[@]}"

sh scripts/release.sh prepare "$release" "$@"
test "$release" = "$(cat VERSION)" # as release.yml asks of the tag
grep -n "^## ${release#v} - " CHANGELOG.md
sh scripts/release.sh verify dist "$@"
sh scripts/release.sh notes "$release" >notes.md
echo "notes: $(wc -l <notes.md) lines"
(cd dist && sha256sum -- coordinator[_-]* >checksums.txt && sha256sum --check --quiet checksums.txt)
host=$(go env GOOS)_$(go env GOARCH)
whole=dist/coordinator_${release}_$host action=dist/coordinator-action_${release}_$host
for program in "$whole" "$action"; do
  "$program" version | grep -F "$release"
done
"$whole" serve --help >/dev/null
if "$action" serve --help >/dev/null 2>&1; then
  echo "FAIL: the action's program has a daemon"
  exit 1
fi
grep -h "image: ghcr.io/review-coordinator/coordinator:$release\$" deploy/compose/compose.yaml deploy/kubernetes/deployment.yaml

# A changed byte must be noticed, or all of this says nothing.
printf x >>"$whole"
if sh scripts/release.sh compare dist 2>/dev/null; then
  echo "FAIL: a program that was changed passes for the release's"
  exit 1
fi
echo "a changed program is refused"
echo "NOT REHEARSED, for it needs a right: the tag, the attestation, the draft and its publication, moving ${release%%.*}, pushing the image"
