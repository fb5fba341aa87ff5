package daemon

// Pokes, and the touches that go with them as the table keeps them.

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// pokesPerWrite is how many are kept in one transaction: deliveries wait for it.
const pokesPerWrite = 500

// firstSeen is the touch of a repository that an event named: no reason to look at once if it is known.
const firstSeen = "{}"

// organisationChanged is the touch of an installation whose organisation's policy may have changed: all its repositories are
// looked over in the backlog.
const organisationChanged = store.Kept + `{"event":"push","action":"organisation"}`

func repoPoke(tenant int64, owner, repo string, due time.Time) store.Poke {
	key := workkey.Repo(tenant, owner, repo)
	return store.Poke{Key: key, Tenant: tenant, Kind: workkey.KindRepo, Group: key, Due: due}
}

func pullPoke(tenant int64, pr quorum.PR, due time.Time, touch string) store.Poke {
	return store.Poke{
		Key: workkey.Pull(tenant, pr), Tenant: tenant, Kind: workkey.KindPull, Group: workkey.Repo(tenant, pr.Owner, pr.Repo),
		Due: due, Touch: touch,
	}
}

// inBacklog is a poke for whose look nobody waits.
func inBacklog(p store.Poke) store.Poke {
	p.Backlog = true
	return p
}

func headPoke(tenant int64, owner, repo, sha string, due time.Time, touch string) store.Poke {
	return store.Poke{
		Key: workkey.Head(tenant, owner, repo, sha), Tenant: tenant, Kind: workkey.KindHead,
		Group: workkey.Repo(tenant, owner, repo), Due: due, Touch: touch,
	}
}

// groupGone is the touch of a merge group that is no more. Only its event tells, so that it must not be lost among others.
const groupGone = store.Kept + `{"event":"merge_group","action":"destroyed"}`

func groupPoke(tenant int64, g quorum.GroupRef, due time.Time, isGone bool) store.Poke {
	p := store.Poke{
		Key: workkey.Group(tenant, g), Tenant: tenant, Kind: workkey.KindGroup, Group: workkey.Repo(tenant, g.Owner, g.Repo), Due: due,
	}
	if isGone {
		p.Touch = groupGone
	}
	return p
}

// knownGroupPoke is a poke of a merge group that was read in the table, and may be forgotten meanwhile.
func knownGroupPoke(tenant int64, g quorum.GroupRef, due time.Time, isGone bool) store.Poke {
	p := groupPoke(tenant, g, due, isGone)
	p.IfKnown = true
	return p
}

// touchText is a touch as the table keeps it. The zero one asks for a look, whatever happened. GitHub tells of a press in
// its event alone, so that it must not be lost among others.
func touchText(t quorum.Touch) string {
	if t == (quorum.Touch{}) {
		return store.Any
	}
	text, err := json.Marshal(t)
	switch {
	case err != nil:
		return store.Any // unreachable: it holds strings and numbers
	case t.Press != 0:
		return store.Kept + string(text)
	}
	return string(text)
}

// resyncTouch is the touch of a look that no event asks for. head is what a list of pull requests showed, or "": a look that
// expects it takes two requests less.
func resyncTouch(head string) string { return touchText(quorum.Touch{Action: "resync", Head: head}) }

// readTouches reads what was written by touchText; false if one of them says to look, whatever happened: a resync's, which is
// no event, or one that could not be kept.
func readTouches(texts []string) (all []quorum.Touch, ok bool) {
	ok = true
	for _, text := range texts {
		var t quorum.Touch
		if text == store.Any || json.Unmarshal([]byte(strings.TrimPrefix(text, store.Kept)), &t) != nil {
			ok = false
			continue
		}
		ok = ok && t.Event != "" // else it is a resync's
		all = append(all, t)
	}
	return all, ok
}
