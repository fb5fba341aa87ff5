package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What the rows of the table are made of.
const (
	orgReviewers = "reviewers:\n  - {name: openai, check: AI review, app: openai-reviewer, verdict: conclusion}\n  - {name: sage, author: 'sage[bot]'}\n"
	orgDefault   = "quorum: 2\ngrace: 5m\n" + orgReviewers
	orgEnforces  = orgReviewers + "enforce: {reviewers: [openai]}\n"
	orgStrict    = orgReviewers + "override: none\nenforce: {reviewers: [openai], quorum: 2, people: 1}\n"
	orgRules     = "enforce: {quorum: 2, people: 1}\n"
	orgLanes     = orgEnforces + "lanes:\n  - {name: docs, if: {all_paths: [docs/**]}, quorum: 1, people: 0, grace: 1m, reviewers: [sage]}\n"
	ownReviewer  = "reviewers:\n  - {name: mine, author: 'mine[bot]'}\n"
	ownTwo       = ownReviewer + "  - {name: other, author: 'other[bot]'}\n"
	ownLane      = "lanes:\n  - {name: docs, if: {all_paths: [docs/**]}, "
)

// TestOrganisationsAndRepositories: what holds of an organisation's policy and a repository's, and from where. A
// reviewer that is required has a !, one that is not as the organisation describes it its author; of keys that are as
// Default has them nothing is said.
func TestOrganisationsAndRepositories(t *testing.T) {
	for _, row := range []struct{ name, org, repo, want string }{
		// As defaults.
		{"no organisation's policy", "", ownReviewer, "mine/1"},
		{"no file: the organisation's", orgDefault, "", "openai+sage/2 grace=5m0s < organization: quorum grace openai sage"},
		{"a file of its own", orgDefault, ownReviewer, "mine/1 < repository: mine"},
		{"nothing is extended by itself", orgReviewers + "comment: on_problem\n", ownReviewer, "mine/1 < repository: mine"},
		{"no file, and no reviewers in the organisation's", orgRules, "", "none"},

		// Enforced, and kept.
		{"no file: enforced, too", orgStrict, "", "openai!+sage/2+1p < organization: override sage < enforce: quorum people openai"},
		{"a required reviewer is added", orgEnforces, ownReviewer, "mine+openai!/2 < repository: mine < enforce: openai"},
		{
			"a stricter file stays as it is", orgEnforces, "quorum: all\npeople: 2\n" + ownReviewer,
			"mine+openai!/2+2p < repository: quorum people mine < enforce: openai",
		},
		{
			"a reviewer of its own may be required, too", orgEnforces, "reviewers:\n  - {name: mine, author: 'mine[bot]', required: true}\n",
			"mine!+openai!/2 < repository: mine < enforce: openai",
		},
		{"an organisation that tries it out", "mode: report\n" + orgEnforces, ownReviewer, "mine+openai!/2 < repository: mine < enforce: openai"},
		{
			"that it does not hold back either", "mode: report\n" + orgEnforces, "mode: 'off'\n" + ownReviewer,
			"mine+openai!/2 report < repository: mine < enforce: mode openai",
		},
		{"the organisation's own lane", orgLanes, "", "openai!+sage/2 docs:1/0p/1m0s/sage,openai < organization: sage < enforce: lanes openai"},
		{
			"nor does that go below what is enforced", strings.Replace(orgLanes, "[openai]}", "[openai], quorum: 2, people: 1}", 1), "",
			"openai!+sage/2+1p docs:2/1p/1m0s/sage,openai < organization: sage < enforce: quorum people lanes openai",
		},

		// Somebody who owns a repository tries to loosen it.
		{
			"a reserve of its own for who is enforced is a shadow", orgEnforces,
			"quorum: all\n" + ownReviewer + "  - {name: other, author: 'other[bot]', instead_of: openai}\n",
			"mine+other+openai!/2 other=other[bot] < repository: quorum mine other < enforce: openai",
		},
		{"mode: off", orgEnforces, "mode: 'off'\n" + ownReviewer, "mine+openai!/2 < repository: mine < enforce: mode openai"},
		{"mode: report", orgEnforces, "mode: report\n" + ownReviewer, "mine+openai!/2 < repository: mine < enforce: mode openai"},
		{"another account votes in its name", orgEnforces, "reviewers:\n  - {name: openai, author: 'mine[bot]'}\n", "openai!/1 < enforce: openai"},
		{
			"another App's check does", orgEnforces, "reviewers:\n  - {name: openai, check: AI review, app: mine, verdict: conclusion}\n",
			"openai!/1 < enforce: openai",
		},
		{
			"a workflow of its own does", orgEnforces, "reviewers:\n  - {name: openai, workflow: .github/workflows/yes.yml, verdict: conclusion}\n",
			"openai!/1 < enforce: openai",
		},
		{
			"another name for it", orgEnforces, "reviewers:\n  - {name: twin, check: AI review, app: openai-reviewer, verdict: conclusion}\n" +
				ownLane + "reviewers: [twin]}\n", "openai!/1 docs:1/openai < repository: lanes < enforce: openai",
		},
		{
			"another check of its App", orgEnforces, ownReviewer + "  - {name: twin, check: Lint, app: openai-reviewer, verdict: conclusion}\n",
			"mine+openai!/2 < repository: mine < enforce: openai",
		},
		{
			"another name of the check", "check: Ours\n" + orgEnforces, "check: Another\n" + ownReviewer,
			"mine+openai!/2 check=Ours < repository: mine < enforce: check openai",
		},
		{"the default name of the check", orgEnforces, "check: Another\n" + ownReviewer, "mine+openai!/2 < repository: mine < enforce: check openai"},
		{"in other letters", orgEnforces, "reviewers:\n  - {name: OpenAI, author: 'mine[bot]'}\n", "openai!/1 < enforce: openai"},
		{"twice", orgEnforces, "reviewers:\n  - {name: openai, author: 'a[bot]'}\n  - {name: OPENAI, author: 'b[bot]'}\n", "broken: a second reviewer"},
		{"it is a shadow", orgEnforces, "reviewers:\n  - {name: openai, check: AI review, app: openai-reviewer, verdict: conclusion, shadow: true}\n" +
			"  - {name: mine, author: 'mine[bot]'}\n", "openai!+mine/2 < repository: mine < enforce: openai"},
		{
			"it votes on some paths only", orgEnforces,
			"reviewers:\n  - {name: openai, author: 'x[bot]', when: {any_path: [never/**]}}\n", "openai!/1 < enforce: openai",
		},
		{"it has a second", orgEnforces, "reviewers:\n  - {name: openai, author: 'x[bot]', timeout: 1s}\n", "openai!/1 < enforce: openai"},
		{
			"everybody has a second", orgEnforces, "timeout: 1s\ndeadline: 1s\ngrace: 0s\n" + ownReviewer,
			"mine+openai!/2 < repository: mine < enforce: grace timeout deadline openai",
		},
		{
			"its words mean another thing", orgReviewers + "enforce: {reviewers: [sage]}\n",
			"reviewers:\n  - {name: sage, author: 'sage[bot]', verdict: {approve: [nope], object: [fine]}, min_severity: critical}\n",
			"sage!/1 < enforce: sage",
		},
		{
			"its conclusion counts twice", orgEnforces, "reviewers:\n  - {name: twin, check: AI review, app: openai-reviewer, verdict: conclusion}\n",
			"openai!/1 < enforce: openai",
		},
		{
			"its texts are another's, too", orgReviewers + "enforce: {reviewers: [sage]}\n", "reviewers:\n  - {name: twin, author: 'sage[bot]'}\n",
			"sage!/1 < enforce: sage",
		},
		{"a lower quorum", orgRules, "quorum: 1\n" + ownTwo, "mine+other/2+1p < repository: mine other < enforce: quorum people"},
		{"a quorum that nobody reaches", orgRules, ownReviewer, "broken: a quorum of 2, which the organisation enforces, can never be reached"},
		{
			"voters that are shadows", orgRules, ownReviewer + "  - {name: other, author: 'other[bot]', shadow: true}\n",
			"broken: a quorum of 2, which the organisation enforces, can never be reached",
		},
		{"nobody is asked", orgRules, "people: 0\n" + ownTwo, "mine+other/2+1p < repository: mine other < enforce: quorum people"},
		{"nobody can be asked", orgRules, "stand_in: none\n" + ownTwo, "broken: a person's approval can never be had"},
		{
			"anybody stands in", "stand_in: admin\n" + orgRules, "stand_in: write\n" + ownTwo,
			"mine+other/2+1p stand_in=admin < repository: mine other < enforce: quorum stand_in people",
		},
		{
			"its owner accepts over objections", orgStrict, "override: maintain\n" + ownReviewer,
			"mine+openai!/2+1p < repository: mine < enforce: quorum override people openai",
		},
		{
			"authors end objections", orgStrict, "threads: anyone\n" + ownReviewer,
			"mine+openai!/2+1p < repository: mine < enforce: quorum threads people openai",
		},
		{
			"who may accept, where it does not say so", "override: admin\n" + orgEnforces, ownReviewer,
			"mine+openai!/2 override=admin < repository: mine < enforce: override openai",
		},
		{"approvals outlive a push", orgEnforces, "carry: same_diff\n" + ownReviewer, "mine+openai!/2 < repository: mine < enforce: carry openai"},
		{
			"two of one family", "families: distinct\n" + orgRules, "families: any\n" + ownTwo,
			"mine+other/2+1p distinct < repository: mine other < enforce: quorum families people",
		},
		{
			"nothing is guarded", orgEnforces, "guard: ['!.github/**']\n" + ownReviewer,
			"mine+openai!/2 guard=!.github/**,.github/workflows/**,.github/actions/** < repository: mine < enforce: guard openai",
		},
		{
			"a lane without a review", orgStrict, ownReviewer + ownLane + "quorum: none}\n",
			"mine+openai!/2+1p docs:2 < repository: lanes mine < enforce: quorum people openai",
		},
		{
			"a lane without it", orgStrict, ownReviewer + ownLane + "reviewers: [mine], quorum: 1}\n",
			"mine+openai!/2+1p docs:2/mine,openai < repository: mine < enforce: quorum people lanes openai",
		},
		{
			"a lane without people", orgStrict, ownReviewer + ownLane + "people: 0}\n",
			"mine+openai!/2+1p docs:2/1p < repository: mine < enforce: quorum people lanes openai",
		},
		{
			"a lane where all is laxer", orgStrict, ownReviewer + ownLane + "override: maintain, threads: anyone, grace: 0s, timeout: 1s, deadline: 1s}\n",
			"mine+openai!/2+1p docs:2/3m0s/10m0s/45m0s/none/others < repository: mine < enforce: quorum people lanes openai",
		},
		{"it enforces something itself", orgEnforces, ownReviewer + "enforce: {quorum: 1}\n", "broken: only an organisation's policy enforces"},
		{"a broken file", orgEnforces, "mode: perhaps\n" + ownReviewer, "broken: not one of"},

		// What an organisation cannot mean.
		{"it requires a stranger", orgReviewers + "enforce: {reviewers: [owl]}\n", ownReviewer, "organisation broken: there is no reviewer"},
		{
			"it requires a shadow", "reviewers:\n  - {name: a, author: 'a[bot]'}\n  - {name: b, author: 'b[bot]', shadow: true}\nenforce: {reviewers: [b]}\n", "",
			"organisation broken: is a shadow",
		},
		{"it enforces nothing", orgReviewers + "enforce: {}\n", "", "organisation broken: it enforces nothing"},
		{"it says nothing", "mode: report\n", "", "organisation broken: neither who reviews"},
		{"a least quorum of nobody", "reviewers:\n  - {name: a, author: 'a[bot]'}\nenforce: {quorum: 2}\n", "", "organisation broken: can never be reached"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := whatHolds(t, row.org, row.repo)
			isIt := got == row.want
			if file, reason, isBroken := strings.Cut(row.want, "broken: "); isBroken {
				isIt = strings.HasPrefix(got, file+"broken: ") && strings.Contains(got, reason)
			}
			if !isIt {
				t.Errorf("it holds\n  %s\nwant\n  %s", got, row.want)
			}
		})
	}
}

