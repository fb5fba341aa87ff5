package sandbox

// A pull request made of requests alone, without a clone: a tree of files, a commit of it, a branch and the pull
// request.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func proposalRoutes() []route {
	return []route{
		{method: "POST", pattern: "R/git/trees", handle: createTree},
		{method: "POST", pattern: "R/git/commits", handle: createCommit},
		{method: "POST", pattern: "R/git/refs", handle: createRef},
		{method: "POST", pattern: "R/pulls", handle: createPull},
	}
}

// fileTree are the files of a tree that was created, apart from those of the commit or tree that it is based on.
type fileTree map[string]*string

// createTree makes a tree of text files, upon another if one is named.
func createTree(g *GitHub, r *routedRequest) routeAnswer {
	var in struct {
		Base string `json:"base_tree"`
		Tree []struct {
			Path, Mode, Type string
			Content          *string
		}
	}
	if err := r.decodeBody(&in); err != nil || len(in.Tree) == 0 {
		return answerError(422, "Invalid tree info")
	}
	files := fileTree{}
	maps.Copy(files, g.trees[in.Base])
	var entries []any
	for _, e := range in.Tree {
		if e.Path == "" || strings.HasPrefix(e.Path, "/") || e.Mode != "100644" || e.Type != "blob" || e.Content == nil {
			return answerError(422, "tree.path contains a malformed path component")
		}
		// With a job's token no workflow can be written, whatever permissions the job gives it.
		if strings.HasPrefix(e.Path, ".github/workflows/") && g.app == actionsApp && g.tokenOwner == "" {
			return answerError(403, "Resource not accessible by integration")
		}
		files[e.Path] = e.Content
		sha := blobID(*e.Content)
		entries = append(entries, object{
			"path": e.Path, "mode": e.Mode, "type": "blob", "sha": sha, "size": len(*e.Content), "url": g.apiURL() + "/git/blobs/" + sha,
		})
	}
	sha := SHA(fmt.Sprintf("tree %d", g.newID()))
	if g.trees == nil {
		g.trees = map[string]fileTree{}
	}
	g.trees[sha] = files
	return answerCreated(object{"sha": sha, "url": g.apiURL() + "/git/trees/" + sha, "truncated": false, "tree": entries})
}

// createCommit makes a commit that no branch has yet.
func createCommit(g *GitHub, r *routedRequest) routeAnswer {
	var in struct {
		Message, Tree string
		Parents       []string
	}
	err := r.decodeBody(&in)
	unknown := slices.ContainsFunc(in.Parents, func(sha string) bool { return g.commits[sha] == nil })
	if err != nil || in.Message == "" || g.trees[in.Tree] == nil || unknown {
		return answerError(422, "Tree SHA does not exist")
	}
	c := &commit{
		sha: SHA(fmt.Sprintf("commit %d", g.newID())), parents: in.Parents, message: in.Message, tree: in.Tree,
		author: g.programLogin(), committer: g.programLogin(), pushedAt: r.now,
	}
	g.commits[c.sha] = c
	answer := g.getGitCommit(&routedRequest{params: map[string]string{"commit_sha": c.sha}})
	answer.status = 201
	return answer
}

// createRef makes a branch at a commit, which shows the commit's files from then on.
func createRef(g *GitHub, r *routedRequest) routeAnswer {
	var in struct{ Ref, SHA string }
	err := r.decodeBody(&in)
	name, isBranch := strings.CutPrefix(in.Ref, "refs/heads/")
	switch {
	case err != nil || !isBranch || name == "":
		return answerError(422, "Reference name is invalid")
	case g.branches[name] != nil:
		return answerError(422, "Reference already exists")
	case g.commits[in.SHA] == nil:
		return answerError(422, "Object does not exist")
	}
	g.branches[name] = &branch{name: name, tip: in.SHA}
	maps.Copy(g.filesAt(name), g.trees[g.commits[in.SHA].tree])
	answer := g.getRef(&routedRequest{params: map[string]string{"ref": "heads/" + name}})
	answer.status = 201
	return answer
}

// createPull opens a pull request of a branch of the repository itself.
func createPull(g *GitHub, r *routedRequest) routeAnswer {
	var in struct{ Title, Body, Head, Base string }
	if err := r.decodeBody(&in); err != nil || in.Title == "" {
		return answerError(422, "Validation Failed: title")
	}
	head := strings.TrimPrefix(in.Head, g.owner+":")
	switch from := g.branches[head]; {
	case from == nil || from.tip == "":
		return answerError(422, "Validation Failed: head")
	case g.branches[in.Base] == nil:
		return answerError(422, "Validation Failed: base")
	case slices.ContainsFunc(g.index.pullsByNumber, func(p *pullRequest) bool {
		return !p.closed && !p.fork && p.headBranch == head && p.baseBranch == in.Base
	}):
		return answerError(422, fmt.Sprintf("Validation Failed: A pull request already exists for %s:%s.", g.owner, head))
	}
	var files []ChangedFile
	for _, name := range slices.Sorted(maps.Keys(g.files[head])) {
		files = append(files, ChangedFile{Path: name, Status: "added"})
	}
	p := openPull(g, PullSpec{
		Title: in.Title, Body: in.Body, Head: g.branches[head].tip, Branch: head, Base: in.Base, Author: g.programLogin(), Files: files,
	})
	return answerCreated(g.pullJSON(p))
}
