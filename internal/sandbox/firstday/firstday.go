// Package firstday holds repositories as they are on the day when somebody sets up the coordinator: what stands on
// GitHub, what reviewed there so far, and how the next pull request is reviewed. It is for tests.
package firstday

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A Repository is one on its first day.
type Repository struct {
	Name    string
	Options sandbox.Options
	Server  bool              // on a GitHub Enterprise Server: its API is under /api/v3
	There   map[string]string // files that the clone has already
	Policy  string            // the path of the policy; "": the usual one
	Votes   []string          // the reviewers of the policy
	Listens []string          // the workflows that the check's workflow listens to, besides the bell
	Says    []string          // what init says
	Title   string            // of the check, once all have answered
	Passes  bool              // as it then is: green, or else neutral

	workflows []workflow
	texts     []text
}

// A workflow is a reviewer's, or another.
type workflow struct {
	file, name, source string
	author, answer     string // of its run; "": it leaves nothing
	asReview           bool
}

// A text is what an account leaves on a pull request without a run.
type text struct{ by, state, body string }

const (
	actionsBot = "github-actions[bot]"
	verdict    = "\n\nIt does what it says.\n\n**Ready to merge?** Yes\n"
	onPull     = "on: pull_request\njobs:\n  review:\n    runs-on: ubuntu-latest\n    steps:\n"
	callsModel = onPull + "      - run: ./review\n        env: {KEY: '${{ secrets.OPENAI_API_KEY }}', GH_TOKEN: '${{ github.token }}'}\n"
	copilot    = "copilot-pull-request-reviewer[bot]"
	copilotYes = "Copilot reviewed 1 out of 1 changed file in this pull request and generated no comments."
	nightly    = "on: {schedule: [{cron: '7 4 * * *'}]}\njobs: {a: {runs-on: ubuntu-latest, steps: [{run: make}]}}\n"
)

// scripted is a workflow that calls a model by a script.
func scripted(file, name, heading string) workflow {
	return workflow{file: file, name: name, source: callsModel, author: actionsBot, answer: heading + verdict}
}

// uses is a workflow that uses a model's action.
func uses(file, name, action, author, answer string) workflow {
	return workflow{file: file, name: name, source: onPull + "      - uses: " + action + "\n", author: author, answer: answer}
}

// Repositories are ten.
func Repositories() []Repository {
	codexYes := "## Codex review\n\n```json\n" + `{"findings": [], "overall_correctness": "patch is correct", ` +
		`"overall_explanation": "The queue is named after what stands in it.", "overall_confidence_score": 0.9}` + "\n```\n"
	openai := scripted("openai.yml", "OpenAI review", "## OpenAI review")
	return []Repository{
		{
			Name: "each preset that needs a workflow",
			workflows: []workflow{
				uses("claude.yml", "Claude", "anthropics/claude-code-action@v1", "claude[bot]", "## Code review\n\nNo issues found\n"),
				uses("codex.yml", "Codex", "openai/codex-action@v1", actionsBot, codexYes),
				{
					file: "gemini.yml", name: "Gemini", source: onPull + "      - uses: google-github-actions/run-gemini-cli@v0\n",
					author: actionsBot, answer: "## 📋 Review Summary" + verdict, asReview: true,
				},
			},
			Votes: []string{"claude", "codex", "gemini"}, Listens: []string{"Claude", "Codex", "Gemini"},
			Says: []string{"claude: .github/workflows/claude.yml uses anthropics/claude-code-action."}, Title: "3 approvals, 2 needed", Passes: true,
		},
		{Name: "none", Votes: []string{"fill-in"}, Says: []string{"none was recognised", "fill in: no reviewer"}, Title: "(report only)"},
		{
			Name: "a monorepo", workflows: monorepo(), Votes: []string{"review-api", "review-web"},
			Listens: []string{"API: review", "Web: review"}, Title: "2 of 2 approvals", Passes: true,
		},
		{
			Name: "only Apps", texts: []text{{copilot, "", copilotYes}, {"coderabbitai[bot]", "", "**Actionable comments posted: 0**\n"}},
			Votes: []string{"coderabbit", "copilot"}, Says: []string{"copilot: " + copilot + ": 1 text on #99."},
			Title: "2 of 2 approvals", Passes: true,
		},
		{
			Name: "a GitHub Enterprise Server", Server: true, workflows: []workflow{openai}, Votes: []string{"openai"},
			Listens: []string{"OpenAI review"}, Title: "1 of 1 approval", Passes: true,
		},
		{
			Name: "bots that nobody knows", texts: []text{{"sage[bot]", "APPROVED", "Good."}, {"dependabot[bot]", "", "Bumps x."}},
			Votes: []string{"fill-in"}, Says: []string{"sage (in a comment, not sure): sage[bot] left 1 review on #99. No preset knows it. " +
				"Its newest text is read: it approves."}, Title: "(report only)",
		},
		{
			Name: "hostile names", workflows: []workflow{
				scripted("a.yml", "[x]: #, &a *b", "## A"), scripted("b.yml", "\"q\" \\ 'it'", "## B"), scripted("c.yml", "true", "## C"),
				scripted("d.yml", "a\u202eb\u2028c", "## D"), scripted("e.yml", "Review coordinator", "## E"),
			},
			Votes: []string{"a", "b", "c", "d", "e"}, Listens: []string{"[x]: #, &a *b", "\"q\" \\ 'it'", "true", "a\u202eb\u2028c"},
			Says: []string{".github/workflows/e.yml is called like a workflow of the coordinator"}, Title: "5 approvals, 3 needed", Passes: true,
		},
		{
			Name: "files that are there", workflows: []workflow{openai},
			There: map[string]string{".github/workflows/review-bell.yml": "mine\n"}, Votes: []string{"openai"},
			Listens: []string{"OpenAI review"}, Title: "1 of 1 approval", Passes: true,
		},
		{
			Name: "another default branch", Options: sandbox.Options{DefaultBranch: "trunk"}, workflows: []workflow{openai},
			Votes: []string{"openai"}, Listens: []string{"OpenAI review"}, Says: []string{"merge it into trunk"},
			Title: "1 of 1 approval", Passes: true,
		},
		{
			Name: "a policy under its other name", workflows: []workflow{openai}, Policy: ".github/review-coordinator.yaml",
			There: map[string]string{".github/review-coordinator.yaml": "version: 1\n"}, Votes: []string{"openai"},
			Listens: []string{"OpenAI review"}, Title: "1 of 1 approval", Passes: true,
		},
	}
}

