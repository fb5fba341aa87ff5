package quorum

import (
	"cmp"
	"strings"
	"time"
)

// A Snapshot is what GitHub holds about one head of a pull request at one moment, in GitHub's words. Every time in it
// was stamped by GitHub, to the second. It is complete or was never made; only what [Job.Log] and [Job.Annotations]
// hold is advice and may be missing.
type Snapshot struct {
	PR      PullRequest
	File    PolicyFile
	Gated   bool      // the target is the default branch, or requires our check: its plain name may be written
	Pushed  time.Time // creation of the head's first check suite that our own check did not bring; zero without one
	Arrived time.Time // creation of the head's first check suite (or first status of ours); the time of this look while there is none
	Expired bool      // retention took the head's runs, checks and record: Arrived is when it was pushed, or the pull request created

	Began         time.Time     // when this look began, by GitHub's clock
	Skew          time.Duration // GitHub's clock minus the local one, where that exceeds two seconds
	Spacing       time.Duration // between looks at this pull request, for it has used its part of GitHub's hour; 0: none
	PassedOverFor string        // workflow file in whose suite our check is, if GitHub's merge gate passes over that suite
	// Siblings are the other open pull requests with the same head, of which a part is known: number, base, Fork,
	// Draft, Author and Created. Of a closed pull request they are those that its check names.
	Siblings []PullRequest
	Below    Below         // in the stack of which it is a layer
	Held     []HeldRecord  // of all pull requests, as our checks on the head hold them
	SameHead []PullRequest // Siblings, and those that were closed on this head, as far as GitHub lists them
	Timeline []Event       // oldest first
	Runs     []Run         // workflow runs of the head, any workflow
	Others   []Run         // runs of earlier heads of this pull request, as far as GitHub lists them
	Earlier  []string      // force-pushed away; then earlier ones of the pull request that carried a run or a check of ours
	Reviews  []Text        // Kind TextReview, oldest first
	Comments []Text        // Kind TextComment, oldest first
	Threads  []Thread      // review threads, of any head
	Checks   []CheckRun    // check runs of the head that are not ours; jobs included
	Statuses []Status      // newest first; only if the policy names a status
	Left     []LeftHead    // heads before this one, the likeliest to be the last first; only if the policy names a check or status
	Commits  []Commit      // of the pull request; only if a person's word hangs on it, or a text names the head by a short id
	Pushes   []Push        // to the head branch, newest first; all of them or none; only if [Wants] names them
	// SameBranch are all pull requests of the head branch: without this one the list is not whole. nil: it was not read.
	SameBranch []PullRequest
	Resolved   map[string]Commit       // looked up, by the (short) id that a text names; SHA "": there is none
	Uploads    map[UploadName][]Upload // of all attempts, that may hold a verdict; a name that is not there was not read
	Attempts   []Run                   // earlier ones that were asked for; one that GitHub does not know has no conclusion
	Blobs      map[BranchFile]string   // their SHAs; "": the file is not there
	Before     Record                  // of BeforeHead; zero: it has none, or the own record has inherited from it
	BeforeHead string                  // the head that the pull request had before this one
	Alike      []Record                // of other pull requests that may have the same diff; nil: none was searched for
	Presses    []Press                 // of the check's button, oldest first
	// Links are what guarded names link to on the default branch and on the base: of a folder, all that is in it. nil:
	// they are not known; read only where [Wants] names them.
	Links       []string
	NoLinks     bool   // they cannot be told: there are too many files, say
	Guards      string // what the base holds of guarded files and of reviewers' workflows, as a digest; "": not read
	TrunkGuards string // Guards of the trunk, of a layer of a stack above the lowest one
	// BasePushed is when somebody pushed last to the base, or, where that has changed, to the record's base; zero
	// if it was not read, or GitHub does not tell. It is read with Guards.
	BasePushed  time.Time
	LayerPushed time.Time // likewise, to the base of a layer, whatever the record's is

	Permissions map[string]Permission // by login, of people who approved or requested changes, or gave a command
	Teams       Teams                 // whose members' approvals the policy asks for, by people who approved
	OnlyWriter  string                // login of the only person who may write; "": there are more, or it is not known
	Ours        Account               // as whom we write; zero if unknown
	Record      Record                // the memory of our own check; zero without one
	// Heard and Circuits are what whoever looks knows from other pull requests. GitHub does not show it together,
	// so no vote rests on it: Heard only spares a request that would not help, and Circuits only delay.
	Heard    []HeardAnswer
	Circuits []Circuit
	Fix      FixSight      // what a fix rests on
	NoRecord bool          // a personal token's commit status holds no record: nobody is asked by comment
	Foreign  []CheckRun    // check runs of our name that somebody else wrote
	Told     []ToldComment // our comments that tell the verdict, oldest first
}

