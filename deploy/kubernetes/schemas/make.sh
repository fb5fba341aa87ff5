#!/usr/bin/env bash
# Makes the schemas beside it from what Kubernetes publishes as a Go module: the OpenAPI that kubectl is tested with, and for two kinds
# that are not in it the older swagger there. Descriptions are left out, and a key that no type has is a mistake.
#
#   deploy/kubernetes/schemas/make.sh   needs Go, jq and the module proxy; the schemas are in the repository, so that CI needs none
set -euo pipefail
cd "$(dirname "$0")"
version=v0.37.2

folder=$(go mod download -json "k8s.io/kubectl@$version" | jq -r .Dir)/testdata/openapi
core=$folder/v3/api/v1.json apps=$folder/v3/apis/apps/v1.json swagger=$folder/swagger.json

make_schema() { # FILE WHERE_TYPES_ARE TYPE APIVERSION KIND
  jq --sort-keys --compact-output --arg type "$3" --arg api "$4" --arg kind "$5" '
    def name_of_ref: split("/") | last;
    def refs: [.. | objects | .["$ref"]? // empty | name_of_ref] | unique;
    def closure($all): . as $have | ([$have[] as $n | $all[$n] | refs[]] + $have | unique) as $more
      | if ($more | length) == ($have | length) then $have else $more | closure($all) end;
    def strict: walk(if type != "object" then .
      else with_entries(select((.key | startswith("x-kubernetes-") | not)))
        | (if (.description | type) == "string" then del(.description) else . end)
        | (if has("type") or has("allOf") or has("oneOf") or has("$ref") then del(.default, .format) else . end)
        | (if (.properties | type) == "object" and has("type") then .additionalProperties = false else . end)
        | (if (.enum | type) == "array" then .enum |= unique else . end)
        | (if (.["$ref"] | type) == "string" then .["$ref"] = "#/definitions/" + (.["$ref"] | name_of_ref) else . end)
      end);
    (.components.schemas // .definitions)
    # The swagger says of these two only that they are strings.
    | .["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] = {oneOf: [{type: "integer"}, {type: "string"}]}
    | .["io.k8s.apimachinery.pkg.api.resource.Quantity"] = {oneOf: [{type: "string"}, {type: "number"}]}
    # It has the budget as policy/v1beta1. Of policy/v1 the fields are the same and one more (k8s.io/api/policy/v1, types.go).
    | (if has("io.k8s.api.policy.v1beta1.PodDisruptionBudgetSpec") then
        .["io.k8s.api.policy.v1beta1.PodDisruptionBudgetSpec"].properties.unhealthyPodEvictionPolicy
          = {type: "string", enum: ["IfHealthyBudget", "AlwaysAllow"]}
      else . end)
    | . as $all
    | ([$type] | closure($all)) as $names
    | ($all[$type] | strict) + {
        "$schema": "http://json-schema.org/draft-07/schema#",
        definitions: ([$names[] | select(. != $type) | {(.): ($all[.] | strict)}] | add)
      }
    | .properties.apiVersion = {const: $api} | .properties.kind = {const: $kind}
    | .required = ((.required // []) + ["apiVersion", "kind", "metadata"] | unique)
  ' "$2" >"$1"
}

make_schema deployment-apps-v1.json "$apps" io.k8s.api.apps.v1.Deployment apps/v1 Deployment
make_schema service-v1.json "$core" io.k8s.api.core.v1.Service v1 Service
make_schema serviceaccount-v1.json "$core" io.k8s.api.core.v1.ServiceAccount v1 ServiceAccount
make_schema networkpolicy-networking-v1.json "$swagger" io.k8s.api.networking.v1.NetworkPolicy networking.k8s.io/v1 NetworkPolicy
make_schema poddisruptionbudget-policy-v1.json "$swagger" io.k8s.api.policy.v1beta1.PodDisruptionBudget policy/v1 PodDisruptionBudget
