package evidence_test

// An explanation never contradicts the ballot that it explains: not in any scene of these tests, and not on heads drawn
// at random.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// contradiction finds a ballot that its explanation contradicts; "" if there is none.
func contradiction(p quorum.Policy, ballots []quorum.Ballot, considered []evidence.Considered) string {
	for _, b := range ballots {
		texts := slices.DeleteFunc(slices.Clone(considered), func(c evidence.Considered) bool { return c.Reviewer != b.Reviewer })
		if why := contradicted(b, texts, p.Reviewers); why != "" {
			return fmt.Sprintf("%s: the ballot is %s, %s (%s) by %+v, and %s: %+v", b.Reviewer, b.Vote, b.Outcome, b.Reason, b.Evidence, why, texts)
		}
	}
	return ""
}

// contradicted says what is wrong with the explanation of one reviewer's texts.
func contradicted(b quorum.Ballot, texts []evidence.Considered, reviewers []quorum.Reviewer) string {
	if b.Then != nil {
		b = *b.Then
	}
	anyRejected := func(words string) bool {
		return slices.ContainsFunc(texts, func(c evidence.Considered) bool { return strings.Contains(c.Rejected, words) })
	}
	anyUsed := slices.ContainsFunc(texts, func(c evidence.Considered) bool { return c.Rejected == "" && c.Outcome != quorum.Running })
	switch {
	case b.Reason == quorum.ReasonUnnamed && b.Outcome == quorum.Silent && !anyRejected("it approves, but "):
		return "no text is said to lack its commit"
	case b.Reason == quorum.ReasonMoved && !anyRejected("GitHub moved it"):
		return "no text is said to have been moved"
	case b.Reason == quorum.ReasonAmbiguous && !anyRejected("another run of this workflow"):
		return "no text is said to be another run's"
	case (b.Outcome == quorum.Silent || b.Outcome == quorum.Empty) && anyUsed:
		return "a text is said to be used"
	case (b.Reason == quorum.ReasonGuarded || b.Reason == quorum.ReasonSelf) &&
		slices.ContainsFunc(texts, func(c evidence.Considered) bool { return c.Rejected == "" }):
		return "a text is said to be used"
	}
	if b.Evidence.Kind != quorum.TextComment && b.Evidence.Kind != quorum.TextReview {
		return ""
	}
	i := slices.IndexFunc(texts, func(c evidence.Considered) bool { return c.Text == b.Evidence })
	if i < 0 {
		if b.Reason.Standing() || b.Outcome == quorum.Withdrawn { // it was deleted
			return ""
		}
		return "its evidence is not mentioned"
	}
	author := reviewers[slices.IndexFunc(reviewers, func(r quorum.Reviewer) bool { return r.Name == b.Reviewer })].Author
	return contradictedEvidence(b, texts[i], author)
}

// contradictedEvidence says what is wrong with the explanation of the text on which a ballot rests.
func contradictedEvidence(b quorum.Ballot, c evidence.Considered, author string) string {
	switch {
	case b.Reason.Standing():
		if c.Rejected != "" && !strings.HasSuffix(c.Rejected, "the objection that it held stands") || c.Rejected == "" && c.Outcome != quorum.Findings {
			return "its evidence is not said to stand"
		}
	case b.Outcome == quorum.Withdrawn:
		words := map[quorum.Reason]string{
			quorum.ReasonEdited: "edited", quorum.ReasonDismissed: "dismissed", quorum.ReasonUnnamed: "it approves, but ",
		}[b.Reason]
		byAuthor := b.Reason == quorum.ReasonEdited && b.Detail == author
		if byAuthor && c.Outcome != quorum.Withdrawn || !byAuthor && words != "" && !strings.Contains(c.Rejected, words) ||
			b.Reason == quorum.ReasonDeleted && c.Rejected == "" {
			return "its evidence is not said to be withdrawn for that reason"
		}
	case b.Reason == quorum.ReasonOtherPull && strings.Contains(c.Rejected, "another pull request"):
	case c.Rejected != "":
		return "its evidence is said not to count"
	case b.Outcome != quorum.Refused && c.Outcome != b.Outcome:
		return "its evidence is said to be something else"
	}
	return ""
}