// A ToldComment is a comment of ours that tells the verdict.
type ToldComment struct {
	ID   int64
	Body string
}

// PullRequest is GitHub's pull request object, as far as a decision needs it.
type PullRequest struct {
	PR
	Title         string // hostile
	Head          string // SHA
	HeadRef       string
	HeadRepo      string // "owner/repo"; "" if it was deleted
	Fork          bool
	Base          string // SHA of the base branch's tip as the pull request has it
	BaseRef       string
	Stack         Stack // as far as it counts: above its lowest layer, and if its trunk is gated
	DefaultBranch string
	Merge         string // SHA of the test merge, if there is one
	Author        Account
	Draft         bool
	Closed        bool
	Merged        bool // closed by a merge
	Created       time.Time
	ClosedAt      time.Time // zero while it is open: one that is closed may be looked at as if it were not
	Labels        []string
	Commits       int
	Requested     []string // whose review is asked for: logins, and teams as "owner/team"
	Files         []File
	FilesMissing  bool // the list of files is incomplete: it trips every guard
	Diff          DiffPrint
}

// MaxLayers is how many layers may be below one.
const MaxLayers = 10

// A Stack is GitHub's stack of pull requests, of which one is a layer; zero: it is none. GitHub merges all into the trunk.
type Stack struct {
	Number   int    // in the repository
	Trunk    string // name of the base of the lowest layer
	Position int    // of this layer; 1 is the lowest
	Size     int
}

// Below is what a layer of a stack waits for below it. Zero: every layer there is green, or there is none.
type Below struct {
	Why    Reason // ReasonLayer; ReasonLayersLost and ReasonLayersMany where they do not lead to the trunk
	Number int    // ReasonLayer: the nearest pull request whose check, ours, is not green
}

// Target is the name of the branch by whose rules the pull request is judged.
func (p *PullRequest) Target() string { return cmp.Or(p.Stack.Trunk, p.BaseRef) }

// Stranger is who opened the pull request, if it comes from a fork; "" if it comes from a branch of the repository.
// GitHub lets open one from there whoever has write permission on that branch, or is a member of the organisation
// (its docs, "Creating a pull request from a fork"). Its author_association tells less: a MEMBER or COLLABORATOR
// may only read, and a member who hides it is a CONTRIBUTOR (https://github.com/actions/github-script/issues/643).
func (p *PullRequest) Stranger() string {
	if !p.Fork {
		return ""
	}
	return cmp.Or(p.Author.Login, "somebody whose account is gone")
}

// HasLabel reports whether a label is on the pull request. GitHub compares them without case.
func (p *PullRequest) HasLabel(label string) bool { return hasFold(p.Labels, label) }

// File is a changed file. A rename has both names. One with NoText is binary or only moved: GitHub counts no changed line.
type File struct {
	Path, Previous  string
	Deleted, NoText bool
}

