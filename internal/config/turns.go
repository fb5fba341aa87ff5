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
		if at := reviewerKey(i) + ".instead_of"; q.InsteadOf == q.Name {
			r.failIf(q.Name != "", at, reviewerPhrase(q)+" cannot be its own reserve", "name another one")
		} else if of, isSeat := r.findSeat(at, q.InsteadOf, reviewers); q.InsteadOf != "" && isSeat {
			what, hint := reserveFault(q, of, reviewers[:i])
			r.failIf(what != "", at, what, hint)
		}
		for k, name := range q.After {
			at := fmt.Sprintf("%s.after[%d]", reviewerKey(i), k)
			if _, isSeat := r.findSeat(at, name, reviewers); !isSeat {
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

// findSeat finds the reviewer whose name stands there. A name that nobody has is refused, and so is a reserve's.
func (r policyResolver) findSeat(at, name string, reviewers []quorum.Reviewer) (q quorum.Reviewer, isSeat bool) {
	all := namesOf(reviewers)
	switch i := slices.Index(all, name); {
	case name == "" || r.brokenKeys[at]:
	case i < 0:
		r.failKey(at, "there is no reviewer "+quoteText(name),
			suggestWord(name, all, "name one of "+cleanText(strings.Join(all, ", "), 200)))
	case reviewers[i].InsteadOf != "":
		r.failKey(at, quoteText(name)+" is a reserve, and has no seat of its own", "name "+quoteText(reviewers[i].InsteadOf))
	default:
		return reviewers[i], true
	}
	return q, false
}

// reserveFault says what is wrong with the reserve q of another reviewer, where those above it are reviewers, too.
func reserveFault(q, of quorum.Reviewer, above []quorum.Reviewer) (what, hint string) {
	first := slices.IndexFunc(above, func(o quorum.Reviewer) bool { return o.InsteadOf == q.InsteadOf })
	switch {
	case !of.MayVote() || !q.MayVote():
		return "who is a shadow or retired has no seat, and fills none", "name reviewers that vote"
	case first >= 0:
		return reviewerPhrase(of) + " has a reserve already: " + quoteText(above[first].Name), "give each its own, or remove one"
	case q.Required:
		return "required is for the seat, whoever fills it", "write it at " + quoteText(of.Name)
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
