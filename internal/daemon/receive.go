package daemon

// Accepting a delivery: the keys that it names are poked in the table before it is acknowledged.

import (
	"context"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// Receive makes a delivery durable and returns what became of it. After an error nothing was accepted: [ErrMalformed]
// if it never will be.
func (d *Daemon) Receive(ctx context.Context, r Received) (result string, err error) {
	if d.Draining() {
		return "", ErrDraining
	}
	n, err := d.Host.ReadDelivery(r.Event, r.Payload)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	n.SetPress(r.ID, r.At)
	at := workkey.Key{Tenant: n.Installation, Owner: n.Owner, Repo: n.Repo}
	if known := d.tenants.policyOf(at); known.state == quorum.FileValid {
		n.Touch.Approver = evidence.ApproverIn(known.policy, n.Touch, n.Said)
	}
	pokes := d.pokesOf(n, d.Now())
	if len(pokes) == 0 {
		d.ignored.add(r.ID)
		d.logDelivery(ctx, r.ID, n, deliveryIgnored)
		return deliveryIgnored, nil
	}
	fresh, err := d.Store.Accept(ctx, store.AcceptedDelivery{ID: r.ID, At: r.At}, pokes...)
	if err != nil || !fresh {
		d.tenants.dropPokes(pokes)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("accept delivery: %w", err)
	case !fresh:
		d.logDelivery(ctx, r.ID, n, deliveryDuplicate)
		return deliveryDuplicate, nil
	}
	d.logDelivery(ctx, r.ID, n, deliveryAccepted)
	if n.Concern == webhook.ConcernInstallation {
		d.tenants.holdSuspended(n.Installation, time.Time{})
	}
	d.wakeDispatcher()
	return deliveryAccepted, nil
}

// logDelivery tells what became of a delivery, and what it is about. There are many: it is a line for whoever looks for
// one of them.
func (d *Daemon) logDelivery(ctx context.Context, id string, n webhook.Notice, result string) {
	d.Log.DebugContext(ctx, "a webhook delivery came", "delivery", id, "event", n.Name, "action", n.Action, "result", result,
		oplog.Installation(n.Installation), oplog.Repository(n.Owner, n.Repo), "pull_requests", n.PRs, "head", n.Head)
}

// pokesOf returns the pokes that a notice asks for.
func (d *Daemon) pokesOf(n webhook.Notice, now time.Time) (out []store.Poke) {
	repo, touch := workkey.Repo(n.Installation, n.Owner, n.Repo), touchText(n.Touch)
	add := func(kind, key, touch string) { out = append(out, newPoke(kind, key, now, touch)) }
	switch n.Concern {
	case webhook.ConcernNothing:
		return nil
	case webhook.ConcernInstallation, webhook.ConcernGone, webhook.ConcernSuspended: // GitHub tells how it stands
		add(workkey.KindTenant, workkey.Tenant(n.Installation), "")
		return out
	case webhook.ConcernRepo:
		add(workkey.KindRepo, repo, "")
		if n.Organisation {
			add(workkey.KindTenant, workkey.Tenant(n.Installation), organisationChanged)
		}
		return out
	case webhook.ConcernGroup:
		add(workkey.KindGroup, workkey.Group(n.Installation, *n.Group), "")
	case webhook.ConcernGroupGone: // a pull request on that commit has its check again
		add(workkey.KindGroup, workkey.Group(n.Installation, *n.Group), groupGone)
		add(workkey.KindHead, workkey.Head(n.Installation, n.Owner, n.Repo, n.Group.Head), "")
	case webhook.ConcernHead:
		add(workkey.KindHead, workkey.Head(n.Installation, n.Owner, n.Repo, n.Head), touch)
	case webhook.ConcernPulls:
		for _, number := range n.PRs {
			add(workkey.KindPull, workkey.Pull(n.Installation, quorum.PR{Owner: n.Owner, Repo: n.Repo, Number: number}), touch)
		}
	}
	// A repository that no listing has shown yet gets its resync by its first event: a personal token has no other way,
	// and an App's list is read every few minutes only.
	if len(out) > 0 && d.tenants.addFirst(n.Installation, repo) {
		out = append(out, backlogPoke(repo, now.Add(d.Resync), firstSeen))
	}
	return out
}
