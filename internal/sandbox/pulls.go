package sandbox

// Actions of people, apps and workflows on a pull request: open it, push, comment, review, resolve.

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// people are those who work on pull requests.
type people struct{ actions }

// PullSpec describes a pull request to open.
type PullSpec struct {
	Number       int    // default: the next
	Title        string // default: "Change N"
	Body         string
	Head         string // name or SHA of the commit; default "a1"
	Branch       string // default: feature-N
	Base         string // default: the default branch
	Author       string // default: alice
	Draft        bool
	Fork         string // owner of the fork that it comes from; "" for none
	Labels       []string
	Files        []ChangedFile // default: one
	ChangedCount int           // changed_files, where it is more than the files that GitHub lists
	Opened       time.Time     // default: now. Its head is pushed now in any case
	Commit       CommitSpec    // people of the head; default: the author
	PushedBy     string        // who pushed the head; default: the author
}

// CommitSpec describes a commit that is pushed: its people and its message.
type CommitSpec struct {
	Author    string // a login, or an e-mail address that no account has
	Committer string
	CoAuthors []string
	Message   string
	Signature Signature
}

// Signature says whether GitHub has verified a commit's signature.
type Signature uint8

const (
	SignedIfRobot Signature = iota // if a robot pushed its own commit: by GitHub's API, which signs it
	Signed
	Unsigned
)

// PushSpec is how a commit is pushed.
type PushSpec struct {
	By     string // default: the pull request's author
	Force  bool   // the commits before it are gone
	Merges string // the branch that the commit merges; "" if it is no merge
	Commit CommitSpec
	Files  []ChangedFile // files that the pull request changes from now on; nil: as before
	Same   bool          // it changes what the head before changed
	But    Difference    // Same: one thing is another all the same
	Moves  []string      // authors whose reviews of the head before GitHub shows on the new one from now on
}

// OpenPull opens a pull request and returns its number.
func (g *people) OpenPull(s PullSpec) int {
	defer g.mu.held()()
	return g.openPull(s).number
}

// CheckOpening says what is wrong with a pull request that is to be opened: its head is there, and changes other files.
func CheckOpening(g *GitHub, s PullSpec) error {
	defer g.mu.held()()
	known, isTold := g.diffs.told[headOnBase{SHA(or(s.Head, "a1")), or(s.Base, g.defaultBranch)}]
	if isTold && s.Files != nil && !slices.Equal(known, s.Files) {
		return fmt.Errorf("commit %s is there and changes other files: open another one, or do not say what it changes", or(s.Head, "a1"))
	}
	return nil
}

// openPull opens a pull request.
func (g *people) openPull(s PullSpec) *pullRequest {
	now := g.carryOutDue()
	p := &pullRequest{
		number: s.Number, title: s.Title, body: s.Body, author: s.Author,
		headBranch: s.Branch, baseBranch: s.Base, draft: s.Draft, fork: s.Fork != "",
		headOwner: g.owner, labels: slices.Clone(s.Labels), changedCount: s.ChangedCount, created: s.Opened, updated: now,
	}
	for p.number == 0 || s.Number == 0 && g.pulls[p.number] != nil {
		p.number = len(g.pulls) + 1
		for g.pulls[p.number] != nil {
			p.number++
		}
	}
	p.title = or(p.title, fmt.Sprintf("Change %d", p.number))
	p.author = or(p.author, "alice")
	p.headBranch = or(p.headBranch, fmt.Sprintf("feature-%d", p.number))
	p.baseBranch = or(p.baseBranch, g.defaultBranch)
	if p.fork {
		p.headOwner = s.Fork
	}
	if p.created.IsZero() {
		p.created = now
	}
	p.baseSHA = g.ensureBranch(p.baseBranch).tip
	g.pulls[p.number] = p
	g.index.addPull(p)
	head := SHA(or(s.Head, "a1"))
	p.diffs = newPullDiffs(g.diffs)
	p.diffs.tellOpened(head, p.baseBranch, s.Files)
	g.setHead(p, head, s.Commit.signedIfBy(or(s.PushedBy, p.author), p.author), []string{p.baseSHA}, now)
	g.announceHead(p, strings.Repeat("0", 40), or(s.PushedBy, p.author), "branch_creation")
	g.emitPullEvent(p, "opened", p.author, nil)
	return p
}

