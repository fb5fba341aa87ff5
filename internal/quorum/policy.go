package quorum

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A PR names one pull request.
type PR struct {
	Owner, Repo string
	Number      int
}

func (pr PR) String() string { return fmt.Sprintf("%s/%s#%d", pr.Owner, pr.Repo, pr.Number) }

// DefaultCheck is the name of the check where no policy gives another.
const DefaultCheck = "Review quorum"

// A Policy says who reviews and how many approvals are enough. Package config has resolved every default and word in it.
type Policy struct {
	Check      string        // name of the check run
	Mode       Mode          //
	Need       int           // approvals needed of all that may vote; 1 ≤ Need ≤ number of voters
	Rules      []NeedRule    // what is needed of those who vote; of several what asks most; none: Need, whoever votes
	Floor      []NeedRule    // those of Rules that no lane replaces: an organisation's
	People     People        // approvals of the head by people, on top of the quorum
	Families   Families      // what is counted
	Grace      time.Duration // how long a reached quorum waits for the rest
	Timeout    time.Duration // of the reviewers' attempts, but for those with one of their own
	Deadline   time.Duration // after the start; what is pending then is Unavailable
	EarlyStart bool          // blocked as soon as a quorum has answered and one of them objects
	DraftsWait bool          // nothing is decided while the pull request is a draft
	StandIn    Permission    // of a person whose approval may fill missing ones; 0: there is no such person
	OwnChange  bool          // a person who may stand in may vouch for a change of their own, and accept as Override says
	Override   Permission    // of a person who may accept over an objection; 0: there is no such person
	Threads    ThreadsBy     // by whose resolving an objection's threads end it
	Carry      Carry         // what a push keeps that leaves the diff as it was
	Guard      []string      // path patterns; a pull request that changes one makes the reviewers concerned Unavailable
	Retry      Retry
	Breaker    Breaker
	Lanes      []Lane     // in the file's order
	Lane       LaneChoice // change.PolicyFor: the lane for which this policy holds
	Reviewers  []Reviewer // in the file's order, which is the order of the ballots
	Origins    []Origin   // from where each key comes; none where no organisation's policy is known

	Fix      FixPolicy
	Escalate Escalation
	Comment  CommentWhen
}

// Families says whether reviewers of one family count as one.
type Families uint8

const (
	AnyFamily      Families = 1 + iota // each reviewer counts
	DistinctFamily                     // each family counts once
)

// countPlaces says how many approvals some voters could be: where families are counted, those of one are one.
func countPlaces[V any](f Families, voters []V, familyOf func(V) string) (n int) {
	distinct := map[string]bool{}
	for _, v := range voters {
		if family := familyOf(v); f == DistinctFamily && family != "" {
			distinct[family] = true
		} else {
			n++
		}
	}
	return n + len(distinct)
}

// Carry says which votes a push keeps that leaves the pull request's diff as it was. Objections stand in any case.
type Carry uint8

const (
	CarryNone     Carry = 1 + iota // no approval
	CarrySameDiff                  // approvals
)

// NeedOf is how many approvals are needed of so many voters (families, where those are counted).
func (p Policy) NeedOf(voters int) int {
	if len(p.Rules) == 0 {
		return p.Need
	}
	need := 0
	for _, rule := range p.Rules {
		need = max(need, rule.Of(voters))
	}
	return need
}

// NeedsNoReview reports whether the lane asks for no reviewer's approval. A number of zero does not: it is a broken quorum.
func (p Policy) NeedsNoReview() bool {
	asksSome := func(n NeedRule) bool { return n.Share != NoReview }
	return len(p.Rules) > 0 && !slices.ContainsFunc(p.Rules, asksSome)
}

// HearsPeople reports whether a person's request for changes objects: where people are asked, or a lane needs no review.
func (p Policy) HearsPeople() bool {
	return len(p.People) > 0 || slices.ContainsFunc(p.Rules, func(n NeedRule) bool { return n.Share == NoReview })
}

// Mode says what the policy does with its verdict.
type Mode uint8

const (
	Enforce    Mode = 1 + iota // the check says it
	ReportOnly                 // the check is neutral and says "(report only)"
	Off                        // nothing is written
)

// Permission is a person's permission on the repository, in ascending order; 0 is none that a policy could name.
type Permission uint8

const (
	Write    Permission = 1 + iota // push
	Maintain                       //
	Admin                          //
)

// ThreadsBy says whose resolving of a thread counts.
type ThreadsBy uint8

const (
	ByOthers ThreadsBy = 1 + iota // by people who had no hand in the change
	ByAnyone                      //
)

