package quorum

import (
	"slices"
	"time"
)

// A Verdict is what the aggregate check says.
type Verdict uint8

const (
	Waiting    Verdict = 1 + iota // undecided: in_progress
	Passed                        // enough approvals, no objection: success
	Blocked                       // at least one objection: failure
	Unverified                    // too few reviewers are left, or a person is needed: action_required
	Ended                         // nothing is decided here (closed, off, no policy): an open check of ours ends as cancelled
)

// Facts are what a decision depends on beside the policy and the ballots.
type Facts struct {
	PR         PR
	Head       string
	Base       string // name of the base branch
	File       PolicyFile
	Draft      bool
	Closed     bool
	Start      time.Time // of the cycle: all clocks count from it
	Siblings   []int     // other open pull requests with this head, where they are too many to be judged together
	StandIns   []StandIn // people entitled to stand in who approve the head, or vouch for it, by the time of that
	Unheard    []StandIn // people whose newest word approves and does not count, by the time of their review
	Against    []string  // people entitled to stand in who request changes
	Teams      Teams     // of which the policy asks for approvals
	OnlyWriter string    // the owner, if nobody else may write; "": others may, it is an organisation, or it is not known
	Pass       *Pass     // the pass that our check shows, if it is of this head, base, policy and electorate
	Replies    []Reply   // to people's commands that were not answered yet
	Leave      []Action  // cancels of our reruns that are under way on the head before
	Fix        *FixFacts // nil: the policy has no fixes
	Invited    Invitations
	Trunk      string // of the stack of which it is a layer above the lowest one; "": it is none
	Below      Below  // in that stack
}

// A StandIn is a person's approval of the head.
type StandIn struct {
	Login   string    `json:"login"`
	Review  int64     `json:"review"`
	At      time.Time `json:"at"`
	URL     string    `json:"url,omitempty"`
	Why     Reason    `json:"why,omitempty"`     // why it does not count
	Carried string    `json:"carried,omitempty"` // the earlier head on which it was given, with the same diff
	Vouch   bool      `json:"vouch,omitempty"`   // no approval: Review is a comment that vouches for one's own change
}

// A Pass is what a passed check remembers, so that the clock alone never takes it back.
type Pass struct {
	At     time.Time `json:"at"`     // when it passed
	Policy string    `json:"policy"` // blob SHA of the policy
	Base   string    `json:"base"`
	Need   int       `json:"need"`
	Voters []string  `json:"voters"`
	Basis  []Basis   `json:"basis"` // the approvals it rests on
	By     []StandIn `json:"by,omitempty"`
	People []StandIn `json:"people,omitempty"` // the approvals that the policy asks of people, beside By
	Lane   string    `json:"lane,omitempty"`   // "": the top level
}

// Basis is one approval that a pass rests on.
type Basis struct {
	Reviewer string `json:"reviewer"`
	Run      int64  `json:"run,omitempty"`
	Attempt  int    `json:"attempt,omitempty"`
}