// signedIfBy returns a commit with its signature, as somebody pushed it.
func (c CommitSpec) signedIfBy(pusher, author string) CommitSpec {
	if c.Signature == SignedIfRobot && strings.HasSuffix(pusher, "[bot]") && or(c.Author, author) == pusher {
		c.Signature = Signed
	}
	return c
}

// setHead gives p a new head. The commit is known from then on, and so is its test merge.
func (g *people) setHead(p *pullRequest, sha string, by CommitSpec, parents []string, now time.Time) {
	author := or(by.Author, p.author)
	g.addCommit(
		&commit{
			sha: sha, parents: parents, author: author, committer: or(by.Committer, author), coauthors: by.CoAuthors,
			message: by.Message, verified: by.Signature == Signed, pushedAt: now,
		},
	)
	g.commits[MergeSHA(sha)] = &commit{
		sha: MergeSHA(sha), parents: []string{p.baseSHA, sha}, author: author, committer: "web-flow", message: "Merge",
		pushedAt: now,
	}
	g.index.addHead(p, sha)
	p.head, p.allHeads, p.shownCommits = sha, append(p.allHeads, sha), append(p.shownCommits, sha)
	g.noteMergeBase(p, sha, p.baseBranch)
}

// announceHead enters a new head into the activity list of its repository and sends its events: the push, and the check
// suite that is requested from the App.
func (g *people) announceHead(p *pullRequest, before, by, kind string) {
	g.activity = append(g.activity, branchPush{
		id: int64(len(g.activity) + 1), owner: p.headOwner, branch: p.headBranch,
		before: before, after: p.head, kind: kind, actor: by, at: g.now(),
	})
	if g.webhook == nil {
		return
	}
	if !p.fork {
		g.emitPushEvent(p.headBranch, before, p.head, by, []string{})
	}
	for _, s := range g.suitesOn(p.head) {
		if s.unannounced && s.app == g.app {
			s.unannounced = false
			g.emitSuiteEvent(s, "requested")
		}
	}
}

// Push gives a pull request a new head, or one that it had before. That one changes what it changed: it is an error if
// s says something else.
func (g *people) Push(number int, head string, s PushSpec) error {
	return g.changePull(number, func(p *pullRequest, now time.Time) error {
		err := p.diffs.tellPush(pushedHead{
			name: head, head: SHA(head), base: p.baseBranch, before: p.head, files: s.Files, isSame: s.Same, but: s.But,
		})
		if err != nil {
			return err
		}
		before, by := p.head, or(s.By, p.author)
		g.dropFromQueue(p)
		parents := []string{before}
		if s.Force {
			p.shownCommits, parents = nil, []string{p.baseSHA}
		}
		if s.Merges != "" {
			parents = append(parents, g.ensureBranch(s.Merges).tip)
			s.Commit.Message = or(s.Commit.Message, fmt.Sprintf("Merge branch '%s' into %s", s.Merges, p.headBranch))
		}
		s.Commit.Author = or(s.Commit.Author, by)
		g.setHead(p, SHA(head), s.Commit.signedIfBy(by, p.author), parents, now)
		p.moveReviews(before, s.Moves)
		if s.Force {
			g.addTimelineEvent(p, timelineEvent{kind: "head_ref_force_pushed", actor: by, old: before, new: p.head})
		}
		p.updated = now
		kind := "push"
		if s.Force {
			kind = "force_push"
		}
		g.announceHead(p, before, by, kind)
		g.emitPullEvent(p, "synchronize", by, object{"before": before, "after": p.head})
		return nil
	})
}

// changePull carries out a change of a pull request, which thereby counts as updated.
func (g *people) changePull(number int, f func(p *pullRequest, now time.Time) error) error {
	defer g.mu.held()()
	p := g.pulls[number]
	if p == nil {
		return fmt.Errorf("change pull request #%d: there is none", number)
	}
	now := g.carryOutDue()
	if err := f(p, now); err != nil {
		return fmt.Errorf("change pull request #%d: %w", number, err)
	}
	p.updated = now
	return nil
}

