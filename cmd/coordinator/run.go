package main

// The main job: look at a pull request, post the check, and stay as long as it takes.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

type runCmd struct {
	Pull   *string       `arg:"" optional:"" name:"pull-request" help:"The pull request: 7, OWNER/NAME#7 or its address. Default: the one that the event is about."`
	Repo   string        `help:"The repository. Default: GITHUB_REPOSITORY, else the clone's origin." placeholder:"OWNER/NAME"`
	PR     *string       `help:"The pull request, as the argument." placeholder:"N" name:"pr"`
	Wait   bool          `help:"Stay until it is decided, following new heads."`
	Hold   time.Duration `help:"Without --wait: how long to stay at most for what GitHub announces to no job. With --wait it says nothing." default:"15m"`
	Poll   time.Duration `help:"How often to look while it stays; looks at every deadline too." default:"15s"`
	DryRun bool          `help:"Say what the check would read, and write nothing."`
	Config string        `help:"Path of the policy file on the default branch. Default: .github/review-coordinator.yml or .yaml." placeholder:"PATH"`
	JSON   bool          `help:"Print the results as JSON; what happens meanwhile goes to standard error." name:"json"`
	organisationFlag
	FailOn string `help:"Exit with 3 for these verdicts: blocked, unverified, or both with a comma." placeholder:"VERDICTS"`
}

// Run evaluates the pull request that the flags name, or those of the job's event.
func (cmd runCmd) Run(ctx context.Context, c *command) error {
	switch {
	case cmd.Poll <= 0:
		return usageError(fmt.Errorf("--poll %s is not above zero", cmd.Poll), "leave it out for 15s")
	case cmd.Hold < 0:
		return usageError(fmt.Errorf("--hold %s is below zero", cmd.Hold), "leave it out for 15m; 0s stays for nothing")
	case cmd.Pull != nil && cmd.PR != nil:
		return usageError(errors.New("a pull request is given, and --pr, too"), "keep one of them")
	}
	var err error
	if cmd.Config, err = pathInRepository(cmd.Config); err != nil {
		return err
	}
	if err := cmd.checkRepository(); err != nil {
		return err
	}
	if err := validateFailOn(cmd.FailOn); err != nil {
		return err
	}
	pr, err := cmd.namedPull(c)
	if err != nil {
		return err
	}
	if cmd.Wait {
		return cmd.lookAt(ctx, c, pr)
	}
	return c.untilOutage(ctx, func(ctx context.Context) error { return cmd.lookAt(ctx, c, pr) })
}

// lookAt evaluates a pull request; one without a number is that of the event, or all are swept.
func (cmd runCmd) lookAt(ctx context.Context, c *command, pr quorum.PR) error {
	will := writeAccess
	if cmd.DryRun {
		will = readAccess
	}
	api, in, err := c.connectGitHub(ctx, pr.Owner, pr.Repo, will)
	if err != nil {
		return err
	}
	forge := github.WithPolicyRepository(github.NewForge(api, in.Slug, cmd.Config, c.newLogger()), cmd.PolicyRepository)
	found := foundPulls{owner: pr.Owner, repo: pr.Repo, prs: []quorum.PR{pr}}
	if pr.Number == 0 {
		found, err = cmd.findPulls(ctx, c, forge)
	}
	switch {
	case err != nil:
		return will.explainRefusal(err)
	case found.all:
		repo := found.owner + "/" + found.repo
		return sweepCmd{Repo: repo, Config: cmd.Config, DryRun: cmd.DryRun}.sweepRepo(ctx, c, api, forge)
	}
	var results []runResult
	if found.group != nil {
		results = cmd.evaluateGroup(ctx, c, api, forge, *found.group)
	} else {
		results = cmd.evaluate(ctx, c, api, forge, found)
	}
	if ctx.Err() != nil {
		return context.Canceled
	}
	errs := []error{c.reportResults(results)}
	if cmd.JSON {
		errs = append(errs, c.writeJSON(runAsJSON(results)))
	}
	for _, r := range results {
		errs = append(errs, r.err)
	}
	if err := errors.Join(errs...); err != nil {
		return will.explainRefusal(err)
	}
	return failOnError(cmd.FailOn, results)
}

