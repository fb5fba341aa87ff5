package sandbox

// Trees of commits: the files of a branch, and of a pull request's heads those that it changes, with their modes. A
// symbolic link is a file of its own mode, whose content is where it leads.

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const modeFolder = "040000"

// maxTreeEntries is how many entries of a tree GitHub lists. Source: the description of git/get-tree.
const maxTreeEntries = 100_000

// SetLink puts a symbolic link into a branch, the default one if ref is empty: a commit of its own.
func SetLink(g *GitHub, name, ref, target string) {
	defer g.mu.held()()
	ref = or(ref, g.defaultBranch)
	g.filesAt(ref)[name] = &target
	g.treeNotes.noteLink(name, ref)
	b := g.ensureBranch(ref)
	before := b.tip
	b.tip = SHA(fmt.Sprintf("%s, then %s to %s", before, name, target))
	g.addCommit(&commit{sha: b.tip, parents: []string{before}, author: g.owner, committer: g.owner, pushedAt: g.now()})
	g.emitFilePush(name, ref)
}

// LimitTrees makes GitHub list no more than so many entries of a tree.
func LimitTrees(g *GitHub, entries int) {
	defer g.mu.held()()
	g.treeNotes.limit = entries
}

func treeRoutes() []route {
	return []route{
		onGet("R/git/trees/{tree_sha}", getTree),
		onGet("R/git/blobs/{file_sha}", getBlob),
	}
}

// getTree lists a tree by a commit, a branch or its own name; its folders are listed with what is in them only if that
// is asked for.
func getTree(g *GitHub, r *routedRequest) routeAnswer {
	name := r.params["tree_sha"]
	sha := g.resolveRef(name)
	for _, c := range g.commits {
		if or(c.tree, SHA("tree "+c.sha)) == name {
			sha = c.sha
		}
	}
	if sha == "" {
		return answerNotFound()
	}
	files := g.treeOf(sha)
	entries, seen := []any{}, map[string]bool{}
	add := func(e treeFile, kind string) {
		if seen[e.path] {
			return
		}
		seen[e.path] = true
		folder := map[string]string{"blob": "blobs", "tree": "trees"}[kind]
		entry := object{"path": e.path, "mode": e.mode, "type": kind, "sha": e.sha, "url": g.apiURL() + "/git/" + folder + "/" + e.sha}
		if kind == "blob" {
			entry["size"] = len(e.path)
		}
		entries = append(entries, entry)
	}
	isRecursive := r.queryParam("recursive") != ""
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for i := range len(name) {
			if name[i] == '/' && (isRecursive || !strings.Contains(name[:i], "/")) {
				add(treeFile{name[:i], modeFolder, SHA("tree " + sha + " " + name[:i])}, "tree")
			}
		}
		if isRecursive || !strings.Contains(name, "/") {
			add(files[name], "blob")
		}
	}
	most := maxTreeEntries
	if g.treeNotes.limit > 0 {
		most = g.treeNotes.limit
	}
	tree := or(g.commits[sha].tree, SHA("tree "+sha))
	return answerOK(object{
		"sha": tree, "url": g.apiURL() + "/git/trees/" + tree, "truncated": len(entries) > most, "tree": entries[:min(len(entries), most)],
	})
}

// getBlob returns a file's content by its name.
func getBlob(g *GitHub, r *routedRequest) routeAnswer {
	sha := r.params["file_sha"]
	for _, files := range g.files {
		for _, content := range files {
			if content == nil || blobID(*content) != sha {
				continue
			}
			return answerOK(object{
				"sha": sha, "node_id": "B_" + sha, "size": len(*content), "url": g.apiURL() + "/git/blobs/" + sha,
				"encoding": "base64", "content": wrapBase64(base64.StdEncoding.EncodeToString([]byte(*content))),
			})
		}
	}
	return answerNotFound()
}
