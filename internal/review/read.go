package review

// This file is the order in which a text is judged: what objects, what approves unless something takes it away, and what
// says that there was no review. What is none of these is malformed.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func (d *document) read(m Material) Reading {
	r := d.reviewer
	d.pull = m.Pull
	notice, refused := d.findNotice(m.Kind)
	var got Reading
	switch m.Kind {
	case Check, Status:
		decides := r.Verdict.Kind == quorum.Conclusion
		if working, yes := d.readWorking(); yes && !refused {
			return working
		} else if decides && refused {
			return notice.Reading
		} else if decides || m.Kind == Status {
			got = readState(r, m)
		} else {
			got = d.readCheck(m)
		}
	case Comment, Review:
		if r.Heading != "" && !d.HasHeading(r.Heading) {
			got.Detail = shortQuote(m.Body[:min(len(m.Body), 4*maxDetail)])
			return got.asUnrelated("it does not open with the heading "+shortQuote(r.Heading), 0)
		}
		got = d.readText(m)
	default:
		return Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown}
	}
	if refused {
		got = notice.beside(got)
	}
	switch got.Outcome {
	case quorum.Approved, quorum.Findings, quorum.Malformed, quorum.Partial:
		if m.Kind == Comment && !d.preset.hasMarks(m.Body) {
			return got.asUnrelated(d.preset.shapes.origin+" marks: it holds none of them", 0)
		}
	}
	return got
}

// asUnrelated returns the reading of a text that is no review, with the quote of got.
func (got Reading) asUnrelated(rule string, line int) Reading {
	return Reading{Outcome: quorum.Unrelated, Reason: quorum.ReasonUnknown, Detail: got.Detail, Rule: rule, Line: line}
}

// beside returns the reading of a text that holds a notice, and without it would read as got. An objection stands. An
// approval stands beside a paragraph that only looks like a notice; behind a notice of its vendor's own it is an older one.
func (n foundNotice) beside(got Reading) Reading {
	approved := got.Outcome == quorum.Approved || got.taken
	switch {
	case got.Outcome == quorum.Findings && !got.minorOnly,
		got.Outcome == quorum.Running && n.Outcome == quorum.Empty, // what it says of another review, beside this one
		approved && !n.strong && !n.own:
		return got
	case approved && !(n.own && n.Line <= got.Line):
		contradicts := ruling{vote: yesAndNo, detail: n.Detail, rule: n.Rule, line: n.Line - 1}.toReading()
		contradicts.Findings = got.Findings
		return contradicts
	}
	return n.Reading
}

// readState reads a check's conclusion or a status' state: a verdict only where the policy says so.
func readState(r quorum.Reviewer, m Material) Reading {
	word, decides := m.Conclusion, r.Verdict.Kind == quorum.Conclusion
	if m.Kind == Status {
		word = m.State
	}
	got := Reading{Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown, Detail: shortQuote(word)}
	if !decides {
		got.Detail = shortQuote(m.Body)
	}
	objects := r.FailureMeans == quorum.MeansFindings && (word == "failure" || word == "action_required") || // an App asks for action
		r.Verdict.Neutral == quorum.MeansFindings && word == "neutral"
	switch {
	case word == "" && decides, word == "pending" && m.Kind == Status:
		got.Outcome, got.Reason = quorum.Running, quorum.ReasonRunning
	case !decides && (word == "failure" || word == "error"):
	case !decides && r.Status != "" && r.Preset == "":
		got.Outcome, got.Reason = quorum.Malformed, quorum.ReasonMalformed
	case !decides:
		got.Outcome = quorum.Unrelated
	case word == "success":
		got.Outcome, got.Reason = quorum.Approved, quorum.ReasonApproved
	case objects:
		got.Outcome, got.Reason = quorum.Findings, quorum.ReasonFindings
	case word == "neutral", word == "skipped":
		got.Outcome, got.Reason = quorum.Declined, quorum.ReasonSkipped
	}
	return got
}

// readCheck reads a check run's output. An approval in it must agree with the check's conclusion.
func (d *document) readCheck(m Material) Reading {
	got := d.readText(Material{Kind: Check, Body: m.Body, Threads: m.Threads, Minor: m.Minor})
	switch isGood := m.Conclusion == "success" || m.Conclusion == "neutral" || m.Conclusion == ""; {
	case isGood, got.Outcome == quorum.Findings:
		return got
	case got.Outcome == quorum.Approved:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: got.Detail, Findings: got.Findings}
	}
	if got = outcomeOfConclusion(m.Conclusion); got.Outcome == quorum.Unknown {
		got.Detail = shortQuote(m.Conclusion)
	}
	return got
}

