package github

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A readPlan is what a look knows, or expects, that decides which requests it sends.
type readPlan struct {
	head          string
	left          string // the head that it has just left; "": it has not
	headRef       string
	runsSince     time.Time // back to when runs of the branch are read
	commits       int
	base          string
	defaultBranch string // the default branch
	named         change.BaseNaming
	trunk         string // of the stack of which it is a layer above the lowest one
	trunkNamed    change.BaseNaming
	check         string // name of our check
	statuses      bool   // commit statuses are needed
	hasPolicy     bool   // there is a policy file
	judged        bool   // anything will be judged
	conversation  bool   // the conversation is read in parallel with all else
}

// readsBranchRuns reports whether the runs of earlier heads are read, and with them those of the head.
func (p readPlan) readsBranchRuns() bool { return p.judged && p.commits > 1 && p.headRef != "" }

// trunkOf returns the trunk of the stack of which a pull request is a layer above the lowest one; "" if it is none.
func trunkOf(pr quorum.PullRequest) string {
	if pr.Stack.Trunk == pr.BaseRef {
		return ""
	}
	return pr.Stack.Trunk
}

// gatePlan is the part of the plan by which the gate is read.
func (p readPlan) gatePlan() readPlan {
	return readPlan{
		base: p.base, defaultBranch: p.defaultBranch, named: p.named, trunk: p.trunk, trunkNamed: p.trunkNamed, check: p.check,
	}
}
