package github

// Merge queues: which pull requests are in a group, and the check on its commit.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// groupQuery costs one point of the hour's. The branches of the queue tell what the queue itself may not: a token
// without the permission to read it sees them, and they are there before each replica knows of the queue's entries.
const groupQuery = `query($owner: String!, $name: String!, $base: String!, $ref: String!, $groups: String!, $head: GitObjectID!, $queue: Boolean!, $entries: String, $branches: String) {
  repository(owner: $owner, name: $name) {
    mergeQueue(branch: $base) @include(if: $queue) {
      entries(first: 100, after: $entries) {
        pageInfo { hasNextPage endCursor }
        nodes { position headCommit { oid } pullRequest { number } }
      }
    }
    refs(refPrefix: $groups, first: 100, after: $branches) { pageInfo { hasNextPage endCursor } nodes { name target { oid } } }
    ref(qualifiedName: $ref) { target { oid } }
    object(oid: $head) { ... on Commit { committedDate checkSuites(first: 20) { nodes { createdAt } } } }
  }
}`

// queueQuery costs one point of the hour's.
const queueQuery = `query($owner: String!, $name: String!, $base: String, $entries: String) {
  repository(owner: $owner, name: $name) {
    mergeQueue(branch: $base) {
      entries(first: 100, after: $entries) {
        pageInfo { hasNextPage endCursor }
        nodes { position headCommit { oid } baseCommit { oid } pullRequest { number baseRefName } }
      }
    }
  }
}`

type graphEntry struct {
	Position int      `json:"position"`
	Head     graphOID `json:"headCommit"` // none before the group is built
	Base     graphOID `json:"baseCommit"`
	Pull     struct {
		Number int    `json:"number"`
		Base   string `json:"baseRefName"`
	} `json:"pullRequest"`
}

type graphBranch struct {
	Name   string   `json:"name"` // below the prefix that was asked for
	Target graphOID `json:"target"`
}

type queueAnswer struct {
	Repository *struct {
		Queue *struct {
			Entries graphConnection[graphEntry] `json:"entries"`
		} `json:"mergeQueue"` // nil: the branch has none
		Branches graphConnection[graphBranch] `json:"refs"`
		Ref      *graphBranch                 `json:"ref"`
		Commit   *struct {
			Committed time.Time `json:"committedDate"`
			Suites    struct {
				Nodes []struct {
					Created time.Time `json:"createdAt"`
				} `json:"nodes"`
			} `json:"checkSuites"`
		} `json:"object"`
	} `json:"repository"`
}

// arrival is when the commit came: when GitHub made its first check suite, else its own date.
func (a queueAnswer) arrival() (at time.Time) {
	c := a.Repository.Commit
	if c == nil {
		return at
	}
	for _, s := range c.Suites.Nodes {
		if at.IsZero() || s.Created.Before(at) {
			at = s.Created
		}
	}
	if at.IsZero() {
		return c.Committed
	}
	return at
}

// MergeQueues are a repository host's merge queues, as a [Forge] sees them.
type MergeQueues struct{ forge *Forge }

// QueuesOf returns the merge queues that a forge sees.
func QueuesOf(f *Forge) MergeQueues { return MergeQueues{f} }

// A queueView is what GitHub shows of a branch's merge queue.
type queueView struct {
	entries []graphEntry  // in their order
	groups  []graphBranch // the branches on which groups stand
	tip     string        // of the branch itself; "": it is not shown
	isThere bool          // the branch has a merge queue
	since   time.Time     // when the commit came that was asked for; zero: it is not shown
}

// readQueue asks a query about a queue, page by page.
func (q MergeQueues) readQueue(ctx context.Context, query string, vars map[string]any) (v queueView, err error) {
	for page := range maxPages {
		var answer queueAnswer
		if err := q.forge.client.GraphQL(ctx, query, vars, &answer); err != nil {
			return v, err
		}
		repo := answer.Repository
		if repo == nil {
			return v, moved{"the repository vanished"}
		}
		if page == 0 {
			v.since = answer.arrival()
			if repo.Ref != nil {
				v.tip = repo.Ref.Target.OID
			}
		}
		more := advanceCursor(vars, "branches", repo.Branches.Page)
		v.groups = append(v.groups, repo.Branches.Nodes...)
		if v.isThere = repo.Queue != nil; v.isThere {
			v.entries = append(v.entries, repo.Queue.Entries.Nodes...)
			more = advanceCursor(vars, "entries", repo.Queue.Entries.Page) || more
		}
		if !more {
			slices.SortStableFunc(v.entries, func(a, b graphEntry) int { return a.Position - b.Position })
			return v, nil
		}
	}
	return v, fmt.Errorf("the merge queue %w", errNoEnd)
}