// A Decision is what must be true on GitHub now, and when to look again.
type Decision struct {
	PR          PR        `json:"-"`
	Head        string    `json:"head"`
	Base        string    `json:"base"`
	Verdict     Verdict   `json:"verdict"`
	Reason      Reason    `json:"reason"`
	Need        int       `json:"need"`
	Approvals   int       `json:"approvals"`
	Objections  int       `json:"objections"`
	Unavailable int       `json:"unavailable"`
	Pending     int       `json:"pending"`
	Ballots     []Ballot  `json:"ballots"`             // in the policy's order, as of now
	StandIns    []StandIn `json:"stand_ins,omitempty"` // people whose approvals filled what was missing

	Trunk         string       `json:"trunk,omitempty"` // of the stack of which it is a layer above the lowest one
	Layer         int          `json:"layer,omitempty"` // ReasonLayer: the pull request below whose check is waited for
	Lane          LaneChoice   `json:"lane,omitzero"`
	NeedPeople    int          `json:"need_people,omitempty"`    // the least number of people whose approvals the policy asks for
	People        []StandIn    `json:"people,omitempty"`         // those approvals, as far as there are any
	MissingPeople People       `json:"missing_people,omitempty"` // what is missing beside them
	UnreadTeams   []string     `json:"unread_teams,omitempty"`   // of which GitHub does not say who is in them
	Unheard       []StandIn    `json:"unheard,omitempty"`        // approvals by people that do not count, where one is missing
	AgainstVote   bool         `json:"-"`                        // Against objects, see [Policy.HearsPeople]
	Against       []string     `json:"-"`                        // people entitled to stand in who request changes: then nobody stands in
	Start         time.Time    `json:"start,omitzero"`
	GraceEnd      time.Time    `json:"grace_end,omitzero"`    // Waiting for it: the check passes then
	Enough        time.Time    `json:"-"`                     // Unverified, ReasonPeople: since when nothing but people is missing
	Siblings      []int        `json:"siblings,omitempty"`    // all open pull requests with this head, where they are too many to be judged
	Shared        []SharedPull `json:"shared,omitempty"`      // the pull requests that share the check; nil where it is one's alone
	MoreShared    int          `json:"more_shared,omitempty"` // other open pull requests with this head, which it does not name
	Wake          time.Time    `json:"wake,omitzero"`         // zero: only a change on GitHub can change the decision
	Effects       Effects      `json:"-"`
	Pass          *Pass        `json:"-"` // Passed: to be remembered

	Loop       *Loop       `json:"loop,omitempty"`         // of fixes; nil where there is nothing to say of one
	Group      *GroupState `json:"merge_group,omitempty"`  // of a merge queue's commit; its pull requests are Shared
	PeopleAt   time.Time   `json:"ask_people_at,omitzero"` // when NextPeople are asked for a review, if nothing changes
	NextPeople []string    `json:"ask_people,omitempty"`
}

// GroupState is what a decision about a group knows beside the verdicts of its pull requests.
type GroupState struct {
	Branch string    `json:"branch"` // hostile
	Since  time.Time `json:"since,omitzero"`
	Late   bool      `json:"late,omitempty"` // the verdict is Blocked because nothing was decided in time
}

// Effects are to be carried out, in this order, after the check that announces them was written: each intent stands
// in the check's record first. All of them are void on a head or base that is no longer the pull request's.
type Effects struct {
	PR       PR // on which they are carried out; zero: the one that was looked at
	Head     string
	Base     string
	Cancels  []Action
	Reruns   []Action
	Requests []Action
	Replies  []Reply   // to people's commands
	Fix      *FixOrder // the fix run that is to be started
	People   []string  // whose review is asked for
}

func (e Effects) Empty() bool {
	return len(e.Cancels)+len(e.Reruns)+len(e.Requests)+len(e.People)+len(e.Replies) == 0 && e.Fix == nil
}

// CannotBeTakenBack reports whether somebody is asked or started, which must not happen twice.
func (e Effects) CannotBeTakenBack() bool { return len(e.Requests)+len(e.People) > 0 || e.Fix != nil }

// A Reply is how a person's command is answered on GitHub: by a reaction to its comment.
type Reply struct {
	Command int64 // the comment's id
	Refused bool  // a thumbs down, else a thumbs up
}

// A Receipt says what became of each effect.
type Receipt struct {
	Done    []Result
	Replied []int64         // commands that were answered, or that GitHub will not let us answer
	Fix     *FixResult      // nil: none was ordered, or it was not come to
	People  []RefusedPerson // whose review GitHub lets nobody, or not us, ask for
	Void    bool            // people were not asked: GitHub had moved on
}

// Result is what became of one effect.
type Result struct {
	Action Action
	State  ResultState
	Reason Reason // ResultRefused: ReasonRefused, ReasonPermission, ReasonTooOld, ReasonAttempts, ReasonIgnored
	Detail string // GitHub's words; hostile
}

type ResultState uint8

const (
	ResultDone    ResultState = 1 + iota // GitHub accepted it
	ResultVoid                           // GitHub had moved on; look again
	ResultRefused                        // GitHub will not; do not try again
	ResultFailed                         // a transport fault; whether it happened is unknown
)

