package github

// A look in one wave. Where a look is expected to find the head that it finds, everything that is read of it is read
// beside the pull request and the policy, and so is the conversation, which also tells whether the policy is the one that
// was read last. Nothing is believed for having been expected: what was read for another head, base or policy than GitHub
// then shows is read again, in order.

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// scene is what it depends on what must be read.
type scene struct {
	head     string
	headRef  string
	created  time.Time
	commits  int
	base     string
	main     string // the default branch
	check    string // name of our check
	statuses bool   // commit statuses are needed
	ruled    bool   // there is a policy file
	judged   bool   // anything will be judged
	talk     bool   // the conversation is read beside all else
}

// scene is the true one, once the pull request and the policy are read.
func (l *look) scene() scene {
	pr := l.s.PR
	return scene{
		head: pr.Head, headRef: pr.HeadRef, created: pr.Created, commits: pr.Commits, base: pr.BaseRef, main: pr.DefaultBranch,
		check: l.p.Check, statuses: l.named(l.p), ruled: l.s.File.State != quorum.FileMissing, judged: l.judges(),
	}
}

// named reports whether commit statuses matter.
func (l *look) named(p quorum.Policy) bool {
	return l.f.client.Personal() || slices.ContainsFunc(p.Reviewers, func(r quorum.Reviewer) bool { return r.Status != "" })
}

// expected is the scene that memory and events let expect; its head is "" if they do not.
func (l *look) expected() scene {
	sc := l.m.last
	told := l.expects
	switch {
	case told == "", told == sc.head, sc.head != "" && l.m.passed(told): // an event that comes late names an older head
	case sc.head == "":
		sc = scene{head: told, judged: true, check: quorum.DefaultCheck, statuses: l.f.client.Personal()}
	default:
		sc.head, sc.commits = told, max(sc.commits, 1)+1
	}
	if seen, known := l.f.sight(l.pr); known {
		l.asIf = seen.policy.Reviewers
		sc.check, sc.statuses, sc.ruled = seen.policy.Check, l.named(seen.policy), seen.file.State != quorum.FileMissing
		sc.judged = sc.judged && judged(seen.file, seen.policy)
	}
	sc.talk = sc.judged && l.talks(sc)
	return sc
}

// passed reports whether head is one that the pull request had before.
func (m *memory) passed(head string) bool {
	return head == m.formerly || m.threads.of(head).sha != "" ||
		slices.ContainsFunc(m.threads.timeline, func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed && e.From == head })
}

// part is one of the things that are read of a head.
type part uint16

const (
	partChecks part = 1 << iota
	partStatuses
	partGated
	partFiles
	partRuns
	partReviews
	partComments
	partSiblings
	partOthers
	partConversation
)

// parts are those that were read.
type parts struct {
	mu   sync.Mutex
	read part
}

func (p *parts) has(x part) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read&x != 0
}

func (p *parts) add(x part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read |= x
}

func (p *parts) drop(x part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read &^= x
}

// parts starts to read what sc calls for and was not read yet. Early, GitHub may not know the head: then it is asked again.
func (l *look) parts(ctx context.Context, g group, sc scene, early bool) {
	read := func(x part, needed bool, f func(context.Context, scene) error) {
		if !needed || l.have.has(x) {
			return
		}
		g.Go(func() error {
			err := f(ctx, sc)
			switch {
			case err == nil:
				l.have.add(x)
			case early && unknown(err):
				return nil
			}
			return err
		})
	}
	read(partChecks, true, l.checks)
	read(partStatuses, sc.statuses, l.statuses)
	read(partGated, sc.ruled && (!early || sc.base != ""), l.gated)
	read(partFiles, sc.judged, l.files)
	read(partRuns, sc.judged, l.workflows)
	read(partReviews, sc.judged, l.reviews)
	read(partComments, sc.judged, l.comments)
	read(partOthers, sc.judged && sc.commits > 1 && sc.headRef != "", l.others)
	read(partConversation, sc.talk, l.talk)
	read(partSiblings, sc.judged && !sc.talk && !l.related, l.siblings)
}

// unknown reports whether GitHub does not know a head, or has another.
func unknown(err error) bool {
	var m moved
	return errors.As(err, &m) || client.IsNotFound(err) || client.IsUnprocessable(err) || client.IsConflict(err)
}

// talks reports whether the conversation will be needed, as far as that can be known before anything is read.
func (l *look) talks(sc scene) bool {
	return !l.m.serially && (l.told || l.m.head != sc.head || l.fresh())
}

