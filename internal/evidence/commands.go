package evidence

// People's words: the first line of a comment, or a press of the check's button. Who may say them is read when they are
// heard; what was heard stands, whatever becomes of the comment or of its author's permission.

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

const maxCommandReason = 200 // characters of it that are kept

// A saidCommand is a command that the record does not know, as a person said it. Its verb is "" where it is not understood.
type saidCommand struct {
	quorum.Command // Refused: why it is none, whatever it says
	author         quorum.Account
	about          string // accept, vouch: the commit; rerun: the reviewer, or "" for all
}

// readCommand reads a text that may be a command, with who said it.
func readCommand(t *quorum.Text) (c saidCommand, found bool) {
	c.author, c.ID, c.By, c.At = t.Author, t.ID, t.Author.Login, t.At.UTC()
	switch {
	case t.Kind == quorum.TextReview:
		c.ID, c.Refused = -t.ID, quorum.ReasonInReview
	case !t.Edited.IsZero():
		c.Refused = quorum.ReasonWordEdited
	}
	line := quorum.CommandLine(t.Body)
	if line == "" {
		return c, false
	}
	said := strings.Join(strings.Fields(line)[1:], " ")
	verb, args, _ := strings.Cut(said, " ")
	first, reason, _ := strings.Cut(args, " ")
	about := strings.ToLower(strings.Trim(first, "`:")) // as people quote it
	isSHA := len(about) >= shortSHA && len(about) <= 64 && review.IsHex(about)
	switch all, verb := quorum.CommandVerb(strings.ToLower(said)), quorum.CommandVerb(strings.ToLower(verb)); {
	case all == quorum.CommandFixOff, all == quorum.CommandFixOn:
		c.Verb = all
	case (verb == quorum.CommandAccept || verb == quorum.CommandVouch) && reason != "" && isSHA:
		c.Verb, c.about, c.Reason = verb, about, plainReason(reason)
	case verb == quorum.CommandRerun && reason == "":
		c.Verb, c.about = verb, about
	}
	return c, true
}

// plainReason is a reason as it is kept: one line of what can be printed.
func plainReason(text string) string {
	plain := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " "))
	if len(plain) > maxCommandReason {
		plain = append(plain[:maxCommandReason-1], '…')
	}
	return string(plain)
}

func (c *saidCommand) isAboutFixes() bool {
	return c.Verb == quorum.CommandFixOff || c.Verb == quorum.CommandFixOn
}

// saidCommands are the commands of people on this head and base that the record does not know, oldest first. Whom
// GitHub does not call a member is not heard, nor is a text of which it is not known whether it was edited.
func saidCommands(h *headView) (all []saidCommand) {
	s := h.snapshot
	if s.NoRecord || isJudgedInPart(h.policy, s) {
		return nil
	}
	for _, t := range h.texts {
		isOfHead := !t.At.Before(h.cycle.arrival) && !h.cycle.isBeforeBase(t.At) && !isWithin(h.cycle.closed, t.At, false)
		isMember := t.Member && !t.Author.Bot && t.Author.Login != "" && !t.Author.Same(s.Ours)
		if c, found := readCommand(&t); found && isMember && isOfHead && (t.Edited.IsZero() || t.Editor.Login != "") {
			all = append(all, c)
		}
	}
	for _, p := range s.Presses {
		if !p.By.Bot && p.By.Login != "" {
			c := quorum.Command{ID: p.ID, Verb: quorum.CommandRerun, By: p.By.Login, At: p.At.UTC()}
			all = append(all, saidCommand{Command: c, author: p.By})
		}
	}
	slices.SortStableFunc(all, func(a, b saidCommand) int { return a.At.Compare(b.At) })
	return slices.DeleteFunc(all, func(said saidCommand) bool {
		return slices.ContainsFunc(s.Record.Commands, func(c quorum.Command) bool { return c.ID == said.ID })
	})
}

func wasNamedBy(o *quorum.Objection, at time.Time) bool {
	return !o.Named.IsZero() && !o.Named.After(at)
}

// nameObjections notes when the check names objections first: those of reviewers whose ballots object in it.
func nameObjections(rec *quorum.Record, pr *quorum.PullRequest, d quorum.Decision, now time.Time) {
	named := now.UTC().Add(time.Second - 1).Truncate(time.Second) // a comment of the very second may be from before
	for i := range rec.Objections {
		o := &rec.Objections[i]
		isShown := slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool { return b.Reviewer == o.Reviewer && b.Vote == quorum.Object })
		if o.Named.IsZero() && !o.Answered && isShown && rec.Concerns(o, pr.BaseRef, pr.Diff.Lines) {
			o.Named = named
		}
	}
}

