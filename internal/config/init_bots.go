package config

// Bots that reviewed and that no preset knows: they are offered in comments, with what is known of them.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// maxUnknownBots is how many unknown bots are offered.
const maxUnknownBots = 10

// An unknownBot is what an account that no preset knows has left.
type unknownBot struct {
	login                     string
	reviews, comments, inline int
	pulls                     []int
	newest                    SurveyedText
	reviewed                  bool // something that it left looks like a review
}

// findUnknownBots returns the bots that reviewed and that no preset knows, the busiest first.
func (s Survey) findUnknownBots() (all []foundReviewer) {
	var bots []*unknownBot
	botOf := func(a quorum.Account) *unknownBot {
		if !a.Bot || !strings.HasSuffix(a.Login, "[bot]") || !loginPattern().MatchString(a.Login) || isKnownBot(a.Login) {
			return nil
		}
		i := slices.IndexFunc(bots, func(b *unknownBot) bool { return strings.EqualFold(b.login, a.Login) })
		if i < 0 {
			i, bots = len(bots), append(bots, &unknownBot{login: a.Login})
		}
		return bots[i]
	}
	for _, t := range s.Texts {
		if b := botOf(t.Author); b != nil {
			b.addText(t)
		}
	}
	for _, c := range s.Inline {
		if b := botOf(c.Author); b != nil {
			b.inline, b.reviewed, b.pulls = b.inline+1, true, append(b.pulls, c.Pull)
		}
	}
	bots = slices.DeleteFunc(bots, func(b *unknownBot) bool { return !b.reviewed })
	slices.SortFunc(bots, func(a, b *unknownBot) int {
		return cmp.Or(cmp.Compare(len(b.pulls), len(a.pulls)), strings.Compare(a.login, b.login))
	})
	for _, b := range bots[:min(len(bots), maxUnknownBots)] {
		all = append(all, b.offeredReviewer())
	}
	return all
}

// isKnownBot reports whether a bot is a preset's, or one that many programs share.
func isKnownBot(login string) bool {
	return strings.EqualFold(login, quorum.ActionsBot) || slices.ContainsFunc(review.Presets(), func(name string) bool {
		known, _ := review.Preset(name)
		return strings.EqualFold(known.Author, login)
	})
}

// addText counts a text of the bot's.
func (b *unknownBot) addText(t SurveyedText) {
	if t.Kind == quorum.TextReview {
		b.reviews++
	} else {
		b.comments++
	}
	b.pulls = append(b.pulls, t.Pull)
	b.reviewed = b.reviewed || hasVerdict(t) || t.State == "APPROVED" || t.State == "CHANGES_REQUESTED"
	if b.newest.At.IsZero() || t.At.After(b.newest.At) {
		b.newest = t
	}
}

// offeredReviewer returns the entry that a person may take out of its comment.
func (b *unknownBot) offeredReviewer() foundReviewer {
	f := foundReviewer{
		name: nameOfWorkflow(strings.TrimSuffix(b.login, "[bot]")), author: b.login,
		toFill: "see that it reviews each pull request, and that its texts are read",
	}
	left := withoutNone(countNoun(b.reviews, "review"), countNoun(b.comments, "comment"), countNoun(b.inline, "inline comment"))
	f.addEvidence("%s left %s on %s. No preset knows it.", b.login, strings.Join(left, ", "), pullList(b.pulls))
	if b.newest.At.IsZero() {
		return f
	}
	switch readText(b.newest) {
	case quorum.Approved:
		f.addEvidence("Its newest text is read: it approves.")
	case quorum.Findings:
		f.addEvidence("Its newest text is read: it objects.")
	default:
		f.note = "It is not read: " + proposeVerdict(b.newest, "coordinator classify says what to add for it.")
	}
	return f
}
