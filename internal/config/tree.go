package config

// What no guard covers, as the files beside a policy show it: a script that a reviewer's workflow names, and a guarded
// name that is a link. Only the repository's folder shows either; GitHub's list of changed files does not.

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workflow"
)

// maxTreeFiles bounds how many files are looked through for links.
const maxTreeFiles = 200_000

// TreeWarnings returns what no guard of a policy covers in its repository, and a second policy. A file with mistakes has none.
func TreeWarnings(path string, src []byte, tree fs.FS) []Diagnostic {
	policy, _, r := readPolicy(path, src, nil)
	if len(r.problems) > 0 {
		return nil
	}
	r.warnings = nil
	c := treeChecker{policyResolver: policyResolver{r}, policy: policy, tree: tree, links: linksOf(tree)}
	paths, _ := fs.Glob(tree, ".github/workflows/*.y*ml") // the pattern is none that is wrong
	for _, name := range paths {
		if src, err := fs.ReadFile(tree, name); err == nil { // it lies in the folder of whoever asks
			c.files = append(c.files, workflow.Read(name, string(src)))
		}
	}
	for i, q := range policy.Reviewers {
		if list, err := pathfilter.CompileWithFolders(guardOf(policy, q)); err == nil && !q.Retired {
			c.warnOfWorkflow(reviewerKey(i), q, list)
			c.warnOfLinks(reviewerKey(i), q, list)
		}
	}
	hasFile := func(name string) bool { _, err := fs.Stat(tree, name); return err == nil }
	c.warnIf(!slices.ContainsFunc(Paths(), func(name string) bool { return !hasFile(name) }), "reviewers",
		"of "+strings.Join(Paths(), " and ")+" only the first is read", "delete the one that is not meant")
	return sortByPosition(r.warnings)
}

// A treeChecker warns of what the guards of a policy do not cover in a tree.
type treeChecker struct {
	policyResolver
	policy quorum.Policy
	tree   fs.FS
	links  []treeLink
	files  []workflow.File
}

// guardOf returns the patterns that concern a reviewer: the policy's only if workflows write its evidence.
func guardOf(p quorum.Policy, q quorum.Reviewer) []string {
	if isGuardedByPolicy(q) {
		return slices.Concat(q.Guard, p.Guard)
	}
	return q.Guard
}

func isGuardedByPolicy(q quorum.Reviewer) bool {
	return strings.EqualFold(q.Author, quorum.ActionsBot) || q.Workflow != "" && !strings.HasPrefix(q.Workflow, "dynamic/")
}

// guardHint is the line of the policy that guards these files, too.
func (c treeChecker) guardHint(files []string) string {
	return "write guard: [" + listQuoted(slices.Concat(c.policy.Guard, files)) + "]"
}

func listQuoted(texts []string) string {
	quoted := make([]string, 0, len(texts))
	for _, text := range texts {
		quoted = append(quoted, quoteText(text))
	}
	return strings.Join(quoted, ", ")
}

// treeLink is a symbolic link of a tree, with the path in the tree that it points to.
type treeLink struct{ name, target string }

// linksOf returns the links of a tree that stay within it. What cannot be read is left out.
func linksOf(tree fs.FS) (links []treeLink) {
	seen := 0
	_ = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		seen++
		switch {
		case seen > maxTreeFiles:
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.Type()&fs.ModeSymlink == 0:
			return nil
		}
		text, err := fs.ReadLink(tree, name)
		if target := path.Join(path.Dir(name), text); err == nil && !path.IsAbs(text) && fs.ValidPath(target) {
			links = append(links, treeLink{name: name, target: target})
		}
		return nil
	})
	return links
}

// warnOfLinks warns of a guarded name that is a link to what the guard does not cover: a pull request that changes the
// target changes what instructs the reviewer, and only the target stands in its list of files.
func (c treeChecker) warnOfLinks(key string, q quorum.Reviewer, guard pathfilter.Patterns) {
	for _, link := range c.links {
		target := link.target
		if info, err := fs.Stat(c.tree, target); err == nil && info.IsDir() {
			target += "/**"
		}
		if !guard.Match(link.name) || guard.Match(target) {
			continue
		}
		hint := "keep the text in " + cleanText(link.name, 80) + " itself, or link it to AGENTS.md"
		if isGuardedByPolicy(q) {
			hint = c.guardHint([]string{target})
		}
		c.warnKey(key,
			fmt.Sprintf("%s: %s is a link to %s, which nothing guards", reviewerPhrase(q), quoteText(link.name), quoteText(link.target)),
			hint)
	}
}

// warnOfWorkflow warns of the workflow of a reviewer, if it is in the tree and has the pull request's files. A pull
// request could change what the files say or do that it names and nothing guards; what such a file calls in turn is not
// followed. What it builds or tests could upload an artifact as well as the reviewer whose verdict that is.
func (c treeChecker) warnOfWorkflow(key string, q quorum.Reviewer, guard pathfilter.Patterns) {
	if q.Workflow == "" || strings.HasPrefix(q.Workflow, "dynamic/") {
		return
	}
	i := slices.IndexFunc(c.files, func(f workflow.File) bool { return f.Path == q.Workflow })
	if i < 0 {
		return
	}
	w := c.files[i]
	need := workflow.Need{Events: q.Events, ByPaths: len(q.When.AllPaths)+len(q.When.AnyPath) > 0}
	if readsTexts(q) {
		need.Author = q.Author
	}
	if flaw, found := w.Flaw(need, c.files); found && w.Broken == "" {
		c.warnKey(key+".workflow", reviewerPhrase(q)+": "+cleanText(flaw.Says, 300), flaw.Remedy)
	}
	if !w.UsesHeadTree(q.Events) {
		return
	}
	files := slices.DeleteFunc(w.NamedFiles(c.tree), guard.Match)
	c.warnIf(len(files) > 0, key+".workflow",
		fmt.Sprintf("%s: its workflow names %s, which a pull request may change: nothing guards that", reviewerPhrase(q), listQuoted(files)),
		c.guardHint(files))
	c.warnIf(q.Verdict.Kind == quorum.Artifact && slices.ContainsFunc(w.Steps(), workflow.StepPlan.MayRunTree), key+".verdict",
		fmt.Sprintf("%s: a job of its workflow runs commands beside the pull request's files, and could upload %s itself",
			reviewerPhrase(q), quoteText(q.Verdict.Artifact)),
		"build and test in another workflow: every job of this one can write the verdict")
}
