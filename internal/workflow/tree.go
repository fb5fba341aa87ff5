package workflow

// What a workflow does with the files of its repository.

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/lazy"
)

// MayRunTree reports whether a step may run what stands in the files that were checked out.
func (s StepPlan) MayRunTree() bool {
	if strings.HasPrefix(s.Uses, "./") {
		return true
	}
	return strings.Contains(s.Run, "./") || slices.ContainsFunc(pathWordPattern().FindAllString(s.Run, -1), func(word string) bool {
		switch word {
		case "make", "npm", "npx", "yarn", "pnpm", "go", "cargo", "python", "python3", "pip", "pytest",
			"node", "mvn", "gradle", "dotnet", "bundle", "rake":
			return true
		}
		return strings.HasSuffix(word, ".sh") || strings.HasSuffix(word, ".py") || strings.HasSuffix(word, ".js")
	})
}

// UsesHeadTree reports whether a run that one of the events starts has the pull request's files: it checks them out.
// Under pull_request_target a checkout without a ref takes the base's. Source: GitHub docs, "Events that trigger
// workflows".
func (d Definition) UsesHeadTree(events []string) bool {
	onlyTarget := !slices.ContainsFunc(events, func(event string) bool {
		return event != "pull_request_target" && event != "dynamic"
	})
	return slices.ContainsFunc(d.Steps(), func(s StepPlan) bool {
		_, hasRef := s.With["ref"]
		isCheckout := strings.Contains(s.Uses, "checkout@") && (hasRef || !onlyTarget)
		return isCheckout || strings.Contains(s.Run, "checkout") || strings.Contains(s.Run, "git clone")
	})
}

var pathWordPattern = lazy.Regexp(`[A-Za-z0-9_./-]+`)

// commandFiles are the files that commands read of themselves.
var commandFiles = map[string]string{
	"make": "Makefile",
	"npm":  "package.json", "npx": "package.json", "yarn": "package.json", "pnpm": "package.json",
}

// NamedFiles returns the files of the tree that the steps name, sorted: in what they run, in what they give to an
// action, and as an action of the repository's own.
func (d Definition) NamedFiles(tree fs.FS) (files []string) {
	for _, s := range d.Steps() {
		if action, isLocal := strings.CutPrefix(s.Uses, "./"); isLocal {
			if info, err := fs.Stat(tree, path.Clean(action)); err == nil && info.IsDir() {
				files = append(files, path.Clean(action)+"/**")
			}
		}
		given := slices.Collect(maps.Values(s.With))
		for _, word := range pathWordPattern().FindAllString(s.Run+"\n"+strings.Join(given, "\n"), -1) {
			if file, ok := commandFiles[word]; ok {
				word = file
			}
			for _, dir := range []string{s.Dir, "."} {
				name := path.Join(dir, strings.TrimLeft(word, "/"))
				if info, err := fs.Stat(tree, name); fs.ValidPath(name) && err == nil && info.Mode().IsRegular() {
					files = append(files, name)
					break
				}
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
