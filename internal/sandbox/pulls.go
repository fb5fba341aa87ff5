package sandbox

// What people, apps and workflows do to a pull request: open it, push, comment, review, resolve.

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// PullSpec is a pull request that somebody opens.
type PullSpec struct {
	Number  int    // default: the next
	Title   string // default: "Change N"
	Body    string
	Head    string // name or SHA of the commit; default "a1"
	Branch  string // default: feature-N
	Base    string // default: the default branch
	Author  string // default: alice
	Draft   bool
	Fork    string // owner of the fork that it comes from; "" for none
	Labels  []string
	Files   []File    // default: one
	Changed int       // changed_files, where it is more than the files that GitHub lists
	Opened  time.Time // default: now. Its head is pushed now in any case
	Commit  Commit    // who made the head; default: the author
}

// File is a file that a pull request changes.
type File struct {
	Path     string
	Previous string // the old name of a file that was renamed
	Status   string // default modified, or renamed if it has a previous name
}

// Commit is who made a commit, for a push.
type Commit struct {
	Author    string
	Committer string
	CoAuthors []string
	Message   string
}

// PushSpec is how a commit is pushed.
type PushSpec struct {
	By     string // default: the pull request's author
	Force  bool   // the commits before it are gone
	Commit Commit
	Files  []File // what the pull request changes from now on; nil: what it did
}

type pull struct {
	number    int
	title     string
	body      string
	author    string
	head      string
	heads     []string // all that it ever had
	listed    []string // commits that it shows: since the last force-push
	branch    string
	base      string
	baseSHA   string
	fork      bool
	owner     string // of the repository that the head lives in
	draft     bool
	closed    bool
	merged    bool
	labels    []string
	files     []File
	changed   int
	created   time.Time
	updated   time.Time
	closedAt  time.Time
	comments  []*comment
	reviews   []*review
	threads   []*thread
	timeline  []*happening
	requested []*request
	minimal   minimal
}

type comment struct {
	id      int64
	by      string
	body    string
	created time.Time
	updated time.Time
	editor  string
	edited  time.Time
}

type review struct {
	id        int64
	by        string
	state     string
	body      string
	commit    string
	submitted time.Time
	editor    string
	edited    time.Time
	dismissed string // by whom
}

// thread is a review thread: the comment that opened it, and the replies.
type thread struct {
	comments []*reviewComment
	path     string
	line     int
	outdated bool
	resolved string // by whom
}

type reviewComment struct {
	id      int64
	review  int64
	by      string
	body    string
	commit  string // the one it was written on
	created time.Time
	editor  string
	edited  time.Time
}

// happening is an entry of the timeline.
type happening struct {
	id       int64
	kind     string // as REST calls it
	by       string
	at       time.Time
	old, new string // branches or commits
	login    string // whose review was requested
	label    string
	review   int64
	state    string // of a review before it was dismissed
}

// request is a review that was asked for and stands until it comes.
type request struct {
	login string
	done  bool
}

// OpenPull opens a pull request and returns its number.
func (g *GitHub) OpenPull(s PullSpec) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.settle()
	p := &pull{
		number: s.Number, title: s.Title, body: s.Body, author: s.Author, branch: s.Branch, base: s.Base, draft: s.Draft, fork: s.Fork != "",
		owner: g.owner, labels: slices.Clone(s.Labels), files: slices.Clone(s.Files), changed: s.Changed, created: s.Opened, updated: now,
	}
	for p.number == 0 || s.Number == 0 && g.pulls[p.number] != nil {
		p.number = len(g.pulls) + 1
		for g.pulls[p.number] != nil {
			p.number++
		}
	}
	p.title = or(p.title, fmt.Sprintf("Change %d", p.number))
	p.author = or(p.author, "alice")
	p.branch = or(p.branch, fmt.Sprintf("feature-%d", p.number))
	p.base = or(p.base, g.defaultBranch)
	if p.fork {
		p.owner = s.Fork
	}
	if p.files == nil {
		p.files = []File{{Path: "main.go"}}
	}
	if p.created.IsZero() {
		p.created = now
	}
	p.baseSHA = g.branch(p.base).tip
	g.pulls[p.number] = p
	g.find.addPull(p)
	g.head(p, SHA(or(s.Head, "a1")), s.Commit, p.baseSHA, now)
	g.headPushed(p, strings.Repeat("0", 40), p.author)
	g.pullEvent(p, "opened", p.author, nil)
	return p.number
}

