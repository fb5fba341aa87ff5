package main

// coordinator sweep: evaluates the open pull requests that need a look, because GitHub sends no event for their change,
// or because the event was lost.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

type sweepCmd struct {
	Repo   string `help:"The repository. Default: GITHUB_REPOSITORY, else the clone's origin."                                        placeholder:"OWNER/NAME"`
	Limit  *int   `help:"How many pull requests to evaluate at most. Default: the policy's sweep.limit."                   placeholder:"N"`
	DryRun bool   `help:"Say what the checks would read, and write nothing."`
	JSON   bool   `help:"Print the result as JSON; what happens meanwhile goes to standard error." name:"json"`
	Config string `help:"Path of the policy file on the default branch. Default: .github/review-coordinator.yml or .yaml." placeholder:"PATH"`
	organisationFlag
}

// Run sweeps one repository.
func (cmd sweepCmd) Run(ctx context.Context, c *command) error {
	owner, name, err := c.resolveRepo(cmd.Repo, "sweep")
	if err != nil {
		return err
	}
	if cmd.Limit != nil && *cmd.Limit <= 0 {
		return usageError(errors.New("--limit must be positive"), "leave it out for the policy's sweep.limit")
	}
	if cmd.Config, err = pathInRepository(cmd.Config); err != nil {
		return err
	}
	if err := cmd.checkRepository(); err != nil {
		return err
	}
	cmd.Repo = owner + "/" + name
	return c.untilOutage(ctx, func(ctx context.Context) error {
		api, in, err := c.connectGitHub(ctx, owner, name, cmd.access())
		if err != nil {
			return err
		}
		forge := github.WithPolicyRepository(github.NewForge(api, in.Slug, cmd.Config, c.newLogger()), cmd.PolicyRepository)
		return cmd.sweepRepo(ctx, c, api, forge)
	})
}

// access returns what the sweep does on GitHub.
func (cmd sweepCmd) access() access {
	if cmd.DryRun {
		return readAccess
	}
	return writeAccess
}

// sweepRepo evaluates the pull requests of cmd.Repo that need a look.
func (cmd sweepCmd) sweepRepo(ctx context.Context, c *command, api *client.Client, forge *github.Forge) error {
	owner, name, err := c.splitRepo(cmd.Repo)
	if err != nil {
		return err
	}
	open, err := forge.Open(ctx, owner, name)
	if ctx.Err() != nil {
		return context.Canceled
	}
	if err != nil {
		return cmd.access().explainRefusal(err)
	}
	var prs []quorum.PR
	told := sweepProgress{w: c.Stdout, titles: map[quorum.PR]string{}, jobOutput: c.jobOutput}
	for _, d := range open.Due {
		prs = append(prs, d.PR)
		told.titles[d.PR] = d.Title
	}
	result := sweepJSON{Repository: cmd.Repo, Open: open.Count, Due: len(open.Due), PullRequests: []pullJSON{}}
	s, heard, signs := c.newSweep(ctx, open, forge, func(done loop.Swept) {
		result.PullRequests = append(result.PullRequests, pullAsJSON(done.PR, done.Look, done.Err))
		told.printEvaluated(done)
	})
	s.Reconciler.DryRun = cmd.DryRun
	s.Spent = func() string { return budgetSpent(api.Budget(), 20, time.Now()) }
	if cmd.Limit != nil {
		s.Limit = *cmd.Limit
	}
	s.Begin = told.printBatch
	told.printStart(owner+"/"+name, open)
	tally := s.Run(ctx, prs)
	if isWorthIt := open.File.State == quorum.FileValid && !cmd.DryRun && ctx.Err() == nil && s.Spent() == ""; isWorthIt {
		newGroupLooker(c, forge).lookWith(ctx, quorum.PR{Owner: owner, Repo: name})
	}
	known, _ := signs.Signs(ctx) // it lies in memory
	told.printTally(tally, heard.Hear(ctx, quorum.PR{}, nil), quorum.CircuitsOf(told.policy, known))
	if c.JSON != nil {
		result.Evaluated, result.Failed, result.Skipped, result.Why = tally.Evaluated, tally.Failed, tally.Skipped, tally.Why
		if tally.Skipped > 0 {
			result.StoppedAt = tally.At.String()
		}
		if err := c.writeJSON(result); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Canceled
	case tally.Failed > 0:
		return fmt.Errorf("%d of %d pull requests could not be evaluated", tally.Failed, len(prs))
	case tally.Skipped > 0 && !tally.Limited:
		return fmt.Errorf("%d of %d pull requests were not evaluated: %s", tally.Skipped, len(prs), tally.Why)
	}
	return nil
}

