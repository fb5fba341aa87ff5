//go:build !action

package main

// coordinator init: the whole set-up of a repository, from what its workflows and reviewers left on GitHub.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/examples"
	"github.com/review-coordinator/coordinator/internal/clone"
	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/lazy"
)

type initCmd struct {
	Repo        string `help:"The repository, owner/name. Default: GITHUB_REPOSITORY, else the origin of the clone."                         placeholder:"OWNER/NAME"`
	Dir         string `help:"The folder to write into. Default: the clone that the command is started in."                                   placeholder:"DIR"        type:"path"`
	PolicyOnly  bool   `help:"Write the policy and no workflows: for a repository whose check a daemon posts."`
	PullRequest bool   `help:"Open a pull request with the files instead of writing them here."                                                                                    name:"pull-request"`
	DryRun      bool   `help:"Print the files, and write nothing."`
	Force       bool   `help:"Overwrite files that exist."`
	JSON        bool   `help:"Print what was found and done, and what is next, as JSON." name:"json"`
	Ref         string `help:"The action's version: a tag or a commit. Default: this program's release, else the commit that it is built of." placeholder:"REF"`
}

// The files of a set-up.
const (
	bellPath        = ".github/workflows/review-bell.yml"
	coordinatorPath = ".github/workflows/review-coordinator.yml"
	initBranch      = "review-coordinator/init"
)

// A setup is a repository with what is to be written for it.
type setup struct {
	initJSON
	owner, name string
	web         string // the address of its page
	files       []newFile
}

var actionRefPattern = lazy.Regexp(`^(v[0-9][A-Za-z0-9._-]{0,98}|[0-9a-f]{40})$`)

// Run surveys the repository and writes the files.
func (cmd initCmd) Run(ctx context.Context, c *command) error {
	switch {
	case cmd.PullRequest && cmd.Dir != "":
		return usageError(errors.New("--pull-request writes nothing into a folder"), "leave out --dir or --pull-request")
	case cmd.Ref != "" && !actionRefPattern().MatchString(cmd.Ref):
		return usageError(fmt.Errorf("--ref %q is no tag or commit", cmd.Ref), "--ref v1, or a commit of 40 digits")
	}
	if _, err := os.Stat(cmd.Dir); cmd.Dir != "" && errors.Is(err, fs.ErrNotExist) {
		return usageError(fmt.Errorf("there is no folder %s", cmd.Dir), "--dir names a folder that is there")
	}
	var here clone.Clone
	var inClone bool
	var err error
	if cmp.Or(cmd.Repo, c.Getenv("GITHUB_REPOSITORY")) == "" || cmd.Dir == "" {
		if here, inClone, err = clone.Find(cmp.Or(cmd.Dir, ".")); err != nil {
			return usageError(err, "name the repository with --repo, and the folder with --dir")
		}
	}
	owner, name, err := c.resolveRepoIn(here, cmd.Repo, "init")
	if err != nil {
		return err
	}
	policyPath := config.Paths()[0]
	if !cmd.PullRequest && !cmd.DryRun {
		root, err := cmd.openFolder(c, here, inClone, owner+"/"+name)
		if err != nil {
			return err
		}
		defer root.Close()
		if policyPath, err = findRoom(root, cmd.writtenPaths(), cmd.Force); err != nil {
			return err
		}
		return cmd.setUp(ctx, c, owner, name, policyPath, func(_ *client.Client, s setup) error { return s.writeInto(c, root, cmd.Force) })
	}
	return cmd.setUp(ctx, c, owner, name, policyPath, func(api *client.Client, s setup) error {
		if cmd.DryRun {
			return s.printFiles(c)
		}
		return s.proposeFiles(ctx, c, api, cmd.writtenPaths(), cmd.Force)
	})
}

// writtenPaths are the files that the command may write, the policy under either of its names.
func (cmd initCmd) writtenPaths() []string {
	if cmd.PolicyOnly {
		return config.Paths()
	}
	return append(config.Paths(), bellPath, coordinatorPath)
}

// openFolder opens the folder to write into. Without --dir it is the clone's, which must be the repository's: the files
// of one must not land in another.
func (cmd initCmd) openFolder(c *command, here clone.Clone, inClone bool, repo string) (*os.Root, error) {
	dir := cmd.Dir
	switch host := hostOfPages(c.Getenv("GITHUB_API_URL")); {
	case dir != "":
	case !inClone:
		return nil, usageError(
			errors.New("this folder is in no clone"),
			"start it in your clone of "+repo+", name the folder with --dir, or add --pull-request",
		)
	case !here.MayBeOf(repo, host):
		what := "not of " + repo
		if of, known := here.Repository(host); known {
			what = "of " + of + ", " + what
		}
		return nil, usageError(
			fmt.Errorf("this folder is in a clone %s", what),
			"start it in your clone of "+repo+", name the folder with --dir, or add --pull-request",
		)
	default:
		dir = here.Root
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, usageError(err, "--dir names a folder that is there")
	}
	return root, nil
}

