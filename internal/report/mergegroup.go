package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The check on a merge queue's commit: each pull request of the group with what its own check says, and what comes of
// them together.

// maxGroupTitled is how many pull requests of a group its title names: of more it counts those that pass.
const maxGroupTitled = 4

// GroupID names in the external_id of a check the base of the merge queue's group that it is about.
func GroupID(owner, repo, base string) string {
	return fmt.Sprintf("review-coordinator %s/%s@%s", owner, repo, base)
}

// RenderGroup returns the check of a merge queue's commit that d calls for. name is the one that the checks of its pull
// requests have.
func RenderGroup(p quorum.Policy, name string, d quorum.Decision, x Places) Check {
	c := Check{
		Name: name, Head: d.Head, ExternalID: GroupID(d.PR.Owner, d.PR.Repo, d.Base),
		Title: groupTitle(p, d, maxTitle), Described: groupTitle(p, d, maxStatusTitle), Wake: d.Wake,
		Leave: d.Verdict == quorum.Ended,
	}
	c.Status, c.Conclusion = checkState(p, d)
	c.Page = groupPage(c.Title, d, x)
	c.Summary = c.Page.Markdown()
	d.Ballots = nil // they stand in the pull request's own check
	c.Text = fold("For tools: the decision", jsonBlock(d, quorum.Record{Head: d.Head, Base: d.Base}))
	c.DetailsURL = x.PullPage(d.PR)
	return c
}

// groupTitle says d in one sentence of at most n characters.
func groupTitle(p quorum.Policy, d quorum.Decision, n int) string {
	suffix := ""
	if p.Mode == quorum.ReportOnly {
		suffix = reportOnlySuffix
	}
	room := n - len(suffix)
	lead := ""
	switch {
	case d.Verdict == quorum.Ended:
		return clipRunes("Nothing is decided: "+Sentence(d.Reason), room) + suffix
	case d.Group != nil && d.Group.Late:
		lead = "Undecided for ten minutes: "
	case d.Reason == quorum.ReasonGroupUnknown:
		return clipRunes("Waiting: "+Sentence(d.Reason), room) + suffix
	}
	var parts []string
	passing := 0
	for _, s := range d.Shared {
		if s.Verdict == quorum.Passed {
			passing++
		}
		parts = append(parts, fmt.Sprintf("#%d: %s", s.Number, plainLine(s.Title, maxTitle)))
	}
	if len(parts) > maxGroupTitled {
		worst := ""
		for i, s := range d.Shared {
			if s.Number == d.PR.Number && s.Verdict != quorum.Passed {
				worst = "; " + parts[i]
			}
		}
		return clipRunes(fmt.Sprintf("%s%d of %d pull requests pass%s", lead, passing, len(parts), worst), room) + suffix
	}
	return lead + joinFitting(parts, room-len(lead)) + suffix
}

// groupPage is what the check of a merge queue's commit says to people.
func groupPage(title string, d quorum.Decision, x Places) Page {
	page := Page{Title: title, Verdict: verdictWord(d.Verdict), Lead: groupLead(d)}
	for _, s := range d.Shared {
		says := quotePhrase(s.Title)
		number := linkPhrase(d.PR, numberPhrase(s.Number), pullAddress(d.PR, s.Number, x))
		said := fillPhrase("%s %s: %s", number, wordsPhrase("%s", lowerFirst(verdictWord(s.Verdict))), says)
		page.Notes = append(page.Notes, PageNote{Says: said})
	}
	if d.Verdict == quorum.Blocked || d.Verdict == quorum.Unverified {
		page.Steps = groupSteps(d, x)
	}
	switch {
	case d.Verdict == quorum.Waiting && !d.Group.Since.IsZero():
		page.Next = append(page.Next, wordsPhrase(
			"What is not decided by %s fails here: a queue tries again, a wrong merge does not.",
			formatTime(d.Group.Since.Add(quorum.GroupPatience), d.Group.Since),
		))
	case d.Verdict == quorum.Passed:
		page.Next = append(page.Next, wordsPhrase("An objection that comes before the queue has merged turns this check red."))
	}
	if x.Docs != "" {
		page.Footer.Meaning = x.Docs + "/merge-queue.md"
	}
	return page
}

// pullAddress is the address of a pull request of the same repository; "" where the host has none.
func pullAddress(pr quorum.PR, number int, x Places) string {
	if x.Web == "" {
		return ""
	}
	return strings.TrimSuffix(x.Web, "/") + "/" + pathOf(pr.Owner, pr.Repo) + "/pull/" + strconv.Itoa(number)
}

// groupLead says what was decided about a group, and about which commit.
func groupLead(d quorum.Decision) Phrase {
	what := wordsPhrase("the pull requests of this merge group")
	if len(d.Shared) == 1 {
		what = fillPhrase("%s, the only pull request of this merge group,", numberPhrase(d.Shared[0].Number))
	}
	var t Phrase
	switch {
	case d.Reason == quorum.ReasonGroupUnknown, d.Reason == quorum.ReasonGroupLate:
		t = wordsPhrase("%s.", upperFirst(Sentence(d.Reason)))
	case d.Verdict == quorum.Passed && len(d.Shared) == 1:
		t = fillPhrase("What was decided about %s passes.", what)
	case d.Verdict == quorum.Passed:
		t = fillPhrase("What was decided about each of %s passes.", what)
	default:
		t = fillPhrase("What was decided about %s does not pass: the worst of it counts.", what)
	}
	commit := Phrase{{Text: shortSHA(d.Head), From: FromWriting}}
	rest := fillPhrase(
		" No reviewer looks at a merge queue's commit: this is about %s against %s, and each pull request's own check says why.",
		commit, namePhrase(d.Base),
	)
	return append(t, rest...)
}

// groupSteps say who can do what about a group that does not pass.
func groupSteps(d quorum.Decision, x Places) (steps []PageStep) {
	var numbers []Phrase
	for _, s := range d.Shared {
		if s.Verdict != quorum.Passed {
			numbers = append(numbers, linkPhrase(d.PR, numberPhrase(s.Number), pullAddress(d.PR, s.Number, x)))
		}
	}
	if len(numbers) == 0 {
		return []PageStep{{Who: wordsPhrase("You"), What: codedPhrase(Advice(quorum.ReasonGroupUnknown))}}
	}
	return []PageStep{{
		Who:  wordsPhrase("You"),
		What: fillPhrase("read the check of %s, and put the pull request into the merge queue again when that has passed.", joinPhrases(numbers)),
	}}
}
