package evidence_test

// What is not asked for again because nobody understood the reviewer's last answers on other pull requests.

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// unreadOn adds answers of a reviewer that nobody understood, on those pull requests.
func (x *scene) unreadOn(reviewer string, pulls ...int) *scene {
	for _, n := range pulls {
		id := int64(len(x.s.Heard))
		x.s.Heard = append(x.s.Heard, quorum.HeardAnswer{
			TextRef: ref(quorum.TextComment, 9000+id), Reviewer: reviewer, Pull: n, At: at(int(id) - 9000), Unread: true,
		})
	}
	return x
}

func TestADriftedFormatIsNotAskedForAgain(t *testing.T) {
	drifted := func(next string) wanted {
		return wanted{quorum.Unavailable, quorum.Malformed, quorum.ReasonDrift, next}
	}
	again := func(next string) wanted {
		return wanted{quorum.Pending, quorum.Malformed, quorum.ReasonMalformed, next}
	}
	says := func(body string) *scene { return onHead(openai()).run(1, 10, 100).comment(1, 90, bot, body) }
	asks := func() *scene { return onHead(sage()).comment(1, 1, "sage[bot]", "It looks interesting.\n") }
	announced := quorum.Intent{Kind: quorum.Rerun, Reviewer: "openai", Base: "main", Run: 1, Attempt: 1, At: at(160), Tries: 1}
	judge(t, []row{
		{"three in a row", says(vague).unreadOn("openai", 1, 2, 3), drifted("")},
		{"two in a row", says(vague).unreadOn("openai", 1, 2), again("rerun")},
		{"of two pull requests", says(vague).unreadOn("openai", 1, 1, 2, 2), again("rerun")},
		{"its own pull request aside", says(vague).unreadOn("openai", 1, 2, 7), again("rerun")},
		{"an answer that was understood ends it", says(vague).unreadOn("openai", 1, 2, 3, 4).with(func(x *scene) {
			x.s.Heard[3].Unread = false
		}), again("rerun")},
		{"a stranger's three pull requests are one", says(vague).unreadOn("openai", 1, 2, 3).with(func(x *scene) {
			for i := range x.s.Heard {
				x.s.Heard[i].Stranger = "mallory"
			}
		}), again("rerun")},
		{"another reviewer's show nothing", says(vague).unreadOn("sage", 1, 2, 3), again("rerun")},
		{
			"a template was read", says("## OpenAI Review\n\n**Ready to merge?** Yes/No\n").unreadOn("openai", 1, 2, 3),
			wanted{quorum.Pending, quorum.Malformed, quorum.ReasonTemplate, "rerun"},
		},
		{"what left nothing is run again", onHead(openai()).run(1, 10, 100).unreadOn("openai", 1, 2, 3), empty},
		{"a yes is a yes", says(yes).unreadOn("openai", 1, 2, 3), approves},
		{"a no is a no", says(no).unreadOn("openai", 1, 2, 3), objects},
		{"a rerun that is announced is made", says(vague).intent(announced).unreadOn("openai", 1, 2, 3), again("rerun")},
		{"who is asked by a comment", asks().unreadOn("sage", 1, 2, 3), drifted("")},
		{
			"a request that was made is waited for",
			asks().comment(2, 70, bot, "@sage review").intent(asked(2, 70)).unreadOn("sage", 1, 2, 3), silent,
		},
		{
			"who cannot be asked again anyway", asks().with(func(x *scene) { x.s.NoRecord = true }).unreadOn("sage", 1, 2, 3),
			wanted{quorum.Unavailable, quorum.Malformed, quorum.ReasonMalformed, ""},
		},
	})
}

// Whatever was heard elsewhere, it takes away a repetition that is only planned, and changes nothing else.
func TestWhatWasHeardDecidesNoVote(t *testing.T) {
	r, withdrawn := rand.New(rand.NewPCG(19, 5)), 0
	for range 4000 {
		p, s := drawHead(r)
		x := scene{p, s}
		before := evidence.Judge(x.p, x.s)
		for _, reviewer := range p.Reviewers {
			x.unreadOn(reviewer.Name, 1, 2, 3)
		}
		after := evidence.Judge(x.p, x.s)
		for i, b := range before {
			if cmp.Equal(b, after[i]) {
				continue
			}
			if after[i].Reason != quorum.ReasonDrift {
				b.Next = after[i].Next // of an objection that stands
			}
			switch {
			case b.Planned && after[i].Vote == quorum.Unavailable && after[i].Reason == quorum.ReasonDrift && after[i].Next == nil:
				withdrawn++
			case b.Vote == quorum.Object && len(after[i].Next) == 0 && cmp.Equal(b, after[i]):
			default:
				t.Fatalf("(-before +after):\n%s", cmp.Diff(before[i], after[i]))
			}
		}
	}
	if withdrawn < 20 {
		t.Errorf("only %d repetitions were withdrawn: too few to show anything", withdrawn)
	}
}