func or(s, preset string) string {
	if s == "" {
		return preset
	}
	return s
}

// head gives p a new head. The commit is known from then on, and so is its test merge.
func (g *GitHub) head(p *pull, sha string, by Commit, parent string, now time.Time) {
	author := or(by.Author, p.author)
	g.arrive(&commit{sha: sha, parents: []string{parent}, author: author, committer: or(by.Committer, author), coauthors: by.CoAuthors, message: by.Message, pushed: now})
	g.commits[MergeSHA(sha)] = &commit{sha: MergeSHA(sha), parents: []string{p.baseSHA, sha}, author: author, committer: "web-flow", message: "Merge", pushed: now}
	g.find.addHead(p, sha)
	p.head, p.heads, p.listed = sha, append(p.heads, sha), append(p.listed, sha)
}

// headPushed announces a head: to whom a branch was pushed, and to the App that may check it.
func (g *GitHub) headPushed(p *pull, before, by string) {
	if g.hook == nil {
		return
	}
	if !p.fork {
		g.pushEvent(p.branch, before, p.head, by, []string{})
	}
	for _, s := range g.suitesOn(p.head) {
		if s.fresh && s.app == g.app {
			s.fresh = false
			g.suiteEvent(s, "requested")
		}
	}
}

// Push gives a pull request a new head.
func (g *GitHub) Push(number int, head string, s PushSpec) error {
	return g.change(number, func(p *pull, now time.Time) error {
		before, by := p.head, or(s.By, p.author)
		parent := before
		if s.Force {
			p.listed, parent = nil, p.baseSHA
		}
		if s.Commit.Author == "" {
			s.Commit.Author = by
		}
		g.head(p, SHA(head), s.Commit, parent, now)
		if s.Files != nil {
			p.files = slices.Clone(s.Files)
		}
		if s.Force {
			g.happened(p, happening{kind: "head_ref_force_pushed", by: by, old: before, new: p.head})
		}
		p.updated = now
		g.headPushed(p, before, by)
		g.pullEvent(p, "synchronize", by, object{"before": before, "after": p.head})
		return nil
	})
}

// change carries out what somebody does to a pull request, which is updated thereby.
func (g *GitHub) change(number int, f func(p *pull, now time.Time) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.pulls[number]
	if p == nil {
		return fmt.Errorf("change pull request #%d: there is none", number)
	}
	now := g.settle()
	if err := f(p, now); err != nil {
		return fmt.Errorf("change pull request #%d: %w", number, err)
	}
	p.updated = now
	return nil
}

func (g *GitHub) happened(p *pull, h happening) {
	h.id, h.at = g.id(), g.now()
	p.timeline = append(p.timeline, &h)
}

// baseEvent announces another base.
func (g *GitHub) baseEvent(p *pull, ref, sha, by string) {
	g.pullEvent(p, "edited", or(by, p.author), object{"changes": object{"base": object{"ref": object{"from": ref}, "sha": object{"from": sha}}}})
}

// Retarget gives a pull request another base.
func (g *GitHub) Retarget(number int, base, by string) error {
	return g.change(number, func(p *pull, _ time.Time) error {
		old, tip := p.base, p.baseSHA
		p.base, p.baseSHA = base, g.branch(base).tip
		g.happened(p, happening{kind: "base_ref_changed", by: or(by, p.author), old: old, new: base})
		g.baseEvent(p, old, tip, by)
		return nil
	})
}