// newSweep returns a sweep as the policy wants it, and what its looks keep of reviewers' answers and services. done gets
// each evaluation.
func (c *command) newSweep(
	ctx context.Context, open github.Open, forge *github.Forge, done func(loop.Swept),
) (loop.Sweep, *loop.AnswerMemory, *loop.SignMemory) {
	heard, signs := &loop.AnswerMemory{}, &loop.SignMemory{}
	heard.Hear(ctx, quorum.PR{}, open.Heard)
	return loop.Sweep{
		Reconciler: loop.Reconciler{
			Forge: forge, Places: placesOf(c.Getenv("GITHUB_API_URL")), Restamp: true,
			Hear: heard.Hear, Note: loop.CircuitWatch{Table: signs}.Note,
		},
		Concurrent: open.Sweep.MaxConcurrent, Batch: open.Sweep.BatchSize,
		BatchDelay: time.Duration(open.Sweep.BatchDelay), ItemDelay: time.Duration(open.Sweep.ItemDelay),
		Retries: open.Sweep.MaxRetries, Base: time.Duration(open.Sweep.Backoff.Base), Max: time.Duration(open.Sweep.Backoff.Max),
		Limit: open.Sweep.Limit, Threshold: open.Threshold,
		Done: func(swept loop.Swept) {
			var panicked *loop.PanicError
			if errors.As(swept.Err, &panicked) {
				c.newLogger().Error("an evaluation panicked", oplog.PullRequest(swept.PR), "stack", string(panicked.Stack))
			}
			done(swept)
			forge.Forget(swept.PR) // it is not looked at again
		},
	}, heard, signs
}

// budgetSpent returns the reason to stop once a share of the hour's requests, in percent, is left, which the repository's
// jobs need; "" while there is more.
func budgetSpent(b client.Budget, share int, now time.Time) string {
	if b.Limit == 0 || b.Left*100 > b.Limit*share || now.After(b.Reset) {
		return ""
	}
	return fmt.Sprintf("%d %% of the rate budget is left (%d of %d requests until %s)",
		share, b.Left, b.Limit, b.Reset.UTC().Format("15:04 UTC"))
}

// sweepProgress prints a line for each pull request of a sweep. In a job, where they are folded, failures stand below the
// fold. Each line begins with words or a time of ours, so that no text of a reviewer's can begin a workflow command.
type sweepProgress struct {
	w           io.Writer
	jobOutput   *outputGuard         // standard output of a job; nil outside a job
	titles      map[quorum.PR]string // hostile
	failedLines []string
	policy      quorum.Policy // of the newest evaluation
}

// printBatch tells that one of several batches begins.
func (p *sweepProgress) printBatch(batch, batches int) {
	if batches > 1 {
		fmt.Fprintf(p.w, "%s batch %d of %d\n", clockTime(), batch, batches)
	}
}

func (p *sweepProgress) printStart(repo string, open github.Open) {
	if p.jobOutput != nil {
		p.jobOutput.sendCommand(func(a *githubactions.Action) { a.Group(oneLine("Sweep of " + repo)) })
	}
	fmt.Fprintf(p.w, "%s %s: %d open, %d to look at%s\n", clockTime(), oneLine(repo), open.Count, len(open.Due), describeReasons(open.Due))
	switch open.File.State {
	case quorum.FileMissing:
		fmt.Fprintf(p.w, "%s there is no policy file (%s) on the default branch: only checks that are still open are ended\n",
			clockTime(), oneLine(open.File.Path))
	case quorum.FileBroken:
		fmt.Fprintf(p.w, "%s the policy file %s is broken: the checks say so\n", clockTime(), oneLine(open.File.Path))
	case quorum.FileValid:
	}
}

// describeReasons counts the pull requests by the reason to look at them.
func describeReasons(due []github.Due) string {
	count := map[github.Why]int{}
	last := github.Why(0)
	for _, d := range due {
		count[d.Why]++
		last = max(last, d.Why)
	}
	var parts []string
	for why := github.Why(1); why <= last; why++ {
		if count[why] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[why], why))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (p *sweepProgress) printEvaluated(done loop.Swept) {
	line := fmt.Sprintf("%s %s %s", clockTime(), done.PR, describeSwept(done))
	if title := p.titles[done.PR]; title != "" {
		line += " (" + oneLine(title) + ")"
	}
	if done.Err != nil && p.jobOutput != nil {
		p.failedLines = append(p.failedLines, line)
	} else {
		fmt.Fprintln(p.w, line)
	}
	if done.Err == nil {
		p.policy = done.Look.Policy
	}
}

// describeSwept says in a line what came of an evaluation.
func describeSwept(done loop.Swept) string {
	c := done.Look.Check
	switch {
	case done.Err != nil:
		return "failed: " + oneLine(textWithHint(done.Err))
	case c.Title == "":
		return "nothing is decided"
	case c.Conclusion == "":
		return c.Status + ": " + oneLine(c.Title)
	}
	return c.Conclusion + ": " + oneLine(c.Title)
}

func (p *sweepProgress) printTally(t loop.Tally, heard []quorum.HeardAnswer, circuits []quorum.Circuit) {
	if p.jobOutput != nil {
		p.jobOutput.sendCommand(func(a *githubactions.Action) { a.EndGroup() })
	}
	for _, line := range p.failedLines {
		fmt.Fprintln(p.w, line)
	}
	for _, line := range report.PlainDrifts(quorum.DriftsOf(p.policy, heard)) {
		fmt.Fprintln(p.w, "reviewer "+line)
	}
	for _, line := range report.PlainCircuits(circuits, time.Now()) {
		fmt.Fprintln(p.w, "reviewer "+line)
	}
	if t.Skipped > 0 {
		fmt.Fprintf(p.w, "stopped before %s: %s\n", t.At, oneLine(t.Why))
	}
	fmt.Fprintf(p.w, "%d evaluated, %d failed, %d skipped\n", t.Evaluated, t.Failed, t.Skipped)
}

// textWithHint returns an error's text with its hint.
func textWithHint(err error) string {
	var hint *exitError
	if errors.As(withAPIHint(err), &hint) && hint.hint != "" {
		return err.Error() + "; hint: " + hint.hint
	}
	return err.Error()
}
