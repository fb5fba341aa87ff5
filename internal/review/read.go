package review

// This file is the order in which a text is judged: what says that there was no review, then a clear verdict, and where
// both stand in it, no verdict.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Read reads one text of r. It is pure and takes time linear in the text's length.
func Read(r quorum.Reviewer, m Material) Reading {
	return ReadWithPage(r, m, func() Page { return ReadPage(m.Body) })
}

// ReadWithPage is [Read] for a caller who may have the page of m's body already; pageOf is called at most once, if at all.
func ReadWithPage(r quorum.Reviewer, m Material, pageOf func() Page) Reading {
	if m.Kind == Log {
		return readLog(m)
	}
	pre, _ := presetOf(r.Preset)
	if r.Retired {
		return Reading{Outcome: quorum.Declined, Reason: quorum.ReasonRetired}
	}
	if len(m.Body) > MaxText {
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: quote(m.Body[:4*maxDetail])}
	}
	p := pageOf()
	instead, refused := notice(r, p)
	var got Reading
	switch m.Kind {
	case Check, Status:
		if detail, yes := works(r, p); yes && !refused {
			return Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning, Detail: detail}
		}
		if r.Verdict.Kind == quorum.Conclusion {
			if refused {
				return instead
			}
			return concluded(r, m)
		}
		if m.Kind == Status {
			got = described(r, m)
		} else {
			got = checked(r, m, p, pre)
		}
	case Comment, Review:
		got = said(r, m, p, pre)
	case Log:
	default:
		return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown}
	}
	if !refused {
		return got
	}
	switch {
	case got.Outcome == quorum.Findings && !got.hints:
		return got
	case got.Outcome == quorum.Approved:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: instead.Detail, Findings: got.Findings}
	}
	return instead
}

// concluded reads a conclusion or a state as a verdict, where the policy says that it is one.
func concluded(r quorum.Reviewer, m Material) Reading {
	word := m.Conclusion
	if m.Kind == Status {
		word = m.State
	}
	detail := quote(word)
	switch word {
	case "success":
		return Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: detail}
	case "failure":
		if r.FailureMeans == quorum.MeansFindings {
			return Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: detail}
		}
	case "neutral", "skipped":
		return Reading{Outcome: quorum.Declined, Reason: quorum.ReasonSkipped, Detail: detail}
	case "pending":
		if m.Kind == Status {
			return Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning, Detail: detail}
		}
	case "":
		return Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning}
	}
	return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown, Detail: detail}
}

// described reads a commit status whose state is no verdict. Its description is too short to hold one.
func described(r quorum.Reviewer, m Material) Reading {
	switch {
	case m.State == "pending":
		return Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning, Detail: quote(m.Body)}
	case m.State == "failure", m.State == "error":
		return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown, Detail: quote(m.Body)}
	case r.Status != "" && r.Preset == "":
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: quote(m.Body)}
	}
	return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: quote(m.Body)}
}

// checked reads a check run's output. A verdict in it must not be at odds with how the check ended.
func checked(r quorum.Reviewer, m Material, p Page, pre preset) Reading {
	got := said(r, Material{Kind: Check, Body: m.Body, Threads: m.Threads}, p, pre)
	switch got.Outcome {
	case quorum.Findings:
		return got
	case quorum.Approved:
		switch m.Conclusion {
		case "success", "neutral", "":
			return got
		}
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: got.Detail, Findings: got.Findings}
	}
	switch m.Conclusion {
	case "success", "neutral":
		return got
	case "skipped":
		return Reading{Outcome: quorum.Declined, Reason: quorum.ReasonSkipped}
	case "timed_out":
		return Reading{Outcome: quorum.Hung, Reason: quorum.ReasonHung}
	case "":
		return got
	}
	return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown, Detail: quote(m.Conclusion)}
}

// said reads the words and the state of a comment, a review or a check.
func said(r quorum.Reviewer, m Material, p Page, pre preset) Reading {
	detail, busy := works(r, p)
	got := verdict(r, m, p, pre)
	switch {
	case got.Outcome == quorum.Findings:
		return got
	case pre.isReply(p):
		return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail}
	case busy:
		return Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning, Detail: detail}
	case got.Outcome == quorum.Malformed && got.Reason == quorum.ReasonMalformed:
		if len(content(r, p)) == 0 {
			return Reading{Outcome: quorum.Empty, Reason: quorum.ReasonEmpty}
		}
		if pre.isOther(p) {
			return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail}
		}
		if got.Detail == "" {
			got.Detail = firstWords(r, p)
		}
	}
	return got
}