// Retarget gives a pull request another base. Files are what its head changes against that one; without them it changes
// there what it changed against this one, unless it was told otherwise before.
func (g *people) Retarget(number int, base, by string, files ...ChangedFile) error {
	return g.changePull(number, func(p *pullRequest, _ time.Time) error {
		if err := p.diffs.tellBase(p.head, base, files); err != nil {
			return err
		}
		g.dropFromQueue(p)
		old, tip := p.baseBranch, p.baseSHA
		p.baseBranch, p.baseSHA = base, g.ensureBranch(base).tip
		g.noteMergeBase(p, p.head, base)
		g.addTimelineEvent(p, timelineEvent{kind: "base_ref_changed", actor: or(by, p.author), old: old, new: base})
		g.emitBaseChange(p, old, tip, by)
		return nil
	})
}

// RetargetAfterMerge gives a pull request the base of its base branch, as GitHub does when that branch was merged
// and deleted.
func (g *people) RetargetAfterMerge(number int, into, by string) error {
	return g.changePull(number, func(p *pullRequest, now time.Time) error { return g.retargetAfterMerge(p, into, by, now) })
}

func (g *people) retargetAfterMerge(p *pullRequest, into, by string, now time.Time) error {
	if err := p.diffs.tellBase(p.head, into, nil); err != nil {
		return err
	}
	old, tip := p.baseBranch, p.baseSHA
	p.baseBranch, p.baseSHA, p.updated = into, g.ensureBranch(into).tip, now
	g.noteMergeBase(p, p.head, into)
	g.addTimelineEvent(p, timelineEvent{kind: "automatic_base_change_succeeded", actor: or(by, p.author), old: old, new: into})
	g.emitBaseChange(p, old, tip, by)
	return nil
}

// Close closes a pull request.
func (g *people) Close(number int, by string) error {
	return g.changePull(number, func(p *pullRequest, now time.Time) error {
		p.closed, p.closedAt = true, now
		g.dropFromQueue(p)
		g.addTimelineEvent(p, timelineEvent{kind: "closed", actor: or(by, p.author)})
		p.updated = now
		g.emitPullEvent(p, "closed", or(by, p.author), nil)
		return nil
	})
}

// Merge merges a pull request, whatever its checks say. With a layer of a stack GitHub merges those below, and the next
// one above gets the trunk as base. That GitHub rebases it, too, is told as a push.
func (g *people) Merge(number int, by string) error {
	return g.changePull(number, func(p *pullRequest, now time.Time) error {
		for _, layer := range append(p.openBelow(), p) {
			g.mergePull(layer, by, now)
		}
		if next := p.nextAbove(); next != nil {
			return g.retargetAfterMerge(next, p.stack.trunk, by, now)
		}
		return nil
	})
}

func (g *people) mergePull(p *pullRequest, by string, now time.Time) {
	p.closed, p.merged, p.closedAt = true, true, now
	if from := g.branches[p.headBranch]; from != nil && !p.fork && from.tip == p.head { // it has files of its own
		maps.Copy(g.filesAt(p.baseBranch), g.files[p.headBranch])
	}
	g.addTimelineEvent(p, timelineEvent{kind: "closed", actor: or(by, p.author)})
	p.updated = now
	g.emitPullEvent(p, "closed", or(by, p.author), nil)
}

// Reopen opens a closed pull request again.
func (g *people) Reopen(number int, by string) error {
	return g.changePull(number, func(p *pullRequest, _ time.Time) error {
		p.closed, p.closedAt = false, time.Time{}
		g.addTimelineEvent(p, timelineEvent{kind: "reopened", actor: or(by, p.author)})
		g.emitPullEvent(p, "reopened", or(by, p.author), nil)
		return nil
	})
}

// ConvertToDraft makes a pull request a draft.
func (g *people) ConvertToDraft(number int, by string) error {
	return g.changePull(number, func(p *pullRequest, _ time.Time) error {
		p.draft = true
		g.addTimelineEvent(p, timelineEvent{kind: "convert_to_draft", actor: or(by, p.author)})
		g.emitPullEvent(p, "converted_to_draft", or(by, p.author), nil)
		return nil
	})
}

