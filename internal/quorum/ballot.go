package quorum

import "time"

// A Vote is what one reviewer contributes to the tally.
type Vote uint8

const (
	Pending     Vote = 1 + iota // may still vote
	Approve                     // reviewed this head and approved
	Object                      // reviewed and objected
	Unavailable                 // will not vote; never counted as an approval
)

// An Outcome is the result of one attempt of a reviewer.
type Outcome uint8

const (
	Silent           Outcome = 1 + iota // nothing seen on this head
	Running                             // the attempt has not ended
	Approved                            // a clear verdict that approves
	Findings                            // a clear verdict that objects, or findings bound to the head
	Empty                               // ended and left nothing
	Malformed                           // evidence, but no clear verdict
	Partial                             // an approval that says it did not see all of the change
	Overloaded                          // an outage
	Hung                                // no runner or no end in time
	Limited                             // a rate or usage limit
	Failed                              // ran and failed for good
	Declined                            // chose not to review
	Cancelled                           // by somebody, and no verdict left
	AwaitingApproval                    // a maintainer must approve the run
	Refused                             // GitHub will not run it again
	Withdrawn                           // an approval that stood and stands no more
	Unrelated                           // a text that is not the reviewer's evidence; no ballot has it
	Unknown                             // failed, nothing recognised
)

// A Reason says why a ballot, or a whole decision, is what it is. Package report has a sentence and an advice for each.
type Reason string

