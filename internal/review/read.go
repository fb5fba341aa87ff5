package review

// This file is the order in which a text is judged: what objects, what approves unless something takes it away, and what
// says that there was no review. What is none of these is malformed.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// read reads the document as the text of m.
func (d *document) read(m Material) Reading {
	r := d.reviewer
	d.pull = m.Pull
	notice, refused := d.findNotice(m.Kind)
	var got Reading
	switch m.Kind {
	case Check, Status:
		if working, yes := d.readWorking(); yes && !refused {
			return working
		}
		if r.Verdict.Kind == quorum.Conclusion {
			if refused {
				return notice.toReading()
			}
			return readConclusion(r, m)
		}
		if m.Kind == Status {
			got = readStatus(r, m)
		} else {
			got = d.readCheck(m)
		}
	case Comment, Review:
		if r.Heading != "" && !d.HasHeading(r.Heading) {
			return Reading{
				Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: shortQuote(m.Body[:min(len(m.Body), 4*maxDetail)]),
				Rule: "it does not open with the heading " + shortQuote(r.Heading),
			}
		}
		got = d.readText(m)
	case Log:
	default:
		return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown}
	}
	if refused {
		got = notice.beside(got)
	}
	switch got.Outcome {
	case quorum.Approved, quorum.Findings, quorum.Malformed, quorum.Partial:
		if m.Kind == Comment && !d.preset.hasMarks(m.Body) {
			return Reading{
				Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail,
				Rule: d.preset.shapes.origin + " marks: it holds none of them",
			}
		}
	}
	return got
}

// beside returns the reading of a text that holds a notice, and without it would read as got. An objection stands. An
// approval stands beside a paragraph that only looks like a notice; behind a notice of its vendor's own it is an older one.
func (n foundNotice) beside(got Reading) Reading {
	approved := got.Outcome == quorum.Approved || got.taken
	switch {
	case got.Outcome == quorum.Findings && !got.minorOnly:
		return got
	case got.Outcome == quorum.Running && n.Outcome == quorum.Empty: // what it says of another review, beside this one
		return got
	case approved && !n.strong && !n.own:
		return got
	case approved && !(n.own && n.line < got.Line):
		return Reading{
			Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: n.Detail,
			Findings: got.Findings, Rule: n.Rule, Line: n.line + 1,
		}
	}
	return n.toReading()
}

func (n foundNotice) toReading() Reading {
	n.Line = n.line + 1
	return n.Reading
}

// readWorking reads a text that says that its review is under way.
func (d *document) readWorking() (Reading, bool) {
	line, rule, yes := d.saysWorking()
	if !yes {
		return Reading{}, false
	}
	return Reading{
		Outcome: quorum.Running, Reason: quorum.ReasonRunning, Detail: shortQuote(d.lines[line].text), Rule: rule, Line: line + 1,
	}, true
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
	case "failure", "action_required": // an App that found something asks for action
		if r.FailureMeans == quorum.MeansFindings {
			return Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: detail}
		}
	case "neutral", "skipped":
		if word == "neutral" && r.Verdict.Neutral == quorum.MeansFindings {
			return Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: detail}
		}
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
func (d *document) readCheck(m Material) Reading {
	got := d.readText(Material{Kind: Check, Body: m.Body, Threads: m.Threads, Minor: m.Minor})
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
	case "success", "neutral", "":
		return got
	case "skipped":
		return Reading{Outcome: quorum.Declined, Reason: quorum.ReasonSkipped}
	case "timed_out":
		return Reading{Outcome: quorum.Hung, Reason: quorum.ReasonHung}
	}
	return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown, Detail: shortQuote(m.Conclusion)}
}