// Retry bounds the one rerun of a reviewer.
type Retry struct {
	Max      int           // 0 or 1 for each reviewer and head
	FastFail time.Duration // an empty attempt that ended sooner is run again at once
	Backoff  time.Duration // any other after this, ±20 % by the run's id
}

// A Reviewer is one configured source of reviews. At most one of Workflow, Check and Status is set; with none only its texts tell.
type Reviewer struct {
	Name         string
	Preset       string        // the preset it was made from, if any: evidence reads its texts by it
	Workflow     string        // path of the workflow file that runs it, or a dynamic/… path
	Events       []string      // the events of the runs that count
	Check        string        // name of its check run
	App          string        // slug of the App that owns that check run
	Status       string        // context of its commit status
	Signal       Signal        // of a reviewer of texts: where else it says that it works, or why it does not
	Author       string        // account that posts its evidence: "name[bot]" is a Bot, a plain login a User
	AuthorID     int64         // that account's id on the host whose API is asked; 0: not known, the name must do
	Heading      string        // its texts open with this heading; "" if its author is its own
	Verdict      Format        //
	MinSeverity  Severity      // the least severity that objects; SeverityAny: every finding
	FailureMeans FailureMeans  // with Verdict.Kind Conclusion
	Timeout      time.Duration // for each attempt
	OwnTimeout   bool          // the policy gives it one of its own
	Family       string        // the maker of its model, in small letters; "": a family of its own
	Agents       []string      // as whom its maker's agents write code, without "[bot]"
	Relative     *Account      // change.PolicyFor: who of its family had a hand in the change
	When         Condition     // the pull requests on which it votes
	Excused      Reason        // change.PolicyFor: why it has no vote here: ReasonOtherLane, ReasonWhen, ReasonNoReview
	Required     bool          // the quorum cannot do without it
	InsteadOf    string        // the reviewer whose reserve it is: it votes only while that one is Unavailable
	After        []string      // the reviewers without whose approval it is not asked
	Shadow       bool          // shown, never counted
	Retired      bool          // a preset whose service has ended: always Unavailable, no voter
	Request      Request       // how to ask (again)
	OnlyNew      bool          // reports only what is new: a clean answer approves only if none of its threads is open
	Obeys        []string      // words beside its mention, or whole "/commands word", at which it approves, resolves or dismisses
	Shapes       Shapes        // of the policy's own: sentences by which it is understood
	Guard        []string      // further path patterns that concern this reviewer: its instruction files
}

// IsFamily reports whether a is an account as which r, or an agent by its maker, writes. All workflows write as one.
func (r *Reviewer) IsFamily(a Account) bool {
	return r.Author != ActionsBot && r.IsAuthor(a) || hasFold(r.Agents, strings.TrimSuffix(a.Login, "[bot]"))
}

// Addresses are what a comment holds that tells r something, in small letters: its mention, and the commands that it obeys.
func (r Reviewer) Addresses() []string {
	all := []string{"@" + strings.ToLower(strings.TrimSuffix(r.Author, "[bot]"))}
	for _, command := range r.Obeys {
		if slash, _, _ := strings.Cut(command, " "); strings.HasPrefix(slash, "/") {
			all = append(all, slash)
		}
	}
	return all
}

// Signal names a check run and a commit status beside a reviewer's texts. Nothing is asked for their sake.
type Signal struct {
	Check, App string // name of the check run, slug of the App that owns it
	Status     string // context of the commit status
}

// Voter reports whether r has a seat of its own, and its vote is counted.
func (r Reviewer) Voter() bool { return r.MayVote() && r.Excused == "" && r.InsteadOf == "" }

// MayVote reports whether r has a vote on some pull requests: on one to which it has objected, it has.
func (r Reviewer) MayVote() bool { return !r.Shadow && !r.Retired }

// IsAuthor reports whether a is the account that posts r's evidence: by its id where both are known, else by its name.
// A renamed account is still known so, and another one under its name is not.
func (r *Reviewer) IsAuthor(a Account) bool {
	if r.AuthorID != 0 && a.ID != 0 {
		return a.ID == r.AuthorID
	}
	return a.Is(r.Author)
}

// Request is how a reviewer is asked for a review. The zero value: it cannot be asked.
type Request struct {
	Comment string // body of a comment on the pull request
	Login   string // or: the login whose review is requested, "[bot]" included
	AtStart bool   // asked once at the start, if nothing was seen of it
}

// Set reports whether the reviewer can be asked.
func (r Request) Set() bool { return r.Comment != "" || r.Login != "" }

