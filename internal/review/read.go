package review

// This file is the order in which a text is judged: first notices that say there was no review, then a clear verdict.
// A text that holds both has no verdict, unless it objects.

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

// ReadWithPage is [Read] for a caller that keeps the pages of texts. It calls pageOf at most once.
func ReadWithPage(r quorum.Reviewer, m Material, pageOf func() Page) Reading {
	if m.Kind == Log {
		return readLog(m)
	}
	pre, _ := presetOf(r.Preset)
	if r.Retired {
		return Reading{Outcome: quorum.Declined, Reason: quorum.ReasonRetired}
	}
	if len(m.Body) > MaxText {
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: shortQuote(m.Body[:4*maxDetail])}
	}
	p := pageOf()
	instead, refused := findNotice(r, p)
	var got Reading
	switch m.Kind {
	case Check, Status:
		if detail, yes := saysWorking(r, p); yes && !refused {
			return Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning, Detail: detail}
		}
		if r.Verdict.Kind == quorum.Conclusion {
			if refused {
				return instead
			}
			return readConclusion(r, m)
		}
		if m.Kind == Status {
			got = readStatus(r, m)
		} else {
			got = readCheck(r, m, p, pre)
		}
	case Comment, Review:
		got = readText(r, m, p, pre)
	case Log:
	default:
		return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown}
	}
	if !refused {
		return got
	}
	switch {
	case got.Outcome == quorum.Findings && !got.minorOnly:
		return got
	case got.Outcome == quorum.Approved:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: instead.Detail, Findings: got.Findings}
	}
	return instead
}

// readConclusion reads a check's conclusion or a status' state as the verdict, where the policy says that it is one.
func readConclusion(r quorum.Reviewer, m Material) Reading {
	word := m.Conclusion
	if m.Kind == Status {
		word = m.State
	}
	detail := shortQuote(word)
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

// readStatus reads a commit status whose state is no verdict. Its description is too short to hold one.
func readStatus(r quorum.Reviewer, m Material) Reading {
	switch {
	case m.State == "pending":
		return Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning, Detail: shortQuote(m.Body)}
	case m.State == "failure", m.State == "error":
		return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown, Detail: shortQuote(m.Body)}
	case r.Status != "" && r.Preset == "":
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: shortQuote(m.Body)}
	}
	return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: shortQuote(m.Body)}
}

// readCheck reads a check run's output. An approval in it must agree with the check's conclusion.
func readCheck(r quorum.Reviewer, m Material, p Page, pre preset) Reading {
	got := readText(r, Material{Kind: Check, Body: m.Body, Threads: m.Threads}, p, pre)
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
	return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown, Detail: shortQuote(m.Conclusion)}
}

// readText reads the words and the state of a comment, a review or a check.
func readText(r quorum.Reviewer, m Material, p Page, pre preset) Reading {
	detail, busy := saysWorking(r, p)
	got := readVerdict(r, m, p, pre)
	switch {
	case got.Outcome == quorum.Findings:
		return got
	case pre.isReply(p):
		return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail}
	case busy:
		return Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning, Detail: detail}
	case got.Outcome == quorum.Malformed && got.Reason == quorum.ReasonMalformed:
		if len(contentLines(r, p)) == 0 {
			return Reading{Outcome: quorum.Empty, Reason: quorum.ReasonEmpty}
		}
		if pre.isOther(p) {
			return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail}
		}
		if got.Detail == "" {
			got.Detail = quoteOpening(r, p)
		}
	}
	return got
}

// readVerdict reads a text in the format that the policy names.
func readVerdict(r quorum.Reviewer, m Material, p Page, pre preset) Reading {
	state := reviewStateOf(m)
	var got Reading
	switch r.Verdict.Kind {
	case quorum.JSON:
		got = readJSON(r, m.Body, p)
	case quorum.Pattern:
		got = readByPatterns(r.Verdict, p)
	case quorum.Conclusion:
		return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown}
	case quorum.ReadyToMerge:
		got = readFields(r, p)
	case quorum.FindingList:
		got = readFindings(r, p, pre)
	case quorum.ReviewState:
		text := readAllForms(r, p, pre)
		if m.Kind == Comment && text.Outcome != quorum.Findings { // only a review has a state
			return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: text.Detail}
		}
		return withState(state, m, text)
	case quorum.Auto:
		return withState(state, m, readAllForms(r, p, pre))
	default: // an unknown format has no verdict
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed}
	}
	switch state {
	case stateChangesRequested:
		if got.Outcome != quorum.Findings {
			got = Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: m.State, Findings: got.Findings}
		}
	case stateDismissed, stateUnknown:
		if got.Outcome == quorum.Approved {
			return voidApproval(m, got)
		}
	case stateNone, stateApproved, stateCommented:
	}
	return got
}

