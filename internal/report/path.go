package report

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// How it got here: what happened on this commit, as far as the record knows and GitHub shows.

// pathMoments returns the moments of a cycle, oldest first; the first ones go where they are too many.
func pathMoments(pr quorum.PullRequest, d quorum.Decision, rec quorum.Record) []PageMoment {
	const most = 60
	var all []PageMoment
	tell := func(at time.Time, format string, parts ...Phrase) {
		if !at.IsZero() { // to the second, as GitHub's stamps: a rerun of ours comes before the attempt that it began
			all = append(all, PageMoment{At: at.UTC().Truncate(time.Second), What: fillPhrase(format, parts...)})
		}
	}
	if d.Reason != quorum.ReasonDraft {
		tell(d.Start, "the clock starts for this commit")
	}
	tellRuns(d, rec, tell)
	for _, b := range d.Ballots {
		who := namePhrase(b.Reviewer)
		switch b.Vote {
		case quorum.Approve, quorum.Object:
			at := cmp.Or(b.At, b.Since)
			if b.Vote == quorum.Approve && b.Reason == quorum.ReasonCarried {
				tell(at, "%s: approve, on %s, which has the same diff", who, quotePhrase(shortSHA(oneLine(b.Detail))))
				continue
			}
			tell(at, "%s: %s", who, wordsPhrase("%s", b.Vote))
		case quorum.Unavailable:
			if b.Excused != "" && b.Excused == b.Reason || b.Reason == quorum.ReasonOverridden {
				continue // nothing is expected of it, or a person's word tells it
			}
			why := sentenceAbout(b.Reason, pr)
			if skipped := skippedSaid(b); skipped != "" {
				why += "; " + skipped
			}
			tell(b.Since, "%s: unavailable, %s", who, wordsPhrase("%s", why))
		case quorum.Pending:
		}
	}
	tellCommands(d, rec, tell)
	tellPeople(rec, tell)
	for _, x := range slices.Concat(d.StandIns, d.People) {
		what := "%s: approves in person"
		if x.Vouch {
			what = "%s: vouches for the change"
		}
		tell(x.At, what, namePhrase(x.Login))
	}
	tellPasses(d, rec, tell)
	sort.SliceStable(all, func(i, j int) bool { return all[i].At.Before(all[j].At) })
	for i := range all {
		all[i].Time = formatTime(all[i].At, d.Start)
	}
	if n := len(all) - most; n > 0 {
		all = slices.Concat([]PageMoment{{What: wordsPhrase("%s not shown", countNoun(n, "earlier moment"))}}, all[n:])
	}
	return all
}

// tellPasses tells when the check became green, and when that was taken back. A pass counts from when enough approved. Of what
// spoke against it then and was ended later, the record dates accepts and earlier passes alone.
func tellPasses(d quorum.Decision, rec quorum.Record, tell func(at time.Time, format string, parts ...Phrase)) {
	stood := time.Time{}
	for _, was := range rec.Undone {
		tell(was.Passed, "the check passes")
		tell(was.Until, "the pass is taken back: %s", whyUndone(d, was))
		stood = was.Until
	}
	for _, c := range rec.Commands {
		if c.Verb == quorum.CommandAccept && c.Refused == "" && c.Base == d.Base && c.At.After(stood) {
			stood = c.At
		}
	}
	if d.Pass != nil {
		if stood.Before(d.Pass.At) {
			stood = d.Pass.At
		}
		tell(stood, "the check passes")
	}
}

// tellCommands tells what people said that changed something.
func tellCommands(d quorum.Decision, rec quorum.Record, tell func(at time.Time, format string, parts ...Phrase)) {
	for _, c := range rec.Commands {
		names := namesOf(c.Reviewers)
		switch {
		case c.Refused != "" || len(names) == 0 || c.Base != "" && c.Base != d.Base:
		case c.Verb == quorum.CommandAccept:
			tell(c.At, "%s accepts the change over %s", namePhrase(c.By), objectionsOf(names))
		case c.Verb == quorum.CommandRerun:
			tell(c.At, "%s asks for another review by %s", namePhrase(c.By), joinPhrases(names))
		}
	}
}

// whyUndone says what spoke against a pass, as far as the votes of now tell.
func whyUndone(d quorum.Decision, was quorum.UndonePass) Phrase {
	var against []Phrase
	for _, b := range d.Ballots {
		if b.Voter() && b.Vote == quorum.Object && !b.At.After(was.Until) {
			against = append(against, namePhrase(b.Reviewer))
		}
	}
	if len(against) == 0 {
		return wordsPhrase("what it rested on has changed")
	}
	verb := pluralWord(len(against), "objects", "object")
	return slices.Concat(joinPhrases(against), wordsPhrase(" %s", verb))
}

// tellRuns tells what was done for reviewers, and when their attempts began and ended.
func tellRuns(d quorum.Decision, rec quorum.Record, tell func(at time.Time, format string, parts ...Phrase)) {
	of := map[int64]Phrase{}
	for _, b := range d.Ballots {
		of[b.Run] = namePhrase(b.Reviewer)
	}
	for _, in := range rec.Intents {
		of[in.Run] = namePhrase(in.Reviewer)
	}
	for _, in := range rec.Intents {
		if in.Base != d.Base {
			continue
		}
		switch who := namePhrase(in.Reviewer); in.Kind {
		case quorum.Rerun:
			tell(in.At, "%s: is run again after attempt %s", who, wordsPhrase("%d", in.Attempt))
		case quorum.Cancel:
			why := "because it hangs"
			isHere := slices.ContainsFunc(rec.Runs, func(r quorum.SeenRun) bool { return r.ID == in.Run })
			if !isHere || slices.ContainsFunc(rec.Intents, func(o quorum.Intent) bool {
				return o.Kind == quorum.Rerun && o.Run == in.Run && o.Attempt == in.Attempt-1
			}) {
				why = "because its commit was left"
			}
			tell(in.At, "%s: attempt %s is cancelled, %s", who, wordsPhrase("%d", in.Attempt), wordsPhrase("%s", why))
		case quorum.Ask:
			tell(in.At, "%s: is asked for a review", who)
		}
	}
	for _, r := range rec.Runs {
		who := of[r.ID]
		if who == nil {
			who = wordsPhrase("run %d", r.ID)
		}
		tell(r.Started, "%s: attempt %s begins", who, wordsPhrase("%d", r.Attempt))
		tell(r.Ended, "%s: attempt %s has ended", who, wordsPhrase("%d", r.Attempt))
	}
}
