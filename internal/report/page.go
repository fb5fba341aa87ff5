package report

import (
	"slices"
	"strconv"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The page is what a decision says to people, as data: for the person whose pull request is red. The check's summary,
// the job's, the terminal and the dashboard show the same blocks from it, each in its own way.

// A Page is the check's page.
type Page struct {
	Title    string        `json:"title"`              // the check's
	Verdict  string        `json:"verdict"`            // one word, which opens the lead: Waiting, Passed, Blocked, Unverified or Ended
	Lead     Phrase        `json:"lead"`               // what was decided, and about which commit
	Steps    []PageStep    `json:"steps,omitempty"`    // what people can do, what helps first comes first
	Findings []PageFinding `json:"findings,omitempty"` // what reviewers object to, by place, the gravest first
	Came     int           `json:"came,omitempty"`     // findings that came in
	Rows     []PageRow     `json:"rows,omitempty"`     // a row for each reviewer, in the policy's order
	Rules    []Phrase      `json:"rules,omitempty"`    // whose approvals count on this pull request, and why, where that is not plain
	Heard    []Phrase      `json:"heard,omitempty"`    // what people asked for by comment or button, and what came of it, oldest first
	Next     []Phrase      `json:"next,omitempty"`     // what happens by itself, and when
	Notes    []PageNote    `json:"notes,omitempty"`    // what must be known of the policy file, of other checks, of GitHub
	Path     []PageMoment  `json:"path,omitempty"`     // how it got here, oldest first
	Footer   PageFooter    `json:"footer,omitzero"`
}

// A PageStep is what somebody can do.
type PageStep struct {
	Who  Phrase `json:"who"` // You: whoever opened the pull request
	What Phrase `json:"what"`
	URL  string `json:"url,omitempty"` // of the repository's page where it is done, or that shows what it is about: words lead there
}

// A PageFinding is what reviewers say of one place.
type PageFinding struct {
	Path  string      `json:"path,omitempty"` // hostile
	Line  int         `json:"line,omitempty"` // 0: unknown
	URL   string      `json:"url,omitempty"`  // of the comment, or of the line at this commit; a page of the repository
	Count int         `json:"count"`          // findings that it stands for
	Said  []PageWords `json:"said"`
}

// PageWords are the same words about the same line, with everybody who said them.
type PageWords struct {
	By       []Phrase        `json:"by"` // reviewers
	Line     int             `json:"line,omitempty"`
	Severity quorum.Severity `json:"severity,omitempty"`
	Objects  bool            `json:"objects,omitempty"` // it holds the pull request back
	Below    bool            `json:"below,omitempty"`   // below min_severity
	URL      string          `json:"url,omitempty"`     // of a comment on the diff
	Body     string          `json:"body"`              // hostile, of several lines
}

// A PageRow is a reviewer's vote.
type PageRow struct {
	Reviewer Phrase    `json:"reviewer"`
	Note     string    `json:"note,omitempty"` // required, shadow, retired, no vote here
	Mark     string    `json:"mark"`           // of the vote, one character
	Vote     string    `json:"vote"`
	Why      Phrase    `json:"why"`           // linked to its evidence
	URL      string    `json:"url,omitempty"` // of the evidence, if it is a page of the repository
	Attempt  int       `json:"attempt,omitempty"`
	Since    time.Time `json:"since,omitzero"`
}

// A PageNote is a paragraph, maybe with lines of a stranger's text below it.
type PageNote struct {
	Says  Phrase `json:"says"`
	Block string `json:"block,omitempty"` // hostile
}

// A PageMoment is something that happened.
type PageMoment struct {
	At   time.Time `json:"at,omitzero"`
	Time string    `json:"time,omitempty"` // At in UTC, with its date where that is another day
	What Phrase    `json:"what"`
}

// PageFooter says by which rules it was decided, and where to read on.
type PageFooter struct {
	Quorum  Phrase `json:"quorum,omitempty"`  // how many must approve
	Policy  Phrase `json:"policy,omitempty"`  // the policy file, with a link
	Meaning string `json:"meaning,omitempty"` // address of the docs of this version: what does this mean?
	Writers Phrase `json:"writers,omitempty"` // who can write this check
}

// Places are the addresses that a page leads to beyond what a look found. Each may be left out.
type Places struct {
	Web   string // where people see the host, without a path: https://github.com
	Docs  string // the folder of this version's docs: https://github.com/…/blob/v1.2.3/docs
	Board string // the dashboard, as others reach it; no slash at its end
}

// PullPage returns the address of a pull request's page on the dashboard; "" if that has no address.
func (x Places) PullPage(pr quorum.PR) string {
	if x.Board == "" {
		return ""
	}
	return x.Board + "/pulls/" + pathOf(pr.Owner, pr.Repo) + "/" + strconv.Itoa(pr.Number)
}

// The most that [Page.Brief] keeps.
const (
	briefFindings = 10
	briefItems    = 16 // rows, steps, notes …
	briefMoments  = 30
	briefBlock    = 2000 // bytes of a stranger's text
)

// Brief returns p with as much of it as a table may keep of each pull request: a few kilobytes.
func (p Page) Brief() Page {
	p.Findings = slices.Clone(p.Findings[:min(len(p.Findings), briefFindings)])
	for i := range p.Findings {
		f := &p.Findings[i]
		f.Path = clipRunes(oneLine(f.Path), maxQuoteRunes)
		f.Said = []PageWords{objectingWords(*f)} // so that it still says whether it holds the pull request back
		f.Said[0].Body = clipRunes(oneLine(f.Said[0].Body), maxQuoteRunes)
		f.Said[0].By = f.Said[0].By[:min(len(f.Said[0].By), 4)]
	}
	p.Steps, p.Rows = p.Steps[:min(len(p.Steps), briefItems)], p.Rows[:min(len(p.Rows), briefItems)]
	p.Next, p.Notes = p.Next[:min(len(p.Next), briefItems)], slices.Clone(p.Notes[:min(len(p.Notes), briefItems)])
	for i := range p.Notes {
		p.Notes[i].Block = cutBytes(makeVisible(p.Notes[i].Block), briefBlock)
	}
	p.Rules, p.Heard = p.Rules[:min(len(p.Rules), briefItems)], p.Heard[max(0, len(p.Heard)-briefItems):]
	p.Path = p.Path[max(0, len(p.Path)-briefMoments):]
	return p
}