// whatHolds says in a line what two files come to.
func whatHolds(t *testing.T, org, repo string) string {
	t.Helper()
	var o *Organisation
	if org != "" {
		var err error
		if o, err = ParseOrganisation("org.yml", []byte(org)); err != nil {
			return "organisation broken: " + err.Error()
		}
	}
	var p quorum.Policy
	switch {
	case repo != "":
		var err error
		if p, err = Merge("repo.yml", []byte(repo), o); err != nil {
			return "broken: " + err.Error()
		}
	case o == nil || !o.NamesReviewers():
		return "none"
	default:
		p = o.Policy()
	}
	return saysPolicy(p) + saysOrigins(p)
}

// saysPolicy says of a policy what is not as by default.
func saysPolicy(p quorum.Policy) string {
	var names, more []string
	for _, r := range p.Reviewers {
		name := r.Name
		if r.Required {
			name += "!"
		}
		names = append(names, name)
		isOpenAI := r.App == "openai-reviewer" && r.Check == "AI review" && r.Timeout == 10*time.Minute
		isSage := r.Author == "sage[bot]" && r.Verdict.Kind == quorum.Auto && r.MinSeverity == quorum.SeverityAny
		if r.Name == "openai" && !isOpenAI || r.Name == "sage" && !isSage || r.Shadow || r.When.Names() {
			more = append(more, r.Name+"="+r.Author)
		}
	}
	text := fmt.Sprintf("%s/%d", strings.Join(names, "+"), p.NeedOf(p.Voters()))
	if p.Need != p.NeedOf(p.Voters()) {
		text += "(!)"
	}
	if len(p.People) > 0 {
		text += fmt.Sprintf("+%dp", p.People.Least())
	}
	d, _ := Parse("", []byte(ownReviewer))
	say := func(differs bool, word string) {
		if differs {
			text += " " + word
		}
	}
	say(p.Check != d.Check, "check="+p.Check)
	say(p.Mode == quorum.ReportOnly, "report")
	say(p.Mode == quorum.Off, "off")
	say(p.Grace != d.Grace, "grace="+p.Grace.String())
	say(p.Timeout != d.Timeout, "timeout="+p.Timeout.String())
	say(p.Deadline != d.Deadline, "deadline="+p.Deadline.String())
	say(p.StandIn != d.StandIn, "stand_in="+saysPermission(p.StandIn))
	say(p.Override != d.Override, "override="+saysPermission(p.Override))
	say(p.Threads != d.Threads, "threads=anyone")
	say(p.Carry != d.Carry, "carry=same_diff")
	say(p.Families != d.Families, "distinct")
	say(strings.Join(p.Guard, ",") != strings.Join(d.Guard, ","), "guard="+strings.Join(p.Guard, ","))
	say(p.Retry != d.Retry, fmt.Sprintf("retry=%d/%s", p.Retry.Max, p.Retry.Backoff))
	for _, m := range more {
		text += " " + m
	}
	for i := range p.Lanes {
		text += saysLane(p, &p.Lanes[i])
	}
	return text
}

