package sandbox

// Trees of commits: the files of a branch, and of a pull request's heads those that it changes, with their modes. A
// symbolic link is a file of its own mode, whose content is where it leads.

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	modeFile   = "100644"
	modeLink   = "120000"
	modeFolder = "040000"
)

// maxTreeEntries is how many entries of a tree GitHub lists. Source: the description of git/get-tree.
const maxTreeEntries = 100_000

// A treeEntry is a file in a tree.
type treeEntry struct{ path, mode, sha string }

// SetLink puts a symbolic link into a branch, the default one if ref is empty: a commit of its own.
func (g *GitHub) SetLink(name, ref, target string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	ref = or(ref, g.defaultBranch)
	g.filesAt(ref)[name] = &target
	if g.links == nil {
		g.links = map[string]map[string]bool{}
	}
	if g.links[ref] == nil {
		g.links[ref] = map[string]bool{}
	}
	g.links[ref][name] = true
	b := g.ensureBranch(ref)
	before := b.tip
	b.tip = SHA(fmt.Sprintf("%s, then %s to %s", before, name, target))
	g.addCommit(&commit{sha: b.tip, parents: []string{before}, author: g.owner, committer: g.owner, pushedAt: g.now()})
	g.emitFilePush(name, ref)
}

// LimitTrees makes GitHub list no more than so many entries of a tree.
func (g *GitHub) LimitTrees(entries int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.treeLimit = entries
}

func treeRoutes() []route {
	return []route{
		{method: "GET", pattern: "R/git/trees/{tree_sha}", handle: getTree},
		{method: "GET", pattern: "R/git/blobs/{file_sha}", handle: getBlob},
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
	add := func(e treeEntry, kind string) {
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
				add(treeEntry{name[:i], modeFolder, SHA("tree " + sha + " " + name[:i])}, "tree")
			}
		}
		if isRecursive || !strings.Contains(name, "/") {
			add(files[name], "blob")
		}
	}
	most := maxTreeEntries
	if g.treeLimit > 0 {
		most = g.treeLimit
	}
	tree := or(g.commits[sha].tree, SHA("tree "+sha))
	return answerOK(object{
		"sha": tree, "url": g.apiURL() + "/git/trees/" + tree, "truncated": len(entries) > most, "tree": entries[:min(len(entries), most)],
	})
}

// treeOf are the files at a commit, by path: those of the default branch, of the branch that it is on, and of a pull
// request's head those that it changes.
func (g *GitHub) treeOf(sha string) map[string]treeEntry {
	files := map[string]treeEntry{}
	over := func(ref string) {
		for name, content := range g.files[ref] {
			switch {
			case content == nil:
				delete(files, name)
			case g.links[ref][name]:
				files[name] = treeEntry{name, modeLink, blobID(*content)}
			default:
				files[name] = treeEntry{name, modeFile, blobID(*content)}
			}
		}
	}
	over(g.defaultBranch)
	for name, b := range g.branches {
		if b.tip == sha && name != g.defaultBranch {
			over(name)
		}
	}
	for _, p := range g.index.pullsFor(sha) {
		changed, isHead := p.filesOf[sha]
		if !isHead {
			continue
		}
		over(p.baseBranch)
		over(p.headBranch)
		over(sha)
		for _, f := range changed {
			delete(files, f.Previous)
			if f.Status == "removed" {
				delete(files, f.Path)
				continue
			}
			if _, isThere := g.files[p.headBranch][f.Path]; isThere || g.files[sha][f.Path] != nil {
				continue // its content is known
			}
			files[f.Path] = treeEntry{f.Path, or(f.Mode, modeFile), f.blob()}
		}
	}
	return files
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

// isLink reports whether a file of a branch is a symbolic link.
func (g *GitHub) isLink(name, ref string) bool {
	return g.links[strings.TrimPrefix(or(ref, g.defaultBranch), "refs/heads/")][path.Clean(name)]
}