// ReadGroup reads which pull requests are in a group: those of the queue up to the one whose commit it is. Where the
// queue does not show that commit, it is what the branch's name tells: that pull request on top of the base, or of a
// group that is shown. It is whole only where the branch is still there: else the queue may have let go of the commit,
// and what is in the queue now is not what the commit holds.
func (q MergeQueues) ReadGroup(ctx context.Context, ref quorum.GroupRef) (quorum.MergeGroup, error) {
	ask := func(queue bool) (queueView, error) {
		return q.readQueue(ctx, groupQuery, map[string]any{
			"owner": ref.Owner, "name": ref.Repo, "base": ref.Base(), "ref": "refs/heads/" + ref.Base(), "head": ref.Head,
			"groups": "refs/heads/gh-readonly-queue/" + ref.Base() + "/", "queue": queue,
		})
	}
	v, err := ask(true)
	if client.IsForbidden(err) {
		v, err = ask(false)
	}
	if err != nil {
		return quorum.MergeGroup{}, fmt.Errorf("read merge group %s: %w", ref, err)
	}
	return v.groupOf(ref), nil
}

// groupOf is the group of a commit.
func (v queueView) groupOf(ref quorum.GroupRef) quorum.MergeGroup {
	g := quorum.MergeGroup{GroupRef: ref, Since: v.since, Whole: true}
	named := ref.Named()
	if pulls := v.pullsUpTo(ref, func(e graphEntry) bool { return e.Head.OID == ref.Head }); pulls != nil {
		g.Pulls = pulls
		return g
	}
	isNamed := func(e graphEntry) bool { return e.Pull.Number == named.Number }
	switch i := slices.IndexFunc(v.entries, isNamed); {
	case i >= 0 && v.entries[i].Head.OID != "":
		g.Gone = true // another commit holds it now
	case i >= 0: // that its commit is built is not shown yet
		g.Pulls, g.Whole = v.pullsUpTo(ref, isNamed), v.isBuiltOn(ref, i) && v.hasBranchOf(ref)
	case v.tip == ref.Head: // it was merged
		g.Gone = true
	default:
		below, isWhole := v.pullsBelow(ref)
		g.Pulls, g.Whole = append(slices.Clip(below), named), isWhole && v.hasBranchOf(ref)
	}
	return g
}

// hidesAll reports whether the host shows nothing of the queue.
func (v queueView) hidesAll() bool { return v.tip == "" && len(v.entries)+len(v.groups) == 0 }

// hasBranchOf reports whether the branch of a group is shown, or nothing can be: the queue deletes it when it lets go
// of the group.
func (v queueView) hasBranchOf(ref quorum.GroupRef) bool {
	return v.hidesAll() || slices.ContainsFunc(v.groups, func(b graphBranch) bool { return b.Target.OID == ref.Head })
}

// isBuiltOn reports whether a group stands on what is in front of its place in the queue.
func (v queueView) isBuiltOn(ref quorum.GroupRef, place int) bool {
	if place > 0 {
		return v.entries[place-1].Head.OID == ref.Parent()
	}
	return v.tip == ref.Parent()
}

// pullsUpTo are the pull requests of the queue up to the first entry that is one; nil if none is.
func (v queueView) pullsUpTo(ref quorum.GroupRef, is func(graphEntry) bool) (pulls []quorum.PR) {
	for _, e := range v.entries[:slices.IndexFunc(v.entries, is)+1] {
		pulls = append(pulls, quorum.PR{Owner: ref.Owner, Repo: ref.Repo, Number: e.Pull.Number})
	}
	return pulls
}

// pullsBelow are the pull requests on which the one that a group is named by was merged, as entries or branches tell;
// false if they do not lead to the base.
func (v queueView) pullsBelow(ref quorum.GroupRef) (pulls []quorum.PR, isWhole bool) {
	for parent := ref.Parent(); ; {
		if v.tip == parent || v.hidesAll() {
			return pulls, true
		}
		if known := v.pullsUpTo(ref, func(e graphEntry) bool { return e.Head.OID == parent }); known != nil {
			return append(known, pulls...), true
		}
		isParent := func(b graphBranch) bool { return b.Target.OID == parent }
		i := slices.IndexFunc(v.groups, isParent)
		if i < 0 || len(pulls) >= len(v.groups) || slices.ContainsFunc(v.groups[i+1:], isParent) { // a commit has one: who made the other?
			return pulls, false
		}
		name := v.groups[i].Name[strings.LastIndexByte(v.groups[i].Name, '/')+1:]
		below := quorum.GroupRef{
			Owner: ref.Owner, Repo: ref.Repo, Head: parent, Branch: "gh-readonly-queue/" + ref.Base() + "/" + name,
		}
		if !below.IsValid() {
			return pulls, false
		}
		pulls = append([]quorum.PR{below.Named()}, pulls...)
		parent = below.Parent()
	}
}