// BaseMerged gives a pull request the base of its base, as GitHub does when that was merged and deleted.
func (g *GitHub) BaseMerged(number int, into, by string) error {
	return g.change(number, func(p *pull, _ time.Time) error {
		old, tip := p.base, p.baseSHA
		p.base, p.baseSHA = into, g.branch(into).tip
		g.happened(p, happening{kind: "automatic_base_change_succeeded", by: or(by, p.author), old: old, new: into})
		g.baseEvent(p, old, tip, by)
		return nil
	})
}

// Close closes a pull request.
func (g *GitHub) Close(number int, by string) error {
	return g.change(number, func(p *pull, now time.Time) error {
		p.closed, p.closedAt = true, now
		g.happened(p, happening{kind: "closed", by: or(by, p.author)})
		p.updated = now
		g.pullEvent(p, "closed", or(by, p.author), nil)
		return nil
	})
}

// Merge merges a pull request, whatever its checks say.
func (g *GitHub) Merge(number int, by string) error {
	return g.change(number, func(p *pull, now time.Time) error {
		p.closed, p.merged, p.closedAt = true, true, now
		g.happened(p, happening{kind: "closed", by: or(by, p.author)})
		p.updated = now
		g.pullEvent(p, "closed", or(by, p.author), nil)
		return nil
	})
}

// Reopen opens a closed pull request again.
func (g *GitHub) Reopen(number int, by string) error {
	return g.change(number, func(p *pull, _ time.Time) error {
		p.closed, p.closedAt = false, time.Time{}
		g.happened(p, happening{kind: "reopened", by: or(by, p.author)})
		g.pullEvent(p, "reopened", or(by, p.author), nil)
		return nil
	})
}

// Draft makes a pull request a draft.
func (g *GitHub) Draft(number int, by string) error {
	return g.change(number, func(p *pull, _ time.Time) error {
		p.draft = true
		g.happened(p, happening{kind: "convert_to_draft", by: or(by, p.author)})
		g.pullEvent(p, "converted_to_draft", or(by, p.author), nil)
		return nil
	})
}

// Ready ends a draft.
func (g *GitHub) Ready(number int, by string) error {
	return g.change(number, func(p *pull, _ time.Time) error {
		p.draft = false
		g.happened(p, happening{kind: "ready_for_review", by: or(by, p.author)})
		g.pullEvent(p, "ready_for_review", or(by, p.author), nil)
		return nil
	})
}

// Label adds a label.
func (g *GitHub) Label(number int, label, by string) error {
	return g.change(number, func(p *pull, _ time.Time) error {
		if !slices.Contains(p.labels, label) {
			p.labels = append(p.labels, label)
			g.happened(p, happening{kind: "labeled", by: or(by, p.author), label: label})
			g.pullEvent(p, "labeled", or(by, p.author), object{"label": g.labelJSON(label)})
		}
		return nil
	})
}

// Unlabel takes a label away.
func (g *GitHub) Unlabel(number int, label, by string) error {
	return g.change(number, func(p *pull, _ time.Time) error {
		if i := slices.Index(p.labels, label); i >= 0 {
			p.labels = slices.Delete(slices.Clone(p.labels), i, i+1)
			g.happened(p, happening{kind: "unlabeled", by: or(by, p.author), label: label})
			g.pullEvent(p, "unlabeled", or(by, p.author), object{"label": g.labelJSON(label)})
		}
		return nil
	})
}

// Head is the current head of a pull request, "" if there is none.
func (g *GitHub) Head(number int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.pulls[number]; p != nil {
		return p.head
	}
	return ""
}

// Comment writes an issue comment on a pull request and returns its id.
func (g *GitHub) Comment(number int, by, body string) (int64, error) {
	var id int64
	err := g.change(number, func(p *pull, now time.Time) error {
		c := g.comment(p, by, body, now)
		id, p.updated = c.id, now
		g.commentEvent(p, c, "created", by, nil)
		return nil
	})
	return id, err
}