// MarkReady marks a draft as ready for review.
func (g *people) MarkReady(number int, by string) error {
	return g.changePull(number, func(p *pullRequest, _ time.Time) error {
		p.draft = false
		g.addTimelineEvent(p, timelineEvent{kind: "ready_for_review", actor: or(by, p.author)})
		g.emitPullEvent(p, "ready_for_review", or(by, p.author), nil)
		return nil
	})
}

// AddLabel adds a label.
func (g *people) AddLabel(number int, label, by string) error {
	return g.changePull(number, func(p *pullRequest, _ time.Time) error {
		if !slices.Contains(p.labels, label) {
			p.labels = append(p.labels, label)
			g.addTimelineEvent(p, timelineEvent{kind: "labeled", actor: or(by, p.author), label: label})
			g.emitPullEvent(p, "labeled", or(by, p.author), object{"label": g.labelJSON(label)})
		}
		return nil
	})
}

// RemoveLabel takes a label away.
func (g *people) RemoveLabel(number int, label, by string) error {
	return g.changePull(number, func(p *pullRequest, _ time.Time) error {
		if i := slices.Index(p.labels, label); i >= 0 {
			p.labels = slices.Delete(slices.Clone(p.labels), i, i+1)
			g.addTimelineEvent(p, timelineEvent{kind: "unlabeled", actor: or(by, p.author), label: label})
			g.emitPullEvent(p, "unlabeled", or(by, p.author), object{"label": g.labelJSON(label)})
		}
		return nil
	})
}

// Head returns the current head of a pull request, "" if there is none.
func (g *people) Head(number int) string {
	defer g.mu.held()()
	if p := g.pulls[number]; p != nil {
		return p.head
	}
	return ""
}

// maxTextBytes is the longest text of a comment or a review that GitHub takes, in bytes of UTF-8. A page of a hundred
// such texts is served as it is.
const maxTextBytes = 262_144

// checkTextLength returns GitHub's refusal of a text that is too long.
func checkTextLength(text string) error {
	if len(text) > maxTextBytes {
		return fmt.Errorf("body is too long (maximum is %d characters)", maxTextBytes)
	}
	return nil
}

// Comment writes an issue comment on a pull request and returns its id.
func (g *people) Comment(number int, by, body string) (int64, error) {
	var id int64
	err := g.changePull(number, func(p *pullRequest, now time.Time) error {
		if err := checkTextLength(body); err != nil {
			return fmt.Errorf("comment: %w", err)
		}
		id = g.addComment(p, by, body, now).id
		return nil
	})
	return id, err
}

func (g *people) addComment(p *pullRequest, by, body string, now time.Time) *issueComment {
	c := &issueComment{pull: p, id: g.newID(), author: by, body: body, created: now, updated: now}
	p.comments = append(p.comments, c)
	g.index.comments[c.id] = c
	p.updated = now
	g.emitCommentEvent(c, "created", by, nil)
	return c
}

// EditComment changes an issue comment.
func (g *people) EditComment(id int64, editor, body string) error {
	return changeText(g, "edit comment", g.index.comments, id, body, func(c *issueComment, now time.Time) {
		g.editComment(c, or(editor, c.author), body, now)
	})
}

func (g *people) editComment(c *issueComment, editor, body string, now time.Time) {
	from := c.body
	c.body, c.editor, c.editedAt, c.updated, c.pull.updated = body, editor, now, now, now
	g.emitCommentEvent(c, "edited", editor, bodyChangeJSON(from))
}

// changeText changes a comment or a review; body is its new text.
func changeText[T any](g *people, verb string, all map[int64]*T, id int64, body string, f func(*T, time.Time)) error {
	defer g.mu.held()()
	now := g.carryOutDue()
	if all[id] == nil {
		return fmt.Errorf("%s %d: there is none", verb, id)
	}
	if err := checkTextLength(body); err != nil {
		return fmt.Errorf("%s %d: %w", verb, id, err)
	}
	f(all[id], now)
	return nil
}

