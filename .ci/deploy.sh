#!/usr/bin/env bash
# What deploy/ holds, by the tools that people use: manifests against their schemas, alerts that fire, the image, and the release.
# It needs Go and apt; promtool goes into the folder that is given.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=${1:?which folder for the tools?}
export PATH="$tools:$PATH"

took() { printf -- '--- %s: %s s\n' "$1" "$SECONDS"; SECONDS=0; }

manifests=$(find deploy/kubernetes -maxdepth 1 -name '*.yaml' ! -name kustomization.yaml)
# shellcheck disable=SC2086 # several files
go tool -modfile=tools/go.mod kubeconform -strict -summary -verbose -schema-location 'deploy/kubernetes/schemas/{{.ResourceKind}}{{.KindSuffix}}.json' $manifests
took "kubeconform"

# Debian's and Ubuntu's package has promtool. It is unpacked and not installed: that would start a Prometheus.
if ! command -v promtool >/dev/null; then
  (cd "$tools" && apt-get download -qq prometheus) >/dev/null 2>&1 || {
    apt-get update -qq
    (cd "$tools" && apt-get download -qq prometheus)
  }
  dpkg-deb -x "$tools"/prometheus_*.deb "$tools/prometheus" && mv "$tools/prometheus/usr/bin/promtool" "$tools"
fi
promtool --version 2>&1 | head -n 1
promtool check rules deploy/alerts/review-coordinator.rules.yml
promtool test rules deploy/alerts/review-coordinator.test.yml
took "promtool"

ko=$(go tool -modfile=tools/go.mod -n ko)
took "ko is there"
go test . -count=1 -run TestTheImage -v -args -ko="$ko" | grep -E '^(---|ok|FAIL|PASS)|deploy_image_test'
took "the image, on a base made here: certificates and a user; CI on GitHub builds it on the real one"

bash .ci/rehearse.sh "linux/$(go env GOARCH)"
took "the release"