// A DiffPrint is what a pull request changes, as digests that are equal where it changes the same.
type DiffPrint struct {
	Lines string // the lines that are added and removed, spaces and places aside; "": not known
	// Files is each changed file with its names, its blob on the head and its whole patch; "": not known. Where it
	// is the same against another base, that base holds the same of these files.
	Files string
	// Tree is each changed file with its path, its mode and both blobs; "": not known. Read only if [Wants] names it.
	Tree string
}

// Account is a GitHub account. Bot logins end in "[bot]".
type Account struct {
	Login string
	ID    int64 // 0 where GitHub does not say
	Bot   bool
}

// Is reports whether a policy names a: "name[bot]" is a Bot, a plain login a User. GitHub compares logins without case.
func (a Account) Is(login string) bool {
	return login != "" && strings.EqualFold(a.Login, login) && a.Bot == strings.HasSuffix(login, "[bot]")
}

// Same reports whether a and b are one account: by id where both are known, else by login.
func (a Account) Same(b Account) bool {
	if a.ID != 0 && b.ID != 0 {
		return a.ID == b.ID
	}
	return a.Login != "" && strings.EqualFold(a.Login, b.Login) && a.Bot == b.Bot
}

// As whom every workflow writes with its GITHUB_TOKEN.
const (
	ActionsBot = "github-actions[bot]" // an author that all workflows share
	ActionsApp = "github-actions"      // slug of the App that owns the check runs of all workflows
)

// PolicyFile is the state of the policy on the default branch.
type PolicyFile struct {
	State    FileState
	Path     string // of the file that was read
	SHA      string // of its blob
	Problem  string // FileBroken: the error with line, column, caret and hint; lines of text, safe only in a fence
	Changed  bool   // the pull request changes the file
	Proposed string // the error of the pull request's version; "" if it has none or was not changed

	Org OrganisationFile // beside it, or in its place where SHA is ""
}

// OrganisationPath is the path of an organisation's policy in the repository that holds it.
const OrganisationPath = "review-coordinator.yml"

// An OrganisationFile is the policy of an organisation, as far as it plays a part.
type OrganisationFile struct {
	Repo   string // owner/name of the repository that holds it; "": none plays a part
	SHA    string // of its blob
	Broken bool   // it is what is wrong with a policy that is broken
}

// Blobs names all that a policy was read from: the repository's blob, and with a + the organisation's.
func (f PolicyFile) Blobs() string {
	if f.Org.SHA == "" {
		return f.SHA
	}
	return f.SHA + "+" + f.Org.SHA
}

type FileState uint8

const (
	FileValid FileState = 1 + iota
	FileBroken
	FileMissing
)

// Event is an entry of a pull request's timeline.
type Event struct {
	Kind     EventKind
	At       time.Time
	Actor    Account
	From, To string  // BaseChanged: branches; ForcePushed: commits; ReviewDismissed: From is the review's state before
	Target   Account // ReviewRequested: whose review
	Review   int64   // ReviewDismissed: which
}

// EventKind is GitHub's name of a timeline event.
type EventKind string

const (
	BaseChanged     EventKind = "base_ref_changed"
	ForcePushed     EventKind = "head_ref_force_pushed"
	Reopened        EventKind = "reopened"
	Closed          EventKind = "closed"
	ReadyForReview  EventKind = "ready_for_review"
	ConvertedDraft  EventKind = "convert_to_draft"
	ReviewRequested EventKind = "review_requested"
	ReviewDismissed EventKind = "review_dismissed"
)

// Run is a workflow run; its attempt fields are those of the newest attempt.
type Run struct {
	ID         int64
	Number     int    // run_number: counts per workflow
	Path       string // normalised: without @ref and owner/repo/ prefix
	Event      string
	Head       string
	Branch     string // of the head; "" where GitHub does not say
	Repo       string // "owner/repo" of the head; "" if it was deleted
	Suite      int64
	Attempt    int
	Status     string    // queued, in_progress, completed, …
	Conclusion string    // "" until completed
	Created    time.Time // of the run; a rerun does not move it
	Started    time.Time // run_started_at: of the newest attempt
	Updated    time.Time // the end, once completed
	Actor      Account   // the account that caused the run: it pushed the head
	Starter    Account   // the account that started the newest attempt
	URL        string
	Jobs       []Job // of the newest attempt
	FailedJobs []Job // of earlier attempts, those that failed; the newest last
}

