package report

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A decision becomes a check here: its name, its state, its words, and the older checks of ours that must not stay
// behind.

// Render returns the check that d calls for. rec is the record to be written; the one in the check's text is at most 16
// KiB and holds the keys of the annotations beside it. x are the addresses to which it leads. The check is a function of
// the arguments: nothing in it changes because time passes.
func Render(p quorum.Policy, s quorum.Snapshot, d quorum.Decision, rec quorum.Record, x Places) Check {
	c := Check{
		Name:       CheckName(p, s.Gated, s.PR.BaseRef),
		Head:       d.Head,
		ExternalID: ExternalID(d.PR),
		Title:      renderTitle(p, d, maxTitle),
		Described:  renderTitle(p, d, maxStatusTitle),
		OnlyOpen:   d.Verdict == quorum.Ended,
		Wake:       d.Wake,
		Threads:    slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool { return b.Threads }),
	}
	if d.Reason == quorum.ReasonClosed {
		c.Leave = s.PR.Merged
		if s.PR.BaseRef != s.PR.DefaultBranch { // its green could be carried to where it matters
			c.OrGreen = policyCheckName(p)
		}
	}
	c.Status, c.Conclusion = checkState(p, d)
	rec, c.Annotations = recordAnnotations(d, rec)
	c.Page = PageOf(p, s, d, rec, x)
	c.Summary = c.Page.Markdown()
	c.Text = renderText(c.Page, d, rec)
	c.DetailsURL = x.PullPage(d.PR)
	if d.Verdict != quorum.Ended {
		c.Retire = retiredChecks(p, s, c)
	}
	return c
}

// checkState returns the status and conclusion of d's check. GitHub merges what is neutral or skipped: those are for a
// policy that only reports.
func checkState(p quorum.Policy, d quorum.Decision) (status, conclusion string) {
	switch d.Verdict {
	case quorum.Waiting:
		return "in_progress", ""
	case quorum.Ended:
		return "completed", "cancelled"
	case quorum.Passed:
		conclusion = "success"
	case quorum.Blocked:
		conclusion = "failure"
	case quorum.Unverified:
		conclusion = "action_required"
	default: // unreachable unless a decision was never made
		return "completed", "action_required"
	}
	if p.Mode == quorum.ReportOnly {
		conclusion = "neutral"
	}
	return "completed", conclusion
}

func policyCheckName(p quorum.Policy) string {
	if p.Check == "" {
		return quorum.DefaultCheck
	}
	return p.Check
}

// CheckName returns the name of our check against a base; gated says that the plain one may be written there.
func CheckName(p quorum.Policy, gated bool, base string) string {
	if gated {
		return policyCheckName(p)
	}
	return nameAgainstBase(policyCheckName(p), base)
}

// nameAgainstBase returns the name of a check about a base that nothing protects: it must satisfy no rule that asks for
// the plain name.
func nameAgainstBase(name, base string) string { return name + " (→ " + plainLine(base, 120) + ")" }

// retiredChecks lists the checks of ours that a new base or head left behind. What is green for one base or head is not
// for another, and either may become a pull request's again.
func retiredChecks(p quorum.Policy, s quorum.Snapshot, c Check) (all []Retired) {
	var others []string
	if !s.Gated {
		others = append(others, policyCheckName(p))
	}
	for _, e := range s.Timeline {
		if e.Kind != quorum.BaseChanged || e.From == "" || e.From == s.PR.BaseRef {
			continue
		}
		if n := nameAgainstBase(policyCheckName(p), e.From); !slices.Contains(others, n) {
			others = append(others, n)
		}
	}
	others = slices.DeleteFunc(others, func(n string) bool { return n == c.Name })
	for _, n := range others {
		all = append(all, Retired{Name: n, Head: c.Head, Title: "now against " + plainLine(s.PR.BaseRef, 120)})
	}
	plain := policyCheckName(p)
	had := slices.DeleteFunc(others, func(n string) bool { return n == plain })
	for _, names := range [][]string{had[max(0, len(had)-maxBasesBefore):], slices.Compact([]string{c.Name, plain})} {
		for _, h := range earlierHeads(s, c.Head) {
			for _, n := range names {
				all = append(all, Retired{Name: n, Head: h, Title: SupersededTitle(c.Head)})
			}
		}
	}
	return all
}

// maxBasesBefore is how many bases are thought of that an earlier head may have had: the last ones. Each is a request.
const maxBasesBefore = 2

// earlierHeads are the heads that the pull request had before, as far as GitHub tells; the likeliest to have our check last.
func earlierHeads(s quorum.Snapshot, head string) (heads []string) {
	told := slices.Clone(s.Earlier)
	for _, e := range s.Timeline {
		if e.Kind == quorum.ForcePushed {
			told = append(told, e.From)
		}
	}
	var ran []string // a force-push may have left a commit in no list but that of the branch's runs, which begins with the newest
	for i := range slices.Backward(s.Others) {
		if h := s.Others[i].Head; !slices.Contains(told, h) {
			ran = append(ran, h)
		}
	}
	for _, h := range slices.Concat(ran, told) {
		if h != "" && h != head && !slices.Contains(heads, h) {
			heads = append(heads, h)
		}
	}
	return heads
}

// SupersededTitle is the title of a check of ours on an earlier head of a pull request.
func SupersededTitle(head string) string { return "superseded by " + shortSHA(head) }
