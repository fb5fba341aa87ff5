package main

// coordinator explain: why the check says what it says. It only reads.

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

type explainCmd struct {
	PR     string `arg:"" name:"pull-request" help:"The pull request, as OWNER/NAME#N."`
	Config string `                           help:"Ask what this policy file would say instead." placeholder:"FILE"`
	JSON   bool   `       name:"json"         help:"Print the decision and the evidence as JSON."`
}

// Help is shown by coordinator explain --help.
func (explainCmd) Help() string {
	return `Shows the vote of each reviewer and why, the texts that were used as evidence and those that were not with the reason,
and when the decision can next change by itself. It only reads; GITHUB_TOKEN needs no write permission.

Examples:

  coordinator explain octo/shop#7
  coordinator explain octo/shop#7 --config stricter.yml`
}

var pullReference = regexp.MustCompile(`^([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)#([0-9]{1,9})$`)

// An explanation is the answer as --json prints it.
type explanation struct {
	Check    string                `json:"check"`
	Status   string                `json:"status"`
	Title    string                `json:"title"`
	Decision quorum.Decision       `json:"decision"`
	Evidence []evidence.Considered `json:"evidence"`
	Answers  []answersHeard        `json:"answers,omitempty"`
}

// answersHeard are a reviewer's newest answers, on the pull requests of the repository that changed last.
type answersHeard struct {
	quorum.Drift
	Says string `json:"says,omitempty"` // what a person should know
}

// Run reads the pull request and prints the votes, the evidence and the next change.
func (cmd explainCmd) Run(ctx context.Context, c *command) error {
	m := pullReference.FindStringSubmatch(cmd.PR)
	if m == nil {
		return usageError(fmt.Errorf("%q is no pull request", cmd.PR), "write it as OWNER/NAME#N: coordinator explain octo/shop#7")
	}
	number, _ := strconv.Atoi(m[3]) // at most nine digits
	pr := quorum.PR{Owner: m[1], Repo: m[2], Number: number}
	api, app, err := c.connectGitHub(ctx, pr.Owner, pr.Repo, readAccess)
	if err != nil {
		return err
	}
	forge := github.NewForge(api, app, "", c.newLogger())
	if cmd.Config != "" {
		src, err := readFile(cmd.Config)
		if err != nil {
			return usageError(err, "")
		}
		forge.Suppose(cmd.Config, src)
	}
	look, err := (&loop.Reconciler{Forge: forge, Places: placesOf(c.Getenv("GITHUB_API_URL")), Hear: c.hearOnGitHub(forge)}).Look(ctx, pr)
	if err != nil {
		return readAccess.explainRefusal(err)
	}
	considered := evidence.Consider(look.Policy, look.Snapshot)
	drifts := quorum.DriftsOf(look.Policy, look.Snapshot.Heard)
	if cmd.JSON {
		state := look.Check.Conclusion
		if state == "" {
			state = look.Check.Status
		}
		e := explanation{Check: look.Check.Name, Status: state, Title: look.Check.Title, Decision: look.Decision, Evidence: considered}
		for _, d := range drifts {
			e.Answers = append(e.Answers, answersHeard{d, report.DriftSentence(d)})
		}
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	fmt.Fprintf(c.Stdout, "%s at %.7s: %s\n\n", pr, look.Snapshot.PR.Head, oneLine(look.Check.Title))
	fmt.Fprint(c.Stdout, look.Check.Page.Terminal(c.pageStyles(), look.Decision.Start))
	for _, line := range report.PlainDrifts(drifts) {
		fmt.Fprintln(c.Stdout, "\n"+line)
	}
	if len(considered) > 0 {
		fmt.Fprintln(c.Stdout, "\nEvidence:")
	}
	for _, e := range considered {
		verdict := e.Outcome.String()
		if e.Rejected != "" {
			verdict = "not counted: " + e.Rejected
		}
		fmt.Fprintf(
			c.Stdout,
			"  %s  %s %d of %s: %s\n",
			e.At.UTC().Format(time.DateTime),
			e.Text.Kind,
			e.Text.ID,
			e.Reviewer,
			oneLine(verdict),
		)
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
			c.newLogger().Warn("whether reviewers are understood on other pull requests is not known", "err", err)
		}
		return quorum.NewestAnswers(append(heard, found...))
	}
}
