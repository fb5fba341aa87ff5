package config

// The entry: bytes in, a resolved policy or every mistake out.

import (
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Paths are where a policy file is looked for in a repository, in this order.
func Paths() []string {
	return []string{".github/review-coordinator.yml", ".github/review-coordinator.yaml"}
}

// Parse reads a policy file; path is only used in messages. With an error, which is an [*Error], the policy is zero but
// for Check: the name of the check that has to show the error, as far as it can be made out.
func Parse(path string, src []byte) (quorum.Policy, error) {
	policy, r := readPolicy(path, src)
	if len(r.problems) > 0 {
		return quorum.Policy{Check: policy.Check}, &Error{Problems: sortByPosition(r.problems)}
	}
	return policy, nil
}

// Warnings returns what is allowed in a policy file and yet likely to be regretted. A file with mistakes has none.
func Warnings(path string, src []byte) []Diagnostic {
	policy, r := readPolicy(path, src)
	if len(r.problems) > 0 {
		return nil
	}
	(&laneChecker{policyResolver: policyResolver{r}, policy: policy}).warnOfLanes()
	return sortByPosition(r.warnings)
}

func readPolicy(path string, src []byte) (quorum.Policy, *policyFileReader) {
	r := newPolicyFileReader(path, src)
	file := Default()
	root, ok := r.parseFile()
	if !ok {
		return quorum.Policy{Check: findCheckName(src, file.Check)}, r
	}
	r.decodeFile(root, &file)
	resolver := policyResolver{r}
	policy := resolver.resolvePolicy(file)
	policy.Lanes = resolver.resolveLanes(file, policy)
	if r.brokenKeys["check"] {
		policy.Check = Default().Check
	}
	return policy, r
}

// findCheckName finds the name of the check in a file that is no YAML: the error must not appear under a name that no
// rule requires.
func findCheckName(src []byte, fallback string) string {
	for line := range strings.Lines(string(src[:min(len(src), MaxSize)])) {
		if !strings.HasPrefix(line, "check:") || len(line) > 500 {
			continue
		}
		r := newPolicyFileReader("", []byte(line))
		file := PolicyKeys{Check: fallback}
		if root, ok := r.parseFile(); ok {
			r.decodeFile(root, &file)
			if !r.brokenKeys["check"] {
				return file.Check
			}
		}
	}
	return fallback
}
