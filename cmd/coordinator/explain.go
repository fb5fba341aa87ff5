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
	look, err := (&loop.Reconciler{Forge: forge}).Look(ctx, pr)
	if err != nil {
		return readAccess.explainRefusal(err)
	}
	considered := evidence.Consider(look.Policy, look.Snapshot)
	if cmd.JSON {
		state := look.Check.Conclusion
		if state == "" {
			state = look.Check.Status
		}
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(
			explanation{Check: look.Check.Name, Status: state, Title: look.Check.Title, Decision: look.Decision, Evidence: considered},
		)
	}
	fmt.Fprintf(c.Stdout, "%s at %.7s: %s\n\n", pr, look.Snapshot.PR.Head, oneLine(look.Check.Title))
	if look.Snapshot.File.Problem != "" {
		fmt.Fprintln(c.Stdout, look.Snapshot.File.Problem)
	}
	fmt.Fprint(c.Stdout, report.Plain(look.Policy, look.Decision, look.At))
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
