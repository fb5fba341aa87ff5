package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// checkTurns refuses reserves of nobody, and reviewers that wait for nobody or for themselves.
func (r policyResolver) checkTurns(reviewers []quorum.Reviewer) {
	for i, q := range reviewers {
		if at := reviewerKey(i) + ".instead_of"; q.InsteadOf != "" && r.isReviewer(at, q.InsteadOf, reviewers) {
			what, hint := reserveFault(i, reviewers)
			r.failIf(what != "", at, what, hint)
		}
		for k, name := range q.After {
			at := fmt.Sprintf("%s.after[%d]", reviewerKey(i), k)
			if !r.isReviewer(at, name, reviewers) {
				continue
			}
			r.failIf(slices.Contains(q.After[:k], name), at, quoteText(name)+" stands here again", "remove it")
			if way := wayTo(reviewers, name, q.Name, map[string]bool{}); way != nil {
				circle := strings.Join(append([]string{q.Name}, way...), " → ")
				r.failKey(at, reviewerPhrase(q)+" would wait for itself: "+circle, "take one of these out of after")
			}
		}
	}
}

// isReviewer reports whether one of the reviewers has the name that stands there, and refuses it otherwise.
func (r policyResolver) isReviewer(at, name string, reviewers []quorum.Reviewer) bool {
	all := namesOf(reviewers)
	isKnown := slices.Contains(all, name)
	r.failIf(!isKnown && !r.brokenKeys[at], at, "there is no reviewer "+quoteText(name),
		suggestWord(name, all, "name one of "+cleanText(strings.Join(all, ", "), 200)))
	return isKnown
}

// reserveFault says what is wrong with a reserve: it has one seat, of a reviewer that has one, and is nothing else.
func reserveFault(i int, reviewers []quorum.Reviewer) (what, hint string) {
	isOf := func(o quorum.Reviewer) bool { return o.Name == reviewers[i].InsteadOf }
	q, of := reviewers[i], reviewers[slices.IndexFunc(reviewers, isOf)]
	first := slices.IndexFunc(reviewers, func(o quorum.Reviewer) bool { return o.InsteadOf == q.InsteadOf })
	switch {
	case of.Name == q.Name:
		return reviewerPhrase(q) + " cannot be its own reserve", "name another one"
	case of.InsteadOf != "" || !of.MayVote():
		return reviewerPhrase(of) + " has no seat: it is a reserve, a shadow or retired", "name a reviewer that votes"
	case first < i:
		return reviewerPhrase(of) + " has a reserve already: " + quoteText(reviewers[first].Name), "give each its own, or remove one"
	case q.Required:
		return "required is for the seat, whoever fills it", "write it at " + quoteText(of.Name)
	case !q.MayVote():
		return reviewerPhrase(q) + " is a shadow or retired, and fills no seat", "remove instead_of"
	}
	return "", ""
}

// wayTo is by whom one reviewer waits for another, over those for whom it waits; nil if it does not. Whom it has seen leads nowhere.
func wayTo(reviewers []quorum.Reviewer, from, to string, seen map[string]bool) []string {
	i := slices.Index(namesOf(reviewers), from)
	switch {
	case from == to:
		return []string{to}
	case i < 0 || seen[from]:
		return nil
	}
	seen[from] = true
	for _, o := range reviewers { // whoever waits for a reviewer waits for its reserve, too
		if slices.Contains(reviewers[i].After, o.Name) || o.Name == reviewers[i].InsteadOf || o.InsteadOf == from {
			if way := wayTo(reviewers, o.Name, to, seen); way != nil {
				return append([]string{from}, way...)
			}
		}
	}
	return nil
}