// Groups lists the groups of a branch's merge queue that have a commit; nil where it has no queue. "" is the default
// branch.
func (q MergeQueues) Groups(ctx context.Context, owner, repo, base string) (refs []quorum.GroupRef, err error) {
	vars := map[string]any{"owner": owner, "name": repo}
	if base != "" {
		vars["base"] = base
	}
	v, err := q.readQueue(ctx, queueQuery, vars)
	if client.IsForbidden(err) { // such a token knows groups by their events alone
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list merge groups of %s/%s: %w", owner, repo, err)
	}
	if v.isThere {
		refs = []quorum.GroupRef{}
	}
	for _, e := range v.entries {
		ref := quorum.GroupRef{
			Owner: owner, Repo: repo, Head: e.Head.OID,
			Branch: fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", e.Pull.Base, e.Pull.Number, e.Base.OID),
		}
		if ref.IsValid() {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// PublishGroup makes our check on the group's commit read as c, and writes nothing if it does.
func (q MergeQueues) PublishGroup(ctx context.Context, ref quorum.GroupRef, c report.Check) error {
	p := publication{f: q.forge, pr: ref.Named(), m: &memory{}}
	p.m.head = c.Head
	checks, err := readPages[restCheck](
		ctx, q.forge.client, nil, repoPath(p.pr, "commits", c.Head, "check-runs")+"?filter=all&per_page=100", "check_runs",
	)
	if err != nil {
		return fmt.Errorf("publish merge group: %w", err)
	}
	var mine []writtenCheck
	for _, r := range checks {
		switch o := r.toCheck(); {
		case o.Name != c.Name:
		case q.forge.client.Personal():
			p.m.foreignCheckOnHead = true
		case isOwnCheck(q.forge.app, p.pr, o.CheckRun):
			mine = append(mine, o.asWritten())
			p.m.jobsCheckOnHead = p.m.jobsCheckOnHead || o.App == quorum.ActionsApp
		default:
			p.m.jobsCheckOnHead = p.m.jobsCheckOnHead || o.App == quorum.ActionsApp
		}
	}
	p.m.ownChecks = mine
	if q.forge.client.Personal() {
		if err := q.forge.readIdentity(ctx, new(quorum.Account)); err != nil {
			return err
		}
		e := &equalStatus{p: &p, head: c.Head, name: c.Name, statuses: &p.m.statuses}
		if err := e.readStatuses(ctx); err != nil {
			return fmt.Errorf("publish merge group: %w", err)
		}
		return p.publishStatus(ctx, c)
	}
	status, err := q.statusOfGroup(ctx, &p, c)
	if err != nil {
		return fmt.Errorf("publish merge group: %w", err)
	}
	return status.writeBeside(ctx, c, mine, func() error { return p.writeChecks(ctx, c, mine) })
}

// statusOfGroup is the keeper of the status beside the check on a group's commit, with the statuses that stand there;
// nil where none is kept.
func (q MergeQueues) statusOfGroup(ctx context.Context, p *publication, c report.Check) (*equalStatus, error) {
	status, err := p.equalStatus(ctx, c.Name)
	if status == nil || err != nil || !q.forge.writesAsJob() {
		return status, err
	}
	return status, status.readStatuses(ctx)
}

// isGroupCheck reports whether a check is one that the commit has as a merge queue's.
func isGroupCheck(o writtenCheck) bool { return groupBase(o) != "" }

// groupBase is the base of the merge queue whose commit a check is about; "" if it is none of a merge queue's.
func groupBase(o writtenCheck) string {
	name, base, _ := strings.Cut(o.external, "@")
	if strings.Contains(name, "#") {
		return ""
	}
	return base
}

// leaveToQueue takes the checks of a merge queue out of what a pull request's look may write, as long as the queue has
// the commit. It fails where the check that the look wants is one of them: nothing may be done that stands in no
// record. Anybody can open a pull request on such a commit, and would hold the queue up by it, or let through what it
// holds back. Afterwards they are checks like any other: nobody keeps them true any more. Against another base than the
// queue's they never speak for the pull request.
func (p *publication) leaveToQueue(ctx context.Context, c report.Check) error {
	i := slices.IndexFunc(p.m.ownChecks, isGroupCheck)
	if i < 0 {
		return nil
	}
	base := groupBase(p.m.ownChecks[i])
	groups, err := QueuesOf(p.f).Groups(ctx, p.pr.Owner, p.pr.Repo, base)
	if err != nil || !slices.ContainsFunc(groups, func(g quorum.GroupRef) bool { return g.Head == p.m.head }) {
		return err
	}
	isOurs := func(o writtenCheck) bool {
		return isGroupCheck(o) && (o.name != c.Name || base == p.m.conversation.base)
	}
	isWanted := slices.ContainsFunc(p.m.ownChecks, func(o writtenCheck) bool { return isOurs(o) && o.name == c.Name })
	p.m.ownChecks = slices.DeleteFunc(slices.Clone(p.m.ownChecks), isOurs)
	if isWanted && !c.OnlyOpen {
		return queueHoldsError{p.pr, p.m.head}
	}
	return nil
}

// queueHoldsError is a commit of which a merge queue's check must not be written for a pull request.
type queueHoldsError struct {
	pr   quorum.PR
	head string
}

func (e queueHoldsError) Error() string {
	return fmt.Sprintf("publish %s on %.7s: a merge queue has this commit, and its check is the queue's", e.pr, e.head)
}

// Temporary says that another look may help: the queue lets go of its commits soon.
func (queueHoldsError) Temporary() bool { return true }

func (queueHoldsError) Unwrap() error { return ErrMoved }