// evaluate evaluates pull requests side by side, and in a job others that are due.
func (cmd runCmd) evaluate(ctx context.Context, c *command, api *client.Client, forge *github.Forge, found foundPulls) []runResult {
	prs := found.prs
	lines := c.newProgressLines()
	lines.manyPulls = len(prs) > 1
	if c.jobOutput != nil { // elsewhere the line of the look says it
		lines.warn = c.printWarning
	}
	results := make([]runResult, len(prs))
	var looks, firstLooks sync.WaitGroup
	firstLooks.Add(len(prs))
	for i, pr := range prs {
		looks.Go(func() {
			r := &loop.Reconciler{
				Forge: forge, Places: placesOf(c.Getenv("GITHUB_API_URL")), DryRun: cmd.DryRun,
				Seen: lines.printLook, Fault: lines.faultPrinter(pr),
			}
			if cmd.DryRun { // nothing is written, so there is nothing to wait for
				look, err := r.Look(ctx, pr)
				if err == nil {
					lines.printLook(look)
					fmt.Fprint(c.Stdout, "\n"+look.Check.Page.Terminal(c.pageStyles(), look.Decision.Start))
				}
				results[i] = runResult{pr: pr, look: look, err: err}
				return
			}
			stay := loop.Stay{Wait: cmd.Wait, Poll: cmd.Poll, Hold: cmd.Hold, Looked: firstLooks.Done, Cost: func() int {
				asked := api.Requests()
				return asked.Sent - asked.NotModified
			}}
			look, err := r.Stay(ctx, pr, stay)
			if err == nil && c.jobOutput != nil {
				newGroupLooker(c, forge).lookWith(ctx, pr)
			}
			id, page := forge.CheckID(pr)
			results[i] = runResult{pr: pr, look: look, checkID: id, checkURL: page, err: err}
		})
	}
	if isJob := c.jobOutput != nil || cmd.Pull == nil && cmd.PR == nil; isJob && !cmd.DryRun {
		looks.Go(func() {
			firstLooks.Wait()
			c.lookAtOthers(ctx, api, forge, found.owner, found.repo, prs)
		})
	}
	looks.Wait()
	return results
}

// foundPulls are the pull requests to evaluate.
type foundPulls struct {
	owner, repo string
	prs         []quorum.PR
	all         bool // the repository is swept instead

	group *quorum.GroupRef // a merge queue's commit is looked at instead
}

// namedPull returns the pull request that the arguments name. Without one, its number is 0 and its repository the one
// that is known before an event is read, if any.
func (cmd runCmd) namedPull(c *command) (quorum.PR, error) {
	if named := cmp.Or(cmd.Pull, cmd.PR); named != nil {
		return c.resolvePull(*named, cmd.Repo, "run "+oneLine(clipArgument(*named)))
	}
	owner, name, err := c.resolveRepo(cmd.Repo, "run")
	if err != nil && cmd.Repo == "" { // an event names its own
		return quorum.PR{}, nil
	}
	return quorum.PR{Owner: owner, Repo: name}, err
}