// IsFor reports whether a review that was requested of a is what r asks for. GitHub lists Copilot by another name.
func (r Request) IsFor(a Account) bool {
	return r.Login != "" && (a.Is(r.Login) || a.Login == "Copilot" && strings.HasPrefix(r.Login, "copilot-"))
}

// Format says where in a reviewer's evidence its verdict stands.
type Format struct {
	Kind     FormatKind
	Artifact string       // with Artifact: its name
	Neutral  FailureMeans // with Conclusion, what neutral is; 0: no review
	Field    string       // with Words, the label of their field; "": each of them is a whole line
	Covered  bool         // an approval names the commit, or says that all files were read

	Approve, Object, None []string // with Words; None: there was no review
}

// FormatKind is a verdict format of the policy file.
type FormatKind uint8

const (
	Auto         FormatKind = 1 + iota // ReadyToMerge, ReviewState and FindingList together
	ReadyToMerge                       // "Ready to merge? Yes | No | With fixes" and its siblings
	ReviewState                        // APPROVED, CHANGES_REQUESTED, COMMENTED
	FindingList                        // counts or severity lists: "findings"
	JSON                               // one JSON object with a verdict
	Conclusion                         // the conclusion of its run, check or the state of its status
	Words                              // the policy's own words
	Artifact                           // a JSON file that its run uploaded
)

// DefaultEvents are the events whose runs count for a reviewer with a workflow, where the policy names no others.
func DefaultEvents() []string { return []string{"pull_request", "pull_request_target", "dynamic"} }

// FailureMeans says what a conclusion of failure is with [Conclusion].
type FailureMeans uint8

const (
	MeansUnavailable FailureMeans = 1 + iota // run again once, then Unavailable
	MeansFindings                            // objects at once
)

// Severity of a finding, ascending. The zero value is an unknown severity, which objects like any other.
type Severity uint8

const (
	Low Severity = 1 + iota
	Medium
	High
	Critical
)

// SeverityAny as a reviewer's MinSeverity lets every finding object.
const SeverityAny Severity = 0

// Voters says how many of the reviewers vote, of whatever families.
func (p Policy) Voters() int { return len(votersOf(p.Reviewers)) }

// An Origin says from where a key of a policy comes.
type Origin struct {
	Key  string    `json:"key"` // of the top level; reviewers one by one, as reviewers.NAME
	From KeySource `json:"from"`
}

// A KeySource is what said a key.
type KeySource string

const (
	FromDefault      KeySource = "default"      // nobody
	FromRepository   KeySource = "repository"   // the repository's file
	FromOrganisation KeySource = "organization" // the organisation's file, as a default
	FromEnforce      KeySource = "enforce"      // the organisation's file, which the repository's may not loosen
)

// A FixPolicy names the workflow that mends a blocked pull request.
type FixPolicy struct {
	Workflow    string // path of its file; "": there is none
	MaxRestarts int    // runs of it for one pull request
}

// Shapes are sentences by which a reviewer is understood: a preset's, or a policy's for a reviewer of its own. Package
// review defines their syntax: small letters without Markdown, with {placeholders} and (choices|).
type Shapes struct {
	Approves  []string      `json:"approves,omitempty"`   // the whole line: approves
	IfSettled []string      `json:"if_settled,omitempty"` // the whole line: approves if none of the reviewer's threads is open
	Counts    []string      `json:"counts,omitempty"`     // the whole line, with {count}: zero approves, more objects
	Objects   []string      `json:"objects,omitempty"`    // objects; a {count} of zero does not
	Vetoes    []string      `json:"vetoes,omitempty"`     // as Objects, in quotes and folds too
	Partial   []string      `json:"partial,omitempty"`    // what approves beside it did not see all of the change
	Working   []string      `json:"working,omitempty"`    // the review is under way
	Other     []string      `json:"other,omitempty"`      // the text is no review
	Notices   []NoticeShape `json:"notices,omitempty"`    // there is no review, and why
}

func (s Shapes) IsZero() bool {
	return len(s.Approves)+len(s.IfSettled)+len(s.Counts)+len(s.Objects)+len(s.Vetoes)+len(s.Partial)+len(s.Working)+
		len(s.Other)+len(s.Notices) == 0
}

// A NoticeShape says why there is no review.
type NoticeShape struct {
	Line    string  `json:"line,omitempty"`   // the shape of its line
	Marker  string  `json:"marker,omitempty"` // or: words of an HTML comment of it, in small letters
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason"`
}