// readText reads the words and the state of a comment, a review or a check, in the order that DESIGN gives: what objects,
// what approves unless something takes it away, and what is neither.
func (d *document) readText(m Material) Reading {
	working, busy := d.readWorking()
	got := d.readVerdict(m)
	switch {
	case got.Outcome == quorum.Findings, got.final && got.Outcome != quorum.Approved:
		return got
	case d.isReply():
		return Reading{
			Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail, Rule: d.preset.shapes.origin + " reply_marker",
		}
	case busy && !(got.final && strings.HasPrefix(working.Rule, "working: ")): // not for words that anybody writes
		return working
	case got.Outcome == quorum.Approved:
		return d.unlessTakenAway(got)
	case got.isNeither():
		start := contentStart(d.reviewer, d.LinedText)
		if start == len(d.lines) {
			return Reading{Outcome: quorum.Empty, Reason: quorum.ReasonEmpty}
		}
		if line, rule, ok := d.otherLine(); ok {
			return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail, Rule: rule, Line: line + 1}
		}
		if got.Detail == "" {
			got.Detail, got.Line = quoteOpening(d.lines, start)
		}
	}
	return got
}

// unlessTakenAway returns an approval, unless something in the text takes it away: its vendor's word or anybody's that not all
// of the change was seen, or, where no words of its vendor approve, a veto.
func (d *document) unlessTakenAway(got Reading) Reading {
	at := got.Line - 1
	if at >= 0 && !got.ownWords && d.size > maxFreeText {
		return d.takenAway(got, at, quorum.Malformed, "too long to read")
	}
	if line, source, found := d.partialLine(); found {
		return d.takenAway(got, line, quorum.Partial, source)
	}
	if line, found := d.unreadLine(at, got.ownWords); found {
		return d.takenAway(got, line, quorum.Malformed, ruleUnread)
	}
	if got.final {
		return got
	}
	if line, rule, found := d.vetoLine(at, at < 0 || got.ownWords); found {
		return d.takenAway(got, line, quorum.Malformed, rule)
	}
	return got
}

// takenAway returns the reading of an approval that a line takes away.
func (d *document) takenAway(got Reading, line int, outcome quorum.Outcome, rule string) Reading {
	reason := quorum.ReasonContradicts
	switch {
	case outcome == quorum.Partial || rule == ruleUnread:
		reason = quorum.ReasonPartial
	case rule == ruleCondition:
		reason = quorum.ReasonConditional
	}
	return Reading{
		Outcome: outcome, Reason: reason, Detail: shortQuote(d.lines[line].text), Findings: got.Findings,
		Rule: rule, Line: line + 1, taken: true,
	}
}

// partialLine finds the line by which the vendor says that it did not see all of the change.
func (d *document) partialLine() (line int, rule string, found bool) {
	for i := range d.lines {
		if d.statements[i] == "" {
			continue
		}
		if rule, _, ok := d.matchLine(listPartial, i, func(count string) bool { return !isZero(count) }); ok {
			return i, rule, true
		}
	}
	return 0, "", false
}

// readVerdict reads a text in the format that the policy names.
func (d *document) readVerdict(m Material) Reading {
	r, p := d.reviewer, d.LinedText
	got, isNamed := d.readNamed()
	if isNamed {
		return d.withState(m, got, false)
	}
	switch r.Verdict.Kind {
	case quorum.Words:
		got = Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed}
	case quorum.JSON:
		got = readJSON(r, m.Body, p)
	case quorum.Conclusion, quorum.Artifact: // no text is its verdict; its own account's comments on the diff object
		if got = (Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown}); r.Author == quorum.ActionsBot {
			return got
		}
	case quorum.ReadyToMerge: // nothing but fields
		got = Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed}
		if fields := d.ruleFields(); fields.vote != silent {
			got = d.combineRulings(tallyFindings(d.LinedText), fields, presetRuling{})
		}
	case quorum.FindingList: // a field may object, and never approves
		fields := d.ruleFields()
		if fields.vote == approves {
			fields = ruling{}
		}
		got = d.readForms(m, fields)
	case quorum.ReviewState:
		text := d.readForms(m, d.ruleFields())
		if m.Kind == Comment && text.Outcome != quorum.Findings { // only a review has a state
			return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: text.Detail}
		}
		return d.withState(m, text, true)
	case quorum.Auto:
		return d.withState(m, d.readForms(m, d.ruleFields()), true)
	default: // an unknown format has no verdict
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed}
	}
	return d.withState(m, got, false)
}

