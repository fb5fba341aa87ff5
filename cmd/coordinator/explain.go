package main

// coordinator explain: why the check says what it says. It only reads.

import (
	"context"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

type explainCmd struct {
	PR     string `arg:"" name:"pull-request" help:"The pull request: 7, OWNER/NAME#7 or its address."`
	Repo   string `help:"The repository of a number. Default: GITHUB_REPOSITORY, else the clone's origin." placeholder:"OWNER/NAME"`
	Policy string `help:"Ask what this policy file on your machine would say instead." placeholder:"FILE"`
	JSON   bool   `name:"json" help:"Print the decision and the evidence as JSON."`
	organisationFlag
}

// An explanation is the answer as --json prints it.
type explanation struct {
	Check    string                `json:"check"`
	Status   string                `json:"status"`
	Title    string                `json:"title"`
	Page     report.Page           `json:"page"` // what the check's page says, as data
	Decision quorum.Decision       `json:"decision"`
	Evidence []evidence.Considered `json:"evidence"`
	Answers  []answersHeard        `json:"answers,omitempty"`
	Policy   []quorum.Origin       `json:"policy,omitempty"` // from where its keys come, where an organisation's policy is known
}

// answersHeard are a reviewer's newest answers, on the pull requests of the repository that changed last.
type answersHeard struct {
	quorum.Drift
	Says string `json:"says,omitempty"` // what a person should know
}

// Run reads the pull request and prints the votes, the evidence and the next change.
func (cmd explainCmd) Run(ctx context.Context, c *command) error {
	if err := cmd.checkRepository(); err != nil {
		return err
	}
	pr, err := c.resolvePull(cmd.PR, cmd.Repo, "explain "+oneLine(clipArgument(cmd.PR)))
	if err != nil {
		return err
	}
	var policy []byte
	if cmd.Policy != "" { // before anything is asked for
		if policy, err = readPolicyFile(cmd.Policy); err != nil {
			return err
		}
	}
	api, in, err := c.connectGitHub(ctx, pr.Owner, pr.Repo, readAccess)
	if err != nil {
		return err
	}
	forge := github.WithPolicyRepository(github.NewForge(api, in.Slug, "", c.newLogger()), cmd.PolicyRepository)
	if cmd.Policy != "" {
		forge.Suppose(cmd.Policy, policy)
	}
	look, err := (&loop.Reconciler{Forge: forge, Places: placesOf(c.Getenv("GITHUB_API_URL")), Hear: c.hearOnGitHub(forge)}).Look(ctx, pr)
	if err != nil {
		return readAccess.explainRefusal(err)
	}
	considered := evidence.Consider(look.Policy, look.Snapshot)
	drifts := quorum.DriftsOf(look.Policy, look.Snapshot.Heard)
	if cmd.JSON {
		e := explanation{
			Check: look.Check.Name, Status: stateOf(look.Check), Title: look.Check.Title, Page: look.Check.Page,
			Decision: look.Decision, Evidence: considered, Policy: look.Policy.Origins,
		}
		for _, d := range drifts {
			e.Answers = append(e.Answers, answersHeard{d, report.DriftSentence(d)})
		}
		return c.writeJSON(e)
	}
	fmt.Fprintln(c.Stdout, paintIf(c.Color, hintStyle, fmt.Sprintf("%s at %.7s", pr, look.Snapshot.PR.Head))+"\n")
	fmt.Fprint(c.Stdout, look.Check.Page.Terminal(c.pageStyles(), look.Decision.Start))
	for _, line := range report.PlainDrifts(drifts) {
		fmt.Fprintln(c.Stdout, "\n"+paintIf(c.Color, warningStyle, line))
	}
	if origins := describeOrigins(look.Policy.Origins); origins != "" {
		fmt.Fprint(c.Stdout, "\n"+origins)
	}
	if len(considered) > 0 {
		fmt.Fprintln(c.Stdout, "\n"+paintIf(c.Color, headingStyle, "Evidence:"))
	}
	for _, e := range considered {
		verdict := paintIf(c.Color, verdictStyle(e.Outcome.String()), e.Outcome.String())
		if e.Rejected != "" {
			verdict = paintIf(c.Color, hintStyle, oneLine("not counted: "+e.Rejected))
		}
		at := paintIf(c.Color, hintStyle, e.At.UTC().Format(time.DateTime))
		fmt.Fprintf(c.Stdout, "  %s  %s %d of %s: %s\n", at, e.Text.Kind, e.Text.ID, e.Reviewer, verdict)
	}
	if w := look.Decision.Wake; !w.IsZero() {
		fmt.Fprintf(c.Stdout, "\nBy itself this can next change at %s.\n", w.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	return nil
}

// hearOnGitHub returns what tells a look how reviewers answered on other pull requests: our checks there, which one
// query brings. It is advice: where it cannot be read, nothing is known.
func (c *command) hearOnGitHub(forge *github.Forge) func(context.Context, quorum.PR, []quorum.HeardAnswer) []quorum.HeardAnswer {
	return func(ctx context.Context, pr quorum.PR, found []quorum.HeardAnswer) []quorum.HeardAnswer {
		heard, err := forge.RecentAnswers(ctx, pr.Owner, pr.Repo)
		if err != nil {
			c.newLogger().Warn("whether reviewers are understood on other pull requests is not known",
				oplog.PullRequest(pr), "err", err)
		}
		return quorum.NewestAnswers(append(heard, found...))
	}
}
