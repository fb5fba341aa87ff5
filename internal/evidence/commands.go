package evidence

// People's words: the first line of a comment, or a press of the check's button. Who may say them is read when they are
// heard; what was heard stands, whatever becomes of the comment or of its author's permission.

import (
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// maxHeard, maxRefused and maxUnentitled are how many commands on a head are kept that came to something, that came to
// nothing, and that came from people who may not: the record cannot be talked full, and none of the three keeps the
// others from being heard. What is beyond them is not heard.
const (
	maxHeard      = 12
	maxRefused    = 8
	maxUnentitled = 6
)

const (
	minCommandSHA    = 7   // digits by which a commit is named
	maxCommandReason = 200 // characters of it that are kept
)

// handsPatience is how long GitHub may take to tell who had a hand in the change before a command is refused for that.
const handsPatience = 2 * time.Minute

// A spokenCommand is a command as a person wrote it.
type spokenCommand struct {
	verb     quorum.CommandVerb // "": it is not understood
	sha      string             // accept
	reason   string             // accept
	reviewer string             // rerun; "": all
}

// parseCommand reads a comment that may be a command.
func parseCommand(body string) (c spokenCommand, found bool) {
	line := quorum.CommandLine(body)
	if line == "" {
		return c, false
	}
	words := strings.Fields(line)[1:]
	if len(words) == 0 {
		return c, true
	}
	args := words[1:]
	switch verb := quorum.CommandVerb(words[0]); {
	case verb == quorum.CommandAccept && len(args) > 1 && isCommandSHA(args[0]):
		c = spokenCommand{verb: verb, sha: strings.ToLower(args[0]), reason: plainReason(strings.Join(args[1:], " "))}
	case verb == quorum.CommandRerun && len(args) < 2:
		c = spokenCommand{verb: verb, reviewer: strings.Join(args, "")}
	case verb == "fix" && len(args) == 1 && args[0] == "off":
		c.verb = quorum.CommandFixOff
	case verb == "fix" && len(args) == 1 && args[0] == "on":
		c.verb = quorum.CommandFixOn
	}
	return c, true
}

func isCommandSHA(word string) bool {
	return len(word) >= minCommandSHA && len(word) <= 64 && review.IsHex(strings.ToLower(word))
}

// plainReason is a reason as it is kept: one line of what can be printed.
func plainReason(text string) string {
	plain := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " "))
	if len(plain) > maxCommandReason {
		plain = append(plain[:maxCommandReason-1], '…')
	}
	return string(plain)
}

// A saidCommand is a command that the record does not know, with who said it.
type saidCommand struct {
	spokenCommand
	id       int64
	by       quorum.Account
	at       time.Time
	isEdited bool
}

// isAboutFixes reports whether the command switches fixes off or on.
func (c *spokenCommand) isAboutFixes() bool {
	return c.verb == quorum.CommandFixOff || c.verb == quorum.CommandFixOn
}

// saidCommands are the commands of people on this head and base that the record does not know, oldest first. Whom GitHub
// does not call a member is not heard, nor is a text of which it is not known whether it was edited.
func (v *commandView) saidCommands() (all []saidCommand) {
	s := v.head.snapshot
	if s.NoRecord || isJudgedInPart(v.head.policy, s) {
		return nil
	}
	isOfThisHead := func(at time.Time) bool { return !at.Before(v.head.cycle.arrival) && !v.head.cycle.isBeforeBase(at) }
	isRecorded := func(id int64) bool {
		return slices.ContainsFunc(s.Record.Commands, func(c quorum.Command) bool { return c.ID == id })
	}
	for i := range s.Comments {
		t := &s.Comments[i]
		isEdited := !t.Edited.IsZero()
		if !t.Member || t.Author.Bot || t.Author.Login == "" || t.Author.Same(s.Ours) || isEdited && t.Editor.Login == "" {
			continue
		}
		if c, found := parseCommand(t.Body); found && isOfThisHead(t.At) && !isRecorded(t.ID) {
			all = append(all, saidCommand{spokenCommand: c, id: t.ID, by: t.Author, at: t.At, isEdited: isEdited})
		}
	}
	for _, p := range s.Presses {
		if !p.By.Bot && p.By.Login != "" && !isRecorded(p.ID) {
			all = append(all, saidCommand{spokenCommand: spokenCommand{verb: quorum.CommandRerun}, id: p.ID, by: p.By, at: p.At})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].at.Before(all[j].at) })
	return all
}

// wantPeople adds what must be known to hear what people have said.
func (v *commandView) wantPeople(w *quorum.Wants) {
	for _, c := range v.saidCommands() {
		w.People = append(w.People, c.by.Login)
		w.Authors = w.Authors || c.verb == quorum.CommandAccept || c.verb == quorum.CommandRerun
	}
}

// A commandView is what people have told us on a head: the commands of the record, and after them those that are heard now.
type commandView struct {
	head *headView
	all  []quorum.Command
}

// newCommandView hears what people say. Of a rerun that is heard now it is not said yet who is run again: see
// [commandView.chooseReruns].
func newCommandView(h *headView) *commandView {
	v := &commandView{head: h, all: slices.Clone(h.snapshot.Record.Commands)}
	for _, said := range v.saidCommands() {
		if c, heard := v.hearCommand(&said); heard && hasRoomFor(v.all, c) {
			v.all = append(v.all, c)
		}
	}
	return v
}

