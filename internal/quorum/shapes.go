package quorum

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
