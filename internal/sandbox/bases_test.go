package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func filesAt(paths string) (files []sandbox.ChangedFile) {
	for _, path := range strings.Fields(paths) {
		files = append(files, sandbox.ChangedFile{Path: path})
	}
	return files
}

// readDiff tells what pull request 7 changes, by whom GitHub tells it: each path with the blobs that it is and was.
func (c *caller) readDiff() string {
	c.t.Helper()
	pull := c.get("pulls/7")
	head, base := pull.at("head.sha"), pull.at("base.ref")
	compared := c.get("compare/" + base + "..." + head)
	now, was := c.readTree(head), c.readTree(compared.at("merge_base_commit.sha"))
	var differ, lines []string
	for path, blob := range now {
		if was[path] != blob {
			differ = append(differ, path)
		}
	}
	slices.Sort(differ)
	listed, asked := c.get("pulls/7/files"), c.pull("changedFiles additions deletions")
	for i := range differ {
		path, blob := listed.at(fmt.Sprint(i, ".filename")), listed.at(fmt.Sprint(i, ".sha"))
		if other := compared.at(fmt.Sprintf("files.%d.filename", i)); other != path {
			c.t.Errorf("against %s: compare has %s, the list %s", base, other, path)
		}
		if now[path] != blob {
			c.t.Errorf("against %s: the blob of %s is %s, in the tree %s", base, path, blob, now[path])
		}
		lines = append(lines, path+" "+blob[:4]+" from "+was[path][:4])
	}
	n := fmt.Sprint(len(differ))
	listed.is(c.t, "#", n)
	compared.is(c.t, "files.#", n)
	pull.is(c.t, "changed_files", n, "additions", n, "deletions", n)
	asked.is(c.t, pr+"changedFiles", n, pr+"additions", n, pr+"deletions", n)
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// readTree reads the blobs of a commit's files, by path.
func (c *caller) readTree(at string) map[string]string {
	c.t.Helper()
	r, blobs := c.get("git/trees/"+at+"?recursive=1"), map[string]string{}
	for i := range 9 {
		if r.at(fmt.Sprintf("tree.%d.type", i)) == "blob" {
			blobs[r.at(fmt.Sprintf("tree.%d.path", i))] = r.at(fmt.Sprintf("tree.%d.sha", i))
		}
	}
	return blobs
}

func TestADiffHangsOnItsBase(t *testing.T) {
	g := sandbox.New(sandbox.Options{Now: newClock().now})
	c := newCaller(t, g)
	g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Files: filesAt("cart.go")})
	seen := map[string]string{} // what it changes, by head and base
	for _, step := range []struct {
		push, onto, says string // a head or a base, and what is said to change
		want             string
		same             bool // a push that changes nothing
	}{
		{onto: "stable", want: "cart.go"},                              // nothing is said: the bases hold the same
		{onto: "old", says: "cart.go tax.go", want: "cart.go tax.go"},  // one that lacks what main has
		{onto: "main", want: "cart.go"},                                //
		{onto: "own", says: "shop.go", want: "shop.go"},                // another change altogether
		{onto: "old", want: "cart.go tax.go"},                          // what was said goes on holding
		{push: "a2", same: true, want: "cart.go tax.go"},               // a rebase there,
		{onto: "main", want: "cart.go"},                                // and here it is one, too
		{push: "a3", says: "cart.go user.go", want: "cart.go user.go"}, // a push here
		{onto: "old", want: "cart.go user.go tax.go"},                  // changes there as much more as the one before
		{push: "a1", want: "cart.go tax.go"},                           // back
		{push: "a4", says: "tax.go", want: "tax.go"},                   // what main has already
		{onto: "main", says: "main.go", want: "main.go"},               //
		{onto: "own", want: "main.go shop.go"},                         // what only that one lacks
		{push: "a5", says: "user.go", want: "user.go"},                 //
		{onto: "stable", want: "cart.go user.go"},                      // what its own base has already, too
	} {
		if step.push != "" {
			check(t, g.Push(7, step.push, sandbox.PushSpec{Files: filesAt(step.says), Same: step.same}))
		} else {
			check(t, g.Retarget(7, step.onto, "", filesAt(step.says)...))
		}
		diff, at := c.readDiff(), c.get("pulls/7").at("head.sha")+" "+c.get("pulls/7").at("base.ref")
		var paths []string
		for line := range strings.SplitSeq(diff, ", ") {
			path, _, _ := strings.Cut(line, " ")
			paths = append(paths, path)
		}
		want := strings.Fields(step.want)
		slices.Sort(want)
		if !slices.Equal(paths, want) {
			t.Errorf("%s: it changes %v, want %v", at, paths, want)
		}
		if was, isBack := seen[at]; isBack && was != diff {
			t.Errorf("%s: it changes %s; before it was %s", at, diff, was)
		}
		seen[at] = diff
	}
	first := sandbox.SHA("a1")
	if seen[first+" main"] == "" || seen[first+" main"] != seen[first+" stable"] || seen[first+" main"] == seen[first+" old"] {
		t.Errorf("of the first head nothing tells which bases hold the same: %v", seen)
	}
	compare := func(base string) reply { return c.get("compare/" + base + "..." + first) }
	compare("old").is(t, "files.#", "2", "files.1.filename", "tax.go") // of a head that was left, too
	compare("main").is(t, "files.#", "1", "merge_base_commit.sha", compare("stable").at("merge_base_commit.sha"))
	if err := g.Retarget(7, "own", "", filesAt("other.go")...); err == nil {
		t.Error("a head changes two things against one base")
	}
	if err := g.Push(7, "a1", sandbox.PushSpec{Files: filesAt("other.go")}); err == nil {
		t.Error("a head that comes back changes two things against one base")
	}
}

