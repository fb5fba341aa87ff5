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
func Parse(path string, src []byte) (quorum.Policy, error) { return Merge(path, src, nil) }

// Warnings returns what is allowed in a policy file and yet likely to be regretted. A file with mistakes has none.
func Warnings(path string, src []byte) []Diagnostic { return MergeWarnings(path, src, nil) }

func readPolicy(path string, src []byte) (quorum.Policy, *policyFileReader) {
	policy, _, r := readPolicyWith(path, src, nil)
	return policy, r
}

// readPolicyWith reads a repository's policy beside its organisation's, nil where none is known, and the keys it is made of.
func readPolicyWith(path string, src []byte, o *Organisation) (quorum.Policy, PolicyKeys, *policyFileReader) {
	r := newPolicyFileReader(path, src)
	file := Default()
	root, ok := r.parseFile()
	if !ok {
		return quorum.Policy{Check: findCheckName(src, o)}, file, r
	}
	r.decodeFile(root, &file)
	extendsChecker{r}.checkExtends(file, o)
	var policy quorum.Policy
	if o != nil {
		file = o.layOver(r, file, func(keys *PolicyKeys) { newPolicyFileReader(path, src).decodeFile(root, keys) })
		policy = o.resolveWith(r, &file, quorum.FromRepository)
	} else {
		resolver := policyResolver{r}
		policy = resolver.resolvePolicy(file)
		policy.Lanes = resolver.resolveLanes(file, policy)
	}
	if r.brokenKeys["check"] {
		policy.Check = defaultCheckName(o, file.Extends != "")
	}
	return policy, file, r
}

// checkExtends refuses what only an organisation's policy says, and to extend what is not there.
func (r extendsChecker) checkExtends(f PolicyKeys, o *Organisation) {
	if r.hasKey("enforce") {
		r.failKey(
			"enforce", "only an organisation's policy enforces anything",
			"move it to "+OrganisationFile+" of OWNER/"+OrganisationRepo,
		)
	}
	switch {
	case f.Extends == "":
	case o == nil:
		r.failKey(
			"extends", "no policy of an organisation is known",
			"write OWNER/"+OrganisationRepo+"/"+OrganisationFile+", let the App or the token read it, or remove extends",
		)
		r.brokenKeys["reviewers"] = r.brokenKeys["reviewers"] || !r.hasKey("reviewers")
	case !f.namesReviewers() && !o.NamesReviewers() && !r.hasKey("reviewers"):
		r.failKey("extends", "neither this file nor the organisation's policy names reviewers", "add reviewers:")
		r.brokenKeys["reviewers"] = true
	}
}

// defaultCheckName returns the name of the check where a repository's file gives it none.
func defaultCheckName(o *Organisation, extends bool) string {
	if extends && o != nil {
		return o.Check()
	}
	return Default().Check
}

// InheritsCheck reports whether a repository's file leaves the name of the check to the organisation's policy.
func InheritsCheck(src []byte) bool { return hasKeyLine(src, "extends:") && !hasKeyLine(src, "check:") }

// hasKeyLine reports whether a line of a file, be it YAML or not, begins with a key.
func hasKeyLine(src []byte, key string) bool {
	for line := range strings.Lines(string(src[:min(len(src), MaxSize)])) {
		if strings.HasPrefix(line, key) {
			return true
		}
	}
	return false
}

// findCheckName finds the name of the check in a file that is no YAML, beside the organisation's: the error must not appear
// under a name that no rule requires.
func findCheckName(src []byte, o *Organisation) string {
	for line := range strings.Lines(string(src[:min(len(src), MaxSize)])) {
		if !strings.HasPrefix(line, "check:") || len(line) > 500 {
			continue
		}
		r, file := newPolicyFileReader("", []byte(line)), PolicyKeys{}
		if root, ok := r.parseFile(); ok {
			r.decodeFile(root, &file)
			if file.Check != "" && !r.brokenKeys["check"] {
				return file.Check
			}
		}
	}
	return defaultCheckName(o, hasKeyLine(src, "extends:"))
}