func (r Run) Completed() bool { return r.Status == "completed" }

// Job is a job of a run, seen as its check run: a job's id is also its check run's id.
type Job struct {
	ID          int64
	Conclusion  string
	Started     time.Time // zero while it waits for a runner
	Completed   time.Time
	Log         string   // its tail, at most 1 MiB; hostile; advice
	Annotations []string // messages; hostile; advice
	Read        bool     // the log was asked for
}

type TextKind uint8

const (
	TextComment TextKind = 1 + iota // an issue comment
	TextReview
	TextThread // an inline comment that opened a thread
	TextCheck
	TextStatus
	TextRun
	TextArtifact
)

// TextRef names a piece of evidence.
type TextRef struct {
	Kind TextKind `json:"kind"`
	ID   int64    `json:"id"`
}

// Text is a review or a comment on the pull request.
type Text struct {
	TextRef
	Author  Account
	Body    string // hostile
	At      time.Time
	Edited  time.Time // zero if never
	Editor  Account   // the last one; zero if never edited, or if that account is gone
	Commit  string    // a review's commit_id
	Member  bool      // GitHub calls its author an owner, a member or a collaborator
	State   string    // a review's: APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED, PENDING
	Threads int       // a review's inline comments that open a thread
	URL     string
}

// Thread is a review thread, seen through the comment that opened it.
type Thread struct {
	ID         int64 // of that comment
	Review     int64 // to which it belongs
	Author     Account
	Body       string // hostile
	Path       string // hostile
	Line       int    // 0: the file
	Commit     string // the commit it was written on
	At         time.Time
	Edited     bool
	Editor     Account
	Resolved   bool
	ResolvedBy Account
	Outdated   bool
	URL        string
}

type CheckRun struct {
	ID         int64
	Name       string // hostile
	App        string // slug
	AppID      int64
	Job        bool // a job of a workflow run; a workflow can also write check runs, with its GITHUB_TOKEN
	Suite      int64
	Status     string
	Conclusion string
	ExternalID string
	Title      string // hostile, as Summary and Text
	Summary    string
	Text       string
	Started    time.Time
	Completed  time.Time
	URL        string
}

type Status struct {
	ID          int64
	Context     string
	State       string // error, failure, pending, success
	Description string // hostile
	Creator     Account
	At          time.Time
	URL         string
}

type AttemptName struct {
	Run    int64
	Number int
}

type UploadName struct {
	Run  int64
	Name string
}

// Upload is an artifact: what a job of a run uploaded, as one file.
type Upload struct {
	ID      int64
	Created time.Time
	Expired bool   // GitHub keeps its name, and the file no more
	Content []byte // of the one file in it; hostile
	Problem string // why that cannot be read, as the end of a sentence; "" if it can
	URL     string
}

type BranchFile struct{ Path, Branch string }

// Push is an entry of a branch's activity list: somebody moved it.
type Push struct {
	Before, After string // commits
	Actor         Account
	At            time.Time
}

// Commit is a commit with everybody who made it: authors, committers, co-authors.
type Commit struct {
	SHA      string
	Parents  []string
	People   []Account // its authors and committer, the zero one is an unknown author beside them; none: its author is its pusher
	Verified bool      // GitHub has verified its signature
}

// A Press is somebody's press of our check's button: GitHub shows it in the event alone, and the daemon keeps it.
type Press struct {
	ID int64 // made of the delivery's: negative, so that it is no comment's; reviews' are far smaller
	By Account
	At time.Time
}

