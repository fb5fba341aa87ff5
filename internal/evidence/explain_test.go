package evidence_test

// Why a text counts, or does not.

import (
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestConsider(t *testing.T) {
	own := openai()
	own.Author = "claude[bot]"
	for name, test := range map[string]struct {
		x        *scene
		outcome  quorum.Outcome
		rejected string // "-": it is not mentioned
	}{
		"it counts":       {onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes), quorum.Approved, ""},
		"it is vague":     {onHead(openai()).run(1, 10, 100).comment(1, 90, bot, vague), quorum.Malformed, ""},
		"too early":       {onHead(openai()).run(1, 10, 100).comment(1, 9, bot, yes), 0, "not written during the newest attempt"},
		"no run":          {onHead(openai()).comment(1, 90, bot, yes), 0, "no run of " + file},
		"another head":    {onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes+"\nReviewed commit: "+older), 0, "names the commit " + older},
		"ambiguous":       {onHead(openai()).run(1, 10, 100).other(2, -50, 95).comment(1, 90, bot, yes), 0, "another run of this workflow"},
		"before the base": {onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).retargeted(100), 0, "before the base changed"},
		"before the head": {onHead(sage()).comment(1, -5, "sage[bot]", sageOK), 0, "before this head arrived"},
		"edited":          {onHead(sage()).comment(1, 5, "sage[bot]", sageOK).edited(9, "mallory"), 0, "edited by somebody else"},
		"dismissed": {
			onHead(sage()).review(1, 5, "sage[bot]", "DISMISSED", "").
				event(9, quorum.Event{Kind: quorum.ReviewDismissed, Review: 1, Actor: who("bob"), From: "APPROVED"}),
			0, "dismissed",
		},
		"a review of another head": {
			onHead(sage()).with(func(x *scene) { x.review(1, 5, "sage[bot]", "APPROVED", "").s.Reviews[0].Commit = older }),
			0, "another commit",
		},
		"nothing but answers": {onHead(sage()).review(1, 5, "sage[bot]", "COMMENTED", ""), 0, "nothing but answers in threads"},
		"another workflow's":  {onHead(openai()).run(1, 10, 100).comment(1, 90, bot, "## Other\n"), 0, "-"},
		"no heading":          {onHead(own).run(1, 10, 100).comment(1, 90, "claude[bot]", "## Other\n"), 0, "does not open with the heading"},
		"a person's":          {onHead(sage()).comment(1, 5, "bob", sageOK), 0, "-"},
	} {
		all := evidence.Consider(test.x.p, test.x.s)
		if test.rejected == "-" {
			if len(all) != 0 {
				t.Errorf("%s: %+v", name, all)
			}
			continue
		}
		if len(all) != 1 || all[0].Outcome != test.outcome || !strings.Contains(all[0].Rejected, test.rejected) ||
			(all[0].Rejected == "") != (test.rejected == "") {
			t.Errorf("%s: %+v, want %s, %q", name, all, test.outcome, test.rejected)
		}
	}
}
