package quorum

// A Touch is what an event on GitHub touched, in GitHub's words. It decides nothing: a touch that concerns no reviewer
// of the policy spares a look. Everything in it is hostile.
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