// DeleteComment deletes an issue comment.
func (g *people) DeleteComment(id int64) error {
	return changeText(g, "delete comment", g.index.comments, id, "", func(c *issueComment, now time.Time) {
		g.deleteComment(c, c.author, now)
	})
}

func (g *people) deleteComment(c *issueComment, by string, now time.Time) {
	p := c.pull
	p.comments = slices.DeleteFunc(slices.Clone(p.comments), func(x *issueComment) bool { return x == c })
	delete(g.index.comments, c.id)
	p.updated = now
	g.emitCommentEvent(c, "deleted", by, nil)
}

// NewestComment returns the newest issue comment by a login on a pull request, 0 if there is none.
func (g *people) NewestComment(number int, by string) int64 {
	defer g.mu.held()()
	if p := g.pulls[number]; p != nil {
		for _, c := range slices.Backward(p.comments) {
			if strings.EqualFold(c.author, by) {
				return c.id
			}
		}
	}
	return 0
}

// ReviewSpec is a review.
type ReviewSpec struct {
	By       string
	State    string // default COMMENTED
	Body     string
	Commit   string        // name or SHA; default: the head
	Comments []LineComment // comments on the diff, each of which opens a thread
}

// LineComment is a comment on a line of the diff.
type LineComment struct {
	Path string
	Line int // 0: on the file
	Body string
}

// Review submits a review and returns its id.
func (g *people) Review(number int, s ReviewSpec) (int64, error) {
	var id int64
	err := g.changePull(number, func(p *pullRequest, now time.Time) error {
		if err := checkTextLength(s.Body); err != nil {
			return fmt.Errorf("review: %w", err)
		}
		r := g.addReview(p, s.By, strings.ToUpper(or(s.State, "COMMENTED")), s.Body, now)
		if s.Commit != "" {
			r.commit = SHA(s.Commit)
		}
		id = r.id
		for _, c := range s.Comments {
			t := &reviewThread{pull: p, path: c.Path, line: c.Line}
			g.addReviewComment(t, r, c.Body, r.commit)
			p.threads = append(p.threads, t)
		}
		for _, q := range p.reviewRequests { // a request stands until the review has come
			q.fulfilled = q.fulfilled || strings.EqualFold(q.login, s.By)
		}
		p.updated = now
		g.emitReviewEvent(r, "submitted", s.By, nil)
		for _, t := range p.threads[len(p.threads)-len(s.Comments):] {
			g.emitReviewCommentEvent(t.comments[0])
		}
		return nil
	})
	return id, err
}

func (g *people) addReview(p *pullRequest, by, state, body string, now time.Time) *review {
	r := &review{pull: p, id: g.newID(), author: by, state: state, body: body, commit: p.head, submitted: now}
	p.reviews = append(p.reviews, r)
	g.index.reviews[r.id] = r
	return r
}

func (g *people) addReviewComment(t *reviewThread, r *review, body, on string) *reviewComment {
	c := &reviewComment{
		thread: t, review: r, id: g.newID(), author: r.author, body: body, originalCommit: on, created: r.submitted,
	}
	t.comments = append(t.comments, c)
	return c
}

// EditReview changes a review's text.
func (g *people) EditReview(id int64, editor, body string) error {
	return changeText(g, "edit review", g.index.reviews, id, body, func(r *review, now time.Time) {
		from := r.body
		r.body, r.editor, r.editedAt, r.pull.updated = body, or(editor, r.author), now, now
		g.emitReviewEvent(r, "edited", r.editor, bodyChangeJSON(from))
	})
}

// DismissReview dismisses a review. GitHub shows it with that state from then on and forgets what it was.
func (g *people) DismissReview(id int64, who string) error {
	return changeText(g, "dismiss review", g.index.reviews, id, "", func(r *review, now time.Time) {
		was := strings.ToLower(r.state)
		g.addTimelineEvent(r.pull, timelineEvent{kind: "review_dismissed", actor: who, review: r, dismissedState: was})
		r.state, r.dismissedBy, r.pull.updated = "DISMISSED", who, now
		g.emitReviewEvent(r, "dismissed", who, nil)
	})
}