// Record is what our own check remembers, at most 16 KiB. It is written before its effects are carried out.
type Record struct {
	Version    int           `json:"v"`
	Seq        int           `json:"seq"`           // grows with every change: of two checks of ours the greater one is newer
	Seen       Seen          `json:"seen,omitzero"` // never the last key, see package github
	Head       string        `json:"head"`
	Base       string        `json:"base"`
	Trunk      string        `json:"trunk,omitempty"`  // [Stack].Trunk, of a layer
	Pull       int           `json:"pull,omitempty"`   // the number of the pull request that it was written for
	Policy     string        `json:"policy"`           // blob SHA
	Org        string        `json:"org,omitempty"`    // blob SHA of the organisation's policy that was known last
	Arrived    time.Time     `json:"arrived,omitzero"` // when the head came, where retention has taken what shows that
	Runs       []SeenRun     `json:"runs,omitempty"`
	Texts      []TextRef     `json:"texts,omitempty"`     // that were used as evidence
	Commanded  []Commanded   `json:"commanded,omitempty"` // approvals that reviewed nothing
	Accounts   []SeenAccount `json:"accounts,omitempty"`
	Stood      []Stood       `json:"stood,omitempty"`
	Objections []Objection   `json:"objections,omitempty"`
	Intents    []Intent      `json:"intents,omitempty"`
	Asked      []FirstTime   `json:"asked,omitempty"` // by persons
	Turns      []FirstTime   `json:"turns,omitempty"` // of reserves
	Refusals   []Refusal     `json:"refusals,omitempty"`
	Answers    []Answer      `json:"answers,omitempty"`
	Pass       *Pass         `json:"pass,omitempty"`
	Undone     []UndonePass  `json:"undone,omitempty"`    // passes that were taken back, the last ones
	Annotated  []string      `json:"annotated,omitempty"` // keys of findings that are annotated already

	Diff     string     `json:"diff,omitempty"`     // [DiffPrint].Lines of this head
	Files    string     `json:"files,omitempty"`    // [DiffPrint].Files of this head
	Guards   string     `json:"guards,omitempty"`   // [Snapshot].Guards of this base; "-": it has changed since the head came
	Moved    []BaseMove `json:"moved,omitempty"`    // changes of the base that changed nothing for this head
	Tree     string     `json:"tree,omitempty"`     // [DiffPrint].Tree of this head
	Before   string     `json:"before,omitempty"`   // the head from which this record inherited
	BeforeAt time.Time  `json:"before_at,omitzero"` // when that one was left; zero where no force-push tells
	Heads    []HeadDiff `json:"heads,omitempty"`    // what other heads changed, and this one against other bases, newest first
	Compared Compared   `json:"searched,omitzero"`  // with other pull requests onto this base
	Judged   []Judged   `json:"judged,omitempty"`   // the newest verdict of each reviewer, on whatever head
	Commands []Command  `json:"commands,omitempty"` // people's words that were heard, oldest first

	Stranger string `json:"stranger,omitempty"` // [PullRequest.Stranger]
	// HeardClosed are the pull requests that were looked at after they were closed on this head.
	HeardClosed []int        `json:"heard_closed,omitempty"`
	Siblings    []Record     `json:"siblings,omitempty"`    // of other pull requests that have, or had, this head
	Fixes       []FixRun     `json:"fixes,omitempty"`       // of this pull request, oldest first; the last ones of many
	FixesMade   int          `json:"fixes_made,omitempty"`  // how many there were
	FixSwitch   *FixSwitch   `json:"fix_switch,omitempty"`  // a person's last word about fixes
	ByFix       bool         `json:"by_fix,omitempty"`      // a fix run pushed this head
	Open        []Tracked    `json:"open,omitempty"`        // findings that are open on this head
	OpenBefore  []Tracked    `json:"open_before,omitempty"` // those of the head before
	Circuits    []Hold       `json:"circuits,omitempty"`    // the open circuits that delay reviewers here
	People      *AskedPeople `json:"people,omitempty"`      // whose review was asked for
	Untold      *Untold      `json:"untold,omitempty"`      // GitHub takes no comment of ours here
}

// Untold says why no comment tells the verdict.
type Untold struct {
	Reason Reason `json:"reason"`           // ReasonLocked, ReasonPermission, ReasonRefused
	Detail string `json:"detail,omitempty"` // hostile
}