const (
	// Of ballots.
	ReasonSilent       Reason = "silent"        // nothing seen yet
	ReasonRunning      Reason = "running"       // at work
	ReasonDoubt        Reason = "doubt"         // at work, and what it said so far seems to object
	ReasonApproved     Reason = "approved"      //
	ReasonResolved     Reason = "resolved"      // an objection by threads that have all ended; Detail: who resolved them
	ReasonAccepted     Reason = "below"         // findings below min_severity: approves
	ReasonFindings     Reason = "findings"      // objects
	ReasonOpenThreads  Reason = "open_threads"  // clean, but a thread of its is still open
	ReasonStands       Reason = "stands"        // an objection that its reviewer has not answered
	ReasonLookingAgain Reason = "looking_again" // the same while its reviewer looks again
	ReasonNoAnswer     Reason = "no_answer"     // silent to its deadline
	ReasonLate         Reason = "late"          // still at work at its deadline
	ReasonNotReceived  Reason = "not_received"  // pending when the check passed
	ReasonEmpty        Reason = "empty"         //
	ReasonAmbiguous    Reason = "ambiguous"     // empty: its answer may be about another head's run
	ReasonMalformed    Reason = "malformed"     //
	ReasonContradicts  Reason = "contradicts"   // malformed: says both
	ReasonTemplate     Reason = "template"      // malformed: an unfilled template
	ReasonConditional  Reason = "conditional"   // malformed: a yes that does not stand alone
	ReasonDrift        Reason = "drift"         // malformed as its last answers on other pull requests: it is not asked again
	ReasonPartial      Reason = "partial"       // it did not see all of the change
	ReasonOverloaded   Reason = "overloaded"    //
	ReasonHung         Reason = "hung"          //
	ReasonRateLimit    Reason = "rate_limit"    // Detail may hold when it resets
	ReasonQuota        Reason = "quota"         // a usage limit
	ReasonCredentials  Reason = "credentials"   // failed
	ReasonBilling      Reason = "billing"       // failed: credit, spending limit
	ReasonBudget       Reason = "budget"        // failed: its own budget is used up
	ReasonInvalid      Reason = "invalid"       // failed: invalid request, context too long, validation, configuration
	ReasonModelRefusal Reason = "model_refusal" // failed: the model refused
	ReasonFailedTwice  Reason = "failed_twice"  // conclusion: a failure that stands
	ReasonSkipped      Reason = "skipped"       // declined: run skipped, or neutral with verdict: conclusion
	ReasonDeclined     Reason = "declined"      // declined in its own words
	ReasonTooLarge     Reason = "too_large"     // declined
	ReasonNoSecrets    Reason = "no_secrets"    // declined: fork or Dependabot, no key
	ReasonForbidden    Reason = "forbidden"     // declined: a policy of the repository forbids its event; Detail: the event
	ReasonRetired      Reason = "retired"       // declined: the service has ended
	ReasonGuarded      Reason = "guarded"       // the pull request changes what instructs it; Detail: the path
	ReasonCancelled    Reason = "cancelled"     //
	ReasonApproval     Reason = "approval"      // awaiting a maintainer's approval
	ReasonRefused      Reason = "refused"       // GitHub refused the rerun; Detail: its words
	ReasonPermission   Reason = "permission"    // the token may not rerun, cancel, comment or request; Detail: which permission
	ReasonTooOld       Reason = "too_old"       // refused: over 30 days
	ReasonAttempts     Reason = "attempts"      // refused: 50 attempts
	ReasonIgnored      Reason = "ignored"       // refused: GitHub took the request for a review and did not pass it on
	ReasonDismissed    Reason = "dismissed"     // withdrawn
	ReasonDeleted      Reason = "deleted"       // withdrawn
	ReasonEdited       Reason = "edited"        // withdrawn: edited by somebody else; Detail: by whom
	ReasonUnknown      Reason = "unknown"       //
	ReasonUncovered    Reason = "uncovered"     // malformed: it approves, and does not say what it read
	ReasonUnnamed      Reason = "unnamed"       // silent: its answer names no commit and the pull request had another head
	ReasonMoved        Reason = "moved"         // silent: its review is older than the head is here, so GitHub moved it from another one
	ReasonOtherGuards  Reason = "other_guards"  // declined: the layer below may hold other workflows or instructions than the trunk
	ReasonOldBase      Reason = "old_base"      // silent: its approval may have been begun against the base of before
	ReasonCommand      Reason = "command"       // silent: its approval answers a command, and reviews nothing; Detail: whose
	ReasonSelf         Reason = "self"          // the pull request's author is its reviewer
	ReasonFamily       Reason = "family"        // declined: an agent of its family had a hand in the change, or may have; Detail: which
	ReasonOtherPull    Reason = "other_pull"    // declined: it may be about another pull request of the same branch; Detail: which
	ReasonOtherLane    Reason = "other_lane"    // no vote: the lane names others
	ReasonWhen         Reason = "when"          // no vote: the pull request is not one of those on which it votes
	ReasonReserve      Reason = "reserve"       // no vote: the other one of its seat has it
	ReasonStage        Reason = "stage"         // not asked before others approve; Detail: which
	ReasonNotAsked     Reason = "not_asked"     // declined: one of those does not approve; Detail: which
	ReasonCarried      Reason = "carried"       // an approval of an earlier head with the same diff; Detail: that head
	ReasonOverridden   Reason = "overridden"    // unavailable: somebody who may accepted over its objection; Detail: who

	// Of decisions.
	ReasonTally    Reason = "tally"    // the ballots decide
	ReasonDraft    Reason = "draft"    //
	ReasonClosed   Reason = "closed"   //
	ReasonOff      Reason = "off"      // mode: off
	ReasonNoPolicy Reason = "nopolicy" // there is none, or it is gone
	ReasonBroken   Reason = "broken"   // the policy file is broken
	ReasonSiblings Reason = "siblings" // other open pull requests share this head
	ReasonRequired Reason = "required" // Unverified: a required reviewer does not approve
	ReasonStandIn  Reason = "stand_in" // Passed: a person stands in
	ReasonPeople   Reason = "people"   // Unverified: enough reviewers approve, and people are missing
	ReasonTooFew   Reason = "too_few"  // Unverified: fewer reviewers vote on this pull request than must approve
	ReasonNoReview Reason = "noreview" // Passed: the lane needs no review

	ReasonLayer      Reason = "layer"       // Waiting: a layer below in the stack is not green
	ReasonLayersLost Reason = "layers_lost" // Waiting: the open pull requests below do not lead to the stack's trunk
	ReasonLayersMany Reason = "layers_many" // Waiting: more than [MaxLayers] are below

	ReasonGroupLate    Reason = "group_late"    // Blocked: a merge group was undecided for too long
	ReasonGroupUnknown Reason = "group_unknown" // Waiting, or Blocked after a while: what a merge group holds is not known

	// Of people's commands that were refused.
	ReasonMayNot        Reason = "may_not"         // its author has not the permission that it takes
	ReasonHadHand       Reason = "had_hand"        // its author had a hand in the change
	ReasonHandsUnknown  Reason = "hands_unknown"   // GitHub does not tell who had a hand in the change
	ReasonNoVouch       Reason = "no_vouch"        // vouch: the policy does not let its author vouch for their own change
	ReasonNotOwn        Reason = "not_own"         // vouch: its author had no hand in the change
	ReasonOthersAsked   Reason = "others_asked"    // of an approval: the policy asks for those of other people
	ReasonIsReviewer    Reason = "is_reviewer"     // of an approval or a vouch: its author is a reviewer of the policy
	ReasonWordEdited    Reason = "word_edited"     // the comment was edited before it was heard
	ReasonInReview      Reason = "in_review"       // it stands in a review, which is no comment
	ReasonUnclear       Reason = "unclear"         // it is no command that is known
	ReasonNoOverride    Reason = "no_override"     // accept: the policy lets nobody, or nobody with that permission
	ReasonOtherHead     Reason = "other_head"      // accept: it names another commit
	ReasonNothingNamed  Reason = "nothing_named"   // accept: the check had named no objection by then that still stands
	ReasonNoChange      Reason = "no_change"       // accept, fix: it is so already
	ReasonUsedUp        Reason = "used_up"         // no more such words of its author are heard on a head
	ReasonNoFixes       Reason = "no_fixes"        // fix: the policy names no workflow for it
	ReasonNoReviewer    Reason = "no_reviewer"     // rerun: the policy names no such reviewer
	ReasonUnderWay      Reason = "under_way"       // rerun: it is under way already
	ReasonNobodyToRerun Reason = "nobody_to_rerun" // rerun: all approve, or nothing of them can be run again

	// Of the loop of fixes: why it has ended, and why none is started for a head.
	ReasonFixMax       Reason = "fix_max"       // as many as the policy allows were started
	ReasonFixNoFewer   Reason = "fix_no_fewer"  // no fewer findings are open than before the fix
	ReasonFixNoPush    Reason = "fix_no_push"   // the fix run has ended, or taken an hour, and the head is the same
	ReasonFixSameDiff  Reason = "fix_same_diff" // it has pushed a head that changes the same
	ReasonFixLost      Reason = "fix_lost"      // GitHub's answers were lost, and it lists no such run
	ReasonFixForbidden Reason = "fix_forbidden" // the token may not start workflows; Detail: which permission
	ReasonFixMissing   Reason = "fix_missing"   // the default branch has no such workflow
	ReasonFixTrigger   Reason = "fix_trigger"   // the workflow has no workflow_dispatch trigger
	ReasonFixInputs    Reason = "fix_inputs"    // the workflow takes other inputs; Detail: GitHub's words
	ReasonFixDisabled  Reason = "fix_disabled"  // the workflow is disabled
	ReasonFixRefused   Reason = "fix_refused"   // GitHub refused for another reason; Detail: its words
	ReasonFixFork      Reason = "fix_fork"      // the head is in a fork
	ReasonFixStranger  Reason = "fix_stranger"  // who opened the pull request may not write here
	ReasonFixLabel     Reason = "fix_label"     // the pull request has the label that stops fixes
	ReasonFixOff       Reason = "fix_off"       // a person has switched fixes off; Detail: who
	ReasonFixReport    Reason = "fix_report"    // mode: report
	ReasonFixNoRecord  Reason = "fix_no_record" // a personal token keeps no record

	// Of what GitHub refuses beside the check.
	ReasonNoCollaborator Reason = "no_collaborator" // whose review is asked for has no access to the repository
	ReasonLocked         Reason = "locked"          // the conversation is locked

	// Of lanes that do not hold for a pull request.
	ReasonLaneBase   Reason = "lane_base"   // it asks less, and does not name this base without a pattern; Detail: the base
	ReasonLaneGuard  Reason = "lane_guard"  // it asks less, and the pull request changes what is guarded; Detail: the path
	ReasonLanePolicy Reason = "lane_policy" // it asks less, and the pull request changes the policy; Detail: the path
	ReasonLaneLinks  Reason = "lane_links"  // it asks less, and what guarded names link to is not known
)