// acceptOf finds the accept that ends what a reviewer objected at a moment: our check had named that, or what came later.
func (h *headView) acceptOf(reviewer string, at time.Time, is func(*quorum.Objection) bool) *quorum.Command {
	return firstOf(h.commands, func(c *quorum.Command) bool {
		isOfAccept := func(o *quorum.Objection) bool { // those before it were named, too
			isOne := o.Reviewer == reviewer && h.record.concerns(o) && wasNamedBy(o, c.At)
			return isOne && (is(o) || !at.After(o.At))
		}
		return h.isInForce(c, quorum.CommandAccept) && !at.After(c.Until) && slices.Contains(c.Reviewers, reviewer) &&
			firstOf(h.snapshot.Record.Objections, isOfAccept) != nil
	})
}

// isInForce reports whether a command of that kind was heard on this head and base, since the base changed. One that was said
// below another pull request is while all are known who had a hand in this one.
func (h *headView) isInForce(c *quorum.Command, verb quorum.CommandVerb) bool {
	isSure := c.Of == 0 || h.policy.OwnChange || change.AreHandsKnown(h.snapshot)
	return c.Verb == verb && c.Refused == "" && c.Base == h.snapshot.PR.BaseRef && !h.cycle.isBeforeBase(c.At) && isSure
}

// vouchers are those who vouch for a change of their own, in the order in which they did.
func (h *headView) vouchers() (all []quorum.StandIn) {
	for _, c := range h.commands {
		p, isHeard := h.policy, h.isInForce(&c, quorum.CommandVouch)
		if isHeard && p.OwnChange && p.StandIn != 0 && c.May >= p.StandIn && !h.hadNoHand(quorum.Account{Login: c.By}) {
			all = append(all, quorum.StandIn{Login: c.By, Review: c.ID, At: c.At, Vouch: true})
		}
	}
	return all
}

// endedByAccept is an objection as an accept has ended it, if one has: one by open threads only if none is younger than the accept.
func (v *attemptView) endedByAccept(objection statement) (ended statement, isAccepted bool) {
	at, isByThreads := objection.at, objection.Reason == quorum.ReasonOpenThreads
	for _, f := range objection.Findings {
		if t := v.head.threadOf(f.Thread); isByThreads && t != nil {
			at = latest(at, t.At)
		}
	}
	c := v.head.acceptOf(v.Name, at, func(o *quorum.Objection) bool {
		return o.TextRef == objection.ref && !isByThreads || o.Kind == quorum.TextThread && isByThreads
	})
	if c != nil {
		objection.Reason, objection.Detail, objection.Doubt = quorum.ReasonOverridden, c.By, false
		objection.newest, objection.hasThreads = nil, false
		objection.ended = quorum.Ending{By: c.By, How: quorum.ReasonOverridden}
	}
	return objection, c != nil
}

// endedEarlier is a person's act that ended what the reviewer objected to this diff: an accept elsewhere, or a dismissal.
func (v *attemptView) endedEarlier() quorum.Ending {
	s := v.head.snapshot
	for _, t := range slices.Backward(s.Reviews) {
		by, was := v.head.dismissalOf(&t)
		isOfDiff := t.Commit == s.PR.Head || v.head.isAlike(t.Commit) || v.head.record.isCarried(v.Name, t.TextRef)
		if !isOfDiff || !v.head.isDismissed(&t) || !v.IsAuthor(t.Author) {
			continue
		}
		if t.State = was; v.readAgain(&t).Outcome == quorum.Findings {
			return quorum.Ending{By: by.Login, How: quorum.ReasonDismissed}
		}
	}
	isIt := func(o *quorum.Objection) bool {
		return o.Reviewer == v.Name && o.Accepted != "" && v.head.record.concerns(o)
	}
	if o := firstOf(s.Record.Objections, isIt); o != nil {
		return quorum.Ending{By: o.Accepted, How: quorum.ReasonOverridden}
	}
	return quorum.Ending{}
}

// markAccepted notes that somebody who may accepted over an objection, on the record's head and base.
func markAccepted(rec *quorum.Record, o *quorum.Objection) {
	c := firstOf(rec.Commands, func(c *quorum.Command) bool {
		return c.Verb == quorum.CommandAccept && c.Refused == "" && c.Base == rec.Base && rec.Concerns(o, rec.Base, rec.Diff) &&
			slices.Contains(c.Reviewers, o.Reviewer) && !o.At.After(c.Until) && wasNamedBy(o, c.At)
	})
	if c != nil && !o.Answered {
		o.Answered, o.Accepted, o.Own, o.May = true, c.By, c.Own, c.May
	}
}
