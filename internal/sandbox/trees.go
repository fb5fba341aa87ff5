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

const modeFolder = "040000"

// maxTreeEntries is how many entries of a tree GitHub lists. Source: the description of git/get-tree.
const maxTreeEntries = 100_000

// A treeFile is a file in a tree.
type treeFile struct{ path, mode, sha string }

// treeNotes are what trees have that files do not tell.
type treeNotes struct {
	links    map[string]map[string]bool     // by ref, then path: the files that are symbolic links
	oldFiles map[string]map[string]treeFile // by merge base, then path: what pull requests change
	limit    int                            // so many entries of a tree are listed; 0: as many as GitHub lists
}

func newTreeNotes() treeNotes {
	return treeNotes{links: map[string]map[string]bool{}, oldFiles: map[string]map[string]treeFile{}}
}

// noteLink notes that a file of a branch is a symbolic link.
func (t treeNotes) noteLink(name, ref string) {
	if t.links[ref] == nil {
		t.links[ref] = map[string]bool{}
	}
	t.links[ref][name] = true
}

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

// treeOf are the files at a commit, by path: those of the default branch, of the branch that it is on, and of a pull
// request's head those that it changes.
func (g *repository) treeOf(sha string) map[string]treeFile {
	files := map[string]treeFile{}
	over := func(ref string) {
		for name, content := range g.files[ref] {
			switch {
			case content == nil:
				delete(files, name)
			case g.treeNotes.links[ref][name]:
				files[name] = treeFile{name, modeLink, blobID(*content)}
			default:
				files[name] = treeFile{name, modeFile, blobID(*content)}
			}
		}
	}
	over(g.defaultBranch)
	for name, b := range g.branches {
		if b.tip == sha && name != g.defaultBranch {
			over(name)
		}
	}
	maps.Copy(files, g.treeNotes.oldFiles[sha])
	for _, p := range g.index.pullsFor(sha) {
		if !p.diffs.heads[sha] {
			continue
		}
		changed := p.diffs.wholeOf(sha)
		over(p.baseOf(sha))
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
			files[f.Path] = treeFile{f.Path, f.mode(), f.blob()}
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
func (t treeNotes) isLink(name, ref string) bool {
	return t.links[strings.TrimPrefix(ref, "refs/heads/")][path.Clean(name)]
}

// mergeBaseSHA is the commit at which a head has left a base. It is the same for bases against which it changes the same.
func mergeBaseSHA(d *pullDiffs, head, base string) string {
	if d.isAsFirst(head, base) {
		base = d.contents[head].base
	}
	return SHA("the base of " + head + " against " + base)
}

// mergeBase is the commit at which a head has left a base.
func (g *repository) mergeBase(p *pullRequest, head, base string) *commit {
	g.noteMergeBase(p, head, base)
	return g.commits[mergeBaseSHA(&p.diffs, head, base)]
}

// noteMergeBase makes the commit known at which a head has left a base, with the files as they are there: what the head
// changes is as it was, and of the rest of what it holds the base has the same.
func (g *repository) noteMergeBase(p *pullRequest, head, base string) {
	sha := mergeBaseSHA(&p.diffs, head, base)
	if g.commits[sha] == nil {
		tip := g.ensureBranch(base).tip
		g.commits[sha] = &commit{sha: sha, parents: []string{tip}, author: g.owner, committer: g.owner, message: "Base", pushedAt: g.now()}
	}
	files := map[string]treeFile{}
	for _, f := range p.diffs.wholeOf(head) {
		if f.Status != "removed" {
			files[f.Path] = treeFile{f.Path, f.mode(), f.blob()}
		}
	}
	for _, f := range p.diffs.changesAgainst(head, base) {
		delete(files, f.Path)
		if name := or(f.Previous, f.Path); f.Status != "added" {
			files[name] = treeFile{name, or(f.Change.Was.Mode, modeFile), blobID(f.Change.Was.Content)}
		}
	}
	g.treeNotes.oldFiles[sha] = files
}