// isNeither reports whether a text was read as neither a verdict nor anything else.
func (got Reading) isNeither() bool {
	return got.Outcome == quorum.Malformed && got.Reason == quorum.ReasonMalformed
}

// withState joins the reading of a text with the state of its review and with its comments on the diff. isVerdict says that the
// state may decide.
func (d *document) withState(m Material, got Reading, isVerdict bool) Reading {
	state := ""
	if m.Kind == Review {
		state = m.State
	}
	wordless := isVerdict && got.isNeither()
	no := Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: got.Detail, Findings: got.Findings}
	switch {
	case state == "CHANGES_REQUESTED" && (isVerdict || got.Outcome != quorum.Findings):
		no.Detail, no.Rule = cmp.Or(got.Detail, shortQuote(state)), "state: "+state
		return no
	case got.Outcome == quorum.Findings && isVerdict && state == "APPROVED":
		got.Outcome, got.Reason, got.Rule = quorum.Malformed, quorum.ReasonContradicts, ""
	case got.Outcome == quorum.Findings:
	case state == "APPROVED" && wordless:
		return Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: state, Rule: "state: " + state}
	case state != "APPROVED" && m.Threads > 0:
		no.Inline, no.Rule = true, "inline comments"
		return no
	case got.Outcome == quorum.Approved && !slices.Contains([]string{"", "APPROVED", "COMMENTED"}, state):
		got = Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: shortQuote(state), Findings: got.Findings}
		if state == "DISMISSED" {
			got.Reason = quorum.ReasonDismissed
		}
	case state == "COMMENTED" && wordless:
		if line, ok := d.isWordless(); ok {
			return Reading{
				Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: shortQuote(d.lines[line].text), Line: line + 1,
				Rule: d.preset.shapes.origin + " wordless", ownWords: true,
			}
		}
	}
	return got
}

// markObjecting makes findings beside an explicit objection count, whatever their severity.
func markObjecting(findings []quorum.Finding) {
	for i := range findings {
		findings[i].Below = false
	}
}

// readForms reads counts, lists, the vendor's own sentences and the fields that were found: the format `auto`, and without
// fields `findings`.
func (d *document) readForms(m Material, fields ruling) Reading {
	t := tallyFindings(d.LinedText)
	return d.acceptMinor(m, t, d.combineRulings(t, fields, d.ruleSentences()))
}

// acceptMinor returns the reading of a text whose comments on the diff all lie below min_severity: they do not object, nor
// does a sentence that only counts them and that no words follow.
func (d *document) acceptMinor(m Material, t findingTally, got Reading) Reading {
	if m.Threads > 0 || m.Minor == 0 {
		return got
	}
	wordless := got.isNeither() && m.Kind == Review && m.State == "COMMENTED"
	switch {
	case got.Outcome == quorum.Approved:
	case got.Outcome == quorum.Findings && got.Inline && got.inline > 0 && got.inline <= m.Minor && t.prose < got.Line:
		for i := range got.Findings {
			got.Findings[i].Below = true
		}
	case wordless && d.onlyIntroduces():
		got = Reading{Rule: "inline comments below min_severity", Findings: got.Findings}
	default:
		return got
	}
	got.Outcome, got.Reason, got.Below, got.Inline, got.ownWords = quorum.Approved, quorum.ReasonAccepted, true, false, true
	return got
}