// hasRoomFor reports whether one more command like c is kept.
func hasRoomFor(all []quorum.Command, c quorum.Command) bool {
	kind, most := roomOf(c)
	alike := 0
	for _, o := range all {
		if of, _ := roomOf(o); of == kind {
			alike++
		}
	}
	return alike < most
}

// roomOf says with which others a command shares its room in the record, and how much that is.
func roomOf(c quorum.Command) (kind string, most int) {
	switch {
	case c.Refused == quorum.ReasonMayNot:
		return "unentitled", maxUnentitled
	case c.Refused != "":
		return "refused", maxRefused
	}
	return "heard", maxHeard
}

// hearCommand says what becomes of a command; false while that is not known.
func (v *commandView) hearCommand(said *saidCommand) (c quorum.Command, heard bool) {
	s := v.head.snapshot
	may, known := s.Permissions[strings.ToLower(said.by.Login)]
	if !known {
		return c, false
	}
	c = quorum.Command{ID: said.id, Verb: said.verb, By: said.by.Login, At: said.at, Base: s.PR.BaseRef}
	if said.verb == quorum.CommandAccept {
		c.Reason = said.reason
	}
	needsNoHand := said.verb == quorum.CommandAccept || said.verb == quorum.CommandRerun
	switch {
	case may < quorum.Write:
		c.Refused = quorum.ReasonMayNot
	case said.isEdited:
		c.Refused = quorum.ReasonWordEdited
	case said.verb == "":
		c.Refused = quorum.ReasonUnclear
	case said.verb == quorum.CommandAccept && v.head.policy.Override == 0:
		c.Refused = quorum.ReasonNoOverride
	case said.isAboutFixes() && v.head.policy.Fix.Workflow == "":
		c.Refused = quorum.ReasonNoFixes
	case said.verb == quorum.CommandAccept && may < v.head.policy.Override:
		c.Refused = quorum.ReasonMayNot
	case needsNoHand && change.HadHand(s, said.by):
		c.Refused = quorum.ReasonHadHand
	case needsNoHand && !change.AreHandsKnown(s):
		if s.Began.Before(said.at.Add(handsPatience)) {
			return c, false
		}
		c.Refused = quorum.ReasonHandsUnknown
	case said.verb == quorum.CommandAccept:
		c.Reviewers, c.Until, c.Refused = v.acceptedBy(said)
	case said.reviewer != "":
		c.Reviewers = []string{said.reviewer}
	}
	return c, true
}

// acceptedBy says whose objections an accept ends, and until when: those that our check had named by then.
func (v *commandView) acceptedBy(said *saidCommand) (reviewers []string, until time.Time, refused quorum.Reason) {
	if !strings.HasPrefix(v.head.snapshot.PR.Head, said.sha) {
		return nil, until, quorum.ReasonOtherHead
	}
	for i := range v.head.snapshot.Record.Objections {
		o := &v.head.snapshot.Record.Objections[i]
		if o.Answered || !v.head.record.concerns(o) || !wasNamedBy(o, said.at) {
			continue
		}
		until = latest(until, o.At)
		if !slices.Contains(reviewers, o.Reviewer) {
			reviewers = append(reviewers, o.Reviewer)
		}
	}
	if len(reviewers) == 0 {
		return nil, until, quorum.ReasonNothingNamed
	}
	return reviewers, until, ""
}

// wasNamedBy reports whether our check had named an objection by that moment.
func wasNamedBy(o *quorum.Objection, at time.Time) bool {
	return !o.Named.IsZero() && !o.Named.After(at)
}

// nameObjections notes when the check names objections first: those of reviewers whose ballots object in it.
func nameObjections(rec *quorum.Record, pr *quorum.PullRequest, d quorum.Decision, now time.Time) {
	named := now.UTC().Truncate(time.Second)
	if named.Before(now) { // a comment of the very second may be from before
		named = named.Add(time.Second)
	}
	for i := range rec.Objections {
		o := &rec.Objections[i]
		isShown := slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool { return b.Reviewer == o.Reviewer && b.Vote == quorum.Object })
		if o.Named.IsZero() && !o.Answered && isShown && rec.Concerns(o, pr.BaseRef, pr.Diff.Lines) {
			o.Named = named
		}
	}
}

// rememberCommands adds the commands that are heard now.
func rememberCommands(known, all []quorum.Command) []quorum.Command {
	for _, c := range all[len(known):] {
		c.At, c.Until = c.At.UTC(), c.Until.UTC()
		known = append(known, c)
	}
	return known
}

// replies are the answers to commands that were not given yet. A press of the button has no comment to be answered at.
func (v *commandView) replies() (all []quorum.Reply) {
	for _, c := range v.all {
		if !c.Replied && c.ID > 0 {
			all = append(all, quorum.Reply{Command: c.ID, Refused: c.Refused != ""})
		}
	}
	return all
}

// hasNew reports whether people have said what the record does not know.
func (v *commandView) hasNew() bool { return len(v.all) > len(v.head.snapshot.Record.Commands) }
