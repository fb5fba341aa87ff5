package github

// Who had a hand in a pull request: who made its commits, and who pushed them.

import (
	"context"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// knownHands are who made a head's commits and who moved its branch, as far as it was read.
type knownHands struct {
	authors   []quorum.Commit
	pushes    []quorum.Push
	authorsOf string // the head for which authors was read
	pushesOf  string // the head that pushes shows

	pushesForced time.Time // the newest force-push that GitHub had told of when pushes was read
}

// knowsPushesOf reports whether pushes shows how the head came, and no force-push has come since: a pull request may
// have left its head and come back to it.
func (k *knownHands) knowsPushesOf(s *quorum.Snapshot) bool {
	return k.pushesOf == s.PR.Head && k.pushesForced.Equal(newestForcePush(s))
}

// notePushes notes that the list of pushes shows how the head came.
func (k *knownHands) notePushes(s *quorum.Snapshot, pushes []quorum.Push) {
	k.pushes, k.pushesOf, k.pushesForced = pushes, s.PR.Head, newestForcePush(s)
}

// newestForcePush is when the newest force-push was that GitHub tells of; zero if it tells of none.
func newestForcePush(s *quorum.Snapshot) (newest time.Time) {
	for _, e := range s.Timeline {
		if e.Kind == quorum.ForcePushed {
			newest = laterOf(newest, e.At)
		}
	}
	return newest
}

// size is about how many bytes it takes.
func (k *knownHands) size() int { return 256 * (len(k.authors) + len(k.pushes)) }

// readWanted begins to read what is wanted and not known.
func (k *knownHands) readWanted(ctx context.Context, g group, r pullReader, s *quorum.Snapshot, wants quorum.Wants) {
	pr := s.PR
	if wants.Authors && k.authorsOf != pr.Head {
		g.Go(func() (err error) {
			k.authors, err = r.readCommitAuthors(ctx, pr.Head)
			return err
		})
	}
	if (wants.Authors || wants.Pushes) && !k.knowsPushesOf(s) {
		g.Go(func() (err error) {
			k.pushes, err = r.readPushes(ctx, pr.HeadRepo, pr.HeadRef)
			return err
		})
	}
	if wants.OnlyWriter {
		g.Go(func() (err error) {
			s.OnlyWriter, err = readOnlyWriter(ctx, r.client, r.repoPath("collaborators"))
			if client.IsForbidden(err) || client.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
}

// showIn puts what was wanted into the snapshot. A list of pushes that does not show the head yet is read again by the
// next look.
func (k *knownHands) showIn(s *quorum.Snapshot, wants quorum.Wants) {
	if wants.Authors {
		k.authorsOf, s.Commits = s.PR.Head, append([]quorum.Commit{}, k.authors...) // not nil: it was read
	}
	if wants.Authors || wants.Pushes {
		s.Pushes, k.pushesOf = k.pushes, ""
		if slices.ContainsFunc(k.pushes, func(p quorum.Push) bool { return p.After == s.PR.Head }) {
			k.notePushes(s, k.pushes)
		}
	}
}
