package quorum

import (
	"slices"
	"time"
)

// A Lane is a rule for some pull requests: the first that matches one replaces some keys of the policy for it.
type Lane struct {
	Name  string
	Why   string // the reason that the check gives; hostile to Markdown, as all that a policy says
	If    Condition
	Laxer bool // a key of it asks less than the top level: it holds only where a contributor cannot choose it

	// What it replaces; nil: the top level's.
	Need       *NeedRule
	People     *int
	Voters     []string // names of the reviewers that vote
	Grace      *time.Duration
	Timeout    *time.Duration
	Deadline   *time.Duration
	EarlyStart *bool
	StandIn    *Permission
	Override   *Permission
	Threads    *ThreadsBy
}

// Adds reports whether labels or size choose the lane: a label may be set by anybody with triage, so each of its keys
// counts only where it asks more.
func (l *Lane) Adds() bool { return len(l.If.Labels) > 0 || l.If.OverLines > 0 }

// A Condition says which pull requests a lane, or a reviewer, is for. All that is named must hold; the zero one always
// does.
type Condition struct {
	Paths     []string // patterns; a lane's: every changed path matches; a reviewer's: one does that NotPaths does not
	NotPaths  []string // patterns; of a reviewer
	AnyPath   []string // patterns: one changed path matches
	Authors   []string // accounts: one of them opened it, and pushed and authored every commit
	Labels    []string // one of them is on it
	Base      []string // patterns of the base branch
	OverLines int      // more lines than that are added and removed; 0: not named
}

// Names reports whether the condition names anything.
func (c Condition) Names() bool {
	return len(c.Paths)+len(c.NotPaths)+len(c.AnyPath)+len(c.Authors)+len(c.Labels)+len(c.Base) > 0 || c.OverLines > 0
}

// A NeedRule says how many approvals are needed of those who vote.
type NeedRule struct {
	Share Share
	Count int // with ByNumber
}

// Share says how the number of approvals that are needed follows from the number of those who vote.
type Share uint8

const (
	ByNumber Share = 1 + iota // whoever votes
	Majority                  // more than half of them
	All                       //
	NoReview                  // none is needed
)

// Of is how many approvals are needed of so many voters (families, where those are counted). A number may be more than
// there are; majority and all are at least one.
func (n NeedRule) Of(voters int) int {
	switch n.Share {
	case ByNumber:
		return n.Count
	case Majority:
		return voters/2 + 1
	case All:
		return max(voters, 1)
	case NoReview:
		return 0
	}
	return max(voters, 1) // no rule at all: whoever is there
}

// IsLess reports whether n asks less than o of some number of voters up to most.
func (n NeedRule) IsLess(o NeedRule, most int) bool {
	for voters := range most + 1 {
		if n.Of(voters) < o.Of(voters) {
			return true
		}
	}
	return false
}

// IsWider reports whether more people have p than have o; 0 is nobody's.
func (p Permission) IsWider(o Permission) bool { return p != 0 && (o == 0 || p < o) }

// A LaneChoice says in which lane a pull request is. The zero value is the top level.
type LaneChoice struct {
	Name  string      `json:"name,omitempty"`
	Why   string      `json:"why,omitempty"`
	Added []string    `json:"added,omitempty"` // lanes chosen by labels or size that ask more
	Not   []LaneNot   `json:"not,omitempty"`   // lanes whose condition holds, and that are not for this pull request
	By    []Condition `json:"-"`               // the condition of the lane, and of those that were added
}

// A LaneNot is a laxer lane that does not hold for a pull request although its condition does.
type LaneNot struct {
	Name   string `json:"name"`
	Reason Reason `json:"reason"`           // ReasonLaneBase, ReasonLaneGuard, ReasonLanePolicy, ReasonLaneLinks
	Detail string `json:"detail,omitempty"` // the branch or the path; hostile
}

// InLane returns p as l changes it.
func (p Policy) InLane(l *Lane) Policy {
	p.Lane.Name, p.Lane.Why = l.Name, l.Why
	p.Lane.By = append(slices.Clip(p.Lane.By), l.If)
	if l.Need != nil {
		p.Rules = append([]NeedRule{*l.Need}, p.Floor...)
	}
	if l.Voters != nil {
		p.Reviewers = slices.Clone(p.Reviewers)
		for i := range p.Reviewers {
			if r := &p.Reviewers[i]; !slices.Contains(l.Voters, r.Name) && r.Excused == "" {
				r.Excused = ReasonOtherLane
			}
		}
	}
	setIfNamed(&p.People, l.People)
	setIfNamed(&p.Grace, l.Grace)
	setIfNamed(&p.Deadline, l.Deadline)
	setIfNamed(&p.EarlyStart, l.EarlyStart)
	setIfNamed(&p.StandIn, l.StandIn)
	setIfNamed(&p.Override, l.Override)
	setIfNamed(&p.Threads, l.Threads)
	if l.Timeout != nil {
		p = p.withTimeout(*l.Timeout)
	}
	return p
}

// WithAdded returns p with what l asks more: of a lane that labels or size choose, nothing else counts.
func (p Policy) WithAdded(l *Lane) Policy {
	p.Lane.Added = append(slices.Clip(p.Lane.Added), l.Name)
	p.Lane.By = append(slices.Clip(p.Lane.By), l.If)
	if l.Need != nil {
		if len(p.Rules) == 0 {
			p.Rules = []NeedRule{{Share: ByNumber, Count: p.Need}} // it goes on to hold
		}
		p.Rules = append(slices.Clip(p.Rules), *l.Need)
	}
	if l.People != nil {
		p.People = max(p.People, *l.People)
	}
	if l.Grace != nil {
		p.Grace = max(p.Grace, *l.Grace)
	}
	if l.Deadline != nil {
		p.Deadline = max(p.Deadline, *l.Deadline)
	}
	if l.StandIn != nil && p.StandIn.IsWider(*l.StandIn) {
		p.StandIn = *l.StandIn
	}
	if l.Override != nil && p.Override.IsWider(*l.Override) {
		p.Override = *l.Override
	}
	if l.Threads != nil && *l.Threads == ByOthers {
		p.Threads = ByOthers
	}
	if l.Timeout != nil && *l.Timeout > p.Timeout {
		p = p.withTimeout(*l.Timeout)
	}
	return p
}

// withTimeout gives another timeout to the reviewers that have none of their own.
func (p Policy) withTimeout(timeout time.Duration) Policy {
	p.Timeout, p.Reviewers = timeout, slices.Clone(p.Reviewers)
	for i := range p.Reviewers {
		if !p.Reviewers[i].OwnTimeout {
			p.Reviewers[i].Timeout = timeout
		}
	}
	return p
}

func setIfNamed[T any](key, named *T) {
	if named != nil {
		*key = *named
	}
}
