package story_test

// What people say in the model, in reviews and in commands, and which of it counts.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxCommands is how many commands a history has.
const maxCommands = 3

// review lets a person review the head.
func (st *modelState) review(by quorum.Account, state string) bool {
	st.s.Reviews = append(st.s.Reviews, quorum.Text{
		TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: st.newID()}, Author: by, At: st.now, Commit: st.s.PR.Head, State: state, Member: true,
	})
	return true
}

// dismiss lets a person dismiss the newest review of another one.
func (st *modelState) dismiss(whose, by quorum.Account) bool {
	for i := len(st.s.Reviews) - 1; i >= 0; i-- {
		t := &st.s.Reviews[i]
		if t.Author != whose || t.State == "DISMISSED" {
			continue
		}
		st.s.Timeline = append(st.s.Timeline, quorum.Event{Kind: quorum.ReviewDismissed, At: st.now, Actor: by, Review: t.ID, From: t.State})
		t.State = "DISMISSED"
		return true
	}
	return false
}

// people are the logins of those who may stand in and of whom it is true that they approve this head, and of those who
// request changes.
func (st *modelState) people() (approving, against []string) {
	var baseSince time.Time
	for _, e := range st.s.Timeline {
		if e.Kind == quorum.BaseChanged {
			baseSince = e.At
		}
	}
	for _, who := range []quorum.Account{helper, second} {
		for i := len(st.s.Reviews) - 1; i >= 0; i-- {
			t := &st.s.Reviews[i]
			if t.Author != who {
				continue
			}
			dismissal := slices.IndexFunc(st.s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.ReviewDismissed && e.Review == t.ID })
			switch {
			case t.State == "CHANGES_REQUESTED", dismissal >= 0 && st.s.Timeline[dismissal].From == "CHANGES_REQUESTED" &&
				slices.Contains(st.hands, st.s.Timeline[dismissal].Actor.Login):
				against = append(against, who.Login)
			case t.State == "APPROVED" && st.isReviewOfThis(t) && t.At.After(baseSince) && !slices.Contains(st.hands, who.Login):
				approving = append(approving, who.Login)
			}
			break // the newest one counts
		}
	}
	return approving, against
}

// isReviewOfThis reports whether a review is of this head or, where approvals are carried, of one that changes the very same files.
func (st *modelState) isReviewOfThis(t *quorum.Text) bool {
	return slices.ContainsFunc(st.heads, func(h headTruth) bool {
		return h.sha == t.Commit && (h.sha == st.s.PR.Head || st.carry == quorum.CarrySameDiff && h.change == st.change)
	})
}

// peopleMoves are what two people do who may stand in, and one who may not.
func peopleMoves(add addMove) {
	add("bob approves", func(st *modelState) bool { return st.review(helper, "APPROVED") })
	add("dave approves", func(st *modelState) bool { return st.review(second, "APPROVED") })
	add("mallory and alice approve", func(st *modelState) bool { return st.review(passer, "APPROVED") && st.review(author, "APPROVED") })
	add("bob requests changes", func(st *modelState) bool { return st.review(helper, "CHANGES_REQUESTED") })
	add("dave dismisses bob's review", func(st *modelState) bool { return st.dismiss(helper, second) })
	add("alice dismisses bob's review", func(st *modelState) bool { return st.dismiss(helper, author) })
	add("dave pushes", func(st *modelState) bool { return st.push(second, st.otherChange(codeFile)) })
}

// command lets a person comment a command.
func (st *modelState) command(by quorum.Account, body string) *quorum.Text {
	st.commands++
	st.s.Comments = append(st.s.Comments, quorum.Text{
		TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: st.newID()}, Author: by, Body: "/review-coordinator " + body, At: st.now, Member: true,
	})
	return &st.s.Comments[len(st.s.Comments)-1]
}

// accept ends what the check has named by now.
func (st *modelState) accept() {
	for _, o := range st.standing() {
		o.ended = !st.noOverride
	}
}

// endOverride has the policy let nobody accept any more: nothing that was accepted is ended.
func (st *modelState) endOverride() bool {
	if st.noOverride {
		return false
	}
	st.noOverride = true
	for i := range st.objections {
		st.objections[i].ended = false
	}
	return true
}

// commandMoves are commands by who may give them, and by others. first is a reviewer with a workflow, last one by a
// status.
func commandMoves(add addMove, p *quorum.Policy) {
	first, last := &p.Reviewers[0], len(p.Reviewers)-1
	why := " it is rounded where it is shown"
	addCommand := func(name string, do func(st *modelState) bool) {
		add(name, func(st *modelState) bool { return st.commands < maxCommands && do(st) })
	}
	addCommand("bob accepts", func(st *modelState) bool {
		st.command(helper, "accept "+st.s.PR.Head[:7]+why)
		st.accept()
		return true
	})
	addCommand("dave, mallory and alice accept", func(st *modelState) bool {
		for _, by := range []quorum.Account{second, passer, author} {
			st.command(by, "accept "+st.s.PR.Head[:7]+why)
		}
		return true
	})
	addCommand("bob accepts the head before", func(st *modelState) bool {
		if st.before < 0 {
			return false
		}
		st.command(helper, "accept "+st.heads[st.before].sha[:7]+why)
		return true
	})
	addCommand("bob accepts and edits it", func(st *modelState) bool {
		t := st.command(helper, "accept "+st.s.PR.Head[:7]+why)
		t.Edited, t.Editor = st.now.Add(time.Second), helper
		return true
	})
	addCommand("bob accepts what no look has seen", func(st *modelState) bool {
		st.objectByStatus(last)
		st.now = st.now.Add(time.Second)
		st.command(helper, "accept "+st.s.PR.Head[:7]+why)
		st.accept()
		return true
	})
	add("alice rebases, and bob accepts what no look has named", func(st *modelState) bool {
		if st.commands == maxCommands || !st.push(author, st.change) {
			return false
		}
		st.now = st.now.Add(time.Second)
		st.command(helper, "accept "+st.s.PR.Head[:7]+why)
		return true
	})
	addCommand("bob accepts while it is closed", func(st *modelState) bool {
		closed := st.now
		st.now = st.now.Add(time.Second)
		st.command(helper, "accept "+st.s.PR.Head[:7]+why)
		st.now = st.now.Add(time.Second)
		st.s.Timeline = append(st.s.Timeline,
			quorum.Event{Kind: quorum.Closed, At: closed, Actor: author}, quorum.Event{Kind: quorum.Reopened, At: st.now, Actor: author})
		st.asks()
		return true
	})
	add("bob edits his command", func(st *modelState) bool {
		t := st.lastCommand()
		if t == nil || !t.Edited.IsZero() {
			return false
		}
		t.Body, t.Edited, t.Editor = "Never mind.", st.now, helper
		return true
	})
	add("bob deletes his command", func(st *modelState) bool {
		t := st.lastCommand()
		if t == nil {
			return false
		}
		ref := t.TextRef
		st.s.Comments = slices.DeleteFunc(st.s.Comments, func(t quorum.Text) bool { return t.TextRef == ref })
		return true
	})
	addCommand("bob asks for a rerun", func(st *modelState) bool {
		st.command(helper, "rerun "+first.Name)
		return true
	})
}

// lastCommand is bob's newest comment; nil if there is none.
func (st *modelState) lastCommand() *quorum.Text {
	for i := len(st.s.Comments) - 1; i >= 0; i-- {
		if t := &st.s.Comments[i]; t.Author == helper {
			return t
		}
	}
	return nil
}
