package dashboard

// What the last look at a pull request showed, as the table keeps it and the dashboard and the API show it.

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A Sight is what the last look at a pull request came to: the decision and its cycle as a timeline. Names in its JSON
// are an interface: /api/v1 shows it.
type Sight struct {
	PR         string         `json:"reference"` // owner/repo#number
	URL        string         `json:"url"`
	Title      string         `json:"title"`           // of the pull request; hostile
	Head       string         `json:"head"`            // SHA
	Base       string         `json:"base"`            // branch
	Trunk      string         `json:"trunk,omitempty"` // branch onto which it is judged, as a layer of a stack
	Draft      bool           `json:"draft,omitempty"`
	At         time.Time      `json:"at"` // when the look began, by GitHub's clock
	Check      string         `json:"check"`
	Says       string         `json:"check_title"` // why it is so
	Status     string         `json:"status"`      // of the check run
	Conclusion string         `json:"conclusion"`  // of the check run; "" while it is in progress
	Verdict    string         `json:"verdict"`     // waiting, passed, blocked, unverified, ended
	Reason     string         `json:"reason"`
	Need       int            `json:"need"`
	Approvals  int            `json:"approvals"`
	PolicyLane string         `json:"lane,omitempty"`        // name of the policy's lane that holds; hostile, as its reason
	LaneWhy    string         `json:"lane_why,omitempty"`    // the reason that the policy gives
	NeedPeople int            `json:"need_people,omitempty"` // approvals that the policy asks of people
	People     []string       `json:"people,omitempty"`      // people whose approvals are these
	Start      time.Time      `json:"start,omitzero"`        // of the cycle: all clocks count from it
	GraceEnd   time.Time      `json:"grace_end,omitzero"`    // it passes then
	GraceFrom  time.Time      `json:"grace_from,omitzero"`
	Deadline   time.Time      `json:"deadline,omitzero"`    // what is pending then is unavailable
	Wake       time.Time      `json:"next_change,omitzero"` // when the decision can next change by itself
	Threads    bool           `json:"threads,omitempty"`    // resolving a thread may change it
	Siblings   []int          `json:"siblings,omitempty"`   // other pull requests whose check it is
	Alike      []int          `json:"same_diff,omitempty"`  // other pull requests with this diff: what is objected to one counts for all
	Lanes      []ReviewerLine `json:"reviewers"`

	Heads []PastHead `json:"heads,omitempty"` // the last ones, oldest first, this one included, see [Sight.Remember]

	Page *report.Page `json:"page,omitempty"` // what the check says, see [report.Page.Brief]; nil: an older program kept none
}

// A ReviewerLine is one reviewer in the cycle.
type ReviewerLine struct {
	Name     string       `json:"name"`
	Vote     string       `json:"vote"` // pending, approve, object, unavailable
	Why      string       `json:"why"`  // one sentence; hostile parts of it are quoted
	Required bool         `json:"required,omitempty"`
	Shadow   bool         `json:"shadow,omitempty"`
	Excused  string       `json:"excused,omitempty"`         // why it has no vote on this pull request: other_lane, when, reserve
	Reserve  string       `json:"reserve_of,omitempty"`      // the reviewer in whose seat it may vote
	Again    bool         `json:"objected_before,omitempty"` // to the last head that it judged, and is required for that
	Carried  string       `json:"carried_from,omitempty"`    // the earlier head that it approved, with the same diff
	Accepted string       `json:"accepted_by,omitempty"`     // who accepted the change over its objection
	Asked    int          `json:"answers_on_diff,omitempty"` // verdicts that it gave on this diff, where they are several
	Flipped  bool         `json:"flipped,omitempty"`         // it approves, and objected to this diff before
	URL      string       `json:"url,omitempty"`             // of the evidence, else of the run
	Deadline time.Time    `json:"deadline,omitzero"`         // pending: unavailable from then on
	VotedAt  time.Time    `json:"voted_at,omitzero"`         // when the vote was cast
	RerunAt  time.Time    `json:"rerun_at,omitzero"`         // when it will be run again
	Answers  int          `json:"answers,omitempty"`         // its newest ones in the repository, at most 20
	Unread   int          `json:"unread,omitempty"`          // of them: nobody understood them
	Drift    string       `json:"drift,omitempty"`           // what a person should know of that
	Warned   string       `json:"warned,omitempty"`          // the kind of the last warning of it on this head, see package report
	Attempts []AttemptBar `json:"attempts,omitempty"`        // oldest first

	CircuitUntil time.Time `json:"circuit_until,omitzero"` // pending: its circuit is open until then
	Circuit      string    `json:"circuit,omitempty"`      // what a person should know of that
}

// An AttemptBar is one attempt of a reviewer.
type AttemptBar struct {
	Run    int64     `json:"run,omitempty"` // 0: it has no workflow run
	Number int       `json:"number"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end,omitzero"` // zero: it runs
	Came   string    `json:"came"`         // what it came to: running, approved, findings, empty, overloaded …
	URL    string    `json:"url,omitempty"`
}

// Open reports whether the sight must be looked at again even if nothing announces a change: nothing is decided, or a
// resolved thread, of which GitHub's lists do not tell, may change it.
func (s Sight) Open() bool {
	return s.Verdict == quorum.Waiting.String() && !s.Draft || s.Verdict == quorum.Unverified.String() || s.Threads
}