// verdict reads a text in the format that the policy names.
func verdict(r quorum.Reviewer, m Material, p Page, pre preset) Reading {
	state := reviewState(m)
	var got Reading
	switch r.Verdict.Kind {
	case quorum.JSON:
		got = readJSON(r, m.Body, p)
	case quorum.Pattern:
		got = patterns(r.Verdict, p)
	case quorum.Conclusion:
		return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown}
	case quorum.ReadyToMerge:
		got = fromFields(r, p)
	case quorum.FindingList:
		got = fromTally(r, p, pre)
	case quorum.ReviewState:
		text := together(r, p, pre)
		if m.Kind == Comment && text.Outcome != quorum.Findings { // only a review has a state
			return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: text.Detail}
		}
		return withState(state, m, text)
	case quorum.Auto:
		return withState(state, m, together(r, p, pre))
	default: // a format that this program does not know has no verdict
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed}
	}
	switch state {
	case requested:
		if got.Outcome != quorum.Findings {
			got = Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: m.State, Findings: got.Findings}
		}
	case dismissed, strange:
		if got.Outcome == quorum.Approved {
			return voided(m, got)
		}
	case stateless, approval, comments:
	}
	return got
}

// state is what GitHub says about a review.
type state uint8

const (
	stateless state = 1 + iota // no review, or none was given
	approval
	requested
	comments
	dismissed
	strange
)

func reviewState(m Material) state {
	if m.Kind != Review {
		return stateless
	}
	switch m.State {
	case "":
		return stateless
	case "APPROVED":
		return approval
	case "CHANGES_REQUESTED":
		return requested
	case "COMMENTED":
		return comments
	case "DISMISSED":
		return dismissed
	}
	return strange
}

// withState joins a review's state with what its text says.
func withState(s state, m Material, text Reading) Reading {
	objection := text.Outcome == quorum.Findings
	wordless := text.Outcome == quorum.Malformed && text.Reason == quorum.ReasonMalformed
	switch {
	case s == requested:
		return Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: firstOf(text.Detail, m.State), Findings: text.Findings}
	case s == approval && objection:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: text.Detail, Findings: text.Findings}
	case s == approval && wordless:
		return Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: m.State}
	case objection:
		return text
	case (s == dismissed || s == strange) && text.Outcome == quorum.Approved:
		return voided(m, text)
	case s != approval && m.Threads > 0:
		return Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: text.Detail, Findings: text.Findings, Inline: true}
	}
	return text
}

func voided(m Material, got Reading) Reading {
	reason := quorum.ReasonMalformed
	if m.State == "DISMISSED" {
		reason = quorum.ReasonDismissed
	}
	return Reading{Outcome: quorum.Malformed, Reason: reason, Detail: quote(m.State), Findings: got.Findings}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return quote(b)
}

// fromFields reads the fields of templates alone.
func fromFields(r quorum.Reviewer, p Page) Reading {
	got := rule(p).reading()
	if got.Outcome == quorum.Findings {
		got.Findings = count(p).all(r.MinSeverity)
		standing(got.Findings)
	}
	return got
}

// standing says of findings beside an explicit objection that they object.
func standing(findings []quorum.Finding) {
	for i := range findings {
		findings[i].Below = false
	}
}

// fromTally reads counts and lists alone, and the sentences that are a preset's counts.
func fromTally(r quorum.Reviewer, p Page, pre preset) Reading {
	t := count(p)
	own := pre.ruling(r, p)
	return weighed(r, t, ruling{}, own)
}

// together reads fields, counts and lists, and a preset's own sentences: what `auto` is.
func together(r quorum.Reviewer, p Page, pre preset) Reading {
	return weighed(r, count(p), rule(p), pre.ruling(r, p))
}

// weighed joins what fields, lists and a preset's sentences say: an objection objects, an approval beside a
// contradiction is none.
func weighed(r quorum.Reviewer, t tally, fields ruling, own sentence) Reading {
	lists := t.ruling(r.MinSeverity)
	if own.vote == approves && lists.vote == both && !t.some() {
		lists = ruling{} // a sentence and a suppressed comment: not the template's own denial
	}
	bad := func(x ruling, reason quorum.Reason) Reading {
		return Reading{Outcome: quorum.Malformed, Reason: reason, Detail: x.detail, Findings: t.all(r.MinSeverity)}
	}
	switch {
	case fields.vote == both, own.vote == both:
		return bad(fields, quorum.ReasonContradicts)
	case fields.vote == template:
		return bad(fields, quorum.ReasonTemplate)
	case fields.vote == objects:
		if own.vote == approves {
			return bad(fields, quorum.ReasonContradicts)
		}
		got := fields.reading()
		got.Findings = t.all(r.MinSeverity)
		standing(got.Findings)
		return got
	case own.vote == objects:
		return Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: own.detail, Findings: t.all(r.MinSeverity), Inline: own.inline && lists.vote != objects}
	case lists.vote == both:
		return bad(lists, quorum.ReasonContradicts)
	case fields.vote == approves || own.vote == approves:
		return t.affirmed(r, fields, own)
	case fields.vote == condition && lists.vote != objects:
		return bad(fields, quorum.ReasonConditional)
	case fields.vote == unclear && lists.vote != objects:
		return bad(fields, quorum.ReasonMalformed)
	}
	got := lists.reading()
	got.Findings = t.all(r.MinSeverity)
	switch {
	case got.Outcome == quorum.Approved && t.some():
		got.Below, got.Reason = true, quorum.ReasonAccepted
	case got.Outcome == quorum.Approved:
		got.Findings = nil
	case got.Outcome == quorum.Malformed && own.vote == unclear:
		got.Detail = own.detail
	case got.Outcome == quorum.Findings:
		got.hints = t.hints()
	}
	return got
}