// Compared is what became of a search for pull requests with the same diff.
type Compared struct {
	Done   bool     `json:"done,omitempty"`
	Alike  []int    `json:"alike,omitempty"`  // those that were found
	Unlike []string `json:"unlike,omitempty"` // heads of those that have another diff, as digests
}

// A Judged is the verdict that a reviewer gave last on this pull request.
type Judged struct {
	Reviewer string    `json:"reviewer"`
	Head     string    `json:"head"` // on which
	No       bool      `json:"no,omitempty"`
	Diff     string    `json:"diff,omitempty"`  // of that head
	Times    int       `json:"times,omitempty"` // verdicts that it gave on that diff
	Noes     int       `json:"noes,omitempty"`  // objections among them
	Said     time.Time `json:"said,omitzero"`
	Again    bool      `json:"again,omitempty"` // on that head it was required, for it had objected to another diff
}

// A HeadDiff is what a head changed against a base.
type HeadDiff struct {
	Head  string `json:"head"`
	Base  string `json:"base"`
	Diff  string `json:"diff"`            // [DiffPrint].Lines
	Files string `json:"files,omitempty"` // [DiffPrint].Files
}

// A BaseMove is a change of the base after which the pull request changes the very same files, and guarded files and
// reviewers' workflows are the same: it is as if it had not been.
type BaseMove struct {
	From string    `json:"from"`
	At   time.Time `json:"at"`
}

// DiffOf is the diff to which something was objected; "" if that is not known.
func (r *Record) DiffOf(o *Objection) string {
	if o.Carried == "" && o.Base == r.Base {
		return r.Diff
	}
	return o.Diff
}

// Concerns reports whether an objection counts against the record's head with that base and diff: it was said of this
// head against this base, or to the same diff.
func (r *Record) Concerns(o *Objection, base, diff string) bool {
	return o.Carried == "" && o.Base == base || diff != "" && diff == r.DiffOf(o)
}

// IsSame reports whether two objections are one, against one base. A check run may fail again after it was answered.
func (o Objection) IsSame(other Objection) bool {
	return o.Reviewer == other.Reviewer && o.Base == other.Base && o.TextRef == other.TextRef && o.Run == other.Run &&
		o.Attempt == other.Attempt && o.At.Equal(other.At)
}

// A Command is a person's word in a comment or review of the pull request, or a press of the check's button.
type Command struct {
	ID        int64       `json:"id"` // of the comment, or of a review, negative; of a press, see [Press]
	Verb      CommandVerb `json:"verb"`
	By        string      `json:"by"`
	At        time.Time   `json:"at"`
	Base      string      `json:"base,omitempty"`
	Of        int         `json:"of,omitempty"`        // the pull request below which it was said; 0: this one
	Reviewers []string    `json:"reviewers,omitempty"` // accept: whose objections it ends; rerun: who is run again
	Until     time.Time   `json:"until,omitzero"`      // accept: it ends those that were said until then
	Reason    string      `json:"reason,omitempty"`    // accept: why; hostile
	Own       bool        `json:"own,omitempty"`       // accept: who said it had a hand in the change
	May       Permission  `json:"may,omitempty"`       // accept, vouch: of who said it, then
	Refused   Reason      `json:"refused,omitempty"`   // why nothing came of it; "": it was heard
	Replied   bool        `json:"replied,omitempty"`
}

type CommandVerb string

const (
	CommandAccept CommandVerb = "accept"
	CommandRerun  CommandVerb = "rerun"
	CommandVouch  CommandVerb = "vouch"   // its author stands in for reviewers of a change of their own
	CommandFixOff CommandVerb = "fix off" // no fixes are started for this pull request
	CommandFixOn  CommandVerb = "fix on"
)

// KnowsEnd reports whether a look has seen that this attempt of a run had ended.
func (r Record) KnowsEnd(run int64, attempt int) bool {
	return slices.ContainsFunc(r.Runs, func(seen SeenRun) bool {
		return seen.ID == run && seen.Attempt == attempt && !seen.Ended.IsZero()
	})
}