// talk reads the conversation beside the texts that it must agree with.
func (l *look) talk(ctx context.Context, sc scene) (err error) {
	l.talked, l.blob, err = l.f.converse(ctx, l.pr, sc, l.asked(), l.kept)
	return err
}

// settle drops what was read for another scene than the true one.
func (l *look) settle(was scene) {
	now := l.scene()
	if was.head != now.head {
		l.have.drop(^part(0))
		return
	}
	if was.base != now.base || was.main != now.main {
		l.have.drop(partGated)
	}
	if was.headRef != now.headRef || !was.created.Equal(now.created) {
		l.have.drop(partOthers)
	}
	if was.check != now.check || !now.judged {
		l.have.drop(partConversation)
	}
	if l.asIf != nil && authorsOf(l.asIf) != authorsOf(l.p.Reviewers) {
		l.have.drop(partReviews | partComments | partConversation) // words of a new one may be missing
	}
	l.related = l.have.has(partConversation) && l.talked.related
}

// agree makes the conversation that was read beside the texts the one that counts, if it knows each of them as REST shows
// it: who edited a text must not be older than its words, nor a thread than its review. Else it is asked again, later.
func (l *look) agree(ctx context.Context) error {
	if !l.have.has(partConversation) {
		return nil
	}
	if l.talked.ahead(l.raw) { // REST was asked first
		g, ctx := together(ctx)
		g.Go(func() error { return l.reviews(ctx, l.scene()) })
		g.Go(func() error { return l.comments(ctx, l.scene()) })
		if err := g.Wait(); err != nil {
			return err
		}
	}
	if l.covers(l.talked) {
		l.take(l.talked)
		return nil
	}
	l.have.drop(partConversation)
	if l.related { // it told of siblings, too
		l.related = false
		return l.siblings(ctx, l.scene())
	}
	return nil
}

// ahead reports whether c knows a text that REST did not show, or a later edit.
func (c conversation) ahead(raw raw) bool {
	known := map[int64]bool{}
	for _, r := range raw.reviews {
		known[r.ID] = true
	}
	for id := range c.amended {
		if !known[id] {
			return true
		}
	}
	clear(known)
	for _, r := range raw.comments {
		known[r.ID] = true
		if e, found := c.edits[r.ID]; found && e.updated.After(latest(r.Created, r.Updated)) {
			return true
		}
	}
	for id := range c.edits {
		if !known[id] {
			return true
		}
	}
	return false
}

// covers reports whether c knows all that REST shows: every text as it reads, and what became of the pull request.
func (l *look) covers(c conversation) bool {
	if c.base != l.s.PR.BaseRef || c.draft != l.s.PR.Draft || c.closed != l.s.PR.Closed {
		return false
	}
	return !slices.ContainsFunc(l.raw.reviews, func(r restReview) bool { return c.behind(r.text(), r.sum) }) &&
		!slices.ContainsFunc(l.raw.comments, func(r restComment) bool { return c.behind(r.text(), r.sum) })
}

func (c conversation) dismissed(review int64) bool {
	return slices.ContainsFunc(c.timeline, func(e quorum.Event) bool { return e.Kind == quorum.ReviewDismissed && e.Review == review })
}

// sight is a repository's policy as it was read last. It decides what is read beside it, spares parsing the same file again,
// and stands for the file where GitHub says that it is still that one.
type sight struct {
	file   quorum.PolicyFile
	policy quorum.Policy
	src    untrusted.Digest
	named  bool // the conversation names the file as REST does, by its content's own hash: it is no link, nor too large
}

// mostRepos bounds how many sights are kept, and how many policies.
const mostRepos = 64

func sightKey(pr quorum.PR) string { return strings.ToLower(pr.Owner + "/" + pr.Repo) }

func (f *Forge) sight(pr quorum.PR) (sight, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, known := f.repos[sightKey(pr)]
	return s, known
}

// named notes whether the conversation names what was read last, if that is still sha, as REST does.
func (f *Forge) named(pr quorum.PR, sha string, yes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, known := f.repos[sightKey(pr)]; known && s.file.SHA == sha {
		s.named = yes
		f.repos[sightKey(pr)] = s
	}
}

func (f *Forge) saw(pr quorum.PR, s sight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.repos) >= mostRepos {
		clear(f.repos)
	}
	f.repos[sightKey(pr)] = s
}