// monorepo has many workflows, of which two review.
func monorepo() []workflow {
	all := []workflow{
		scripted("review-api.yml", "API: review", "## API review"), scripted("review-web.yml", "Web: review", "## Web review"),
	}
	for i := range 30 {
		file := fmt.Sprintf("service-%02d.yml", i)
		all = append(all, workflow{file: file, name: fmt.Sprintf("Service %d", i), source: onPull + "      - run: make\n"})
	}
	return append(all, workflow{file: "nightly.yml", name: "Nightly", source: nightly})
}

// New is the repository on GitHub. Each of its workflows reviewed a pull request of its own, so that its text is its own.
func (r Repository) New() (*sandbox.GitHub, error) {
	g := sandbox.New(r.Options)
	for i, w := range r.workflows {
		g.SetFile(".github/workflows/"+w.file, "", w.source)
		if w.answer != "" {
			g.OpenPull(sandbox.PullSpec{Number: i + 1, Head: fmt.Sprintf("the head of %d", i+1)})
			if err := w.review(g, i+1); err != nil {
				return nil, fmt.Errorf("%s: %w", w.file, err)
			}
		}
	}
	g.OpenPull(sandbox.PullSpec{Number: 99, Head: "the last one before"})
	silent := slices.DeleteFunc(slices.Clone(r.workflows), func(w workflow) bool { return w.answer != "" })
	return g, reviewAll(g, 99, silent, r.texts)
}

// Review lets all that review here answer on a pull request.
func (r Repository) Review(g *sandbox.GitHub, number int) error {
	return reviewAll(g, number, r.workflows, r.texts)
}

func reviewAll(g *sandbox.GitHub, number int, workflows []workflow, texts []text) error {
	for _, w := range workflows {
		if err := w.review(g, number); err != nil {
			return fmt.Errorf("%s: %w", w.file, err)
		}
	}
	for _, t := range texts {
		if _, err := g.Review(number, sandbox.ReviewSpec{By: t.by, State: t.state, Body: t.body}); err != nil {
			return fmt.Errorf("%s: %w", t.by, err)
		}
	}
	return nil
}

// review runs the workflow on a pull request.
func (w workflow) review(g *sandbox.GitHub, number int) (err error) {
	id, err := g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/" + w.file, Name: w.name, PR: number})
	if err != nil {
		return fmt.Errorf("start the run: %w", err)
	}
	if err = g.StartJobs(id); err != nil {
		return fmt.Errorf("start the jobs: %w", err)
	}
	switch answer := strings.Replace(w.answer, "\n\n", "\n\nReviewed commit: "+g.Head(number)+"\n\n", 1); {
	case w.answer == "":
	case w.asReview:
		_, err = g.Review(number, sandbox.ReviewSpec{By: w.author, Body: answer})
	default:
		_, err = g.Comment(number, w.author, answer)
	}
	_, ended := g.FinishRun(id, sandbox.Finish{})
	return errors.Join(err, ended)
}