// combineRulings makes one reading of a text's fields, lists and vendor's sentences. An objection wins; an approval beside
// a contradiction is malformed.
func (d *document) combineRulings(t findingTally, fields ruling, own presetRuling) Reading {
	r := d.reviewer
	lists := t.toRuling(r.MinSeverity)
	if own.vote == approves && lists.vote == yesAndNo && !t.hasFindings() {
		lists = ruling{} // the sentence approves and the list holds suppressed comments: no contradiction
	}
	bad := func(x ruling, reason quorum.Reason) Reading {
		return Reading{
			Outcome: quorum.Malformed, Reason: reason, Detail: x.detail, Findings: t.allFindings(r.MinSeverity),
			Rule: x.rule, Line: x.line + 1,
		}
	}
	switch {
	case own.veto:
		return own.objection(t.allFindings(r.MinSeverity), false)
	case fields.vote == yesAndNo:
		return bad(fields, quorum.ReasonContradicts)
	case own.vote == yesAndNo:
		return bad(own.ruling, quorum.ReasonContradicts)
	case fields.vote == unfilledTemplate:
		return bad(fields, quorum.ReasonTemplate)
	case fields.vote == refuses && own.vote != objects && !(strings.HasSuffix(fields.detail, "ERROR") && t.namesPlace()):
		return fields.refusal()
	case fields.vote == objects:
		if own.vote == approves {
			return bad(fields, quorum.ReasonContradicts)
		}
		got := fields.toReading()
		got.Findings = t.allFindings(r.MinSeverity)
		markObjecting(got.Findings)
		return got
	case own.vote == objects:
		return own.objection(t.allFindings(r.MinSeverity), own.inline && (lists.vote != objects || t.countsOnlyAt(own.line)))
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
	case got.Outcome == quorum.Approved && !t.saysNothingElse():
		got = Reading{
			Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: got.Detail,
			Rule: "a count of zero, and more", Line: got.Line,
		}
	case got.Outcome == quorum.Approved && d.knowsCleanWords():
		rule := "a count of zero, not in its vendor's words"
		got = Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: got.Detail, Rule: rule, Line: got.Line}
	case got.Outcome == quorum.Approved:
		got.Findings = nil
	case got.Outcome == quorum.Malformed && own.vote == unclear:
		got.Detail = own.detail
	case got.Outcome == quorum.Findings:
		got.Doubt, got.minorOnly = true, t.isMinorOnly()
	}
	return got
}

// objection returns the reading of a vendor's sentence that objects.
func (s presetRuling) objection(findings []quorum.Finding, inline bool) Reading {
	got := s.toReading()
	got.Findings, got.Inline = findings, inline
	if inline {
		got.inline = s.count
	}
	return got
}

// approveUnlessGrave returns the approval that an explicit yes gives, unless the text lists a grave finding. Findings that
// are minor or lie below min_severity are shown beside the approval.
func (t findingTally) approveUnlessGrave(r quorum.Reviewer, fields ruling, own presetRuling) Reading {
	decided := own.ruling
	if own.vote != approves {
		decided = fields
	}
	grave := max(r.MinSeverity, quorum.Medium) // "Ready to merge? Yes" and a nit is a yes
	bad := Reading{
		Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: decided.detail, Rule: decided.rule, Line: decided.line + 1,
	}
	switch {
	case t.hasObjection(grave), t.contradictsItself() && t.hasFindings(), fields.vote != approves && len(t.listed) > 0 && !own.lists:
		bad.Findings = t.allFindings(r.MinSeverity)
		return bad
	case t.unfilled:
		bad.Reason = quorum.ReasonTemplate
		return bad
	case fields.vote != approves && fields.vote != silent:
		bad.Reason, bad.Detail = fields.toReading().Reason, fields.detail
		return bad
	}
	got := Reading{
		Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: decided.detail, NoOpen: own.noOpen, Rule: decided.rule,
		Line: max(fields.line, own.line) + 1, ownWords: own.vote == approves && fields.vote != approves,
	}
	if t.hasFindings() || len(t.listed) > 0 && own.vote == approves {
		got.Below, got.Reason, got.Findings = true, quorum.ReasonAccepted, t.allFindings(grave)
		for i := range got.Findings {
			got.Findings[i].Below = true
		}
	}
	return got
}