// What a commit changes hangs on no pull request: another one with the same head has the same diff against the same base.
func TestTwinsHaveOneDiff(t *testing.T) {
	g := sandbox.New(sandbox.Options{Now: newClock().now})
	c := newCaller(t, g)
	g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Files: filesAt("cart.go tax.go")})
	check(t, g.Push(7, "b1", sandbox.PushSpec{Same: true, Force: true}))
	check(t, g.Retarget(7, "old", "", filesAt("cart.go tax.go user.go")...))
	g.OpenPull(sandbox.PullSpec{Number: 8, Head: "b1", Base: "old"})
	g.OpenPull(sandbox.PullSpec{Number: 9, Head: "b1", Fork: "mallory"})
	g.OpenPull(sandbox.PullSpec{Number: 10, Head: "c1", Files: filesAt("main.go")})
	check(t, g.Push(10, "b1", sandbox.PushSpec{}))
	of := func(number int) string { return string(c.get(fmt.Sprintf("pulls/%d/files", number)).body) }
	if of(7) != of(8) || of(9) != of(10) || of(8) == of(9) {
		t.Errorf("against old it changes\n%s and\n%s, against main\n%s and\n%s", of(7), of(8), of(9), of(10))
	}
	for base, count := range map[string]string{"old": "3", "main": "2"} {
		c.get("compare/"+base+"..."+sandbox.SHA("b1")).is(t, "files.#", count)
	}
	for files, isRight := range map[string]bool{"cart.go tax.go user.go": true, "cart.go tax.go": false, "": true} {
		err := sandbox.CheckOpening(g, sandbox.PullSpec{Number: 11, Head: "b1", Base: "old", Files: filesAt(files)})
		if (err == nil) != isRight {
			t.Errorf("%q: %v", files, err)
		}
	}
}

// A base may have another file that the pull request does not touch: its diff is the same there.
func TestABaseHasAFileOfItsOwn(t *testing.T) {
	const workflow = ".github/workflows/review.yml"
	g := sandbox.New(sandbox.Options{Now: newClock().now})
	c := newCaller(t, g)
	g.SetFile(workflow, "", "name: Review\n")
	g.SetFile(workflow, "lax", "name: Nothing\n")
	g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Files: filesAt("cart.go")})
	was := c.readDiff()
	check(t, g.Retarget(7, "lax", ""))
	if now := c.readDiff(); now != was {
		t.Errorf("against lax it changes %s, against main %s", now, was)
	}
	name := func(at string) string {
		return string(c.get("contents/"+workflow+"?ref="+at, "Accept: application/vnd.github.raw+json").body)
	}
	for at, want := range map[string]string{
		"main": "Review", "lax": "Nothing", sandbox.SHA("a1"): "Review", "feature-7": "Review", sandbox.MergeSHA("a1"): "Nothing",
	} {
		if got := name(at); got != "name: "+want+"\n" {
			t.Errorf("at %s: %q, want %s", at, got, want)
		}
	}
	if c.readTree("main")[workflow] == c.readTree("lax")[workflow] || c.readTree(sandbox.SHA("a1"))[workflow] != c.readTree("main")[workflow] {
		t.Error("the trees do not tell the workflows apart")
	}
}
