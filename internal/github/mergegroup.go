package github

// Merge queues: which pull requests are in a group, and the check on its commit.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// groupQuery costs one point of the hour's.
const groupQuery = `query($owner: String!, $name: String!, $base: String!, $ref: String!, $head: GitObjectID!, $entries: String) {
  repository(owner: $owner, name: $name) {
    mergeQueue(branch: $base) {
      entries(first: 100, after: $entries) {
        pageInfo { hasNextPage endCursor }
        nodes { position headCommit { oid } pullRequest { number baseRefName } }
      }
    }
    ref(qualifiedName: $ref) { target { oid } }
    object(oid: $head) { ... on Commit { committedDate checkSuites(first: 20) { nodes { createdAt } } } }
  }
}`

// queueQuery costs one point of the hour's.
const queueQuery = `query($owner: String!, $name: String!, $base: String!, $entries: String) {
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

type queueAnswer struct {
	Repository *struct {
		Queue *struct {
			Entries graphConnection[graphEntry] `json:"entries"`
		} `json:"mergeQueue"` // nil: the branch has none
		Ref *struct {
			Target graphOID `json:"target"`
		} `json:"ref"`
		Commit *struct {
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

// readEntries asks a query about a queue, page by page, and returns its entries in their order with the first page.
func (q MergeQueues) readEntries(ctx context.Context, query string, vars map[string]any) (entries []graphEntry, first queueAnswer, err error) {
	for page := range maxPages {
		var answer queueAnswer
		if err := q.forge.client.GraphQL(ctx, query, vars, &answer); err != nil {
			return nil, first, err
		}
		if answer.Repository == nil {
			return nil, first, moved{"the repository vanished"}
		}
		if page == 0 {
			first = answer
		}
		if answer.Repository.Queue == nil {
			break
		}
		list := answer.Repository.Queue.Entries
		entries = append(entries, list.Nodes...)
		if !advanceCursor(vars, "entries", list.Page) {
			slices.SortStableFunc(entries, func(a, b graphEntry) int { return a.Position - b.Position })
			return entries, first, nil
		}
	}
	if first.Repository.Queue != nil {
		return nil, first, fmt.Errorf("the merge queue %w", errNoEnd)
	}
	return nil, first, nil
}

// ReadGroup reads which pull requests are in a group: those of the queue up to the one whose commit it is. Where the queue
// does not show that commit, it is what the branch's name tells: that pull request on top of the base, or of a group that
// the queue shows.
func (q MergeQueues) ReadGroup(ctx context.Context, ref quorum.GroupRef) (quorum.MergeGroup, error) {
	vars := map[string]any{
		"owner": ref.Owner, "name": ref.Repo, "base": ref.Base(), "ref": "refs/heads/" + ref.Base(), "head": ref.Head,
	}
	entries, answer, err := q.readEntries(ctx, groupQuery, vars)
	if err != nil {
		return quorum.MergeGroup{}, fmt.Errorf("read merge group %s: %w", ref, err)
	}
	tip := ""
	if answer.Repository.Ref != nil {
		tip = answer.Repository.Ref.Target.OID
	}
	return groupIn(ref, entries, tip, answer.arrival()), nil
}

// groupIn is the group among a queue's entries; tip is the base's newest commit.
func groupIn(ref quorum.GroupRef, entries []graphEntry, tip string, since time.Time) quorum.MergeGroup {
	g := quorum.MergeGroup{GroupRef: ref, Since: since, Whole: true}
	upTo := func(is func(graphEntry) bool) bool {
		i := slices.IndexFunc(entries, is)
		for _, e := range entries[:i+1] {
			g.Pulls = append(g.Pulls, quorum.PR{Owner: ref.Owner, Repo: ref.Repo, Number: e.Pull.Number})
		}
		return i >= 0
	}
	named := ref.Named()
	isNamed := func(e graphEntry) bool { return e.Pull.Number == named.Number }
	i := slices.IndexFunc(entries, isNamed)
	switch {
	case upTo(func(e graphEntry) bool { return e.Head.OID == ref.Head }):
		return g
	case i >= 0 && entries[i].Head.OID != "":
		g.Gone = true // another commit holds it now
	case i >= 0: // that its commit is built is not shown yet
		upTo(isNamed)
	case upTo(func(e graphEntry) bool { return e.Head.OID == ref.Parent() }):
		g.Pulls = append(g.Pulls, named)
	case tip == ref.Head: // it was merged
		g.Gone = true
	default:
		g.Pulls, g.Whole = append(g.Pulls, named), tip == ref.Parent() || tip == "" && len(entries) == 0
	}
	return g
}

// Groups lists the groups of a branch's merge queue that have a commit; nil where it has no queue.
func (q MergeQueues) Groups(ctx context.Context, owner, repo, base string) (refs []quorum.GroupRef, err error) {
	entries, _, err := q.readEntries(ctx, queueQuery, map[string]any{"owner": owner, "name": repo, "base": base})
	if err != nil {
		return nil, fmt.Errorf("list merge groups of %s/%s: %w", owner, repo, err)
	}
	for _, e := range entries {
		ref := quorum.GroupRef{
			Owner: owner, Repo: repo, Head: e.Head.OID,
			Branch: fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", base, e.Pull.Number, e.Base.OID),
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

// statusOfGroup is the keeper of the status beside the check on a group's commit, with the statuses that stand there; nil
// where none is kept.
func (q MergeQueues) statusOfGroup(ctx context.Context, p *publication, c report.Check) (*equalStatus, error) {
	status, err := p.equalStatus(ctx, c.Name)
	if status == nil || err != nil || !q.forge.writesAsJob() {
		return status, err
	}
	return status, status.readStatuses(ctx)
}

// isGroupCheck reports whether a check is one that the commit has as a merge queue's.
func isGroupCheck(o writtenCheck) bool {
	return strings.Contains(o.external, "@") && !strings.Contains(o.external, "#")
}

// leavesToGroup reports whether a pull request's check, which would be open, is the one that its head has as a commit of
// a merge queue of the same base: anybody can open a pull request on such a commit, and hold the queue up by it.
func (p *publication) leavesToGroup(c report.Check) bool {
	group := report.GroupID(p.pr.Owner, p.pr.Repo, p.m.conversation.base)
	return c.Status != "completed" && slices.ContainsFunc(p.m.ownChecks, func(o writtenCheck) bool {
		return o.name == c.Name && o.external == group
	})
}