// readText reads the words and the state of a comment, a review or a check.
func (d *document) readText(m Material) Reading {
	working, busy := d.readWorking()
	got := d.readVerdict(m)
	switch {
	case got.Outcome == quorum.Findings, got.final && got.Outcome != quorum.Approved:
		return got
	case d.isReply():
		return got.asUnrelated(d.preset.shapes.origin+" reply_marker", 0)
	case busy && !(got.final && strings.HasPrefix(working.Rule, "working: ")): // not for words that anybody writes
		return working
	case got.Outcome == quorum.Approved:
		return d.unlessTakenAway(got)
	case got.isNeither():
		start := contentStart(d.reviewer, d.LinedText)
		if start == len(d.lines) {
			return Reading{Outcome: quorum.Empty, Reason: quorum.ReasonEmpty}
		}
		if line, rule, ok := d.findShape(listOther, 12, anyCount); ok {
			return got.asUnrelated(rule, line+1)
		}
		if got.Detail == "" {
			hasWords := func(l pageLine) bool { return strings.TrimSpace(l.text) != "" }
			if i := slices.IndexFunc(d.lines[start:], hasWords); i >= 0 {
				got.Detail, got.Line = shortQuote(d.lines[start+i].text), start+i+1
			}
		}
	}
	return got
}

// unlessTakenAway returns an approval, unless something in the text takes it away: its vendor's word or anybody's that not all
// of the change was seen, or, where no words of its vendor approve, a veto.
func (d *document) unlessTakenAway(got Reading) Reading {
	at := got.Line - 1
	outcome, reason := quorum.Malformed, quorum.ReasonPartial
	line, rule, found := d.findShape(listPartial, len(d.lines), func(count string) bool { return !isZero(count) })
	if isTooLong := at >= 0 && !got.ownWords && d.size > maxFreeText; isTooLong {
		line, rule, reason = at, "too long to read", quorum.ReasonContradicts
	} else if found {
		outcome = quorum.Partial
	} else if line, found = d.unreadLine(at, got.ownWords); found {
		rule = ruleUnread
	} else if got.final {
		return got
	} else if line, rule, found = d.vetoLine(at, at < 0 || got.ownWords); !found {
		return got
	} else if reason = quorum.ReasonContradicts; rule == ruleCondition {
		reason = quorum.ReasonConditional
	}
	return Reading{
		Outcome: outcome, Reason: reason, Detail: shortQuote(d.lines[line].text), Findings: got.Findings,
		Rule: rule, Line: line + 1, taken: true,
	}
}

// readVerdict reads a text in the format that the policy names.
func (d *document) readVerdict(m Material) Reading {
	r, isVerdict := d.reviewer, false // isVerdict says that the state of a review may decide
	got, isNamed := d.readNamed()
	switch kind := r.Verdict.Kind; {
	case isNamed:
	case kind == quorum.JSON:
		got = readJSON(r, m.Body, d.LinedText)
	case kind == quorum.Conclusion, kind == quorum.Artifact: // no text is its verdict; its account's comments on the diff object
		if got = (Reading{}).asUnrelated("", 0); r.Author == quorum.ActionsBot {
			return got
		}
	case kind == quorum.ReadyToMerge: // nothing but fields
		got = noVerdict
		if fields := d.ruleFields(); fields.vote != silent {
			got = d.combineRulings(tallyFindings(d.LinedText), fields, presetRuling{})
		}
	case kind == quorum.FindingList: // a field may object, and never approves
		fields := d.ruleFields()
		if fields.vote == approves {
			fields = ruling{}
		}
		got = d.readForms(m, fields)
	case kind == quorum.Auto, kind == quorum.ReviewState:
		got, isVerdict = d.readForms(m, d.ruleFields()), true
		hasState := kind != quorum.ReviewState || m.Kind != Comment // only a review has a state
		if !hasState && got.Outcome != quorum.Findings {
			return got.asUnrelated("", 0)
		}
	case kind == quorum.Words:
		got = noVerdict
	default: // an unknown format has no verdict
		return noVerdict
	}
	return d.withState(m, got, isVerdict)
}

// noVerdict is the reading of a text that says nothing in its format.
var noVerdict = Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed}