// forAnother is what the record tells another pull request of this head: of runs, and what was objected to the commit.
func (r Record) forAnother() Record {
	r.Texts, r.Stood, r.Asked, r.Answers, r.Pass, r.Undone, r.Commands = nil, nil, nil, nil, nil, nil, nil
	r.Circuits, r.Guards, r.Moved, r.Turns = nil, "", nil, nil
	r.Before, r.BeforeAt, r.People, r.Untold = "", time.Time{}, nil, nil // it has inherited nothing itself
	r.Compared = Compared{}
	r.Fixes, r.FixesMade, r.FixSwitch, r.ByFix, r.Open, r.OpenBefore = nil, 0, nil, false, nil, nil
	r.Intents = slices.DeleteFunc(slices.Clone(r.Intents), func(in Intent) bool { return in.Kind == Ask })
	r.Refusals = slices.DeleteFunc(slices.Clone(r.Refusals), func(no Refusal) bool { return no.Kind == Ask })
	return r
}

// An UndonePass is a pass that something spoke against later.
type UndonePass struct {
	Passed time.Time `json:"passed"`
	Until  time.Time `json:"until"` // when that was seen
}

// Seen says of which look a check is: a sweep tells by it what came after. No check is written because of it.
type Seen struct {
	At      time.Time `json:"at"`                // when the look began, by GitHub's clock
	Threads string    `json:"threads,omitempty"` // of each thread: 1 if it was resolved or outdated, else 0
}

// MaxSeenThreads is how many threads a [Seen] tells of: the first ones, as many as one page of GitHub's.
const MaxSeenThreads = 100