// reviewState is the state that GitHub gives a review.
type reviewState uint8

const (
	stateNone reviewState = 1 + iota // the text is no review, or has no state
	stateApproved
	stateChangesRequested
	stateCommented
	stateDismissed
	stateUnknown
)

func reviewStateOf(m Material) reviewState {
	if m.Kind != Review {
		return stateNone
	}
	switch m.State {
	case "":
		return stateNone
	case "APPROVED":
		return stateApproved
	case "CHANGES_REQUESTED":
		return stateChangesRequested
	case "COMMENTED":
		return stateCommented
	case "DISMISSED":
		return stateDismissed
	}
	return stateUnknown
}

// withState combines a review's state with the reading of its text.
func withState(s reviewState, m Material, text Reading) Reading {
	objection := text.Outcome == quorum.Findings
	wordless := text.Outcome == quorum.Malformed && text.Reason == quorum.ReasonMalformed
	switch {
	case s == stateChangesRequested:
		return Reading{
			Outcome:  quorum.Findings,
			Reason:   quorum.ReasonFindings,
			Detail:   detailOr(text.Detail, m.State),
			Findings: text.Findings,
		}
	case s == stateApproved && objection:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: text.Detail, Findings: text.Findings}
	case s == stateApproved && wordless:
		return Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: m.State}
	case objection:
		return text
	case (s == stateDismissed || s == stateUnknown) && text.Outcome == quorum.Approved:
		return voidApproval(m, text)
	case s != stateApproved && m.Threads > 0:
		return Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: text.Detail, Findings: text.Findings, Inline: true}
	}
	return text
}

func voidApproval(m Material, got Reading) Reading {
	reason := quorum.ReasonMalformed
	if m.State == "DISMISSED" {
		reason = quorum.ReasonDismissed
	}
	return Reading{Outcome: quorum.Malformed, Reason: reason, Detail: shortQuote(m.State), Findings: got.Findings}
}

func detailOr(a, b string) string {
	if a != "" {
		return a
	}
	return shortQuote(b)
}

// readFields reads the fields of templates alone.
func readFields(r quorum.Reviewer, p Page) Reading {
	got := ruleFields(p).toReading()
	if got.Outcome == quorum.Findings {
		got.Findings = tallyFindings(p).allFindings(r.MinSeverity)
		markObjecting(got.Findings)
	}
	return got
}

// markObjecting makes findings beside an explicit objection count, whatever their severity.
func markObjecting(findings []quorum.Finding) {
	for i := range findings {
		findings[i].Below = false
	}
}

// readFindings reads counts, lists and a preset's own sentences: the format `findings`.
func readFindings(r quorum.Reviewer, p Page, pre preset) Reading {
	t := tallyFindings(p)
	own := pre.ruleSentences(r, p)
	return combineRulings(r, t, ruling{}, own)
}

// readAllForms reads fields, counts, lists and a preset's own sentences: the format `auto`.
func readAllForms(r quorum.Reviewer, p Page, pre preset) Reading {
	return combineRulings(r, tallyFindings(p), ruleFields(p), pre.ruleSentences(r, p))
}

// combineRulings makes one reading of a text's fields, lists and preset sentences. An objection wins; an approval beside
// a contradiction is malformed.
func combineRulings(r quorum.Reviewer, t findingTally, fields ruling, own presetRuling) Reading {
	lists := t.toRuling(r.MinSeverity)
	if own.vote == approves && lists.vote == yesAndNo && !t.hasFindings() {
		lists = ruling{} // the sentence approves and the list holds suppressed comments: no contradiction
	}
	bad := func(x ruling, reason quorum.Reason) Reading {
		return Reading{Outcome: quorum.Malformed, Reason: reason, Detail: x.detail, Findings: t.allFindings(r.MinSeverity)}
	}
	switch {
	case fields.vote == yesAndNo, own.vote == yesAndNo:
		return bad(fields, quorum.ReasonContradicts)
	case fields.vote == unfilledTemplate:
		return bad(fields, quorum.ReasonTemplate)
	case fields.vote == objects:
		if own.vote == approves {
			return bad(fields, quorum.ReasonContradicts)
		}
		got := fields.toReading()
		got.Findings = t.allFindings(r.MinSeverity)
		markObjecting(got.Findings)
		return got
	case own.vote == objects:
		return Reading{
			Outcome:  quorum.Findings,
			Reason:   quorum.ReasonFindings,
			Detail:   own.detail,
			Findings: t.allFindings(r.MinSeverity),
			Inline:   own.inline && lists.vote != objects,
		}
	case lists.vote == yesAndNo:
		return bad(lists, quorum.ReasonContradicts)
	case fields.vote == approves || own.vote == approves:
		return t.approveUnlessGrave(r, fields, own)
	case fields.vote == conditionalYes && lists.vote != objects:
		return bad(fields, quorum.ReasonConditional)
	case fields.vote == unclear && lists.vote != objects:
		return bad(fields, quorum.ReasonMalformed)
	}
	got := lists.toReading()
	got.Findings = t.allFindings(r.MinSeverity)
	switch {
	case got.Outcome == quorum.Approved && t.hasFindings():
		got.Below, got.Reason = true, quorum.ReasonAccepted
	case got.Outcome == quorum.Approved:
		got.Findings = nil
	case got.Outcome == quorum.Malformed && own.vote == unclear:
		got.Detail = own.detail
	case got.Outcome == quorum.Findings:
		got.Doubt, got.minorOnly = true, t.isMinorOnly()
	}
	return got
}

