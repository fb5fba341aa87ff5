package review

// This file makes a path that a reviewer saw where it ran one of the repository: an annotation, and a thread, name no other.

import "strings"

// workspaces are the folders in which runners and agents check a repository out, with {} for the folders of its name.
var workspaces = [...]string{
	"/home/runner/work/{}/{}/", "/Users/runner/work/{}/{}/", "/__w/{}/{}/", "/github/workspace/", "/workspace/{}/", "/workspaces/{}/",
	"D:/a/{}/{}/", "C:/a/{}/{}/",
}

// repositoryPath returns a path as the repository has it: without the workspace in which its reviewer ran.
func repositoryPath(path string) string {
	if path == "" || path[0] != '/' && !strings.Contains(path, ":") {
		return path
	}
	slashed := strings.ReplaceAll(path, `\`, "/")
	for _, w := range workspaces {
		if rest, ok := cutWorkspace(slashed, w); ok && rest != "" {
			return rest
		}
	}
	return path
}

// cutWorkspace cuts a workspace off a path. Where its name stands twice it is the same one.
func cutWorkspace(path, workspace string) (rest string, ok bool) {
	before, names, named := strings.Cut(workspace, "{}")
	if path, ok = strings.CutPrefix(path, before); !ok || !named {
		return path, ok
	}
	name, rest, ok := strings.Cut(path, "/")
	if strings.Contains(names, "{}") {
		return strings.CutPrefix(rest, name+"/")
	}
	return rest, ok && name != ""
}