// OfLayers reports whether a decision's reason is what is below it in a stack.
func (r Reason) OfLayers() bool {
	return r == ReasonLayer || r == ReasonLayersLost || r == ReasonLayersMany
}

// Standing reports whether a ballot's reason is that an objection stands which its reviewer has not answered.
func (r Reason) Standing() bool { return r == ReasonStands || r == ReasonLookingAgain }

// A Ballot is one reviewer's vote, made from facts alone. A Pending one says what the clock will do to it; [Decide] does that.
type Ballot struct {
	Reviewer string    `json:"reviewer"`
	Required bool      `json:"required,omitempty"`
	Shadow   bool      `json:"shadow,omitempty"`
	Retired  bool      `json:"retired,omitempty"`
	Excused  Reason    `json:"excused,omitempty"` // it has no vote on this pull request, and has not objected to it
	Family   string    `json:"family,omitempty"`
	Relative bool      `json:"-"` // its approval is none: one of its family had a hand in the change, or may have
	Vote     Vote      `json:"vote"`
	Outcome  Outcome   `json:"outcome"`
	Reason   Reason    `json:"reason"`
	Detail   string    `json:"detail,omitempty"` // hostile: may quote a reviewer, a path, a login
	Attempt  int       `json:"attempt,omitempty"`
	Since    time.Time `json:"since,omitzero"` // since when it is so
	At       time.Time `json:"at,omitzero"`    // Approve, Object: when the vote was cast
	Run      int64     `json:"run,omitempty"`
	Evidence TextRef   `json:"evidence,omitzero"`
	URL      string    `json:"url,omitempty"`      // of the evidence, else of the run
	Failed   int       `json:"failed,omitempty"`   // attempts that ended without a verdict
	Retried  bool      `json:"retried,omitempty"`  // a verdict of an attempt after the first
	Retrying bool      `json:"retrying,omitempty"` // Pending: another attempt is due or under way
	Asked    int       `json:"asked,omitempty"`    // verdicts that it gave on this diff, this one included; 0: one or none
	Flipped  bool      `json:"flipped,omitempty"`  // Approve: it objected to this diff before
	Again    bool      `json:"again,omitempty"`    // it objected to the last head that it judged, and so is required
	Carried  string    `json:"carried,omitempty"`  // the vote was said on this other head, which has the same diff
	Pull     int       `json:"pull,omitempty"`     // the objection was said on this other pull request
	Of       int       `json:"of,omitempty"`       // the other pull request of this head and base below which it was said; 0: this one
	Spent    bool      `json:"spent,omitempty"`    // Unavailable: no attempt is left
	Ended    Ending    `json:"ended,omitzero"`     // a person ended the objection that it had, and it has not approved since
	Findings []Finding `json:"findings,omitempty"`
	Answers  []string  `json:"answers,omitempty"` // hostile: excerpts of answers without a verdict, oldest first

	Deadline time.Time `json:"deadline,omitzero"` // Pending: Unavailable from then on
	Late     Reason    `json:"-"`                 // Pending: the reason it then has
	Then     *Ballot   `json:"-"`                 // Pending: what it is from its deadline on instead (a verdict whose attempt does not end)
	Next     []Action  `json:"-"`                 // Pending, or Object beside a newer attempt: what is done on the way, by due time
	Planned  bool      `json:"-"`                 // Pending only for a retry that has not begun, and may not be made, see [Decide]
	Open     bool      `json:"-"`                 // Unavailable, but an answer may still come and would count
	Watch    bool      `json:"-"`                 // GitHub announces to no job how this ends (our rerun or request, another App)

	SaidRun     int64     `json:"-"` // Object: the run and attempt in which it was said, if not the newest and not recorded
	SaidAttempt int       `json:"-"`
	Begun       time.Time `json:"-"` // Approve: when the attempt or check began that approved; zero if nothing shows it
	Threads     bool      `json:"-"` // resolving threads would end this objection
	UnderWay    bool      `json:"-"` // Object: its newest attempt has not ended

	InsteadOf string    `json:"instead_of,omitempty"` // the reviewer whose reserve it is
	Turn      time.Time `json:"-"`                    // of a reserve: since when it has, or will have, that one's seat; else zero

	Circuit Hold      `json:"circuit,omitzero"` // Pending: the open circuit that delays it
	Reset   time.Time `json:"-"`                // Outcome Limited: when the limit ends, if it says so
}