func saysLane(p quorum.Policy, l *quorum.Lane) string {
	in := p.InLane(l)
	text := fmt.Sprintf(" %s:%d", l.Name, in.NeedOf(in.Voters()))
	if in.NeedsNoReview() {
		text += "(no review)"
	}
	if l.People != nil {
		text += fmt.Sprintf("/%dp", l.People.Least())
	}
	for _, d := range []*time.Duration{l.Grace, l.Timeout, l.Deadline} {
		if d != nil {
			text += "/" + d.String()
		}
	}
	if l.Override != nil {
		text += "/" + saysPermission(*l.Override)
	}
	if l.Threads != nil {
		text += map[quorum.ThreadsBy]string{quorum.ByOthers: "/others", quorum.ByAnyone: "/anyone"}[*l.Threads]
	}
	if l.Voters != nil {
		text += "/" + strings.Join(l.Voters, ",")
	}
	return text
}

func saysPermission(p quorum.Permission) string {
	return [...]string{"none", "write", "maintain", "admin"}[p]
}

// saysOrigins says which keys come from where, but for those that nobody said.
func saysOrigins(p quorum.Policy) (text string) {
	for _, from := range []quorum.KeySource{quorum.FromRepository, quorum.FromOrganisation, quorum.FromEnforce} {
		var keys []string
		for _, o := range p.Origins {
			if o.From == from {
				keys = append(keys, strings.TrimPrefix(o.Key, "reviewers."))
			}
		}
		if len(keys) > 0 {
			text += fmt.Sprintf(" < %s: %s", from, strings.Join(keys, " "))
		}
	}
	return text
}