func TestExplanationsAgreeWithTheCheck(t *testing.T) {
	counted, reasons := map[quorum.Outcome]int{}, map[quorum.Reason]int{}
	for seed := range uint64(6000) {
		p, s := drawHead(rand.New(rand.NewPCG(seed, 1)))
		ballots, considered := evidence.Judge(p, s), evidence.Consider(p, s)
		if why := contradiction(p, ballots, considered); why != "" {
			t.Fatalf("head %d: %s", seed, why)
		}
		for _, c := range considered {
			counted[c.Outcome]++
		}
		for _, b := range ballots {
			reasons[b.Reason]++
		}
	}
	for _, reason := range []quorum.Reason{
		quorum.ReasonStands, quorum.ReasonLookingAgain, quorum.ReasonUnnamed, quorum.ReasonEdited, quorum.ReasonDeleted, quorum.ReasonAmbiguous,
		quorum.ReasonGuarded, quorum.ReasonSelf, quorum.ReasonOtherPull, quorum.ReasonMoved,
	} {
		if reasons[reason] < 5 {
			t.Errorf("only %d ballots for the reason %q were drawn", reasons[reason], reason)
		}
	}
	for _, o := range []quorum.Outcome{0, quorum.Approved, quorum.Findings, quorum.Malformed, quorum.Limited} {
		if counted[o] < 20 {
			t.Errorf("only %d texts of %q were drawn", counted[o], o)
		}
	}
}

// Who asks why is told what the check says.
func TestExplanationsOfWhatTheBallotDoesNotCount(t *testing.T) {
	const twice = sageOK + "\nReviewed commit: " + head + "\nReviewed commit: " + older + "\n"
	conclusion := openai()
	conclusion.Verdict = format(quorum.Conclusion)
	for name, test := range map[string]struct {
		x    *scene
		want wanted
		says string
	}{
		"an earlier head was pushed away": {
			onHead(sage()).comment(1, 50, "sage[bot]", sageOK).event(20, quorum.Event{Kind: quorum.ForcePushed, From: older, To: head}),
			wanted{quorum.Pending, quorum.Silent, quorum.ReasonUnnamed, ""},
			"does not name this commit, and the pull request had another one before",
		},
		"two commits are named": {
			onHead(sage()).comment(1, 50, "sage[bot]", twice),
			wanted{quorum.Pending, quorum.Silent, quorum.ReasonUnnamed, ""},
			"it cannot be told whether it names this head",
		},
		"an empty review":                {onHead(sage()).review(1, 5, "sage[bot]", "COMMENTED", ""), silent, "it holds nothing but answers in threads"},
		"a review that is not submitted": {onHead(sage()).review(1, 5, "sage[bot]", "PENDING", sageOK), silent, "it is a review that was not submitted"},
		"the reviewer was asked again": {
			onHead(sage()).comment(1, 1, "sage[bot]", "It looks interesting.\n").comment(2, 70, bot, "@sage review").intent(asked(2, 70)), silent,
			"it holds no verdict, and the reviewer was asked again since",
		},
		"the conclusion decides": {onHead(conclusion).run(1, 10, 100).comment(1, 90, bot, no), approves, "its reviewer's verdict is a conclusion, not a text"},
		"the pull request is the reviewer's": {
			onHead(sage()).comment(1, 1, "sage[bot]", sageOK).with(func(x *scene) { x.s.PR.Author = who("sage[bot]") }),
			wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonSelf, ""},
			"its reviewer opened the pull request",
		},
		"a guarded file is changed": {
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).with(func(x *scene) { x.s.PR.Files = []quorum.File{{Path: file}} }),
			wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonGuarded, ""},
			"the pull request changes " + file,
		},
		"the branch below may hold other workflows": {
			onHead(sage()).comment(1, 5, "sage[bot]", sageOK).with(onStack("main", "feature")),
			wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonOtherGuards, ""},
			"feature, the branch below, may hold other workflows",
		},
		"the changed files are not all known": {
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).with(func(x *scene) { x.s.PR.FilesMissing = true }),
			wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonGuarded, ""},
			"the list of changed files is not complete",
		},
		"an objection of the attempt before": {
			onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 90, bot, no), stands,
			"it was not written during the newest attempt of this head's run; the objection that it held stands",
		},
		"an objection that somebody else edited": {
			onHead(openai()).run(1, 10, 100).comment(1, 20, bot, yes).edited(90, "mallory").
				objected(quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "openai", Run: 1, Attempt: 1, At: at(100)}), stands,
			"it was edited by somebody else; the objection that it held stands",
		},
		"the answer of another head's run": {
			onHead(openai()).run(1, 10, 100).other(2, -50, 95).comment(1, 90, bot, yes+"\nReviewed commit: "+older), empty,
			"it names the commit " + older + ", which is not this head",
		},
	} {
		b := test.x.ballot()
		if got := (wanted{b.Vote, b.Outcome, b.Reason, next(b)}); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
		texts := evidence.Consider(test.x.p, test.x.s)
		if len(texts) != 1 || texts[0].Outcome != 0 || !strings.Contains(texts[0].Rejected, test.says) {
			t.Errorf("%s: %+v, want %q", name, texts, test.says)
		}
	}
}