// affirmed is an explicit yes, unless the text lists what is grave. What is minor, or lies below min_severity, is shown
// beside it.
func (t tally) affirmed(r quorum.Reviewer, fields ruling, own sentence) Reading {
	detail := firstOf(fields.detail, own.detail)
	grave := max(r.MinSeverity, quorum.Medium) // "Ready to merge? Yes" and a nit is a yes
	switch {
	case t.objects(grave), t.contradicts() && t.some(), fields.vote != approves && len(t.listed) > 0 && !own.lists:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: detail, Findings: t.all(r.MinSeverity)}
	case t.unfilled:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonTemplate, Detail: detail}
	case fields.vote != approves && fields.vote != silent:
		return Reading{Outcome: quorum.Malformed, Reason: fields.reading().Reason, Detail: fields.detail}
	}
	got := Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: detail, NoOpen: own.noOpen}
	if t.some() || len(t.listed) > 0 && own.vote == approves {
		got.Below, got.Reason, got.Findings = true, quorum.ReasonAccepted, t.all(grave)
		for i := range got.Findings {
			got.Findings[i].Below = true
		}
	}
	return got
}

// patterns reads a text by the user's own expressions, line by line.
func patterns(f quorum.Format, p Page) Reading {
	yes, err := regexp.Compile(f.Approve)
	if err != nil || f.Approve == "" {
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed}
	}
	no, err := regexp.Compile(f.Object)
	if err != nil {
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed}
	}
	var got ruling
	for _, l := range p.lines {
		text := strings.TrimSpace(l.text)
		if l.sight != inView && l.sight != doubtful || text == "" || len(text) > 16<<10 {
			continue
		}
		accepts := l.sight == inView && !tricky(text) && yes.MatchString(text)
		denies := f.Object != "" && no.MatchString(text)
		switch {
		case accepts && denies, accepts && got.vote == objects, denies && got.vote == approves:
			return ruling{vote: both, detail: quote(text)}.reading()
		case denies && got.vote == silent:
			got = ruling{vote: objects, detail: quote(text)}
		case accepts && got.vote == silent:
			got = ruling{vote: approves, detail: quote(text)}
		}
	}
	return got.reading()
}

// content is what a text holds beside its heading and the line that names its commit.
func content(r quorum.Reviewer, p Page) []pageLine {
	from := 0
	for i, l := range p.lines {
		words := plain(strings.TrimSpace(l.text))
		switch {
		case l.sight == hidden && l.text == "" && len(p.blocks) == 0: // a comment; a fence would be content
		case words == "" && l.sight != hidden:
		case l.level > 0 && l.sight == inView && from == 0 && i < 20 && (r.Heading == "" || HasHeading(l.text, r.Heading)) && lastHeading(p, i):
		case strings.HasPrefix(words, "reviewed commit"):
		default:
			return slices.Clip(p.lines[i:])
		}
	}
	return nil
}

// lastHeading reports whether no other heading stands before line i.
func lastHeading(p Page, i int) bool {
	return !slices.ContainsFunc(p.lines[:i], func(l pageLine) bool { return l.level > 0 })
}

// firstWords quotes where a text begins.
func firstWords(r quorum.Reviewer, p Page) string {
	for _, l := range content(r, p) {
		if text := strings.TrimSpace(l.text); text != "" {
			return quote(text)
		}
	}
	return ""
}

// Classify reads a text as [Read] does, and first asks whether it is r's evidence at all: by its heading, or by what
// every review of its preset holds.
func Classify(r quorum.Reviewer, m Material) Reading {
	if m.Kind != Comment && m.Kind != Review {
		return Read(r, m)
	}
	if r.Heading != "" && !HasHeading(m.Body, r.Heading) {
		return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: quote(m.Body[:min(len(m.Body), 4*maxDetail)])}
	}
	got := Read(r, m)
	switch got.Outcome {
	case quorum.Approved, quorum.Findings, quorum.Malformed:
		if pre, ok := presetOf(r.Preset); ok && m.Kind == Comment && !pre.marked(m.Body) {
			return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail}
		}
	}
	return got
}