func (g *GitHub) comment(p *pull, by, body string, now time.Time) *comment {
	c := &comment{id: g.id(), by: by, body: body, created: now, updated: now}
	p.comments = append(p.comments, c)
	g.find.comments[c.id] = p
	return c
}

// EditComment changes an issue comment.
func (g *GitHub) EditComment(id int64, editor, body string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.settle()
	p, c := g.findComment(id)
	if c == nil {
		return fmt.Errorf("edit comment %d: there is none", id)
	}
	from := c.body
	c.body, c.editor, c.edited, c.updated, p.updated = body, or(editor, c.by), now, now, now
	g.commentEvent(p, c, "edited", c.editor, bodyFrom(from))
	return nil
}

// DeleteComment deletes an issue comment.
func (g *GitHub) DeleteComment(id int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.settle()
	p, c := g.findComment(id)
	if c == nil {
		return fmt.Errorf("delete comment %d: there is none", id)
	}
	p.comments = slices.DeleteFunc(slices.Clone(p.comments), func(x *comment) bool { return x == c })
	p.updated = now
	g.commentEvent(p, c, "deleted", c.by, nil)
	return nil
}

// bodyFrom is how an event says what a text was.
func bodyFrom(from string) object { return object{"body": object{"from": from}} }

func (g *GitHub) findComment(id int64) (*pull, *comment) {
	if p := g.find.comments[id]; p != nil {
		for _, c := range p.comments {
			if c.id == id {
				return p, c
			}
		}
	}
	return nil, nil
}