// findPulls returns the pull requests that the event names.
func (cmd runCmd) findPulls(ctx context.Context, c *command, forge *github.Forge) (found foundPulls, err error) {
	name, path := c.Getenv("GITHUB_EVENT_NAME"), c.Getenv("GITHUB_EVENT_PATH")
	if name == "" {
		return found, usageError(errors.New("no pull request: none is named, and there is no event"), "coordinator run OWNER/NAME#N")
	}
	event, err := readEvent(name, path)
	if err != nil {
		return found, err
	}
	event.SetPress(c.Getenv("GITHUB_RUN_ID"), time.Now())
	if event.Blocked {
		c.printWarning("GitHub blocks pull_request_target in public repositories by default since 2026-11-02: without a policy that allows it " +
			"this job is not started any more, and no check appears. examples/bell.yml with examples/event-driven.yml needs no such event.")
	}
	if event.Owner == "" {
		if event.Owner, event.Repo, err = c.resolveRepo(cmd.Repo, "run"); err != nil {
			return found, err
		}
	}
	found = foundPulls{owner: event.Owner, repo: event.Repo, all: event.Sweep}
	if event.Sweep {
		fmt.Fprintf(c.Stdout, "%s: all that are open in %s are swept\n", event.Why, oneLine(event.Owner+"/"+event.Repo))
		return found, nil
	}
	if event.Group != nil {
		if event.Concern == webhook.ConcernGroupGone {
			fmt.Fprintln(c.Stdout, "nothing to evaluate: the merge group is no more")
			return found, nil
		}
		found.group = event.Group
		return found, nil
	}
	for _, n := range event.PRs {
		found.prs = append(found.prs, quorum.PR{Owner: event.Owner, Repo: event.Repo, Number: n})
	}
	if len(found.prs) == 0 && event.Head != "" {
		found.prs, err = forge.PullsLeftOn(ctx, event.Owner, event.Repo, event.Head, event.Branch)
		if err != nil && !client.IsNotFound(err) && !client.IsUnprocessable(err) {
			return found, err
		}
		if len(found.prs) == 0 {
			event.Why = fmt.Sprintf("no pull request has the head %.7s", event.Head)
		}
	}
	if len(found.prs) == 0 {
		fmt.Fprintf(c.Stdout, "nothing to evaluate: %s\n", event.Why)
	}
	for _, pr := range found.prs {
		forge.Hint(pr, event.Runs...)
		if event.Touch.Press != 0 || event.Touch.Command {
			forge.Hear(pr, event.Touch)
		}
	}
	return found, nil
}

func readEvent(name, path string) (webhook.Notice, error) {
	payload := []byte("{}")
	switch {
	case path != "":
		var err error
		if payload, err = readFileUpTo(path, webhook.MaxPayload+1); err != nil {
			return webhook.Notice{}, usageError(fmt.Errorf("read the event: %w", err), "GITHUB_EVENT_PATH names the file")
		}
	case name != "schedule":
		return webhook.Notice{}, usageError(
			errors.New("no pull request: the event has no payload"),
			"set GITHUB_EVENT_PATH, or name the pull request: coordinator run OWNER/NAME#N",
		)
	}
	notice, err := webhook.Parse(name, payload)
	if err != nil {
		return notice, usageError(err, "GITHUB_EVENT_PATH names the file that GitHub wrote for GITHUB_EVENT_NAME")
	}
	return notice, nil
}

// newTokenClient makes a client with the token of the environment.
func (c *command) newTokenClient() (*client.Client, error) {
	token := cmp.Or(c.Getenv("GITHUB_TOKEN"), c.Getenv("INPUT_TOKEN"))
	if token == "" {
		return nil, usageError(
			errors.New("there is no token"),
			"set GITHUB_TOKEN: in a job, env: {GITHUB_TOKEN: ${{ github.token }}}; on your machine, export GITHUB_TOKEN=$(gh auth token)",
		)
	}
	address, err := c.apiURLFromEnv()
	if err != nil {
		return nil, err
	}
	api, err := client.New(client.Options{
		BaseURL: address, Token: token, Actions: c.Getenv("GITHUB_ACTIONS") == "true", Log: c.newLogger(), Observed: c.Observed,
	})
	if err != nil {
		return nil, usageError(err, "GITHUB_TOKEN holds the token and nothing else")
	}
	return api, nil
}

// readPermissions are the permissions of a token that only reads, as a workflow file writes them.
const readPermissions = "actions: read, checks: read, contents: read, issues: read, pull-requests: read, statuses: read"

