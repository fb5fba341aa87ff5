// Package doctor says of a repository's set-up whether its check can be trusted, and whether it can arrive: a line and a
// remedy for each thing that is wrong. It knows what was read and nothing else: what could not be read is neither fine
// nor broken, and nothing is invented.
package doctor

import (
	"encoding/json"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workflow"
)

// A Setup is what a repository shows of how its check is posted, required and earned. Names and texts in it are hostile.
type Setup struct {
	Owner, Repo string
	Host        string // of its pages; "": github.com
	Branch      string // the default one
	Public      bool
	File        quorum.PolicyFile
	Policy      quorum.Policy // if File is valid
	Bases       []Base        // the default branch, then those that lanes name
	Rulesets    []Ruleset     // of branches, active or not
	Actions     ActionsSettings
	Workflows   []WorkflowFile
	OnlyWriter  string         // login of the only person who may write; "": there are more, or it was not read
	Pulls       []SeenPull     // those that changed last, newest first
	Drifts      []quorum.Drift // of the reviewers' newest answers
	App         AppIdentity    // as which all this was read; zero: with a token
	Now         time.Time
	Unread      []Unread
}

// An Unread part of a set-up is one that GitHub did not tell.
type Unread struct {
	Part  Part
	What  string // in words of ours: "which checks main requires"
	Needs string // the permission that shows it; "": it is not known which
}

// A Part of a set-up is what one request shows.
type Part uint8

// The parts that may be refused.
const (
	RulesPart        Part = 1 + iota // of a base
	ProtectionPart                   // of a base
	RulesetsPart                     //
	QueuePart                        // the classic merge queue
	ActionsPart                      // whether Actions may run, and which actions
	DefaultTokenPart                 // what a job's token may do
	WorkflowsPart                    //
	PullsPart                        //
	AnswersPart                      // how reviewers' answers were understood
	WritersPart                      // who may write
)

// NeedsOthers reports whether nobody may speak for a change of their own.
func (s *Setup) NeedsOthers() bool { return s.Policy.StandIn != 0 && !s.Policy.OwnChange }

// A Base is a branch that pull requests are merged into, with what it requires.
type Base struct {
	Name     string
	Required []Requirement
	Queue    bool // it is merged by a queue
}

// A Requirement is a check that a base requires.
type Requirement struct {
	Check   string
	App     int64 // whose check it must be; 0: anybody's
	Ruleset int64 // whose rule it is; 0: the branch's protection
}

// A Ruleset is one of the repository, or of its organisation.
type Ruleset struct {
	ID           int64
	Name         string
	Organization bool // it is not the repository's own
	Active       bool
	Include      []string // refs: ~DEFAULT_BRANCH, ~ALL, refs/heads/…
	Exclude      []string
	Checks       []Requirement
	Creation     bool              // it restricts who creates such a branch
	Rules        []json.RawMessage // as GitHub wrote them
}

// ActionsSettings are the repository's for Actions. The zero value of what was not read says nothing.
type ActionsSettings struct {
	Disabled   bool
	Allowed    string   // all, local_only, selected
	Patterns   []string // with selected
	Verified   bool     // with selected: those of verified creators
	DefaultAll bool     // a job's token may write unless its workflow says otherwise
	Approves   bool     // workflows may approve pull requests
}

// A WorkflowFile is a workflow of the default branch.
type WorkflowFile struct {
	workflow.File
	State   string // active, disabled_manually, …; "": GitHub lists none of that path
	Created time.Time
}

// A SeenPull is a pull request that changed lately, with what stands on its newest head.
type SeenPull struct {
	Number   int
	Updated  time.Time
	Open     bool
	Runs     []quorum.Run
	Texts    []quorum.Text // reviews and comments
	Checks   []quorum.CheckRun
	Statuses []quorum.Status
}

// An AppIdentity is a GitHub App with the permissions that it lacks on the repository.
type AppIdentity struct {
	ID     int64
	Slug   string
	Lacks  []string // without which no check is posted: "checks: write"
	Misses []string // without which it asks nobody again
	Deaf   []string // without which it is told of no merge group
}