// SeenRun is a run that was seen on this head: absence from a list does not make it gone.
type SeenRun struct {
	ID      int64     `json:"id"`
	Attempt int       `json:"attempt"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Path    string    `json:"path,omitempty"`  // of its workflow
	Again   int       `json:"again,omitempty"` // times it began again after an end although its attempt did not grow
}

// A SeenAccount is the id under which an account, or with apps/ before its name an App, was first seen.
type SeenAccount struct {
	Name string `json:"name"`
	ID   int64  `json:"id"`
}

// Stood says when an approval first stood: GitHub shows only the last edit.
type Stood struct {
	TextRef
	Reviewer string    `json:"reviewer"`
	Base     string    `json:"base,omitempty"`
	Run      int64     `json:"run,omitempty"`
	Attempt  int       `json:"attempt,omitempty"`
	At       time.Time `json:"at"`
	Begun    time.Time `json:"begun,omitzero"`     // its run's attempt, or its check; zero if nothing shows it
	Resolved bool      `json:"resolved,omitempty"` // threads were resolved: it answers no other objection
	Terms    string    `json:"terms,omitempty"`    // of its reviewer when it counted last on its own head, as a digest
	Carried  string    `json:"carried,omitempty"`  // the earlier head on which it was said
	Counts   bool      `json:"counts,omitempty"`   // it counted at the last look: a head with the same diff may take it over
}

// Commanded is an approval that answered somebody's command, which may be deleted since.
type Commanded struct {
	TextRef
	By string `json:"by"`
}

// Objection is one that was seen; deleting or editing it does not end it.
type Objection struct {
	TextRef
	Reviewer string    `json:"reviewer"`
	Base     string    `json:"base"`           // against which it was said
	Diff     string    `json:"diff,omitempty"` // [DiffPrint].Lines of then; "": the record's, of one to its head and base
	Run      int64     `json:"run,omitempty"`
	Attempt  int       `json:"attempt,omitempty"`
	At       time.Time `json:"at"`
	Threads  int       `json:"threads,omitempty"` // of a review: how many threads it opened
	Excerpt  string    `json:"excerpt,omitempty"` // of its first finding, or of its words; hostile
	More     int       `json:"more,omitempty"`    // its findings beside the first; -1: it has none
	URL      string    `json:"url,omitempty"`
	Answered bool      `json:"answered,omitempty"` // its reviewer approved since, or a person accepted over it
	Resolved bool      `json:"resolved,omitempty"` // what answered it is resolved threads alone: opened again it stands
	// AnsweredOn are other bases where it was answered. Here it stands: who chooses a base may choose what is told there.
	AnsweredOn []string   `json:"answered_on,omitempty"`
	Accepted   string     `json:"accepted,omitempty"` // by whom, on another head or against another base
	Own        bool       `json:"own,omitempty"`      // and that person had a hand in the change
	May        Permission `json:"may,omitempty"`      // of that person, then
	Named      time.Time  `json:"named,omitzero"`     // when our check named it first
	Ended      bool       `json:"ended,omitempty"`    // a person had ended it, or its reviewer answered it, at the last look
	Carried    string     `json:"carried,omitempty"`  // the other head on which it was said
	Pull       int        `json:"pull,omitempty"`     // the other pull request on which it was said; 0: this one
	Of         int        `json:"-"`                  // the other pull request of this head whose record holds it; 0: this one's
}

// Intent is an effect that was about to be carried out.
type Intent struct {
	Kind     ActionKind `json:"kind"`
	Reviewer string     `json:"reviewer"`
	Base     string     `json:"base"`
	Run      int64      `json:"run,omitempty"`
	Attempt  int        `json:"attempt,omitempty"`
	At       time.Time  `json:"at"`
	Tries    int        `json:"tries,omitempty"`   // how often it was tried
	Free     bool       `json:"free,omitempty"`    // a request that spends no attempt
	Command  int64      `json:"command,omitempty"` // the person's command by which it is done
}

// A FirstTime is when a person asked a reviewer first, or when a reserve first got its seat: what is asked later, and a
// deletion of the first request, begin no clock anew.
type FirstTime struct {
	Reviewer string    `json:"reviewer"`
	Base     string    `json:"base"`
	At       time.Time `json:"at"`
}

// Refusal is GitHub's no to an effect.
type Refusal struct {
	Kind     ActionKind `json:"kind"`
	Reviewer string     `json:"reviewer"`
	Run      int64      `json:"run,omitempty"`
	Attempt  int        `json:"attempt,omitempty"`
	Reason   Reason     `json:"reason"`
	Detail   string     `json:"detail,omitempty"` // hostile
}

// Answer is an excerpt of an answer without a verdict.
type Answer struct {
	Reviewer string `json:"reviewer"`
	Run      int64  `json:"run,omitempty"`
	Attempt  int    `json:"attempt"`
	Excerpt  string `json:"excerpt"` // hostile
}

// A FixOrder is a fix run that is to be started on the default branch.
type FixOrder struct {
	Workflow string
	Branch   string // the default branch
	Head     string
	Base     string // name of the branch
	Findings []OpenFinding
}

// A FixRun is a fix run as the record of our check remembers it: its intent stands there before it is started.
type FixRun struct {
	Head    string    `json:"head"`
	Base    string    `json:"base"`
	Diff    string    `json:"diff,omitempty"` // [DiffPrint].Lines of that head
	At      time.Time `json:"at"`             // when it was last about to be started
	Tries   int       `json:"tries"`
	Run     int64     `json:"run,omitempty"`  // its id, once that is known
	Sent    bool      `json:"sent,omitempty"` // GitHub took it, and told no id
	Open    int       `json:"open"`           // the most findings that were open on that head
	Refused Reason    `json:"refused,omitempty"`
	Detail  string    `json:"detail,omitempty"` // GitHub's words; hostile
}

// A FixSwitch is the last word of a person about fixes for a pull request.
type FixSwitch struct {
	Off bool      `json:"off,omitempty"`
	By  string    `json:"by,omitempty"`
	At  time.Time `json:"at,omitzero"`
}

// FixFacts are what the loop depends on beside the ballots.
type FixFacts struct {
	Made   int       // fix runs of this pull request so far
	Here   *FixRun   // for this diff; nil: none
	Seen   *FixSeen  // Here, as GitHub shows it; nil: it does not
	Listed bool      // all were listed
	Not    Reason    // why none is started for this head; "": one may be
	Detail string    // of Not; hostile
	ByFix  bool      // a fix run pushed the head
	Before int       // findings that were open before that; 0: not known
	Known  []Tracked // findings that were open on earlier heads
	Branch string    // the default branch
}

// A FixResult is what became of the start of a fix run.
type FixResult struct {
	Order  FixOrder
	State  ResultState
	Run    int64  // its id; 0: GitHub did not tell
	Reason Reason // ResultRefused
	Detail string // GitHub's words; hostile
}

// A Loop is how the fixes of a pull request stand.
type Loop struct {
	State  LoopState `json:"state"`
	Reason Reason    `json:"reason,omitempty"` // LoopOver: why it has ended; LoopNone: why none is started
	Detail string    `json:"detail,omitempty"` // of Reason; hostile
	Made   int       `json:"made"`             // fix runs of this pull request so far
	Max    int       `json:"max"`
	Before int       `json:"before,omitempty"` // findings that were open before the fix that pushed this head
	Run    int64     `json:"run,omitempty"`    // the fix run for this diff
	URL    string    `json:"url,omitempty"`
	At     time.Time `json:"at,omitzero"`    // LoopRunning: when it was started
	Until  time.Time `json:"until,omitzero"` // LoopRunning: until when a push is waited for; LoopWaiting: an end of the attempts

	Open []OpenFinding `json:"-"` // what is objected to now
}

type LoopState string

const (
	LoopIdle    LoopState = "idle"    // there is nothing to be fixed now
	LoopWaiting LoopState = "waiting" // an objecting attempt has not ended
	LoopDue     LoopState = "due"     // a fix is started now
	LoopRunning LoopState = "running" // a fix was started for this diff
	LoopNone    LoopState = "none"    // none is started for this head; Reason
	LoopOver    LoopState = "over"    // it has ended without a pass, and needs a person; Reason
)

// wakeBy sets d.Wake to t if t is earlier.
func (d *Decision) wakeBy(t time.Time) {
	if !t.IsZero() && (d.Wake.IsZero() || t.Before(d.Wake)) {
		d.Wake = t
	}
}

// An Escalation says whose review is asked for when nothing else helps. The zero value asks nobody.
type Escalation struct {
	To    []string      // logins, and teams as "org/team"
	After time.Duration // how long the check must have been Unverified
	Forks bool          // also about pull requests from forks
}

// CommentWhen says when the verdict is also told in a comment on the pull request.
type CommentWhen uint8

const (
	CommentNever     CommentWhen = 1 + iota
	CommentOnProblem             // from the first Blocked or Unverified on
)

// VerdictMarker begins our comment that tells the verdict. Pages do not show it.
const VerdictMarker = "<!-- review-coordinator tells the verdict -->"

// AskedPeople is whose review was asked for on a pull request.
type AskedPeople struct {
	Head    string          `json:"head"` // on which
	At      time.Time       `json:"at"`   // the last time
	To      []string        `json:"to"`
	Tries   int             `json:"tries,omitempty"` // after the first
	Refused []RefusedPerson `json:"refused,omitempty"`
}

// RefusedPerson is GitHub's no to a request for somebody's review.
type RefusedPerson struct {
	Name   string `json:"name"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"` // hostile
}

// Invitations are what a decision rests on when people are asked for a review.
type Invitations struct {
	Off    bool         // nobody may be asked: nothing is remembered here
	Asked  *AskedPeople // whose review was asked for, unless somebody has answered since and the head is another
	Seen   []string     // whose review is asked for, as GitHub shows it, by whomever
	Spoken []string     // logins of the pull request's author, and of those who have reviewed the head
}

// unshown are those who were asked, and of whom GitHub shows no trace of it, nor has refused: its answer was lost.
func (in *Invitations) unshown() []string {
	if in.Asked == nil || in.Asked.Tries > 0 { // once is enough
		return nil
	}
	var refused []string
	for _, r := range in.Asked.Refused {
		refused = append(refused, r.Name)
	}
	return in.withoutTrace(in.Asked.To, refused)
}

// withoutTrace are some people without others, and without those whose review GitHub shows, or that it is asked for.
func (in *Invitations) withoutTrace(people, others []string) []string {
	known := slices.Concat(in.Seen, in.Spoken, others)
	return slices.DeleteFunc(slices.Clone(people), func(name string) bool { return hasFold(known, name) })
}
