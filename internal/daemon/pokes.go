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

// groupGone is the touch of a merge group that is no more. Only its event tells, so that it must not be lost among others.
const groupGone = store.Kept + `{"event":"merge_group","action":"destroyed"}`

// newPoke returns a poke of a key of a kind, with a touch; "": none.
func newPoke(kind, key string, due time.Time, touch string) store.Poke {
	p := store.Poke{Key: key, Kind: kind, Due: due, Touch: touch}
	at, _ := workkey.Parse(key)
	if p.Tenant = at.Tenant; at.Repo != "" {
		p.Group = workkey.Repo(at.Tenant, at.Owner, at.Repo)
	}
	return p
}

func pullPoke(tenant int64, pr quorum.PR, due time.Time, touch string) store.Poke {
	return newPoke(workkey.KindPull, workkey.Pull(tenant, pr), due, touch)
}

// backlogPoke returns a poke of a repository for whose look nobody waits.
func backlogPoke(repo string, due time.Time, touch string) store.Poke {
	p := newPoke(workkey.KindRepo, repo, due, touch)
	p.Backlog = true
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