func oneOf[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// drawHead draws a head with everything that may speak for or against it. Seconds are drawn in tens, so that many
// things happen at one time.
func drawHead(r *rand.Rand) (quorum.Policy, quorum.Snapshot) {
	copilot, _ := review.Preset("copilot")
	gem, own, conclusion, shared := openai(), openai(), openai(), sage()
	gem.Name, gem.Heading = "gemini", "## Gemini Review"
	own.Name, own.Author, own.Heading = "own", "own[bot]", ""
	conclusion.Name, conclusion.Verdict = "conclusion", format(quorum.Conclusion)
	shared.Name, shared.Author, shared.Heading, shared.Request = "shared", bot, "## Sage", quorum.Request{}
	reviewers := []quorum.Reviewer{openai(), gem, own, conclusion, sage(), shared, copilot}
	r.Shuffle(len(reviewers), func(i, j int) { reviewers[i], reviewers[j] = reviewers[j], reviewers[i] })
	x := onHead(reviewers[:2+r.IntN(4)]...)
	x.p.Threads = oneOf(r, quorum.ByOthers, quorum.ByAnyone)
	x.s.PR.Author = who(oneOf(r, "alice", "alice", "alice", "alice", "sage[bot]"))
	x.s.PR.Files[0].Path = oneOf(r, "cart.go", "cart.go", "cart.go", "cart.go", file)
	x.s.PR.FilesMissing = r.IntN(20) == 0
	if r.IntN(4) == 0 {
		x.s.Earlier = []string{older}
	}
	if r.IntN(3) == 0 {
		x.twin(oneOf(r, head, older), 10*r.IntN(30)-50, 10*r.IntN(40))
	}
	drawRuns(r, x)
	for id := range int64(r.IntN(8)) {
		drawText(r, x, id+1)
	}
	drawRecord(r, x)
	return x.p, x.s
}

func drawRuns(r *rand.Rand, x *scene) {
	for id := range int64(r.IntN(4)) {
		from := 10 * r.IntN(40)
		conclusion := oneOf(r, "success", "success", "success", "failure", "cancelled", "skipped", "neutral")
		n := oneOf(r, 1, 1, 1, 2)
		change := []func(*quorum.Run){ended(conclusion), attempt(n, from+50*(n-1))}
		if r.IntN(4) == 0 {
			x.run(id+1, from, -1, change[1])
		} else if r.IntN(4) == 0 {
			x.other(id+1, from, from+100+10*r.IntN(20), change...)
		} else {
			x.run(id+1, from, from+100+10*r.IntN(20), change...)
		}
	}
	for range r.IntN(4) {
		kind := oneOf(r, quorum.BaseChanged, quorum.ForcePushed, quorum.ForcePushed, quorum.Reopened, quorum.ReviewDismissed, quorum.ReviewDismissed)
		x.event(10*r.IntN(15), quorum.Event{
			Kind: kind, Actor: who(oneOf(r, "alice", "bob", "")), Review: 1 + r.Int64N(4),
			From: oneOf(r, older, "APPROVED", "CHANGES_REQUESTED"), To: oneOf(r, head, older),
		})
	}
}

// drawText adds a comment or a review, perhaps with threads.
func drawText(r *rand.Rand, x *scene, id int64) {
	body := oneOf(r, "## OpenAI Review\n\n", "## OpenAI Review\n\n", "## Gemini Review\n\n", "## Sage\n\n", "") +
		oneOf(r, sageOK, sageOK, sageNo, "It looks interesting to me.\n", "Rate limit exceeded.\n", "Review in progress…\n",
			"Copilot reviewed 2 out of 2 changed files in this pull request and generated no new comments.\n") +
		oneOf(r, "", "", "", "\nReviewed commit: "+head+"\n", "\nReviewed commit: "+older+"\n", "\nReviewed commit: "+merged+"\n",
			"\nReviewed commit: "+head+"\nReviewed commit: "+older+"\n")
	author, sec := oneOf(r, bot, bot, bot, "own[bot]", "sage[bot]", "sage[bot]", "copilot-pull-request-reviewer[bot]", "bob"), 10*r.IntN(60)
	if r.IntN(3) > 0 {
		x.comment(id, sec, author, body)
		if r.IntN(4) == 0 {
			x.edited(sec+10*r.IntN(20), oneOf(r, author, author, "mallory", ""))
		}
		return
	}
	x.review(id, sec, author, oneOf(r, "APPROVED", "APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"), oneOf(r, body, ""))
	x.s.Reviews[len(x.s.Reviews)-1].Commit = oneOf(r, head, head, head, older)
	for range r.IntN(3) {
		x.thread(int64(len(x.s.Threads)+100), oneOf(r, resolved("bob"), resolved("alice"), outdated, func(*quorum.Thread) {}))
	}
}

// drawRecord adds what earlier looks may have remembered.
func drawRecord(r *rand.Rand, x *scene) {
	name := func() string { return oneOf(r, x.p.Reviewers...).Name }
	text := func() quorum.TextRef {
		return ref(oneOf(r, quorum.TextComment, quorum.TextComment, quorum.TextReview), 1+r.Int64N(8))
	}
	for range r.IntN(3) {
		x.stood(text().Kind, 1+r.Int64N(8), name(), 10*r.IntN(60))
	}
	for range r.IntN(3) {
		x.objected(quorum.Objection{TextRef: text(), Reviewer: name(), Run: r.Int64N(4), Attempt: 1 + r.IntN(2), At: at(10 * r.IntN(60)), Threads: r.IntN(2)})
	}
	for range r.IntN(3) {
		kind := oneOf(r, quorum.Rerun, quorum.Cancel, quorum.Ask)
		x.intent(quorum.Intent{Kind: kind, Reviewer: name(), Base: "main", Run: r.Int64N(4), Attempt: 1 + r.IntN(2), At: at(10 * r.IntN(60)), Tries: 1})
	}
	if r.IntN(5) == 0 {
		x.s.Record.Asked = []quorum.FirstTime{{Reviewer: name(), Base: "main", At: dawn.Add(time.Duration(10*r.IntN(60)) * time.Second)}}
	}
}