// Voter reports whether the vote is one of the tally's. An objection is, and so is the ballot of a reserve that must judge again.
func (b Ballot) Voter() bool {
	mustAnswer := b.InsteadOf != "" && b.Excused == ReasonReserve && b.Again
	return b.MayVote() && (b.Excused == "" || b.Vote == Object || mustAnswer)
}

// MayVote reports whether the vote is one of the tally's once it objects.
func (b Ballot) MayVote() bool { return !b.Shadow && !b.Retired }

// An Ending is a person's act that ended an objection.
type Ending struct {
	By  string `json:"by"`
	How Reason `json:"how"` // ReasonOverridden or ReasonDismissed
}

// IsSpokenFor reports whether a person ended what b's reviewer objected, and it has given no verdict since.
func (b *Ballot) IsSpokenFor() bool {
	return b.Ended.By != "" && (b.Vote == Unavailable || b.Vote == Pending)
}

// A Finding is what a reviewer objects to; it is quoted, never inferred.
type Finding struct {
	Path     string   `json:"path,omitempty"` // hostile, as all text of it
	Line     int      `json:"line,omitempty"` // 1-based; 0: unknown
	Body     string   `json:"body"`
	Severity Severity `json:"severity,omitempty"`
	Thread   int64    `json:"thread,omitempty"` // it is already a comment on the diff
	URL      string   `json:"url,omitempty"`
	Below    bool     `json:"below,omitempty"` // below min_severity: shown, does not object
	More     int      `json:"more,omitempty"`  // further findings of an objection of which the record keeps the first
}