// setUp looks at the repository, and hands what is to be written to finish.
func (cmd initCmd) setUp(
	ctx context.Context, c *command, owner, name, policyPath string, finish func(*client.Client, setup) error,
) error {
	api, in, err := c.connectGitHub(ctx, owner, name, readAccess)
	if err != nil {
		return err
	}
	if cmd.PullRequest && !cmd.DryRun { // before the survey, which takes a minute
		if isOpen, err := printOpenProposal(ctx, c, api, owner, name); isOpen || err != nil {
			return readAccess.explainRefusal(err)
		}
	}
	survey, err := github.SurveyRepo(ctx, api, owner, name, readingPrinter(c.Stderr, owner, name))
	if err != nil {
		return readAccess.explainRefusal(err)
	}
	s := setup{
		initJSON: initJSON{Repository: owner + "/" + name, Branch: survey.Branch, Docs: docsOf(buildVersion())},
		owner:    owner, name: name,
		web: siteOfAPI(c.Getenv("GITHUB_API_URL")).webURL + "/" + url.PathEscape(owner) + "/" + url.PathEscape(name),
	}
	s.Draft = config.Init(survey)
	s.Notes = append(s.Notes, otherSetups(survey)...)
	plan := config.WorkflowPlan{
		Listen: s.Draft.Listen, Ref: cmp.Or(cmd.Ref, buildRef()), Hourly: survey.Private,
		Server:  strings.HasSuffix(strings.TrimSuffix(c.Getenv("GITHUB_API_URL"), "/"), "/api/v3"),
		Copilot: slices.ContainsFunc(s.Found, func(f config.Found) bool { return f.Preset == "copilot" }),
	}
	s.files = []newFile{{policyPath, s.Policy, 0o644, "who reviews, and how many approvals are enough"}}
	if slices.ContainsFunc(s.Found, func(f config.Found) bool { return f.Votes }) {
		draft := supposed{owner: owner, name: name, path: policyPath, src: s.Policy, last: 20}
		s.Against, err = draft.askAll(ctx, c, api, in.Slug)
		switch {
		case ctx.Err() != nil:
			return context.Canceled
		case err != nil: // the files are as good without
			c.printWarning("what this policy would have decided is not known: " + textWithHint(readAccess.explainRefusal(err)))
		}
	}
	if !cmd.PolicyOnly {
		s.IsUnreleased, s.Listen = plan.Ref == "", append([]string{"Review bell"}, s.Draft.Listen...)
		s.files = append(s.files,
			newFile{bellPath, plan.Bell(examples.Bell()), 0o644, "rings when something happens to a pull request; its job is skipped and takes no runner"},
			newFile{coordinatorPath, plan.Coordinator(examples.EventDriven()), 0o644, "posts the check"})
	}
	return finish(api, s)
}

// otherSetups says which workflows of the repository call the coordinator already.
func otherSetups(survey config.Survey) (notes []string) {
	for _, w := range survey.Workflows {
		if w.Path != coordinatorPath && strings.Contains(w.Source, "uses: review-coordinator/coordinator@") {
			notes = append(notes, fmt.Sprintf("%q calls the coordinator already: keep one of the two", w.Path))
		}
	}
	return notes
}

// buildRef returns the action's version that belongs to this program: "v1" of a release of that kind, else the commit
// that it was built of; "" if that is not known.
func buildRef() string {
	if major, _, isRelease := strings.Cut(release, "."); isRelease {
		return major
	}
	return buildCommit()
}

// printFiles prints the files, and what would be done with them.
func (s setup) printFiles(c *command) error {
	result := s.result("nothing")
	var all strings.Builder
	for i, f := range s.files {
		result.Files[i].Content = string(f.content)
		fmt.Fprintf(&all, "# --- %s\n%s\n", f.path, f.content)
	}
	if c.JSON == nil {
		fmt.Fprint(c.Stderr, result.text("found"))
	}
	return result.print(c, all.String())
}

// writeInto writes the files into a folder and says what is next.
func (s setup) writeInto(c *command, root *os.Root, force bool) error {
	if err := writeAll(root, s.files, force); err != nil {
		return err
	}
	folder := root.Name()
	if at, err := os.Getwd(); err == nil {
		if near, err := filepath.Rel(at, folder); err == nil && len(near) < len(folder) {
			folder = near
		}
	}
	result := s.result("wrote")
	result.Folder, result.Next = root.Name(), s.nextSteps(filepath.Join(folder, s.files[0].path), false)
	return result.print(c, result.text("found")+result.text("files")+result.text("next"))
}

// nextSteps says what a person does next with the files, whose policy is at that path.
func (s setup) nextSteps(policy string, proposed bool) []initStep {
	read := initStep{Text: "Read the policy, and check it: coordinator config check " + policy}
	merge := "Commit what was written, push it, and merge it"
	if proposed {
		read.Text, merge = "Read its policy: it says who votes.", "Merge it"
	}
	for _, f := range s.Fill {
		read.Details = append(read.Details, fmt.Sprintf("%s:%d: fill in: %s", policy, f.Line, oneLine(f.What)))
	}
	if s.IsUnreleased {
		read.Details = append(read.Details, "Until there is a release, write a commit (40 digits) in place of v1 in "+coordinatorPath+":",
			"git ls-remote https://github.com/review-coordinator/coordinator HEAD")
	}
	return []initStep{
		read,
		{Text: merge + " into " + oneLine(s.Branch) + ". The next pull request gets the check."},
		{
			Text:    "Once you trust it, require the check \"Review quorum\": " + s.web + "/settings/rules",
			Details: []string{docsOf(buildVersion()) + "/require.md"},
		},
	}
}
