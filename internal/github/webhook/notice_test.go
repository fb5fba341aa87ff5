package webhook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	commit = "0123456789abcdef0123456789abcdef01234567"

	groupRef = "refs/heads/gh-readonly-queue/release/2.0/pr-104-" + commit
	commit2  = "89abcdef0123456789abcdef0123456789abcdef"
	shop     = `"repository":{"id":1001,"full_name":"acme/shop"}`
)

var theGroup = quorum.GroupRef{
	Owner: "acme", Repo: "shop", Head: commit, Branch: "gh-readonly-queue/release/2.0/pr-104-" + commit,
}

func TestEventsNameTheirPullRequest(t *testing.T) {
	pulls := `"pull_requests":[{"number":7,"head":{"sha":"` + commit2 + `"},"base":{"repo":{"id":1001}}}]`
	for _, test := range []struct {
		title, name, payload string
		want                 Notice
	}{
		{
			"a push to a pull request", "pull_request",
			`{"action":"synchronize","before":"` + commit + `","pull_request":{"number":7},` + shop + `}`,
			Notice{Action: "synchronize", PRs: []int{7}, Before: commit},
		},
		{
			"from a public repository", "pull_request_target",
			`{"action":"opened","pull_request":{"number":7},"repository":{"full_name":"acme/shop","private":false}}`,
			Notice{Owner: "acme", Repo: "shop", Action: "opened", PRs: []int{7}, Blocked: true},
		},
		{
			"from a private repository", "pull_request_target",
			`{"action":"opened","pull_request":{"number":7},"repository":{"full_name":"acme/shop","private":true}}`,
			Notice{Owner: "acme", Repo: "shop", Action: "opened", PRs: []int{7}},
		},
		{"from a fork", "pull_request_target", `{"action":"opened","pull_request":{"number":7},` + shop + `}`, Notice{Action: "opened", PRs: []int{7}}},
		{
			"a review", "pull_request_review",
			`{"action":"submitted","before":"` + commit + `","pull_request":{"number":7},` + shop + `}`,
			Notice{Action: "submitted", PRs: []int{7}},
		},
		{
			"a comment on a pull request", "issue_comment",
			`{"action":"edited","issue":{"number":7,"pull_request":{}},` + shop + `}`,
			Notice{Action: "edited", PRs: []int{7}},
		},
		{
			"a comment on an issue", "issue_comment", `{"action":"created","issue":{"number":7,"pull_request":null},` + shop + `}`,
			Notice{Action: "created", Why: "the comment is on an issue, not on a pull request"},
		},
		{
			"a run whose pull request has moved on", "workflow_run",
			`{"action":"completed","workflow_run":{"id":5,"event":"pull_request","head_sha":"` + commit + `",` + pulls + `},` +
				shop + `}`,
			Notice{Action: "completed", PRs: []int{7}, Runs: []int64{5}},
		},
		{
			"a fork's run", "workflow_run",
			`{"action":"completed","workflow_run":{"id":5,"event":"pull_request","head_sha":"` + commit + `","pull_requests":[]},` +
				shop + `}`,
			Notice{
				Action: "completed", Head: commit, Runs: []int64{5},
				Why: "the run names no pull request of this repository, as those of forks do",
			},
		},
		{
			"a fork's run that names its branch", "workflow_run",
			`{"action":"completed","workflow_run":{"id":5,"event":"pull_request","head_sha":"` + commit +
				`","head_branch":"a b&c","head_repository":{"full_name":"mallory/shop"},"pull_requests":[]},` + shop + `}`,
			Notice{
				Action: "completed", Head: commit, Branch: "mallory:a b&c", Runs: []int64{5},
				Why: "the run names no pull request of this repository, as those of forks do",
			},
		},
		{
			"the run of a fork that is gone", "workflow_run",
			`{"action":"completed","workflow_run":{"id":5,"event":"pull_request","head_sha":"` + commit +
				`","head_branch":"main","head_repository":null,"pull_requests":[]},` + shop + `}`,
			Notice{
				Action: "completed", Head: commit, Runs: []int64{5},
				Why: "the run names no pull request of this repository, as those of forks do",
			},
		},
		{
			"null for a list", "workflow_run",
			`{"action":"requested","workflow_run":{"id":5,"event":"pull_request","head_sha":"` + commit +
				`","pull_requests":null},` + shop + `}`,
			Notice{
				Action: "requested", Head: commit, Runs: []int64{5},
				Why: "the run names no pull request of this repository, as those of forks do",
			},
		},
		{
			"a run on the default branch", "workflow_run",
			`{"action":"completed","workflow_run":{"id":5,"event":"issue_comment","head_sha":"` + commit +
				`","pull_requests":[]},` + shop + `}`,
			Notice{Action: "completed", Runs: []int64{5}, Why: "a run that issue_comment started is on no pull request's head"},
		},
		{
			"a pull request of a fork of ours", "check_suite",
			`{"action":"completed","check_suite":{"head_sha":"` + commit +
				`","pull_requests":[{"number":9,"base":{"repo":{"id":2002}}}]},` + shop + `}`,
			Notice{
				Action: "completed", Head: commit,
				Why: "the check suite names no pull request of this repository, as those of forks do",
			},
		},
		{
			"a check names it twice", "check_run",
			`{"action":"completed","check_run":{"head_sha":"` + commit + `",` + pulls + `,"check_suite":{` + pulls + `}},` + shop +
				`}`,
			Notice{Action: "completed", PRs: []int{7}},
		},
		{"a status", "status", `{"sha":"` + commit + `",` + shop + `}`, Notice{Head: commit, Why: "a status names a commit and no pull request"}},
		{"dispatched with a number", "workflow_dispatch", `{"inputs":{"pr":" #7 "},` + shop + `}`, Notice{PRs: []int{7}}},
		{"dispatched with a JSON number", "workflow_dispatch", `{"inputs":{"pr":7,"head":null},` + shop + `}`, Notice{PRs: []int{7}}},
		{
			"dispatched with a commit", "workflow_dispatch",
			`{"inputs":{"pr":"","head":"` + strings.ToUpper(commit) + `"},` + shop + `}`,
			Notice{Head: commit, Why: "the input head names a commit and no pull request"},
		},
		{
			"dispatched with nothing", "workflow_dispatch", `{"inputs":null,` + shop + `}`,
			Notice{Sweep: true, Why: "neither the input pr nor the input head is given"},
		},
		{"a schedule", "schedule", `{"schedule":"*/5 * * * *",` + shop + `}`, Notice{Sweep: true, Why: "a schedule names no pull request"}},
		{
			"a merge queue", "merge_group",
			`{"action":"checks_requested","merge_group":{"head_sha":"` + commit + `","head_ref":"` + groupRef + `"},` + shop + `}`,
			Notice{Action: "checks_requested", Group: &theGroup, Why: "a merge group's commit is no pull request's head"},
		},
		{
			"tomorrow's action of a merge queue", "merge_group", `{"action":"blessed","merge_group":null,` + shop + `}`,
			Notice{Action: "blessed", Why: "nothing is known of that action of a merge group"},
		},
		{
			"tomorrow's event", "moon_phase", `{"action":"waning",` + shop + `}`,
			Notice{Action: "waning", Why: `the event "moon_phase" names no pull request that we know of`},
		},
		{
			"an action that breaks the line", "status", `{"action":"a\n::error::b","sha":"` + commit + `",` + shop + `}`,
			Notice{Action: "a ::error::b", Head: commit, Why: "a status names a commit and no pull request"},
		},
	} {
		t.Run(test.title, func(t *testing.T) {
			test.want.Name, test.want.Owner, test.want.Repo = test.name, "acme", "shop"
			got, err := Parse(test.name, []byte(test.payload))
			if err != nil {
				t.Fatal(err)
			}
			got.Concern, got.Idle, got.Touch, got.App = 0, "", quorum.Touch{}, "" // see TestEventsConcern
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What a server does about an event, and what of it can spare a look.
func TestEventsConcern(t *testing.T) {
	const (
		ours  = `"installation":{"id":77},` + shop
		main  = `"installation":{"id":77},"repository":{"id":1001,"full_name":"acme/shop","default_branch":"main"}`
		head  = `"sha":"` + commit + `"`
		pr    = `"pull_request":{"number":7,"head":{` + head + `}}`
		pulls = `"pull_requests":[{"number":7,"base":{"repo":{"id":1001}}}]`
		group = `"merge_group":{"head_sha":"` + commit + `","head_ref":"` + groupRef + `"}`
	)
	for _, test := range []struct {
		title, name, payload string
		want                 Notice // Installation 77 unless it names none
	}{
		{
			"a push to a pull request", "pull_request", `{"action":"synchronize",` + pr + `,` + ours + `}`,
			Notice{Concern: ConcernPulls, Touch: quorum.Touch{Event: "pull_request", Action: "synchronize", Head: commit}},
		},
		{
			"a label", "pull_request", `{"action":"labeled",` + pr + `,` + ours + `}`,
			Notice{Concern: ConcernPulls, Touch: quorum.Touch{Event: "pull_request", Action: "labeled", Head: commit}},
		},
		{"a merge queue", "pull_request", `{"action":"enqueued",` + pr + `,` + ours + `}`, Notice{Concern: ConcernNothing, Idle: "enqueued decides nothing"}},
		{
			"a title", "pull_request", `{"action":"edited","changes":{"title":{"from":"x"}},` + pr + `,` + ours + `}`,
			Notice{Concern: ConcernNothing, Idle: "edited without a change of base decides nothing"},
		},
		{
			"another base", "pull_request", `{"action":"edited","changes":{"base":{"ref":{"from":"x"}}},` + pr + `,` + ours + `}`,
			Notice{Concern: ConcernPulls, Touch: quorum.Touch{Event: "pull_request", Action: "edited", Head: commit}},
		},
		{
			"tomorrow's action", "pull_request", `{"action":"blessed",` + pr + `,` + ours + `}`,
			Notice{Concern: ConcernPulls, Touch: quorum.Touch{Event: "pull_request", Action: "blessed", Head: commit}},
		},
		{
			"a review", "pull_request_review",
			`{"action":"edited","review":{"id":11,"body":null,"user":{"login":"gemini[bot]"}},` + pr + `,` + ours + `}`,
			Notice{
				Concern: ConcernPulls,
				Touch: quorum.Touch{
					Event: "pull_request_review", Action: "edited", Author: "gemini[bot]", Head: commit, Text: 11,
					Sum: "e3b0c44298fc1c14",
				},
			},
		},
		{
			"a remark", "pull_request_review",
			`{"action":"submitted","review":{"id":12,"state":"commented","body":null,"user":{"login":"mallory"}},` + pr + `,` + ours + `}`,
			Notice{
				Concern: ConcernPulls,
				Touch: quorum.Touch{
					Event: "pull_request_review", Action: "submitted", Author: "mallory", Head: commit, Text: 12,
					Sum: "e3b0c44298fc1c14", Remark: true,
				},
			},
		},
		{
			"a ghost's review", "pull_request_review", `{"action":"submitted","review":{"user":null},` + pr + `,` + ours + `}`,
			Notice{Concern: ConcernPulls, Touch: quorum.Touch{Event: "pull_request_review", Action: "submitted", Head: commit}},
		},
		{
			"a comment", "issue_comment",
			`{"action":"created","issue":{"number":7,"pull_request":{}},"comment":{"id":12,"body":"Looks\r\ngood\n","updated_at":"1970-01-01T00:01:00Z","user":{"login":"u"}},` + ours + `}`,
			Notice{
				Concern: ConcernPulls,
				Touch: quorum.Touch{
					Event: "issue_comment", Action: "created", Author: "u", Text: 12, At: 60, Sum: "7be312ff6e4d9abf",
				},
				Said: "Looks\r\ngood\n",
			},
		},
		{
			"a comment of a line", "pull_request_review_comment",
			`{"action":"created","comment":{"user":{"login":"u"}},` + pr + `,` + ours + `}`,
			Notice{
				Concern: ConcernPulls,
				Touch:   quorum.Touch{Event: "pull_request_review_comment", Action: "created", Author: "u", Head: commit},
			},
		},
		{
			"an issue's comment", "issue_comment", `{"action":"created","issue":{"number":7},` + ours + `}`,
			Notice{Concern: ConcernNothing, Idle: "the comment is on an issue, not on a pull request"},
		},
		{
			"a run", "workflow_run",
			`{"action":"completed","workflow_run":{"id":5,"path":".github/workflows/a.yml@main","head_sha":"` + commit + `",` +
				pulls + `},"workflow":{"path":"x"},` + ours + `}`,
			Notice{
				Concern: ConcernPulls,
				Touch: quorum.Touch{
					Event: "workflow_run", Action: "completed", Workflow: ".github/workflows/a.yml@main", Run: 5, Head: commit,
				},
			},
		},
		{
			"a fork's run without a path", "workflow_run",
			`{"action":"requested","workflow_run":{"id":5,"event":"pull_request","head_sha":"` + commit +
				`"},"workflow":{"path":".github/workflows/a.yml"},` + ours + `}`,
			Notice{
				Concern: ConcernHead,
				Touch: quorum.Touch{
					Event: "workflow_run", Action: "requested", Workflow: ".github/workflows/a.yml", Run: 5, Head: commit,
				},
			},
		},
		{
			"a run on no head", "workflow_run",
			`{"action":"completed","workflow_run":{"id":5,"event":"schedule","head_sha":"` + commit + `"},` + ours + `}`,
			Notice{Concern: ConcernNothing, Idle: "a run that schedule started is on no pull request's head"},
		},
		{
			"a check", "check_run",
			`{"action":"completed","check_run":{"name":"Bugbot  1","head_sha":"` + commit + `","app":{"slug":"cursor"},` + pulls +
				`},` + ours + `}`,
			Notice{
				Concern: ConcernPulls, App: "cursor",
				Touch: quorum.Touch{Event: "check_run", Action: "completed", App: "cursor", Name: "Bugbot  1", Head: commit},
			},
		},
		{
			"a check that is asked for again", "check_run",
			`{"action":"rerequested","check_run":{"name":"quorum","head_sha":"` + commit + `","app":{"slug":"quorum-app"},` +
				pulls + `},` + ours + `}`,
			Notice{Concern: ConcernPulls, App: "quorum-app"},
		},
		{
			"a button", "check_run",
			`{"action":"requested_action","check_run":{"name":"quorum","head_sha":"` + commit + `","app":{"slug":"quorum-app"},` +
				pulls + `},` + ours + `}`,
			Notice{
				Concern: ConcernNothing, Idle: "the button is none of ours",
			},
		},
		{
			"our button", "check_run",
			`{"action":"requested_action","requested_action":{"identifier":"rerun-reviewers"},"sender":{"login":"carol","id":12},` +
				`"check_run":{"name":"quorum","head_sha":"` + commit + `","app":{"slug":"quorum-app"},` + pulls + `},` + ours + `}`,
			Notice{
				Concern: ConcernPulls, App: "quorum-app",
				Touch: quorum.Touch{
					Event: "check_run", Action: "requested_action", App: "quorum-app", Name: "quorum", Head: commit, Author: "carol", By: 12,
				},
			},
		},
		{
			"a name of two lines", "check_run",
			`{"action":"completed","check_run":{"name":"a\nb","head_sha":"` + commit + `","app":{"slug":"x"}},` + ours + `}`,
			Notice{Concern: ConcernHead, App: "x"},
		},
		{
			"a suite", "check_suite",
			`{"action":"requested","check_suite":{"head_sha":"` + commit + `","app":{"slug":"quorum-app"}},` + ours + `}`,
			Notice{
				Concern: ConcernHead, App: "quorum-app",
				Touch: quorum.Touch{Event: "check_suite", Action: "requested", App: "quorum-app", Head: commit},
			},
		},
		{
			"a suite that is asked for again", "check_suite",
			`{"action":"rerequested","check_suite":{"head_sha":"` + commit + `","app":{"slug":"quorum-app"}},` + ours + `}`,
			Notice{Concern: ConcernHead, App: "quorum-app"},
		},
		{
			"a status", "status", `{"context":"ci/x",` + head + `,"sender":{"login":"coderabbitai[bot]"},` + ours + `}`,
			Notice{
				Concern: ConcernHead, Touch: quorum.Touch{Event: "status", Name: "ci/x", Author: "coderabbitai[bot]", Head: commit},
			},
		},
		{
			"a status of nowhere", "status", `{"context":"ci/x",` + head + `}`,
			Notice{
				Concern: ConcernNothing, Idle: "the payload names no repository",
				Touch: quorum.Touch{Event: "status", Name: "ci/x", Head: commit},
			},
		},
		{"a push to main", "push", `{"ref":"refs/heads/main","before":"` + commit + `",` + main + `}`, Notice{Concern: ConcernRepo}},
		{
			"a push elsewhere", "push", `{"ref":"refs/heads/mains",` + main + `}`,
			Notice{Concern: ConcernNothing, Idle: "the push is to another branch than the default one"},
		},
		{
			"a tag called main", "push", `{"ref":"refs/tags/main",` + main + `}`,
			Notice{Concern: ConcernNothing, Idle: "the push is to another branch than the default one"},
		},
		{
			"a push to nowhere", "push", `{"ref":"refs/heads/",` + ours + `}`,
			Notice{Concern: ConcernNothing, Idle: "the push is to another branch than the default one"},
		},
		{"a new name", "repository", `{"action":"renamed","changes":{"repository":{"name":{"from":"x"}}},` + main + `}`, Notice{Concern: ConcernRepo}},
		{
			"installed", "installation", `{"action":"created","installation":{"id":77},"repositories":[{"full_name":"acme/shop"}]}`,
			Notice{Concern: ConcernInstallation},
		},
		{"more permissions", "installation", `{"action":"new_permissions_accepted","installation":{"id":77}}`, Notice{Concern: ConcernInstallation}},
		{"back", "installation", `{"action":"unsuspend","installation":{"id":77}}`, Notice{Concern: ConcernInstallation}},
		{"suspended", "installation", `{"action":"suspend","installation":{"id":77}}`, Notice{Concern: ConcernSuspended}},
		{"gone", "installation", `{"action":"deleted","installation":{"id":77},"repositories":[{"full_name":"acme/shop"}]}`, Notice{Concern: ConcernGone}},
		{"deleted, it does not say what", "installation", `{"action":"deleted"}`, Notice{Concern: ConcernNothing, Idle: "the payload names no installation"}},
		{
			"a strange action", "installation", `{"action":"blessed","installation":{"id":77}}`,
			Notice{Concern: ConcernNothing, Idle: "nothing is known of that action"},
		},
		{
			"other repositories", "installation_repositories",
			`{"action":"added","installation":{"id":77},"repositories_added":[{"full_name":"acme/a"}],"repositories_removed":[{"full_name":"acme/b"}]}`,
			Notice{Concern: ConcernInstallation},
		},
		{"a ping", "ping", `{"zen":"x","hook":{}}`, Notice{Concern: ConcernNothing, Idle: "a ping asks for nothing"}},
		{
			"a dispatch, whose workflow is a path", "workflow_dispatch",
			`{"workflow":".github/workflows/a.yml","ref":"refs/heads/main","inputs":{"pr":"7"},` + ours + `}`,
			Notice{Concern: ConcernNothing, Idle: "it is for workflows"},
		},
		{"a merge group", "merge_group", `{"action":"checks_requested",` + group + `,` + ours + `}`, Notice{Concern: ConcernGroup}},
		{
			"a merge group that is no more", "merge_group", `{"action":"destroyed","reason":"merged",` + group + `,` + ours + `}`,
			Notice{Concern: ConcernGroupGone},
		},
		{
			"tomorrow's action of a merge group", "merge_group", `{"action":"blessed",` + group + `,` + ours + `}`,
			Notice{Concern: ConcernNothing, Idle: "nothing is known of that action of a merge group"},
		},
		{
			"tomorrow's event", "moon_phase", `{"comment":"a text",` + ours + `}`,
			Notice{Concern: ConcernNothing, Idle: `the event "moon_phase" names no pull request that we know of`},
		},
	} {
		t.Run(test.title, func(t *testing.T) {
			got, err := Parse(test.name, []byte(test.payload))
			if err != nil {
				t.Fatal(err)
			}
			holds(t, got)
			if strings.Contains(test.payload, `"installation"`) {
				test.want.Installation = 77
			}
			got = Notice{Installation: got.Installation, Concern: got.Concern, Idle: got.Idle, App: got.App, Touch: got.Touch, Said: got.Said}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What GitHub will say in an event of tomorrow nobody knows. Refused, it would be a failure in GitHub's books, and be
// asked for again and again.
func TestNothingOfAStrangeEventIsWrong(t *testing.T) {
	for _, test := range []struct {
		name, payload string
		want          Notice // beside what all have in common
	}{
		{"moon_phase", `{}`, Notice{}},
		{"moon_phase", `{"sender":"x"}`, Notice{}},
		{"moon_phase", `{"ref":{}}`, Notice{}},
		{"moon_phase", `{"sha":1,"before":[],"context":{}}`, Notice{}},
		{"moon_phase", `{"pull_request":7,"issue":"x","workflow_run":[],"check_suite":true}`, Notice{}},
		{
			"moon_phase", `{"check_run":"x","action":"waning","installation":{"id":77},` + shop + `}`,
			Notice{Action: "waning", Owner: "acme", Repo: "shop", Installation: 77},
		},
		{"moon_phase", `{"inputs":{"pr":true}}`, Notice{}},
		{"moon_phase", `{"changes":{"base":"main"}}`, Notice{}},
		{"ruleset", `{"changes":[1],"action":"edited"}`, Notice{Action: "edited"}},
		{"moon_phase", `{"action":{"of":"the moon"},"installation":{"id":77},` + shop + `}`, Notice{Owner: "acme", Repo: "shop", Installation: 77}},
		{"moon_phase", `{"action":"waning","installation":"x",` + shop + `}`, Notice{Action: "waning", Owner: "acme", Repo: "shop"}},
		{"moon_phase", `{"action":"waning","installation":{"id":"77"},` + shop + `}`, Notice{Action: "waning", Owner: "acme", Repo: "shop"}},
		{"moon_phase", `{"repository":"acme/shop","action":"waning","installation":{"id":77}}`, Notice{Action: "waning", Installation: 77}},
		{"moon_phase", `{"repository":{"id":"x","full_name":"acme/shop"}}`, Notice{Owner: "acme", Repo: "shop"}},
		{"moon_phase", `{"repository":{"full_name":7},"installation":{"id":77}}`, Notice{Installation: 77}},
		{"moon_phase", `{"repository":{"full_name":"acme/../evil"},"action":"waning"}`, Notice{Action: "waning"}},
		{"moon_phase", `{"repository":[],"installation":[],"action":[]}`, Notice{}},
		{"moon_phase", `{"repository":null,"installation":null,"action":null}`, Notice{}},
	} {
		t.Run(test.name+" "+test.payload, func(t *testing.T) {
			got, err := Parse(test.name, []byte(test.payload))
			if err != nil {
				t.Fatal(err)
			}
			holds(t, got)
			test.want.Name, test.want.Concern = test.name, ConcernNothing
			test.want.Why = `the event "` + test.name + `" names no pull request that we know of`
			test.want.Idle = test.want.Why
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// An event of a merge queue that is not what GitHub sends is an error, and never another branch's group.
func TestMergeGroupsAreReadWholeOrNotAtAll(t *testing.T) {
	const ref, noBranch = `"head_ref":"` + groupRef + `"`, "merge_group.head_ref is no merge queue's branch"
	at := func(ref string) string { return `{"head_sha":"` + commit + `","head_ref":"` + ref + `"}` }
	for _, test := range []struct{ group, want string }{
		{`null`, "merge_group is missing"},
		{`[]`, "merge_group is of the wrong type (array)"},
		{`{}`, "merge_group.head_sha is no full commit SHA"},
		{`{"head_sha":"0123456",` + ref + `}`, "merge_group.head_sha is no full commit SHA"},
		{`{"head_sha":7,` + ref + `}`, "merge_group.head_sha is of the wrong type (number)"},
		{`{"head_sha":"` + strings.Repeat("0", 40) + `",` + ref + `}`, "merge_group.head_sha is no full commit SHA"},
		{`{"head_sha":"` + commit + `"}`, "merge_group.head_ref is no merge queue's branch"},
		{at(`refs/heads/main`), noBranch},
		{at(`refs/heads/gh-readonly-queue/pr-7-` + commit), noBranch},
		{at(`refs/heads/gh-readonly-queue/main/pr-0-` + commit), noBranch},
		{at(`refs/heads/gh-readonly-queue/main/pr-x-` + commit), noBranch},
		{at(`refs/heads/gh-readonly-queue/main/pr-7-short`), noBranch},
		{at(`refs/heads/gh-readonly-queue/ma in/pr-7-` + commit), noBranch},
		{at(`refs/heads/gh-readonly-queue/a\n::b/pr-7-` + commit), noBranch},
	} {
		for _, action := range []string{"checks_requested", "destroyed"} {
			n, err := Parse("merge_group", []byte(`{"action":"`+action+`","merge_group":`+test.group+`,`+shop+`}`))
			if err == nil || err.Error() != "read event merge_group: "+test.want {
				t.Errorf("%s: %v, %+v", test.group, err, n)
			}
		}
	}
	if n, err := Parse("merge_group", []byte(`{"action":"checks_requested","merge_group":{"head_sha":"`+commit+`",`+ref+`}}`)); err == nil {
		t.Errorf("without a repository it is read as %+v", n)
	}
}

// What is known is read in full, so that a field of another type is seen: whatever of it the event needs.
func TestUnderstoodEventsAreReadInFull(t *testing.T) {
	for _, name := range []string{
		"pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread",
		"issue_comment", "workflow_run", "check_run",
		"check_suite", "status", "workflow_dispatch", "schedule", "merge_group", "ping", "push", "repository", "installation", "installation_repositories",
	} {
		for payload, want := range map[string]string{
			`{"sender":"x"}`: "sender is of the wrong type (string)", `{"repository":{"full_name":"acme"}}`: "repository.full_name is no owner/name",
		} {
			if e, err := Parse(name, []byte(payload)); err == nil || err.Error() != "read event "+name+": "+want {
				t.Errorf("%s %s: %v, %+v", name, payload, err, e)
			}
		}
	}
}

// BenchmarkParseEvent reads a payload of the size that GitHub's have.
func BenchmarkParseEvent(b *testing.B) {
	urls := strings.Repeat(`"archive_url":"https://api.github.com/repos/acme/shop/{archive_format}{/ref}","size":12345,"license":null,`, 95)
	payload := []byte(
		`{"action":"synchronize","pull_request":{"number":7,"body":"` + strings.Repeat(
			"words and words ",
			60,
		) + `","head":{"sha":"` + commit + `","repo":{` + urls + `"id":1}}},"sender":{` + urls + `"login":"u"},` + shop + `}`,
	)
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		if e, err := Parse("pull_request", payload); err != nil || e.Concern != ConcernPulls {
			b.Fatal(e, err)
		}
	}
}

// BenchmarkParseComment reads the payload of a comment as long as reviewers write them: its words are hashed.
func BenchmarkParseComment(b *testing.B) {
	body := strings.Repeat(`**Finding** in \u0060cart.go\u0060: it is \"emptied\" twice.\r\n`, 160)
	payload := []byte(
		`{"action":"created","issue":{"number":7,"pull_request":{},"body":"` + body + `"},"comment":{"id":12,"body":"` + body +
			`","updated_at":"1970-01-01T00:01:00Z","user":{"login":"u"}},` + shop + `}`,
	)
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		if e, err := Parse("issue_comment", payload); err != nil || e.Touch.Sum == "" {
			b.Fatal(e, err)
		}
	}
}

func TestPayloadsThatAreNotGitHubs(t *testing.T) {
	for _, test := range []struct{ name, payload, want string }{
		{"pull_request", ``, "payload is no JSON (at byte 0)"},
		{"pull_request", `{"pull_request":{"number":7}`, "payload is no JSON (at byte 28)"},
		{"pull_request", `[]`, "payload is no JSON object"},
		{"pull_request", `null`, "payload is null"},
		{"pull_request", `"{}"`, "payload is no JSON object"},
		{"moon_phase", ``, "payload is no JSON (at byte 0)"},
		{"moon_phase", `{"action":"waning"`, "payload is no JSON (at byte 18)"},
		{"moon_phase", `[]`, "payload is no JSON object"},
		{"moon_phase", `null`, "payload is null"},
		{"pull_request", `{}`, "pull_request.number is no pull request's"},
		{"pull_request", `{"pull_request":{"number":0}}`, "pull_request.number is no pull request's"},
		{"pull_request", `{"pull_request":{"number":-1}}`, "pull_request.number is no pull request's"},
		{"pull_request", `{"pull_request":{"number":9007199254740993}}`, "pull_request.number is no pull request's"},
		{"pull_request", `{"pull_request":{"number":"7"}}`, "pull_request.number is of the wrong type (string)"},
		{"pull_request", `{"pull_request":{"number":7.5}}`, "pull_request.number is of the wrong type (number)"},
		{"pull_request", `{"pull_request":{"number":1e99}}`, "pull_request.number is of the wrong type (number)"},
		{"pull_request", `{"pull_request":[7]}`, "pull_request is of the wrong type (array)"},
		{"pull_request", `{"pull_request":{"number":7},"repository":{"full_name":"acme/../evil"}}`, "repository.full_name is no owner/name"},
		{"pull_request", `{"pull_request":{"number":7},"repository":{"full_name":"acme/.."}}`, "repository.full_name is no owner/name"},
		{"pull_request", `{"pull_request":{"number":7},"repository":{"full_name":"acme"}}`, "repository.full_name is no owner/name"},
		{"issue_comment", `{"issue":{}}`, "issue.number is no issue's"},
		{"workflow_run", `{}`, "workflow_run.id is missing"},
		{"workflow_run", `{"workflow_run":{"id":5,"head_sha":"main"}}`, "workflow_run.head_sha is no full commit SHA"},
		{"workflow_run", `{"workflow_run":{"id":5,"pull_requests":[{}]}}`, "pull_requests holds one whose number is none"},
		{"check_run", `{}`, "check_run is missing"},
		{"check_suite", `{}`, "check_suite is missing"},
		{"check_suite", `{"check_suite":{"head_sha":"0000000000000000000000000000000000000000"}}`, "check_suite.head_sha is no full commit SHA"},
		{"status", `{"sha":"../../x"}`, "sha is no full commit SHA"},
		{"workflow_dispatch", `{"inputs":{"pr":"seven"}}`, `the input pr is "seven", which is no pull request's number`},
		{"workflow_dispatch", `{"inputs":{"pr":[7]}}`, "an input is neither a string nor a number"},
		{"workflow_dispatch", `{"inputs":{"head":"abc1234"}}`, "inputs.head is no full commit SHA"},
	} {
		t.Run(test.name+" "+test.payload, func(t *testing.T) {
			e, err := Parse(test.name, []byte(test.payload))
			if err == nil {
				t.Fatalf("read as %+v", e)
			}
			if want := "read event " + test.name + ": " + test.want; err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
	if _, err := Parse("status", make([]byte, MaxPayload+1)); err == nil || !strings.Contains(err.Error(), "25 MB") {
		t.Errorf("a payload that is too long: %v", err)
	}
}

// Each payload that GitHub's community has collected finds its pull request, or says why not.
func TestCollectedPayloads(t *testing.T) {
	found := map[string][2]int{} // by event: with a pull request, with a commit to find it by
	for name, payloads := range collected(t) {
		for _, payload := range payloads {
			e, err := Parse(name, payload)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, payload)
				continue
			}
			holds(t, e)
			n := found[name]
			if len(e.PRs) > 0 {
				n[0]++
			}
			if e.Head != "" {
				n[1]++
			}
			found[name] = n
		}
	}
	want := map[string][2]int{
		"pull_request": {20, 0}, "pull_request_review": {3, 0}, "pull_request_review_comment": {4, 0}, "pull_request_review_thread": {3, 0},
		"issue_comment": {0, 0}, // all of them are on issues
		"workflow_run":  {0, 1}, // the one pull request in them is another repository's; one was dispatched on a branch
		"check_run":     {6, 1}, "check_suite": {4, 3}, "status": {0, 2}, "workflow_dispatch": {0, 0}, "merge_group": {0, 0},
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Error(d)
	}
}

func collected(t testing.TB) map[string][]json.RawMessage {
	t.Helper()
	files, err := filepath.Glob("testdata/webhooks/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no payloads: %v", err)
	}
	all := make(map[string][]json.RawMessage)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var payloads []json.RawMessage
		if err := json.Unmarshal(text, &payloads); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = payloads
	}
	return all
}

// holds is what is true of every event, whoever wrote it.
func holds(t testing.TB, e Notice) {
	t.Helper()
	_, _, whole := untrusted.SplitFullName(e.Owner + "/" + e.Repo)
	switch {
	case (len(e.PRs) == 0) != (e.Why != ""):
		t.Errorf("%+v: a pull request, or the reason why not", e)
	case len(e.PRs) > 0 && slices.Min(e.PRs) <= 0:
		t.Errorf("%+v: no number", e)
	case len(slices.Compact(slices.Sorted(slices.Values(e.PRs)))) != len(e.PRs):
		t.Errorf("%+v: a number twice", e)
	case e.Head != parseSHA(e.Head) || e.Before != parseSHA(e.Before):
		t.Errorf("%+v: no SHA", e)
	case (e.Group != nil) != (e.Concern == ConcernGroup || e.Concern == ConcernGroupGone):
		t.Errorf("%+v: a merge group", e)
	case e.Group != nil && (!e.Group.IsValid() || e.Group.Owner != e.Owner || e.Group.Repo != e.Repo || e.Group.Named().Number == 0):
		t.Errorf("%+v: no merge group", e)
	case (e.Owner == "") != (e.Repo == "") || !whole && e.Owner != "":
		t.Errorf("%+v: no repository", e)
	case e.Concern < ConcernNothing || e.Concern > ConcernGroupGone || (e.Concern == ConcernNothing) != (e.Idle != ""):
		t.Errorf("%+v: something to do, or the reason why not", e)
	case e.Concern == ConcernPulls && len(e.PRs) == 0,
		e.Concern == ConcernHead && e.Head == "",
		e.Concern <= ConcernRepo && e.Concern > ConcernNothing && e.Repo == "",
		e.Concern > ConcernRepo && e.Group == nil && e.Installation <= 0:
		t.Errorf("%+v: nothing to do it with", e)
	case !isPlainLine(e.Touch.Workflow+e.Touch.App+e.Touch.Name+e.Touch.Author, 1000) || e.Touch.Head != parseSHA(e.Touch.Head):
		t.Errorf("%+v: no plain touch", e)
	case strings.ContainsAny(e.Name+e.Action+e.Why+e.Idle, "\n\r\x1b"):
		t.Errorf("%+v: more than a line", e)
	}
}

func FuzzParseEvent(f *testing.F) {
	for name, payloads := range collected(f) {
		for _, payload := range payloads {
			f.Add(name, []byte(payload))
		}
	}
	f.Add("workflow_dispatch", []byte(`{"inputs":{"pr":"7","head":"`+commit+`"}}`))
	f.Add("schedule", []byte(`{"schedule":"* * * * *"}`))
	f.Add("push", []byte(`{"ref":"refs/heads/main","repository":{"full_name":"acme/shop","default_branch":"main"},"installation":{"id":7}}`))
	f.Add("installation", []byte(`{"action":"created","installation":{"id":7},"repositories":[{"full_name":"acme/shop"}]}`))
	f.Add(
		"installation_repositories",
		[]byte(`{"action":"removed","installation":{"id":7},"repositories_added":[],"repositories_removed":[{"full_name":"acme/shop"}]}`),
	)
	f.Add("repository", []byte(`{"action":"transferred","changes":{"owner":{}},`+shop+`}`))
	f.Add("check_run", []byte(`{"action":"rerequested","check_run":{"name":"x","head_sha":"`+commit+`","app":{"slug":"y"}},`+shop+`}`))
	f.Add("pull_request", []byte(`{"action":"edited","changes":{"base":{}},"pull_request":{"number":7,"head":{"sha":"`+commit+`"}},`+shop+`}`))
	f.Add("moon_phase", []byte(`{"action":7,"sender":"x","inputs":{"pr":true},"repository":{"full_name":"acme"},"installation":{"id":"x"}}`))
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		e, err := Parse(name, payload)
		if err != nil {
			if text := bytes.TrimSpace(payload); !isUnderstood(untrusted.OneLine(name, 50)) && json.Valid(text) && text[0] == '{' {
				t.Errorf("%q, of which nothing is known, is refused: %v", name, err)
			}
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("more than a line: %q", err)
			}
			return
		}
		holds(t, e)
	})
}

// A press is told from every other by its delivery, and is no news of our own check.
func TestPress(t *testing.T) {
	n := Notice{Installation: 7, Concern: ConcernPulls, App: "quorum-app", Touch: quorum.Touch{Event: "check_run", Action: "requested_action"}}
	n.SetPress("0a1b", time.Unix(1000, 0))
	again, other := n, n
	again.SetPress("0a1b", time.Unix(1000, 0))
	other.SetPress("0a1c", time.Unix(1000, 0))
	if n.Touch.Press >= 0 || n.Touch != again.Touch || n.Touch.Press == other.Touch.Press {
		t.Errorf("the presses are %d, %d and %d", n.Touch.Press, again.Touch.Press, other.Touch.Press)
	}
	if n.ForApp("quorum-app").Concern != ConcernPulls {
		t.Error("a press of our own check's button concerns nobody")
	}
}
