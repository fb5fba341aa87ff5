package config

// The entry: bytes in, a resolved policy or every mistake out.

import (
	_ "embed"
	"reflect"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Paths are where a policy file is looked for in a repository, in this order.
func Paths() []string {
	return []string{".github/review-coordinator.yml", ".github/review-coordinator.yaml"}
}

// Parse reads a policy file; path is only used in messages. With an error, which is an [*Error], the policy is zero but
// for Check: the name of the check that has to show the error, as far as it can be made out.
func Parse(path string, src []byte) (quorum.Policy, error) { return Merge(path, src, nil) }

// readPolicy reads a repository's policy beside its organisation's, nil where none is known, and the keys it is made of.
func readPolicy(path string, src []byte, o *Organisation) (quorum.Policy, PolicyKeys, *policyFileReader) {
	r := newPolicyFileReader(path, src)
	file := Default()
	root := r.parseFile()
	if root == nil {
		return quorum.Policy{Check: o.checkName(findCheckName(src))}, file, r
	}
	r.decodeStruct("", root, reflect.ValueOf(&file).Elem())
	r.failIf(r.hasKey("enforce"), "enforce", "only an organisation's policy enforces anything",
		"move it to "+OrganisationFile+" of OWNER/"+OrganisationRepo)
	var policy quorum.Policy
	if o != nil {
		o.layOver(r, &file)
		policy = o.resolveWith(r, file, quorum.FromRepository)
	} else {
		policy = policyResolver{r}.resolvePolicy(file)
	}
	if r.brokenKeys["check"] {
		policy.Check = o.checkName(quorum.DefaultCheck)
	}
	return policy, file, r
}

// findCheckName finds the check's name in a file that is no YAML: the error must stand where a rule looks for it.
func findCheckName(src []byte) string {
	for line := range strings.Lines(string(src[:min(len(src), MaxSize)])) {
		if !strings.HasPrefix(line, "check:") || len(line) > 500 {
			continue
		}
		r, file := newPolicyFileReader("", []byte(line)), PolicyKeys{}
		if root := r.parseFile(); root != nil {
			r.decodeStruct("", root, reflect.ValueOf(&file).Elem())
			if file.Check != "" {
				return file.Check
			}
		}
	}
	return quorum.DefaultCheck
}

// The JSON Schema of the policy file, for editors: made from the types of file.go by go generate, and a test holds it to them. What
// only the whole file shows (a quorum that nobody can reach, a missing heading) is left to Parse.
//
//go:embed policy.schema.json
var schemaJSON string

// Schema returns the JSON Schema of a policy file, indented and always the same.
func Schema() []byte { return []byte(schemaJSON) }

// ParseSweep reads how open pull requests are swept, and after how many faults in a row a sweep gives up, which is the
// circuit breaker's failure_threshold. A file with mistakes says nothing: it is as if it had neither key. o is the
// organisation's policy, nil where none is known: it says so for a repository without a file.
func ParseSweep(path string, src []byte, o *Organisation) (sweep SweepKeys, threshold int) {
	if src == nil && o != nil {
		return o.keys.Sweep, o.keys.CircuitBreaker.FailureThreshold
	}
	_, file, r := readPolicy(path, src, o)
	if len(r.problems) > 0 {
		file = Default()
	}
	return file.Sweep, file.CircuitBreaker.FailureThreshold
}