func (got Reading) isNeither() bool {
	return got.Outcome == quorum.Malformed && got.Reason == quorum.ReasonMalformed
}

// withState joins the reading of a text with its comments on the diff, and the state of its review, if that may decide.
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

// readForms reads counts, lists, the vendor's own sentences and the fields that were found: the format `auto`, and without
// fields `findings`. Comments on the diff that all lie below min_severity do not object, nor does a sentence that only counts
// them and that no words follow.
func (d *document) readForms(m Material, fields ruling) Reading {
	t := tallyFindings(d.LinedText)
	got := d.combineRulings(t, fields, d.ruleSentences())
	if m.Threads > 0 || m.Minor == 0 {
		return got
	}
	wordless := got.isNeither() && m.Kind == Review && m.State == "COMMENTED"
	switch {
	case got.Outcome == quorum.Approved:
	case got.Outcome == quorum.Findings && got.Inline && got.inline > 0 && got.inline <= m.Minor && t.prose < got.Line:
		markBelow(got.Findings, true)
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
	lists := t.toRuling(d.reviewer.MinSeverity)
	says := func(r ruling) Reading {
		got := r.toReading()
		got.Findings = t.allFindings(d.reviewer.MinSeverity)
		return got
	}
	isHalfYes := fields.vote == conditionalYes || fields.vote == unclear
	switch {
	case !own.veto && (fields.vote == yesAndNo || fields.vote == unfilledTemplate):
		return says(fields)
	case own.vote == yesAndNo:
		return says(own.ruling)
	case fields.vote == refuses && own.vote != objects && !(strings.HasSuffix(fields.detail, "ERROR") && t.namesPlace()):
		return fields.refusal()
	case fields.vote == objects && own.vote == approves:
		fields.vote = yesAndNo
		return says(fields)
	case fields.vote == objects && !own.veto:
		got := says(fields)
		markBelow(got.Findings, false)
		return got
	case own.vote == objects:
		got := says(own.ruling)
		if got.Inline = own.inline && (lists.vote != objects || t.countsOnlyAt(own.line)); got.Inline {
			got.inline = own.count
		}
		return got
	case lists.vote == yesAndNo:
		return says(lists)
	case own.vote == approves && (isHalfYes || fields.vote == refuses), isHalfYes && lists.vote != objects:
		return says(fields)
	case fields.vote == approves || own.vote == approves:
		return d.approveUnlessGrave(t, fields, own)
	}
	got := says(lists)
	zeroRule := ""
	switch {
	case got.Outcome == quorum.Findings:
		got.Doubt, got.minorOnly = true, t.isMinorOnly()
	case got.Outcome != quorum.Approved:
	case t.hasFindings():
		got.Below, got.Reason = true, quorum.ReasonAccepted
	case !t.saysNothingElse():
		zeroRule = "a count of zero, and more"
	case d.knowsCleanWords():
		zeroRule = "a count of zero, not in its vendor's words"
	}
	if zeroRule != "" {
		got.Outcome, got.Reason, got.Rule = quorum.Malformed, quorum.ReasonMalformed, zeroRule
	}
	return got
}

// approveUnlessGrave returns the approval that an explicit yes gives, unless the text lists a grave finding. Findings that
// are minor or lie below min_severity are shown beside the approval.
func (d *document) approveUnlessGrave(t findingTally, fields ruling, own presetRuling) Reading {
	decided := own.ruling
	if own.vote != approves {
		decided = fields
	}
	least := d.reviewer.MinSeverity
	grave := max(least, quorum.Medium) // "Ready to merge? Yes" and a nit is a yes
	namesPlaces := len(t.listed) > 0 && fields.vote != approves && !d.preset.ListsPlaces
	switch {
	case t.hasObjection(grave), t.contradictsItself() && t.hasFindings(), namesPlaces:
		decided.vote = yesAndNo
		got := decided.toReading()
		got.Findings = t.allFindings(least)
		return got
	case t.unfilled:
		decided.vote = unfilledTemplate
		return decided.toReading()
	}
	got := decided.toReading()
	got.Line, got.NoOpen = max(fields.line, own.line)+1, own.noOpen
	got.ownWords = fields.vote != approves
	if t.hasFindings() || len(t.listed) > 0 && own.vote == approves {
		got.Below, got.Reason, got.Findings = true, quorum.ReasonAccepted, t.allFindings(grave)
		markBelow(got.Findings, true)
	}
	return got
}