// Wants is what a snapshot lacks for a full judgement and what costs requests of its own.
type Wants struct {
	Logs          []int64  // jobs whose log may explain how their run ended
	Commits       []string // (short) ids that texts name and that are neither the head nor its test merge
	People        []string // logins whose permission matters
	Teams         []TeamName
	OnlyWriter    bool // [Snapshot].OnlyWriter
	Authors       bool // the pull request's commits, and who made and pushed them
	Pushes        bool // who pushed what to its head branch; Authors wants them, too
	Blobs         []BranchFile
	Uploads       []UploadName  // artifacts that may hold verdicts; nothing else is told before they are known
	Attempts      []AttemptName // that failed unseen, where the conclusion is the verdict; the same holds of them
	Tree          bool          // [DiffPrint].Tree of the head
	Links         bool          // [Snapshot].Links
	Lane          bool          // Authors or Links tell its lane: nothing else is told before they are known
	SameBranch    bool          // all of its head branch; only Uploads and Attempts are told before they are known
	SameBranchRun int64         // newest run that approves by a text: a list read when it was known will do; 0: none
}

// ReplicaLag is how long an effect may take to show on GitHub before it is tried again: a new attempt takes seconds.
const ReplicaLag = 30 * time.Second

// A FixSight is what GitHub shows that a fix rests on. It is read only where the policy has fixes and a reviewer objects.
type FixSight struct {
	PushRead bool
	Push     Push      // by which the head came to its branch; zero: GitHub does not tell
	Stranger bool      // who opened the pull request may not write here: anybody may open one of a branch of somebody else's
	Listed   bool      // the runs of the fix workflow were listed
	Runs     []FixSeen // those of this pull request, newest first; where they were not listed the one of this head
}

// FixSeen is a fix run as GitHub shows it.
type FixSeen struct {
	ID      int64
	Head    string // that its name names
	Base    string // likewise
	Created time.Time
	Updated time.Time // the end, once it has ended
	Ended   bool
	URL     string
}

// FixWants is what a decision about a fix lacks of a [FixSight].
type FixWants struct {
	Push bool
	List bool
	Run  int64 // id of the run to be read
}

// A LeftHead is what others' checks and statuses say of a head that the pull request has left.
type LeftHead struct {
	SHA      string
	Checks   []CheckRun
	Statuses []Status // newest first
}

// A Touch is what an event on GitHub touched. All of it is hostile: one that concerns no reviewer only spares a look.
type Touch struct {
	Event    string `json:"e"`           // as X-GitHub-Event spells it
	Action   string `json:"a,omitempty"` //
	Workflow string `json:"w,omitempty"` // workflow_run: path of the file
	App      string `json:"p,omitempty"` // check_run, check_suite: slug of the App that owns it
	Name     string `json:"n,omitempty"` // check_run: its name; status: its context
	Author   string `json:"u,omitempty"` // login of who wrote the text or the status; "[bot]" included
	Run      int64  `json:"r,omitempty"` // workflow_run: id
	Head     string `json:"h,omitempty"` // SHA that the event names; pull_request: its head
	Text     int64  `json:"t,omitempty"` // issue_comment, pull_request_review: id of the comment or the review
	At       int64  `json:"s,omitempty"` // issue_comment: when it was updated; Press: when it came; in seconds since 1970
	Sum      string `json:"b,omitempty"` // a short hash of what the comment or the review says
	Command  bool   `json:"k,omitempty"` // issue_comment: a member's command
	Remark   bool   `json:"m,omitempty"` // pull_request_review: it neither approves nor requests changes
	Approver string `json:"c,omitempty"` // issue_comment: name of the workflow's reviewer that approves in it, as far as its words tell
	Press    int64  `json:"i,omitempty"` // check_run: Rerun reviewers was pressed; see [Press].ID
	By       int64  `json:"y,omitempty"` // with Press: id of Author
}
