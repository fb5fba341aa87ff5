package evidence

// Accounts and Apps are compared by their id once that was seen: a name that its owner has given up is anybody's.

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// appPrefix tells an App's name in the record from an account's.
const appPrefix = "apps/"

// signalsOf are the check and the status in which a reviewer speaks: its verdict, or that it works or why it does not.
func signalsOf(r *quorum.Reviewer) (of quorum.Signal) {
	if r.Verdict.Kind != quorum.Conclusion {
		of = r.Signal
	}
	if r.Check != "" {
		of.Check, of.App = r.Check, r.App
	}
	of.Status = cmp.Or(r.Status, of.Status)
	return of
}

// rememberAccounts adds the ids under which the authors of p's reviewers were first seen.
func rememberAccounts(seen []quorum.SeenAccount, p *quorum.Policy, s *quorum.Snapshot) []quorum.SeenAccount {
	add := func(name string, id int64) {
		isKnown := func(a quorum.SeenAccount) bool { return strings.EqualFold(a.Name, name) }
		if id != 0 && !slices.ContainsFunc(seen, isKnown) {
			seen = append(seen, quorum.SeenAccount{Name: name, ID: id})
		}
	}
	for i := range p.Reviewers {
		r := &p.Reviewers[i]
		if r.Author != "" && r.Author != quorum.ActionsBot && r.AuthorID == 0 {
			add(r.Author, firstAccountID(s, r.Author))
		}
		of := signalsOf(r)
		for _, c := range s.Checks {
			if of.Check != "" && c.Name == of.Check && strings.EqualFold(c.App, of.App) {
				add(appPrefix+of.App, c.AppID)
			}
		}
	}
	return seen
}

// firstAccountID is the id of the account that wrote first by that name; 0 if none did. A thread is part of a review.
func firstAccountID(s *quorum.Snapshot, login string) int64 {
	texts := slices.Concat(s.Comments, s.Reviews)
	for _, st := range s.Statuses {
		texts = append(texts, quorum.Text{Author: st.Creator, At: st.At})
	}
	texts = without(texts, func(t quorum.Text) bool { return t.Author.ID == 0 || !t.Author.Is(login) })
	if len(texts) == 0 {
		return 0
	}
	return slices.MinFunc(texts, func(a, b quorum.Text) int { return a.At.Compare(b.At) }).Author.ID
}

// withoutImpostors is a copy of a snapshot, without what accounts and Apps have left that bear the name of one that the
// record knows by another id. Whose id the policy knows is told by that: a record of before may hold an impostor's.
func withoutImpostors(p *quorum.Policy, s *quorum.Snapshot) *quorum.Snapshot {
	isOther := func(name string, id int64) bool {
		isIts := func(r quorum.Reviewer) bool { return r.AuthorID != 0 && strings.EqualFold(r.Author, name) }
		isNamesake := func(a quorum.SeenAccount) bool { return strings.EqualFold(a.Name, name) && a.ID != id }
		return id != 0 && !slices.ContainsFunc(p.Reviewers, isIts) && slices.ContainsFunc(s.Record.Accounts, isNamesake)
	}
	isText := func(t quorum.Text) bool { return isOther(t.Author.Login, t.Author.ID) }
	own := *s
	own.Comments, own.Reviews = without(s.Comments, isText), without(s.Reviews, isText)
	own.Threads = without(s.Threads, func(t quorum.Thread) bool { return isOther(t.Author.Login, t.Author.ID) })
	own.Statuses = without(s.Statuses, func(st quorum.Status) bool { return isOther(st.Creator.Login, st.Creator.ID) })
	own.Checks = without(s.Checks, func(c quorum.CheckRun) bool { return isOther(appPrefix+c.App, c.AppID) })
	return &own
}

// termsOf is a digest of who a reviewer is and how its verdict is told: an approval that only the record tells of was given on them.
func termsOf(r *quorum.Reviewer) string {
	h := sha256.New()
	who := []string{r.Preset, r.Workflow, r.Check, r.App, r.Status, r.Author, r.Heading}
	fmt.Fprintf(h, "%q%#v", who, []any{r.Verdict, r.MinSeverity, r.FailureMeans, r.Shapes}) // a hash takes everything
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// firstOf is the first of a list that is so; nil if none is.
func firstOf[T any](all []T, is func(*T) bool) *T {
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// without is a copy of a list without some of it.
func without[T any](all []T, is func(T) bool) []T { return slices.DeleteFunc(slices.Clone(all), is) }

// withOnce is a list with one more, if that is not in it.
func withOnce[T comparable](all []T, one T) []T {
	if slices.Contains(all, one) {
		return all
	}
	return append(slices.Clip(all), one)
}

// withoutRepeats are logins or heads, each once, whatever its case.
func withoutRepeats(all []string) (once []string) {
	for _, one := range all {
		if !slices.ContainsFunc(once, func(o string) bool { return strings.EqualFold(o, one) }) {
			once = append(once, one)
		}
	}
	return once
}