// ReplyInThread answers in the newest thread that opener began ("" for anybody's). GitHub makes of it a review that
// holds nothing but the reply, whose id is returned.
func (g *people) ReplyInThread(number int, opener, by, body string) (int64, error) {
	var id int64
	err := g.changePull(number, func(p *pullRequest, now time.Time) error {
		for _, t := range slices.Backward(p.threads) {
			if opener != "" && !strings.EqualFold(t.comments[0].author, opener) {
				continue
			}
			r := g.addReview(p, by, "COMMENTED", "", now)
			reply := g.addReviewComment(t, r, body, t.comments[0].originalCommit)
			id, p.updated = r.id, now
			g.emitReviewEvent(r, "submitted", by, nil)
			g.emitReviewCommentEvent(reply)
			return nil
		}
		return fmt.Errorf("answer %q: there is no thread", opener)
	})
	return id, err
}

// ResolveThreads resolves all threads that opener began.
func (g *people) ResolveThreads(number int, opener, who string) error {
	return g.changeThreads(number, opener, func(t *reviewThread) {
		t.resolvedBy = who
		g.emitThreadEvent(t, "resolved", who)
	})
}

// UnresolveThreads opens all threads that opener began again.
func (g *people) UnresolveThreads(number int, opener string) error {
	return g.changeThreads(number, opener, func(t *reviewThread) {
		who := t.resolvedBy
		t.resolvedBy = ""
		g.emitThreadEvent(t, "unresolved", who)
	})
}

// OutdateThreads marks all threads that opener began as outdated, as GitHub does when their lines have changed.
func (g *people) OutdateThreads(number int, opener string) error {
	return g.changeThreads(number, opener, func(t *reviewThread) { t.outdated = true })
}