// approveUnlessGrave returns the approval that an explicit yes gives, unless the text lists a grave finding. Findings that
// are minor or lie below min_severity are shown beside the approval.
func (t findingTally) approveUnlessGrave(r quorum.Reviewer, fields ruling, own presetRuling) Reading {
	detail := detailOr(fields.detail, own.detail)
	grave := max(r.MinSeverity, quorum.Medium) // "Ready to merge? Yes" and a nit is a yes
	switch {
	case t.hasObjection(grave), t.contradictsItself() && t.hasFindings(), fields.vote != approves && len(t.listed) > 0 && !own.lists:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: detail, Findings: t.allFindings(r.MinSeverity)}
	case t.unfilled:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonTemplate, Detail: detail}
	case fields.vote != approves && fields.vote != silent:
		return Reading{Outcome: quorum.Malformed, Reason: fields.toReading().Reason, Detail: fields.detail}
	}
	got := Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: detail, NoOpen: own.noOpen}
	if t.hasFindings() || len(t.listed) > 0 && own.vote == approves {
		got.Below, got.Reason, got.Findings = true, quorum.ReasonAccepted, t.allFindings(grave)
		for i := range got.Findings {
			got.Findings[i].Below = true
		}
	}
	return got
}

// readByPatterns reads a text line by line with the policy's own expressions.
func readByPatterns(f quorum.Format, p Page) Reading {
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
		if l.visibility != inView && l.visibility != doubtful || text == "" || len(text) > 16<<10 {
			continue
		}
		accepts := l.visibility == inView && !isDeceptive(text) && yes.MatchString(text)
		denies := f.Object != "" && no.MatchString(text)
		switch {
		case accepts && denies, accepts && got.vote == objects, denies && got.vote == approves:
			return ruling{vote: yesAndNo, detail: shortQuote(text)}.toReading()
		case denies && got.vote == silent:
			got = ruling{vote: objects, detail: shortQuote(text)}
		case accepts && got.vote == silent:
			got = ruling{vote: approves, detail: shortQuote(text)}
		}
	}
	return got.toReading()
}

// contentLines returns the lines after the heading and the line that names the commit; none if nothing follows.
func contentLines(r quorum.Reviewer, p Page) []pageLine {
	from := 0
	for i, l := range p.lines {
		words := plainWords(strings.TrimSpace(l.text))
		switch {
		case l.visibility == hidden && l.text == "" && len(p.blocks) == 0: // an HTML comment; a fence would be content
		case words == "" && l.visibility != hidden:
		case l.level > 0 && l.visibility == inView && from == 0 && i < 20 &&
			(r.Heading == "" || ReadPage(l.text).HasHeading(r.Heading)) && isFirstHeading(p, i):
		case strings.HasPrefix(words, "reviewed commit"):
		default:
			return slices.Clip(p.lines[i:])
		}
	}
	return nil
}

// isFirstHeading reports whether no heading stands before line i.
func isFirstHeading(p Page, i int) bool {
	return !slices.ContainsFunc(p.lines[:i], func(l pageLine) bool { return l.level > 0 })
}

// quoteOpening quotes the first line of a text's content.
func quoteOpening(r quorum.Reviewer, p Page) string {
	for _, l := range contentLines(r, p) {
		if text := strings.TrimSpace(l.text); text != "" {
			return shortQuote(text)
		}
	}
	return ""
}

// Classify reads a text as [Read] does, but a text that is not r's evidence is unrelated: one without r's heading, or
// without the words that every review of r's preset holds.
func Classify(r quorum.Reviewer, m Material) Reading {
	if m.Kind != Comment && m.Kind != Review {
		return Read(r, m)
	}
	if r.Heading != "" && !ReadPage(m.Body).HasHeading(r.Heading) {
		return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: shortQuote(m.Body[:min(len(m.Body), 4*maxDetail)])}
	}
	got := Read(r, m)
	switch got.Outcome {
	case quorum.Approved, quorum.Findings, quorum.Malformed:
		if pre, ok := presetOf(r.Preset); ok && m.Kind == Comment && !pre.hasMarks(m.Body) {
			return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail}
		}
	}
	return got
}
