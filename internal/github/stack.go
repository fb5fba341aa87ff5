package github

// The layers below one of a stack, as their branches tell: the base of a layer is the branch of the one below. GraphQL,
// which knows stacks too, is not asked: a field that a server's schema lacks refuses a query whole.

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A layersReader reads what is below a layer.
type layersReader struct {
	pullReader
	app   appIdentity
	ours  quorum.Account
	check string // plain name of our check
}

// readBelow reads the open pull requests below a layer, the nearest first: down to the trunk, or to one that is not
// green. Its own check has looked further.
func (r layersReader) readBelow(ctx context.Context, pr *quorum.PullRequest) (below quorum.Below, err error) {
	base := pr.BaseRef
	for layers := 0; pr.Stack.Trunk != "" && base != pr.Stack.Trunk; layers++ {
		if layers == quorum.MaxLayers {
			return quorum.Below{Why: quorum.ReasonLayersMany}, nil
		}
		p, err := r.readLayer(ctx, pr.Stack.Number, base)
		switch {
		case err != nil:
			return quorum.Below{}, err
		case p == nil:
			return quorum.Below{Why: quorum.ReasonLayersLost}, nil
		}
		if isGreen, err := r.isGreen(ctx, p.Head.SHA); err != nil || !isGreen {
			return quorum.Below{Why: quorum.ReasonLayer, Number: p.Number}, err
		}
		base = p.Base.Ref
	}
	return quorum.Below{}, nil
}

// readLayer reads the open pull request of a stack whose branch that is; nil if there is not exactly one. Of several
// those that GitHub shows in the stack are meant: earlier in its preview it showed none.
func (r layersReader) readLayer(ctx context.Context, stack int, branch string) (*restPull, error) {
	q := url.Values{"per_page": {"100"}, "state": {"open"}, "head": {r.pr.Owner + ":" + branch}}
	all, err := readPages[restPull](ctx, r.client, nil, r.repoPath("pulls")+"?"+q.Encode(), "")
	switch {
	case client.IsNotFound(err), client.IsUnprocessable(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p restPull) bool {
		return p.Head.Ref != branch || p.Head.Repo == nil || !strings.EqualFold(p.Head.Repo.FullName, r.pr.Owner+"/"+r.pr.Repo)
	})
	isShown := func(p restPull) bool { return p.Stack.Number == stack }
	if slices.ContainsFunc(all, isShown) {
		all = slices.DeleteFunc(all, func(p restPull) bool { return !isShown(p) })
	}
	if len(all) != 1 || len(all[0].Head.SHA) < 40 {
		return nil, nil
	}
	return &all[0], nil
}

// isGreen reports whether our check of the plain name, or our status for want of one, is green on the head of another
// pull request.
func (r layersReader) isGreen(ctx context.Context, head string) (bool, error) {
	if r.client.Personal() {
		all, err := r.readStatuses(ctx, head)
		i := slices.IndexFunc(all, func(st restStatus) bool { // the newest comes first
			return strings.EqualFold(st.Context, r.check) && st.Creator.account().Same(r.ours)
		})
		return i >= 0 && all[i].State == statusSuccess, err
	}
	q := url.Values{"check_name": {r.check}, "filter": {"all"}, "per_page": {"100"}}
	path := r.repoPath("commits", head, "check-runs") + "?" + q.Encode()
	all, err := readPages[restCheck](ctx, r.client, nil, path, "check_runs")
	if err != nil {
		return false, err
	}
	newest := ownCheck{}
	for i := range all {
		c := all[i].toCheck()
		if c.Name == r.check && c.ID > newest.ID && isOwnCheck(r.app, r.pr, c.CheckRun) {
			newest = c
		}
	}
	return saysGreen(newest.CheckRun), nil
}

// saysGreen reports whether a check of ours says that it has passed. Where a policy only reports, its text does.
func saysGreen(c quorum.CheckRun) bool {
	if c.Status != "completed" || c.Conclusion != "neutral" {
		return c.Status == "completed" && c.Conclusion == "success"
	}
	shown, isReadable := report.ParseCheck(c.Text)
	return isReadable && shown.Decision.Verdict == quorum.Passed
}
