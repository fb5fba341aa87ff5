package github

// The pull requests that share a head, as GitHub and our own check show them.

import (
	"slices"
	"sort"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// siblingsOf are the other pull requests with pr's head, open or not, as the conversation shows them.
func (c conversation) siblingsOf(pr quorum.PR) (all []quorum.PullRequest) {
	for i := range c.siblings {
		p := &c.siblings[i]
		all = append(all, p.toPull(pr))
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Number < all[j].Number })
	return all
}

func (p *graphSibling) toPull(pr quorum.PR) quorum.PullRequest {
	return quorum.PullRequest{
		PR:   quorum.PR{Owner: pr.Owner, Repo: pr.Repo, Number: p.Number},
		Head: p.Head, BaseRef: p.Base, Draft: p.Draft, Fork: p.Fork, Closed: p.State != "OPEN", Merged: p.State == "MERGED",
		Created: p.Created, Author: p.Author.account(),
	}
}

func (p *sizedPull) toPull(pr quorum.PR) quorum.PullRequest {
	pull := p.graphSibling.toPull(pr)
	pull.HeadRef, pull.ClosedAt = p.HeadRef, p.ClosedAt
	if p.HeadRepo != nil {
		pull.HeadRepo = p.HeadRepo.FullName
	}
	return pull
}

// siblingsAmong are the other pull requests with pr's head among those that REST lists.
func siblingsAmong(listed []restPull, pr quorum.PullRequest) (all []quorum.PullRequest) {
	for i := range listed {
		if p := &listed[i]; p.Number != pr.Number && p.Head.SHA == pr.Head {
			o := p.toPull(pr.PR)
			all = append(all, quorum.PullRequest{
				PR: o.PR, Head: o.Head, BaseRef: o.BaseRef, Draft: o.Draft, Fork: o.Fork, Closed: o.Closed, Merged: o.Merged,
				Created: o.Created, Author: o.Author,
			})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Number < all[j].Number })
	return all
}

// withFormerSiblings are the siblings of a closed pull request: those, and the ones that its check names beside it.
// They may have this head still.
func withFormerSiblings(s quorum.Snapshot) []quorum.PullRequest {
	all := s.Siblings
	for _, h := range s.Held {
		isNamed := slices.ContainsFunc(all, func(p quorum.PullRequest) bool { return p.Number == h.Pull })
		if h.Pull != 0 && h.Pull != s.PR.Number && !isNamed {
			all = append(all, quorum.PullRequest{
				PR: quorum.PR{Owner: s.PR.Owner, Repo: s.PR.Repo, Number: h.Pull}, Head: s.PR.Head,
			})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Number < all[j].Number })
	return all
}
