package github

// What the last look read of a pull request itself. Whatever is said in it changes its answer over REST: where events tell only
// of that, and the conversation, which is asked for anyway, shows that nothing else has changed, it is not read again.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A knownPull is a pull request as REST showed it.
type knownPull struct {
	quorum.PullRequest
	changedFiles int    // changed_files
	lines        int    // additions and deletions
	label        string // "owner:branch" of the head
	differs      bool   // GraphQL shows it otherwise: it is read over REST at each look
}

// pullFacts are what REST and GraphQL both tell of a pull request. Of requested reviewers, whose names not every token
// may see, that is how many there are.
type pullFacts struct {
	title, head, headRef, headRepo, base, baseRef, defaultBranch, merge, labels string
	draft, closed                                                               bool
	commits, files, lines, requested                                            int
}

// facts returns the facts as REST showed them.
func (k *knownPull) facts() pullFacts {
	return pullFacts{
		title: k.Title, head: k.Head, headRef: k.HeadRef, headRepo: k.HeadRepo, base: k.Base, baseRef: k.BaseRef,
		defaultBranch: k.DefaultBranch, merge: k.Merge, labels: joinSorted(k.Labels), draft: k.Draft, closed: k.Closed,
		commits: k.Commits, files: k.changedFiles, lines: k.lines, requested: len(k.Requested),
	}
}

// joinSorted returns names as one text, in an order of their own.
func joinSorted(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// isSpared reports whether the pull request need not be read over REST if the conversation shows what is known of it:
// events came that each name what they touched, and none of it is the pull request itself. Of a change GraphQL may be
// late, and only its own event tells; and without an event REST's answer costs nothing. That a pull request has become
// a layer of a stack, REST alone tells.
func (k *knownPull) isSpared(sc readPlan, since eventsSince) bool {
	return since.spareThePull() && sc.conversation && k.Head == sc.head && k.BaseRef == k.DefaultBranch && !k.differs
}