// NewestComment is the newest issue comment that by wrote on a pull request, 0 if there is none.
func (g *GitHub) NewestComment(number int, by string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.pulls[number]; p != nil {
		for _, c := range slices.Backward(p.comments) {
			if strings.EqualFold(c.by, by) {
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
	Commit   string // name or SHA; default: the head
	Comments []Line // comments on the diff, each of which opens a thread
}

// Line is a comment on a line of the diff.
type Line struct {
	Path string
	Line int // 0: on the file
	Body string
}

// Review submits a review and returns its id.
func (g *GitHub) Review(number int, s ReviewSpec) (int64, error) {
	var id int64
	err := g.change(number, func(p *pull, now time.Time) error {
		r := &review{id: g.id(), by: s.By, state: strings.ToUpper(or(s.State, "COMMENTED")), body: s.Body, commit: p.head, submitted: now}
		if s.Commit != "" {
			r.commit = SHA(s.Commit)
		}
		id, p.reviews = r.id, append(p.reviews, r)
		g.find.reviews[id] = p
		for _, c := range s.Comments {
			opened := &reviewComment{id: g.id(), review: r.id, by: s.By, body: c.Body, commit: r.commit, created: now}
			p.threads = append(p.threads, &thread{comments: []*reviewComment{opened}, path: c.Path, line: c.Line})
		}
		for _, q := range p.requested { // a request stands until the review has come
			q.done = q.done || strings.EqualFold(q.login, s.By)
		}
		p.updated = now
		g.reviewEvent(p, r, "submitted", s.By, nil)
		for _, t := range p.threads[len(p.threads)-len(s.Comments):] {
			g.reviewCommentEvent(p, t, t.comments[0])
		}
		return nil
	})
	return id, err
}

// EditReview changes a review's text.
func (g *GitHub) EditReview(id int64, editor, body string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.settle()
	p, r := g.findReview(id)
	if r == nil {
		return fmt.Errorf("edit review %d: there is none", id)
	}
	from := r.body
	r.body, r.editor, r.edited, p.updated = body, or(editor, r.by), now, now
	g.reviewEvent(p, r, "edited", r.editor, bodyFrom(from))
	return nil
}

func (g *GitHub) findReview(id int64) (*pull, *review) {
	if p := g.find.reviews[id]; p != nil {
		for _, r := range p.reviews {
			if r.id == id {
				return p, r
			}
		}
	}
	return nil, nil
}

// NewestReview is the newest review by somebody on a pull request, 0 if there is none.
func (g *GitHub) NewestReview(number int, by string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.pulls[number]; p != nil {
		for _, r := range slices.Backward(p.reviews) {
			if strings.EqualFold(r.by, by) {
				return r.id
			}
		}
	}
	return 0
}

// Dismiss dismisses a review. GitHub shows it with that state from then on and forgets what it was.
func (g *GitHub) Dismiss(id int64, who string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.settle()
	p, r := g.findReview(id)
	if r == nil {
		return fmt.Errorf("dismiss review %d: there is none", id)
	}
	g.happened(p, happening{kind: "review_dismissed", by: who, review: r.id, state: strings.ToLower(r.state)})
	r.state, r.dismissed, p.updated = "DISMISSED", who, now
	g.reviewEvent(p, r, "dismissed", who, nil)
	return nil
}

// Reply answers in the newest thread that opener began ("" for anybody's). GitHub makes of it a review that holds nothing
// but the reply, whose id is returned.
func (g *GitHub) Reply(number int, opener, by, body string) (int64, error) {
	var id int64
	err := g.change(number, func(p *pull, now time.Time) error {
		for _, t := range slices.Backward(p.threads) {
			if opener != "" && !strings.EqualFold(t.comments[0].by, opener) {
				continue
			}
			r := &review{id: g.id(), by: by, state: "COMMENTED", commit: p.head, submitted: now}
			p.reviews = append(p.reviews, r)
			g.find.reviews[r.id] = p
			reply := &reviewComment{id: g.id(), review: r.id, by: by, body: body, commit: t.comments[0].commit, created: now}
			t.comments = append(t.comments, reply)
			id, p.updated = r.id, now
			g.reviewEvent(p, r, "submitted", by, nil)
			g.reviewCommentEvent(p, t, reply)
			return nil
		}
		return fmt.Errorf("answer %q: there is no thread", opener)
	})
	return id, err
}

// Resolve resolves all threads that opener began.
func (g *GitHub) Resolve(number int, opener, who string) error {
	return g.threads(number, opener, func(p *pull, t *thread) {
		t.resolved = who
		g.threadEvent(p, t, "resolved", who)
	})
}

// Unresolve opens them again.
func (g *GitHub) Unresolve(number int, opener string) error {
	return g.threads(number, opener, func(p *pull, t *thread) {
		who := t.resolved
		t.resolved = ""
		g.threadEvent(p, t, "unresolved", who)
	})
}

// Outdate says that the lines under all threads that opener began have changed.
func (g *GitHub) Outdate(number int, opener string) error {
	return g.threads(number, opener, func(_ *pull, t *thread) { t.outdated = true })
}

// threads changes threads. A resolved thread changes no pull request: its updated_at stays.
func (g *GitHub) threads(number int, opener string, f func(*pull, *thread)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.pulls[number]
	if p == nil {
		return fmt.Errorf("change threads of #%d: there is no such pull request", number)
	}
	found := false
	for _, t := range p.threads {
		if strings.EqualFold(t.comments[0].by, opener) {
			f(p, t)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("change threads of #%d: %s opened none", number, opener)
	}
	return nil
}

// RequestReview asks somebody for a review, as a person would.
func (g *GitHub) RequestReview(number int, login, by string) error {
	return g.change(number, func(p *pull, _ time.Time) error {
		g.requestReview(p, login, or(by, p.author))
		g.requestEvent(p, login, or(by, p.author))
		return nil
	})
}

func (g *GitHub) requestReview(p *pull, login, by string) {
	p.requested = append(slices.DeleteFunc(p.requested, func(q *request) bool { return strings.EqualFold(q.login, login) }), &request{login: login})
	g.happened(p, happening{kind: "review_requested", by: by, login: login})
}

func (g *GitHub) requestEvent(p *pull, login, by string) {
	g.pullEvent(p, "review_requested", by, object{"requested_reviewer": g.requestee(login)})
}