// CountFindings counts the findings that object.
func (b *Ballot) CountFindings() (n int) {
	for _, f := range b.Findings {
		if !f.Below {
			n += 1 + f.More
		}
	}
	return n
}

// ActionKind says what is done for a pending reviewer.
type ActionKind uint8

const (
	Rerun  ActionKind = 1 + iota // run the workflow run again
	Cancel                       // cancel the run that hangs
	Ask                          // ask for a review
)

// An Action becomes an effect when it is due. It is void if GitHub has moved on from what it names.
type Action struct {
	Kind       ActionKind    `json:"kind"`
	Reviewer   string        `json:"reviewer"`
	Due        time.Time     `json:"due,omitzero"`
	Run        int64         `json:"run,omitempty"`
	Attempt    int           `json:"attempt,omitempty"`     // the attempt that was seen
	FailedOnly bool          `json:"failed_only,omitempty"` // Rerun: a job failed, so only failed jobs are run again
	Request    Request       `json:"request,omitzero"`      // Ask
	Command    int64         `json:"command,omitempty"`     // the person's command by which it is done; 0: ours
	Free       bool          `json:"free,omitempty"`        // Ask: it spends no attempt
	Left       string        `json:"left,omitempty"`        // Cancel: the commit of the run, if the pull request has left it
	Timeout    time.Duration `json:"timeout,omitempty"`     // of the attempt that it begins
	// Round: it would be the probe of an open circuit, which one pull request at a time is, see [Passage]
	Round time.Time `json:"-"`
}

// FindingState says how a finding came to be open.
type FindingState string

const (
	FindingNew   FindingState = "new"
	FindingAgain FindingState = "again" // it was open on an earlier head
	FindingByFix FindingState = "fix"   // it was not, and a fix pushed this head
)

// An OpenFinding is what reviewers object to at one place.
type OpenFinding struct {
	Path  string       `json:"path,omitempty"` // hostile
	Line  int          `json:"line,omitempty"`
	State FindingState `json:"state"`
	Said  []FixWords   `json:"said"`

	threads []int64
	more    int // see [Finding]
}

// CountOpen counts the findings that are open, also those of which only the number is known.
func CountOpen(all []OpenFinding) int {
	n := len(all)
	for _, f := range all {
		n += f.more
	}
	return n
}

// FixWords are one reviewer's words about a finding.
type FixWords struct {
	Reviewer string `json:"reviewer"`
	Severity string `json:"severity,omitempty"`
	Body     string `json:"body"` // hostile
	URL      string `json:"url,omitempty"`
}

// Tracked is a finding as a record remembers it, to know it again.
type Tracked struct {
	File   string `json:"f,omitempty"` // digest of the path
	Line   int    `json:"l,omitempty"`
	Words  string `json:"w"` // digest of what was said first
	Thread int64  `json:"t,omitempty"`
}
