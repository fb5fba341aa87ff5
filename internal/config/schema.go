package config

// The JSON Schema of the policy file, for editors. What only the whole file shows (a quorum that nobody can reach, a
// missing heading) is left to Parse.

import _ "embed"

// It is made from the types of file.go: by go generate, and a test holds it to them.
//
//go:embed policy.schema.json
var schemaJSON string

// Schema returns the JSON Schema of a policy file, indented and always the same.
func Schema() []byte { return []byte(schemaJSON) }