// explainRefusal adds a hint to a refusal of GitHub's. The repository or pull request was typed by a person, so "not
// found" may mean a typing mistake.
func (a access) explainRefusal(err error) error {
	var api *client.APIError
	var own *exitError
	switch {
	case errors.As(err, &own), !errors.As(err, &api), api.Hint() != "" && !api.Missing:
	// A write is answered 404, too, if the token may not do it.
	case client.IsNotFound(err) && (api.Method == http.MethodGet || strings.HasSuffix(api.Path, "graphql")):
		return hintedError(err, "no such repository or pull request, or this token may not see it")
	case a == readAccess && client.IsForbidden(err):
		return hintedError(err, "the token may not read this: it needs "+readPermissions)
	}
	return withAPIHint(err)
}

// withAPIHint adds a hint to an error of GitHub's API, if there is one for it.
func withAPIHint(err error) error {
	if hint := missingPermissionHint(err); hint != "" {
		return hintedError(err, hint)
	}
	var own *exitError
	if hint := client.HintOf(err); hint != "" && !errors.As(err, &own) {
		return hintedError(err, hint)
	}
	return err
}

// progressLines prints one plain line for each change of a decision. A line begins with a time, so that no text of a
// reviewer's in it can begin a workflow command.
type progressLines struct {
	mu        sync.Mutex
	w         io.Writer
	color     bool
	manyPulls bool
	lastLine  map[quorum.PR]string
	warn      func(text string)    // tells an operator of a reviewer that is run again or given up; nil: nobody
	warned    map[[3]string]string // the last warning, by pull request, head and reviewer
}

func (c *command) newProgressLines() *progressLines {
	return &progressLines{w: c.Stdout, color: c.Color, lastLine: map[quorum.PR]string{}, warned: map[[3]string]string{}}
}

func (l *progressLines) printLook(look loop.Look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pr := look.Snapshot.PR.PR
	line := l.describeCheck(look.Check.Head, look.Check)
	if look.Decision.Verdict == quorum.Ended {
		line = "nothing is decided: " + oneLine(look.Check.Title)
	}
	l.printChange(pr, line)
	l.warnOnce(look)
}

// stateOf returns the conclusion of a check, or its status while it has none.
func stateOf(c report.Check) string { return cmp.Or(c.Conclusion, c.Status) }

func (l *progressLines) describeCheck(head string, c report.Check) string {
	return fmt.Sprintf("%.7s %s: %s", head, paintIf(l.color, verdictStyle(stateOf(c)), stateOf(c)), oneLine(c.Title))
}

// printChange prints a line that is not what was printed last of a pull request.
func (l *progressLines) printChange(pr quorum.PR, line string) {
	if l.lastLine[pr] != line {
		l.lastLine[pr] = line
		l.printLine(pr, line)
	}
}

// warnOnce warns of reviewers that are run again or given up, once each on a head.
func (l *progressLines) warnOnce(look loop.Look) {
	if l.warn == nil {
		return
	}
	pr := look.Snapshot.PR.String()
	for _, w := range report.Warnings(look.Decision) {
		if key := [3]string{pr, look.Snapshot.PR.Head, w.Reviewer}; l.warned[key] != w.Kind {
			l.warned[key] = w.Kind
			l.warn(pr + ": " + w.Text)
		}
	}
}

func (l *progressLines) faultPrinter(pr quorum.PR) func(error, time.Time) {
	return func(err error, next time.Time) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.printLine(pr, fmt.Sprintf("%s; looking again at %s", oneLine(err.Error()), next.UTC().Format("15:04:05 UTC")))
	}
}

func (l *progressLines) printLine(pr quorum.PR, line string) {
	if l.manyPulls {
		line = pr.String() + " " + line
	}
	fmt.Fprintf(l.w, "%s %s\n", clockTime(), line)
}