// changeThreads calls f with each thread that opener began. A resolved thread changes no pull request: its
// updated_at stays.
func (g *people) changeThreads(number int, opener string, f func(*reviewThread)) error {
	defer g.mu.held()()
	p := g.pulls[number]
	if p == nil {
		return fmt.Errorf("change threads of #%d: there is no such pull request", number)
	}
	found := false
	for _, t := range p.threads {
		if strings.EqualFold(t.comments[0].author, opener) {
			f(t)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("change threads of #%d: %s opened none", number, opener)
	}
	return nil
}

// RequestReview requests a review from a login, as a person would.
func (g *people) RequestReview(number int, login, by string) error {
	return g.changePull(number, func(p *pullRequest, _ time.Time) error {
		g.requestReview(p, login, or(by, p.author))
		g.emitReviewRequested(p, login, or(by, p.author))
		return nil
	})
}

func (g *people) requestReview(p *pullRequest, login, by string) {
	p.reviewRequests = append(
		slices.DeleteFunc(p.reviewRequests, func(q *reviewRequest) bool { return strings.EqualFold(q.login, login) }),
		&reviewRequest{login: login},
	)
	g.addTimelineEvent(p, timelineEvent{kind: "review_requested", actor: by, requestedLogin: login})
}

// A mergeQueue is all of a repository's.
type mergeQueue struct {
	announcer
	queue  []*queueEntry   // in their order
	queued map[string]bool // branches that have a merge queue
}

func (g *mergeQueue) buildGroup(e *queueEntry, commitName string, now time.Time) {
	e.base = g.ensureBranch(e.pull.baseBranch).tip
	for _, before := range g.queue {
		if before == e {
			break
		}
		if before.pull.baseBranch == e.pull.baseBranch && before.head != "" {
			e.base = before.head
		}
	}
	e.head = SHA(commitName)
	g.addCommit(&commit{
		sha: e.head, parents: []string{e.base, e.pull.head}, author: e.pull.author, committer: "web-flow",
		message: fmt.Sprintf("Merge pull request #%d", e.pull.number), pushedAt: now,
	})
	g.branches[e.branchName()] = &branch{name: e.branchName(), tip: e.head}
	for _, s := range g.suitesOn(e.head) {
		if s.unannounced && s.app == g.app {
			s.unannounced = false
			g.emitSuiteEvent(s, "requested")
		}
	}
	g.emitGroupEvent(e, "checks_requested", nil)
}

// leaveQueue takes an entry out of the queue.
func (g *mergeQueue) leaveQueue(i int) {
	left := g.queue[i]
	g.queue = slices.Delete(g.queue, i, i+1)
	g.destroyGroup(left, "dequeued")
	for _, e := range g.queue[i:] {
		if e.pull.baseBranch == left.pull.baseBranch {
			g.destroyGroup(e, "invalidated")
		}
	}
}

// dropFromQueue takes a pull request out of the queue that was pushed to, retargeted or closed, as GitHub does.
func (g *mergeQueue) dropFromQueue(p *pullRequest) {
	if i := slices.IndexFunc(g.queue, func(e *queueEntry) bool { return e.pull == p }); i >= 0 {
		g.leaveQueue(i)
	}
}

// destroyGroup removes the commit of an entry's group, if it is built.
func (g *mergeQueue) destroyGroup(e *queueEntry, why string) {
	if e.head == "" {
		return
	}
	g.emitGroupEvent(e, "destroyed", object{"reason": why})
	delete(g.branches, e.branchName())
	e.head, e.base = "", ""
}

// AddTeam adds a team of the owner's with access to the repository, or sets its members.
func AddTeam(g *GitHub, slug string, members ...string) {
	defer g.mu.held()()
	g.teams[slug] = members
}

// HideTeam keeps a team's members from the token: it lacks members: read.
func HideTeam(g *GitHub, slug string) {
	defer g.mu.held()()
	g.hiddenTeams[slug] = true
}

// LockConversation locks the conversation of a pull request: nobody comments on it who may not write, and no App.
func LockConversation(g *GitHub, number int, by string) error { return setLocked(g, number, by, true) }

// UnlockConversation ends a [LockConversation].
func UnlockConversation(g *GitHub, number int, by string) error {
	return setLocked(g, number, by, false)
}

func setLocked(g *GitHub, number int, by string, locked bool) error {
	return g.changePull(number, func(p *pullRequest, now time.Time) error {
		p.locked, p.updated = locked, now
		g.emitPullEvent(p, map[bool]string{true: "locked", false: "unlocked"}[locked], by, nil)
		return nil
	})
}

// answerNoCollaborator is GitHub's answer where a review is asked for of somebody without access.
func answerNoCollaborator(g *GitHub) routeAnswer {
	return answerError(422, fmt.Sprintf("Reviews may only be requested from collaborators. "+
		"One or more of the users or teams you specified is not a collaborator of the %s/%s repository.", g.owner, g.repo))
}

// requestTeam asks for a review by a team.
func requestTeam(g *GitHub, p *pullRequest, team string) {
	if !slices.Contains(p.teamRequests, team) {
		p.teamRequests = append(p.teamRequests, team)
	}
	g.written.RequestedReviews = append(g.written.RequestedReviews, g.owner+"/"+team)
}

// Stack puts a pull request upon another one, which is the top of a stack or begins one. No event tells of it.
func Stack(g *GitHub, number, upon int) error {
	return g.changePull(number, func(p *pullRequest, _ time.Time) error {
		below := g.pulls[upon]
		switch {
		case below == nil:
			return fmt.Errorf("there is no pull request #%d", upon)
		case p.fork || below.fork:
			return errors.New("a fork's pull request cannot be in a stack")
		case p.baseBranch != below.headBranch:
			return fmt.Errorf("its base is %s, and not %s, the branch of #%d", p.baseBranch, below.headBranch, upon)
		case p.stack != nil:
			return errors.New("it is in a stack")
		}
		s := below.stack
		switch {
		case s == nil:
			g.stacks++
			s = &pullStack{number: g.stacks, trunk: below.baseBranch, layers: []*pullRequest{below}}
			below.stack = s
		case s.layers[len(s.layers)-1] != below:
			return fmt.Errorf("#%d is not the top of its stack", upon)
		}
		s.layers, p.stack = append(s.layers, p), s
		return nil
	})
}
