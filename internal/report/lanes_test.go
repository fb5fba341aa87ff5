package report

import (
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What a check says of lanes, people, votes that came over from another commit, objections that somebody accepted over,
// and words by comment.

// docsLane is a policy of a pull request that needs no review.
func docsLane(p *quorum.Policy) {
	p.Rules = []quorum.NeedRule{{Share: quorum.NoReview}}
	p.Override = quorum.Maintain
}

func inLane(d quorum.Decision, lane quorum.LaneChoice, need int) quorum.Decision {
	d.Lane, d.Need = lane, need
	return d
}

func excused(who string, r quorum.Reason) quorum.Ballot {
	return quorum.Ballot{Reviewer: who, Vote: quorum.Unavailable, Outcome: quorum.Declined, Reason: r, Excused: r, Since: start}
}

func carried(who string, minute int) quorum.Ballot {
	b := approves(who, minute)
	b.Reason, b.Detail = quorum.ReasonCarried, "1f7f530"
	return b
}

func overridden(who string) quorum.Ballot {
	b := fails(who, quorum.ReasonOverridden, 0)
	b.Outcome, b.Detail, b.Since = quorum.Findings, "bob", at(8)
	b.Ended = quorum.Ending{By: "bob", How: quorum.ReasonOverridden}
	return b
}

func dismissed(b quorum.Ballot) quorum.Ballot {
	b.Ended = quorum.Ending{By: "bob", How: quorum.ReasonDismissed}
	return b
}

func laneGoldens() []golden {
	docs := quorum.LaneChoice{Name: "docs", Why: "docs only", By: quorum.Condition{AllPaths: []string{"docs/**", "*.md"}}}
	dave := quorum.StandIn{Login: "dave", Review: 4, At: at(9), URL: "https://github.com/acme/shop/pull/7#pullrequestreview-4"}
	bob := quorum.StandIn{Login: "bob", Review: 5, At: at(8), URL: "https://github.com/acme/shop/pull/7#pullrequestreview-5"}
	flipped := approves("openai", 4)
	flipped.Asked, flipped.Flipped = 3, true
	again := fails("gemini", quorum.ReasonQuota, 1)
	again.Required, again.Again = true, true
	elsewhere := objects("gemini", 5, quorum.Finding{Body: "The total is not rounded."})
	elsewhere.Pull = 6
	held := objects("gemini", 5, quorum.Finding{Path: "cart.go", Line: 42, Body: "The total is not rounded."})
	google := func(b quorum.Ballot) quorum.Ballot { b.Family = "google"; return b }
	shown := approves("gemini", 4)
	shown.Excused = quorum.ReasonOtherLane
	return []golden{
		{
			name: "lane-without-review", policy: docsLane,
			d: with(inLane(decided(quorum.Passed, waits("openai", quorum.ReasonNotReceived, 0)), docs, 0), func(d *quorum.Decision) {
				d.Reason = quorum.ReasonNoReview
			}),
			title: "No review needed: docs only", status: "completed/success",
			says: []string{
				"**Passed.** No review is needed: docs only, and nobody objects.",
				"The lane docs asks less, because every changed path matches `docs/**` or `*.md`",
				"Quorum: no reviewer has to approve",
			},
		},
		{
			name: "lane-that-does-not-hold", snap: func(s *quorum.Snapshot) { s.PR.Labels = []string{"Security"} },
			d: inLane(decided(quorum.Waiting, approves("openai", 4), waits("gemini", quorum.ReasonRunning, 20)), quorum.LaneChoice{
				Added: []quorum.LaneSaid{{Name: "security", Why: "somebody asked", By: quorum.Condition{Labels: []string{"security", "crypto"}}}},
				Not: []quorum.LaneNot{
					{Name: "docs", Reason: quorum.ReasonLaneGuard, Detail: ".github/copilot-instructions.md"},
					{Name: "lockfile", Reason: quorum.ReasonLaneBase, Detail: "release/1"},
					{Name: "robot", Reason: quorum.ReasonLanePolicy, Detail: ".github/review-coordinator.yml"},
				},
			}, 2),
			title: "1 of 2 approvals; waiting for gemini until 14:20 UTC", status: "in_progress/",
			says: []string{
				"The lane security asks more, while the label `security` is set (somebody asked).",
				"The lane docs asks less and is not for this pull request: that changes `.github/copilot-instructions.md`, a file that can steer a review.",
				"it does not name the base `release/1` without a pattern.",
				"that changes the policy `.github/review-coordinator.yml`.",
			},
		},
		{
			name: "lane-names-its-voters", policy: func(p *quorum.Policy) {
				p.Reviewers[1].Excused, p.Reviewers[2].Excused = quorum.ReasonOtherLane, quorum.ReasonWhen
			},
			d: inLane(decided(quorum.Unverified, fails("openai", quorum.ReasonQuota, 1), shown, excused("copilot", quorum.ReasonWhen)), quorum.LaneChoice{
				Name: "web", By: quorum.Condition{AllPaths: []string{"web/**"}, Base: []string{"main"}},
			}, 1),
			title: "Unverified: 0 of 1 approval; openai unavailable", status: "completed/action_required",
			says: []string{
				"| gemini (no vote here) | ✅ approve |", "| copilot (no vote here) | ➖ none |",
				"every changed path matches `web/**` and its base main matches `main`.",
				"Quorum: 1 of 1 reviewer must approve",
				"The lane names others than gemini: no vote here, but an objection to this commit counts.",
			},
		},
		{
			name: "too-few-vote", policy: func(p *quorum.Policy) {
				p.Reviewers[1].Excused, p.Reviewers[2].Excused = quorum.ReasonWhen, quorum.ReasonWhen
			},
			d: with(
				decided(quorum.Unverified, approves("openai", 4), excused("gemini", quorum.ReasonWhen), excused("copilot", quorum.ReasonWhen)),
				func(d *quorum.Decision) { d.Reason = quorum.ReasonTooFew },
			),
			title: "Unverified: 1 reviewer votes here, 2 must approve", status: "completed/action_required",
			says: []string{
				"This is no pull request on which gemini and copilot vote",
				"**A maintainer**: Let more reviewers vote",
			},
		},
		{
			name: "person-is-missing", policy: func(p *quorum.Policy) { p.People = askedPeople(1) },
			d: with(decided(quorum.Unverified, approves("openai", 4), approves("gemini", 5)), func(d *quorum.Decision) {
				d.Reason, d.NeedPeople, d.MissingPeople = quorum.ReasonPeople, 1, askedPeople(1)
			}),
			title: "Unverified: 2 of 2 approvals; needs an approval by a person", status: "completed/action_required",
			says: []string{
				"Enough reviewers approve this commit, and nobody objects: 2 of 2 approvals. What is missing is an approval by a person.",
				"Review this commit and approve it: one such approval is enough.", "and a person besides",
			},
		},
		{
			name: "named-people-are-missing",
			policy: func(p *quorum.Policy) {
				p.People = askedPeople(1).And(askedPeople(1, "octo/owners", "alice")).And(askedPeople(2, "carol", "dan"))
			},
			d: with(decided(quorum.Unverified, approves("openai", 4), approves("gemini", 5)), func(d *quorum.Decision) {
				d.Reason, d.NeedPeople, d.People = quorum.ReasonPeople, 2, []quorum.StandIn{dave}
				d.MissingPeople, d.UnreadTeams = askedPeople(1, "octo/owners", "alice").And(askedPeople(1, "carol", "dan")), []string{"octo/owners"}
				x := bob
				x.Why = quorum.ReasonOthersAsked
				d.Unheard = []quorum.StandIn{x}
			}),
			title:  "Unverified: 2 of 2 approvals; dave approves; needs an approval by carol or dan and an approval by octo/owners or alice",
			status: "completed/action_required",
			says: []string{
				"2 of carol or dan and octo/owners or alice must approve this commit: each ",
				"bob [approves]", "and that does not count: the policy asks for other people here.",
				"GitHub does not say who is in octo/owners: the App needs members: read",
				"Review this commit and approve it: what is missing is an approval by carol or dan and an approval by octo/owners or alice.",
			},
		},
		{
			name: "vouch-in-place-of-people", policy: func(p *quorum.Policy) { p.People = askedPeople(1).And(askedPeople(2, "carol", "dan")) },
			d: with(decided(quorum.Passed, approves("openai", 4), approves("gemini", 5)), func(d *quorum.Decision) {
				d.Reason, d.NeedPeople, d.People = quorum.ReasonTally, 2, []quorum.StandIn{{Login: "alice", At: at(9), Vouch: true}}
			}),
			title:  "2 of 2 approvals; alice vouches for a change of their own in place of 2 of carol or dan, as nobody else may write",
			status: "completed/success",
			says: []string{
				"alice had a hand in this change, vouches for it and counts in place of 2 of carol or dan, as nobody else may write.",
				"2 of carol or dan must approve this commit: each a person with write permission who had no hand in the change. Whoever stands in",
			},
		},
		{
			name: "vouch-that-does-not-count", policy: func(p *quorum.Policy) { p.People, p.OwnChange = askedPeople(1), true },
			d: with(decided(quorum.Unverified, approves("openai", 4), approves("gemini", 5)), func(d *quorum.Decision) {
				d.Reason, d.NeedPeople, d.MissingPeople = quorum.ReasonPeople, 1, askedPeople(1)
				d.Unheard = []quorum.StandIn{{Login: "alice", Review: 9, At: at(9), Vouch: true, Why: quorum.ReasonOthersAsked}}
			}),
			title: "Unverified: 2 of 2 approvals; needs an approval by a person", status: "completed/action_required",
			says: []string{
				"alice vouches for the change, and that does not count: GitHub does not show that nobody else may write.",
			},
		},
		{
			name: "persons-approval-does-not-count", policy: func(p *quorum.Policy) { p.People = askedPeople(1) },
			d: with(decided(quorum.Unverified, approves("openai", 4), approves("gemini", 5)), func(d *quorum.Decision) {
				d.Reason, d.NeedPeople, d.MissingPeople = quorum.ReasonPeople, 1, askedPeople(1)
				for _, why := range []quorum.Reason{
					quorum.ReasonHadHand, quorum.ReasonHandsUnknown, quorum.ReasonMayNot, quorum.ReasonMoved, quorum.ReasonOldBase, quorum.ReasonEdited,
				} {
					x := bob
					x.Why = why
					d.Unheard = append(d.Unheard, x)
				}
			}),
			title: "Unverified: 2 of 2 approvals; needs an approval by a person", status: "completed/action_required",
			says: []string{
				"and that does not count: they opened this pull request, or wrote or pushed a commit of it.",
				"and that does not count: it is of an earlier commit.",
			},
		},
		{
			name: "objection-dismissed",
			d: decided(
				quorum.Passed, approves("openai", 4), dismissed(waits("gemini", quorum.ReasonNotReceived, 0)), approves("copilot", 4),
			),
			title: "2 of 2 approvals; objection of gemini dismissed by bob", status: "completed/success",
			says: []string{"bob dismissed the objection of gemini.", "| gemini | ➖ none | bob dismissed its objection |"},
		},
		{
			name: "people-of-two-kinds", policy: func(p *quorum.Policy) { p.People = askedPeople(2) },
			d: with(decided(quorum.Unverified, approves("openai", 4), fails("gemini", quorum.ReasonQuota, 1)), func(d *quorum.Decision) {
				d.Reason, d.NeedPeople, d.StandIns, d.People = quorum.ReasonPeople, 2, []quorum.StandIn{bob}, []quorum.StandIn{dave}
				d.MissingPeople = askedPeople(1)
			}),
			title:  "Unverified: 1 of 2 approvals; verified by bob; dave approves; needs one more approval by a person",
			status: "completed/action_required",
		},
		{
			name: "person-approves", policy: func(p *quorum.Policy) { p.People = askedPeople(1) },
			d: with(decided(quorum.Passed, approves("openai", 4), fails("gemini", quorum.ReasonQuota, 1)), func(d *quorum.Decision) {
				d.Reason, d.NeedPeople, d.StandIns, d.People = quorum.ReasonStandIn, 1, []quorum.StandIn{bob}, []quorum.StandIn{dave}
			}),
			title: "1 of 2 approvals; verified by bob; dave approves", status: "completed/success",
			says: []string{
				"and stands in for what is missing.", "dave [approved this commit]",
				"as the policy asks of a person.",
			},
		},
		{
			name: "persons-carried-over", policy: func(p *quorum.Policy) { p.People, p.Carry = askedPeople(1), quorum.CarrySameDiff },
			d: with(decided(quorum.Passed, approves("openai", 4), fails("gemini", quorum.ReasonQuota, 1)), func(d *quorum.Decision) {
				d.Reason, d.NeedPeople, d.StandIns, d.People = quorum.ReasonStandIn, 1, []quorum.StandIn{bob}, []quorum.StandIn{dave}
				d.StandIns[0].Carried, d.People[0].Carried = "1f7f530", "1f7f530"
			}),
			title: "1 of 2 approvals; verified by bob (carried over from 1f7f530); dave (carried over from 1f7f530) approves", status: "completed/success",
			says: []string{
				"bob [approved the same diff on `1f7f530`](https://github.com/acme/shop/pull/7#pullrequestreview-5) and stands in for what is missing.",
			},
		},
		{
			name: "person-objects", policy: func(p *quorum.Policy) { p.People = askedPeople(1) },
			d: with(decided(quorum.Blocked, approves("openai", 4), approves("gemini", 5)), func(d *quorum.Decision) {
				d.NeedPeople, d.Against, d.AgainstVote = 1, []string{"bob"}, true
			}),
			title: "Changes requested by bob", status: "completed/failure",
			says: []string{
				"**Blocked.** bob objects.", "Settle what bob asks for, and ask for a new review.",
				"Dismiss the review of bob",
			},
		},
		{
			name: "carried-over", policy: func(p *quorum.Policy) { p.Carry = quorum.CarrySameDiff },
			d:     decided(quorum.Passed, carried("openai", -20), carried("gemini", -18)),
			title: "2 of 2 approvals, carried over from 1f7f530", status: "completed/success",
			says: []string{
				"2 of 2 approvals, carried over from `1f7f530`.",
				"openai and gemini approved `1f7f530`, which has the same diff",
			},
		},
		{
			name:  "partly-carried-over",
			d:     decided(quorum.Passed, carried("openai", -20), flipped, approves("copilot", 3)),
			title: "3 approvals, 2 needed, 1 carried over from 1f7f530", status: "completed/success",
			says: []string{"openai approved on its third answer to this diff."},
		},
		{
			name:   "objected-before",
			policy: func(p *quorum.Policy) { p.Override = quorum.Maintain },
			d: with(decided(quorum.Unverified, approves("openai", 4), again, approves("copilot", 4)), func(d *quorum.Decision) {
				d.Reason = quorum.ReasonRequired
			}),
			title: "Unverified: required gemini (objected before) unavailable; 2 of 2 approvals", status: "completed/action_required",
			says: []string{
				"gemini (required: it objected before)",
				"The quorum cannot do without gemini: it objected last, to an earlier commit or against another base.",
			},
		},
		{
			name:  "objection-on-another-pull",
			d:     decided(quorum.Blocked, objects("openai", 4, quorum.Finding{Body: "It leaks."}), elsewhere),
			title: "Changes requested by openai; gemini objected on #6 (2 findings)", status: "completed/failure",
			says: []string{"openai objects and gemini objected on #6: ", "gemini objected on #6, which has the same added and removed lines"},
		},
		{
			name:   "objection-came-along",
			policy: func(p *quorum.Policy) { p.Override = quorum.Maintain },
			d:      decided(quorum.Blocked, approves("openai", 4), held, approves("copilot", 4)),
			rec: func(r *quorum.Record) {
				r.Objections = []quorum.Objection{{TextRef: held.Evidence, Reviewer: "gemini", Base: "main", At: at(5), Carried: "1f7f530", Diff: "d1"}}
				r.Diff = "d1"
				r.Commands = []quorum.Command{
					{ID: 1, Verb: quorum.CommandRerun, By: "carol", At: at(6), Base: "main", Reviewers: []string{"gemini"}},
					{ID: 2, Verb: quorum.CommandAccept, By: "carol", At: at(7), Base: "main", Refused: quorum.ReasonPermission},
					{ID: 3, By: "dave", At: at(8), Refused: quorum.ReasonUnclear},
					{ID: 4, Verb: quorum.CommandAccept, By: "dave", At: at(8), Base: "next", Reviewers: []string{"gemini"}},
				}
			},
			title: "Changes requested by gemini (1 finding)", status: "completed/failure",
			says: []string{
				"gemini objected to `1f7f530`, which has the same added and removed lines: that holds for this commit, too.",
				"**A maintainer (permission maintain or admin) who had no hand in the change**: Comment `/review-coordinator accept 3f2c1d9a5b6c <why>`",
				"that ends the objection of gemini.", "- carol, 14:06 UTC, `rerun`: gemini is run again.",
				"- carol, 14:07 UTC, `accept`: not heard, because ",
				"- dave, 14:08 UTC, a word that is none of ours: not heard, because it is no command that is known.",
			},
		},
		{
			name: "accepted-over", policy: func(p *quorum.Policy) { p.Override = quorum.Maintain },
			d: decided(quorum.Passed, approves("openai", 4), overridden("gemini"), approves("copilot", 4)),
			rec: func(r *quorum.Record) {
				r.Commands = []quorum.Command{{
					ID: 1, Verb: quorum.CommandAccept, By: "bob", At: at(8), Base: "main", Reviewers: []string{"gemini"}, Until: at(5),
					Reason: "@acme/everyone the [total](https://evil.example) is rounded later",
				}}
			},
			title: "2 of 2 approvals; objection of gemini accepted by bob", status: "completed/success",
			says: []string{
				"bob accepted the change over the objection of gemini.",
				"| gemini | ⚠️ unavailable | [bob accepted the change over its objection]",
				"- bob, 14:08 UTC, `accept`: ends what gemini had objected to, because: `@\u2060acme/everyone the [total](https://evil.example) is rounded later`",
			},
		},
		{
			name: "one-family", policy: func(p *quorum.Policy) {
				p.Families = quorum.DistinctFamily
				p.Reviewers[1].Family, p.Reviewers[2].Family = "google", "google"
			},
			d: with(decided(quorum.Unverified, fails("openai", quorum.ReasonQuota, 1), google(approves("gemini", 4)), google(approves("copilot", 4))),
				func(d *quorum.Decision) { d.Approvals = 1 }),
			title: "Unverified: 1 of 2 approvals; openai unavailable", status: "completed/action_required",
			says: []string{
				"2 reviewers of google count once: gemini and copilot.",
				"Quorum: 2 of 2 families of reviewers must approve",
			},
		},
	}
}

// Where nothing of this is used, the page has none of it.
func TestPlainPolicyHasNoRules(t *testing.T) {
	for _, g := range goldens() {
		if g.d.Lane.Name != "" || g.d.NeedPeople > 0 || len(laneNamesOf(g)) > 0 {
			continue
		}
		if c := g.render(); strings.Contains(c.Summary, headingRules) || strings.Contains(c.Summary, headingHeard) {
			t.Errorf("%s:\n%s", g.name, c.Summary)
		}
	}
}

// laneNamesOf names the golden if it is one of those above.
func laneNamesOf(g golden) (names []string) {
	for _, o := range laneGoldens() {
		if o.name == g.name {
			names = append(names, o.name)
		}
	}
	return names
}

// What waits for a reviewer without a vote that seems to object says so, and until when.
func TestDoubtInALaneWithoutReview(t *testing.T) {
	b := excused("gemini", quorum.ReasonDoubt)
	then := objects("gemini", 5)
	b.Vote, b.Excused, b.Deadline, b.Then = quorum.Pending, quorum.ReasonOtherLane, at(20), &then
	c := Render(policy(), snapshot(), inLane(decided(quorum.Waiting, b), quorum.LaneChoice{Name: "docs"}, 0), record(), places())
	if want := "No reviewer has to approve; waiting for gemini until 14:20 UTC"; c.Title != want {
		t.Errorf("%q, want %q", c.Title, want)
	}
	if !strings.Contains(c.Summary, "an objection seems to come") || !strings.Contains(c.Summary, "gemini has until 14:20 UTC to answer.") {
		t.Error(c.Summary)
	}
}

// A page tells of the newest words, and how many it leaves out; a policy of many lanes fills no page.
func TestManyLanesAndWords(t *testing.T) {
	rec, lane := record(), quorum.LaneChoice{Name: "a", Why: strings.Repeat("why ", 400)}
	for i := range 200 {
		rec.Commands = append(rec.Commands, quorum.Command{ID: int64(i), Verb: quorum.CommandRerun, By: "bob", At: start.Add(time.Duration(i) * time.Second)})
		lane.Added = append(lane.Added, quorum.LaneSaid{Name: strings.Repeat("lane", 20), Why: strings.Repeat("why ", 100), Less: i%2 == 0})
		lane.Not = append(lane.Not, quorum.LaneNot{Name: strings.Repeat("lane", 20), Reason: quorum.ReasonLaneGuard, Detail: strings.Repeat("x", 4000)})
	}
	d := inLane(decided(quorum.Waiting, waits("gemini", quorum.ReasonRunning, 20)), lane, 2)
	c := Render(policy(), snapshot(), d, rec, places())
	for _, says := range []string{"180 earlier words are not shown.", "192 more lanes count.", "192 more lanes ask less and are not for this pull request."} {
		if !strings.Contains(c.Summary, says) {
			t.Errorf("it does not say %q", says)
		}
	}
	if len(c.Summary) > 12<<10 || len(c.Text) > maxText {
		t.Errorf("%d and %d bytes", len(c.Summary), len(c.Text))
	}
	if _, ok := ParseRecord(c.Text); !ok {
		t.Error("no record")
	}
	if b := c.Page.Brief(); len(b.Rules) > briefItems || len(b.Heard) > briefItems {
		t.Errorf("%d rules, %d words are kept", len(b.Rules), len(b.Heard))
	}
}

// Of a record beyond all bounds, what another diff was objected to for outlives runs and words.
func TestRecordKeepsOtherDiffs(t *testing.T) {
	rec := record()
	for i := range 20 {
		rec.Objections = append(rec.Objections, quorum.Objection{
			Reviewer: "gemini", Base: "main", At: at(i), Excerpt: strings.Repeat("é", 600), URL: strings.Repeat("u", 200),
			Carried: "1f7f530", Diff: strings.Repeat("d", 64),
		}, quorum.Objection{Reviewer: "kim", Answered: true})
		rec.Commands = append(rec.Commands, quorum.Command{ID: int64(i), Verb: quorum.CommandAccept, By: "bob", Reason: strings.Repeat("because ", 60)})
	}
	for i := range 3000 {
		rec.Runs = append(rec.Runs, quorum.SeenRun{ID: int64(i), Attempt: 1, Started: at(i), Ended: at(i)})
	}
	got, ok := ParseRecord(Render(policy(), snapshot(), decided(quorum.Waiting), rec, places()).Text)
	if !ok || len(got.Objections) != 20 || got.Objections[0].Diff == "" || len(got.Commands) != 20 || len(got.Runs) == 0 {
		t.Fatalf("read %t: %d objections, %d words, %d runs", ok, len(got.Objections), len(got.Commands), len(got.Runs))
	}
	if len(rec.Objections) < 40 || rec.Objections[0].URL == "" || rec.Commands[0].Reason == "" {
		t.Error("the caller's record was changed")
	}
}

// askedPeople are so many people whose approvals a policy asks for, of those whom it names.
func askedPeople(n int, of ...string) quorum.People {
	return quorum.NewPeople(quorum.PeopleRule{Count: n, Of: of})
}
