package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// resolveEscalation makes the policy's escalation, and refuses names that nobody can have.
func (r policyResolver) resolveEscalation(f PolicyKeys) quorum.Escalation {
	var e quorum.Escalation
	for i, name := range f.Escalate.To {
		key := fmt.Sprintf("escalate.to[%d]", i)
		bare := strings.TrimPrefix(name, "@")
		switch {
		case !r.checkInvitee(key, name):
		case slices.ContainsFunc(e.To, func(n string) bool { return strings.EqualFold(n, bare) }):
			r.failKey(key, quoteText(name)+" is named twice", "remove one of them")
		default:
			e.To = append(e.To, bare)
		}
	}
	if len(e.To) > 0 {
		e.After = time.Duration(f.Escalate.After)
	}
	r.failIf(r.hasKey("escalate") && len(f.Escalate.To) == 0 && !r.brokenKeys["escalate"] && !r.brokenKeys["escalate.to"], "escalate",
		"escalate names nobody", `add to: ["@octocat"], or remove it`)
	return e
}
