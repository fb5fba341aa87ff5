package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

const (
	maxFiles = 3000    // GitHub lists no more changed files of a pull request
	maxTail  = 1 << 20 // bytes of a job's log that are read
	lookups  = 3       // tries for what a replica may not have yet
	replica  = time.Second
)

// A look is one observation while it is made.
type look struct {
	f         *Forge
	pr        quorum.PR
	m         *memory
	seen      *changes
	p         quorum.Policy
	src       []byte // of the policy
	s         quorum.Snapshot
	runs      []restRun
	conversed bool
}

// Observe reads everything that a decision about pr depends on, or fails. Reads go side by side, in waves:
// the pull request and the policy; what they name; what only those answers show to be missing.
func (f *Forge) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	l := &look{f: f, pr: pr, m: f.remember(pr), seen: &changes{}}
	began := f.now()
	for _, step := range []func(context.Context) error{l.first, l.second, l.third, l.fourth} {
		if err := step(ctx); err != nil {
			return quorum.Policy{}, quorum.Snapshot{}, fmt.Errorf("observe %s: %w", pr, err)
		}
	}
	l.s.Began = began.Add(l.s.Skew)
	return l.p, l.s, nil
}

// first reads the pull request and the policy.
func (l *look) first(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return l.pull(ctx) })
	g.Go(func() error { return l.policy(ctx) })
	if l.f.client.Personal() {
		g.Go(func() error { return l.f.whoami(ctx, &l.s.Ours) })
	} else {
		l.s.Ours = quorum.Account{Login: l.f.app + "[bot]", Bot: true}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	l.s.NoRecord = l.f.client.Personal()
	l.s.Skew = l.f.client.Skew()
	if l.m.head != l.s.PR.Head {
		l.m.head, l.m.own, l.m.asked, l.m.threads = l.s.PR.Head, nil, false, conversation{}
	}
	return nil
}

// second reads what stands on the head and in the pull request.
func (l *look) second(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return l.checks(ctx) })
	if l.f.client.Personal() || slices.ContainsFunc(l.p.Reviewers, func(r quorum.Reviewer) bool { return r.Status != "" }) {
		g.Go(func() error { return l.statuses(ctx) })
	}
	if l.s.File.State != quorum.FileMissing {
		g.Go(func() error { return l.gated(ctx) })
	}
	if !l.judges() {
		return g.Wait()
	}
	g.Go(func() error { return l.files(ctx) })
	g.Go(func() (err error) {
		l.runs, err = pages[restRun](ctx, l.f, l.seen, l.f.path(l.pr, "actions", "runs")+"?per_page=100&exclude_pull_requests=true&head_sha="+l.s.PR.Head, "workflow_runs")
		return err
	})
	g.Go(func() error { return l.reviews(ctx) })
	g.Go(func() error { return l.comments(ctx) })
	g.Go(func() error { return l.siblings(ctx) })
	if l.s.PR.Commits > 1 {
		g.Go(func() error { return l.others(ctx) })
	}
	return g.Wait()
}

// judges reports whether anything will be judged: else all that is needed is whether a check of ours is open.
func (l *look) judges() bool {
	return !l.s.PR.Closed && l.s.File.State == quorum.FileValid && l.p.Mode != quorum.Off
}

// fresh reports whether the conversation must be asked for anew, whatever REST answers: at first, when the clock is about
// to change the decision, while a thread can end an objection, for REST does not show that, and while the head has no
// check suite: our own check brings one, and clocks count from it.
func (l *look) fresh() bool {
	now := l.f.now().Add(l.s.Skew)
	return !l.m.asked || l.m.byThreads || !l.m.wake.IsZero() && !now.Before(l.m.wake) || l.m.threads.arrived.IsZero() && !l.f.client.Personal()
}

// third reads by its id what lists did not show, and the conversation if anything in it may be new. It comes after the
// texts: who edited one must never be older than the words.
func (l *look) third(ctx context.Context) error {
	l.record()
	if !l.judges() {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	if l.fresh() || l.seen.any {
		g.Go(func() error { return l.converse(ctx) })
	}
	var missing []int64
	ids := slices.Clone(l.m.hints)
	for _, r := range l.s.Record.Runs {
		ids = append(ids, r.ID)
	}
	for _, id := range ids {
		if !slices.ContainsFunc(l.runs, func(r restRun) bool { return r.ID == id }) && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	found := make([]*restRun, len(missing))
	for i, id := range missing {
		g.Go(func() error { return l.byID(ctx, &found[i], "actions", "runs", strconv.FormatInt(id, 10)) })
	}
	texts := l.absent()
	for _, ref := range texts {
		g.Go(func() error { return l.text(ctx, ref) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, r := range found {
		if r != nil && r.Head == l.s.PR.Head {
			l.runs = append(l.runs, *r)
		}
	}
	l.m.asked = !slices.ContainsFunc(slices.Concat(l.s.Comments, l.s.Reviews), l.m.threads.behind)
	return nil
}

// fourth puts the snapshot together and reads what it then turns out to lack.
func (l *look) fourth(ctx context.Context) error {
	if !l.judges() {
		return nil
	}
	if err := l.whole(); err != nil {
		return err
	}
	l.assemble()
	if len(l.s.Others) == 0 && l.s.PR.Commits <= 1 && slices.ContainsFunc(l.s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed }) {
		if err := l.others(ctx); err != nil {
			return err
		}
	}
	wants := evidence.Missing(l.p, l.s)
	g, ctx := errgroup.WithContext(ctx)
	jobs := make([]quorum.Job, len(wants.Logs))
	for i, id := range wants.Logs {
		g.Go(func() error { return l.log(ctx, id, &jobs[i]) })
	}
	commits := make([]quorum.Commit, len(wants.Commits))
	for i, id := range wants.Commits {
		g.Go(func() error { return l.commit(ctx, id, &commits[i]) })
	}
	may := make([]quorum.Permission, len(wants.People))
	for i, login := range wants.People {
		g.Go(func() error { return l.permission(ctx, login, &may[i]) })
	}
	if wants.Authors && l.m.authorsOf != l.s.PR.Head {
		g.Go(func() (err error) {
			l.m.authors, err = l.f.authors(ctx, l.pr, l.s.PR.Head)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, id := range wants.Logs {
		l.m.logs[id] = jobs[i]
	}
	for i, id := range wants.Commits {
		l.m.commits[id] = commits[i]
	}
	l.s.Permissions = map[string]quorum.Permission{}
	for i, login := range wants.People {
		l.s.Permissions[strings.ToLower(login)] = may[i]
	}
	if wants.Authors {
		l.m.authorsOf, l.s.Commits = l.s.PR.Head, l.m.authors
	}
	l.advise()
	return nil
}

func (l *look) pull(ctx context.Context) error {
	var p restPull
	path := l.f.path(l.pr, "pulls", strconv.Itoa(l.pr.Number))
	for try := 1; ; try++ {
		answer, err := l.f.client.Get(ctx, path, &p)
		if IsNotFound(err) && try < lookups { // just after the event a replica may not know it
			if err := pause(ctx, replica); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		l.seen.note(answer.Changed)
		break
	}
	if p.Number == 0 || len(p.Head.SHA) < 40 || p.Base.Repo.DefaultBranch == "" {
		return fmt.Errorf("read %s: the answer is no pull request: %w", path, ErrTransport)
	}
	l.s.PR = p.pull(l.pr)
	l.s.PR.FilesMissing = p.ChangedFiles > maxFiles
	l.s.PR.Files = make([]quorum.File, 0, min(p.ChangedFiles, maxFiles))
	l.m.changed = p.ChangedFiles
	return nil
}

// policy reads the policy file of the default branch: never of the pull request, nor of a base that a contributor chose.
func (l *look) policy(ctx context.Context) error {
	paths := config.Paths()
	if l.f.config != "" {
		paths = []string{l.f.config}
	}
	for _, path := range paths {
		src, sha, err := l.f.policy, "", error(nil)
		if src == nil {
			src, sha, err = l.file(ctx, path, "")
		}
		if IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		l.s.File = quorum.PolicyFile{State: quorum.FileValid, Path: path, SHA: sha}
		l.src = src
		if l.p, err = config.Parse(path, src); err != nil {
			l.s.File.State, l.s.File.Problem = quorum.FileBroken, err.Error()
		}
		return nil
	}
	l.s.File = quorum.PolicyFile{State: quorum.FileMissing, Path: paths[0]}
	return nil
}

var errNoFile = errors.New("it is no file")

// file reads a file; ref "" is the default branch.
func (l *look) file(ctx context.Context, path, ref string) (src []byte, sha string, err error) {
	at := l.f.path(l.pr, "contents") + "/" + slashed(path)
	if ref != "" {
		at += "?ref=" + url.QueryEscape(ref)
	}
	var raw json.RawMessage
	answer, err := l.f.client.Get(ctx, at, &raw)
	if err != nil {
		return nil, "", err
	}
	l.seen.note(answer.Changed)
	var c restContent
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")): // what a folder holds
		return nil, "", fmt.Errorf("read %s: it is a folder: %w", path, errNoFile)
	case json.Unmarshal(raw, &c) != nil:
		return nil, "", fmt.Errorf("read %s: %w", path, ErrTransport)
	}
	switch {
	case c.Size > config.MaxSize: // the parser says that it is too large
		return make([]byte, config.MaxSize+1), c.SHA, nil
	case c.Type != "" && c.Type != "file":
		return nil, "", fmt.Errorf("read %s: it is a %s: %w", path, oneLine(c.Type, 50), errNoFile)
	case c.Encoding == "base64":
		src, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(c.Content, "\n", ""))
	default:
		src = []byte(c.Content)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", at, ErrTransport)
	}
	return src, c.SHA, nil
}

// checks reads all check runs of the head: jobs, other Apps', and our own with the record.
func (l *look) checks(ctx context.Context) error {
	all, err := pages[restCheck](ctx, l.f, nil, l.f.path(l.pr, "commits", l.s.PR.Head, "check-runs")+"?filter=all&per_page=100", "check_runs")
	if err != nil {
		return err
	}
	l.m.own = nil
	var others []quorum.CheckRun
	for _, c := range all {
		check := c.check()
		if !l.f.client.Personal() && l.f.ours(l.pr, check.CheckRun) {
			l.m.own = append(l.m.own, check)
			continue
		}
		others = append(others, check.CheckRun)
		if l.p.Check != "" && check.Name == l.p.Check {
			l.s.Foreign = append(l.s.Foreign, check.CheckRun)
		}
	}
	l.m.beside = l.f.client.Personal() && slices.ContainsFunc(all, func(c restCheck) bool { return l.p.Check != "" && c.Name == l.p.Check })
	// Our own writes change this list too; only what others wrote is news.
	key := fmt.Sprint(others)
	l.seen.note(l.m.checks != key)
	l.m.checks = key
	l.s.Checks = others
	slices.SortFunc(l.m.own, func(a, b ownCheck) int { return cmp.Compare(b.ID, a.ID) })
	return nil
}

func (l *look) statuses(ctx context.Context) error {
	all, err := pages[restStatus](ctx, l.f, l.seen, l.f.path(l.pr, "commits", l.s.PR.Head, "statuses")+"?per_page=100", "")
	for _, st := range all {
		l.s.Statuses = append(l.s.Statuses, quorum.Status{ID: st.ID, Context: st.Context, State: st.State, Description: st.Description, Creator: st.Creator.account(), At: st.Created, URL: st.URL})
	}
	slices.SortStableFunc(l.s.Statuses, func(a, b quorum.Status) int { return cmp.Compare(b.ID, a.ID) })
	l.m.statuses = l.s.Statuses
	return err
}

func (l *look) files(ctx context.Context) error {
	all, err := pages[restFile](ctx, l.f, l.seen, l.f.path(l.pr, "pulls", strconv.Itoa(l.pr.Number), "files")+"?per_page=100", "")
	if err != nil {
		return err
	}
	for _, file := range all {
		l.s.PR.Files = append(l.s.PR.Files, quorum.File{Path: file.Filename, Previous: file.Previous})
	}
	l.s.PR.FilesMissing = l.s.PR.FilesMissing || len(all) >= maxFiles || len(all) < l.m.changed
	at := slices.IndexFunc(l.s.PR.Files, func(file quorum.File) bool { return file.Path == l.s.File.Path || file.Previous == l.s.File.Path })
	if at < 0 {
		return nil
	}
	l.s.File.Changed = true
	src, _, err := l.file(ctx, l.s.File.Path, l.s.PR.Head)
	switch {
	case IsNotFound(err):
		l.s.File.Proposed = "the pull request deletes or renames it"
	case errors.Is(err, errNoFile):
		l.s.File.Proposed = "the pull request makes it something else than a file"
	case err != nil:
		return err
	default:
		if _, err := config.Parse(l.s.File.Path, src); err != nil {
			l.s.File.Proposed = err.Error()
		}
	}
	return nil
}

// others reads the runs of earlier heads of the branch, back to the pull request's creation.
func (l *look) others(ctx context.Context) error {
	q := url.Values{"per_page": {"100"}, "exclude_pull_requests": {"true"}, "branch": {l.s.PR.HeadRef}, "created": {">=" + l.s.PR.Created.UTC().Format(time.RFC3339)}}
	runs, err := pages[restRun](ctx, l.f, l.seen, l.f.path(l.pr, "actions", "runs")+"?"+q.Encode(), "workflow_runs")
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Head != l.s.PR.Head && (r.HeadRepo == nil && l.s.PR.HeadRepo == "" || r.HeadRepo != nil && strings.EqualFold(r.HeadRepo.FullName, l.s.PR.HeadRepo)) {
			l.s.Others = append(l.s.Others, r.run())
		}
	}
	return nil
}

func (l *look) reviews(ctx context.Context) error {
	all, err := pages[restReview](ctx, l.f, l.seen, l.f.path(l.pr, "pulls", strconv.Itoa(l.pr.Number), "reviews")+"?per_page=100", "")
	for _, r := range all {
		l.s.Reviews = append(l.s.Reviews, r.text())
	}
	return err
}

func (r restReview) text() quorum.Text {
	return quorum.Text{TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: r.ID}, Author: r.User.account(), Body: r.Body, At: r.Submitted, Commit: r.Commit, State: r.State, URL: r.URL}
}

func (l *look) comments(ctx context.Context) error {
	all, err := pages[restComment](ctx, l.f, l.seen, l.f.path(l.pr, "issues", strconv.Itoa(l.pr.Number), "comments")+"?per_page=100", "")
	for _, c := range all {
		l.s.Comments = append(l.s.Comments, c.text())
	}
	return err
}

func (c restComment) text() quorum.Text {
	t := quorum.Text{TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: c.ID}, Author: c.User.account(), Body: c.Body, At: c.Created, URL: c.URL}
	if c.Updated.After(c.Created) {
		t.Edited = c.Updated
	}
	return t
}

func (l *look) siblings(ctx context.Context) error {
	all, err := pages[restPull](ctx, l.f, l.seen, l.f.path(l.pr, "commits", l.s.PR.Head, "pulls")+"?per_page=100", "")
	for _, p := range all {
		if p.Number != l.pr.Number && p.State == "open" && p.Head.SHA == l.s.PR.Head {
			l.s.Siblings = append(l.s.Siblings, p.pull(l.pr))
		}
	}
	return err
}

// gated reads whether the base is one that matters: the default branch, a protected one, or one with rules.
func (l *look) gated(ctx context.Context) error {
	base := l.s.PR.BaseRef
	if base == l.s.PR.DefaultBranch {
		l.s.Gated = true
		return nil
	}
	var branch struct {
		Protected bool `json:"protected"`
	}
	if _, err := l.f.client.Get(ctx, l.f.path(l.pr, "branches")+"/"+slashed(base), &branch); err != nil && !IsNotFound(err) {
		return err
	}
	if l.s.Gated = branch.Protected; l.s.Gated {
		return nil
	}
	var rules []struct {
		Type string `json:"type"`
	}
	if _, err := l.f.client.Get(ctx, l.f.path(l.pr, "rules", "branches")+"/"+slashed(base), &rules); err != nil && !IsNotFound(err) {
		return err
	}
	l.s.Gated = len(rules) > 0
	return nil
}

func (l *look) converse(ctx context.Context) (err error) {
	c, err := l.f.converse(ctx, l.pr, l.s.PR.Head, l.p.Check, report.ExternalID(l.pr))
	if err == nil {
		l.m.threads, l.m.stale, l.conversed = c, c.stale, true
	}
	return err
}

// record takes over what our own checks remember; of several the one that was written last.
func (l *look) record() {
	for _, c := range l.m.own {
		if rec, found := report.ParseRecord(c.Text); found && rec.Seq > l.s.Record.Seq && rec.Head == l.s.PR.Head {
			l.s.Record = rec
		}
	}
}

// absent are the texts of the record that the lists do not show.
func (l *look) absent() (out []quorum.TextRef) {
	for _, seen := range l.s.Record.Texts {
		all := l.s.Comments
		if seen.Kind == quorum.TextReview {
			all = l.s.Reviews
		}
		if !slices.ContainsFunc(all, func(t quorum.Text) bool { return t.TextRef == seen.TextRef }) && !slices.Contains(out, seen.TextRef) {
			out = append(out, seen.TextRef)
		}
	}
	return out
}

// byID reads one thing; what answers 404 stays nil.
func (l *look) byID(ctx context.Context, into **restRun, parts ...string) error {
	var r restRun
	answer, err := l.f.client.Get(ctx, l.f.path(l.pr, parts...)+"?exclude_pull_requests=true", &r)
	if IsNotFound(err) {
		return nil
	}
	l.seen.note(answer.Changed)
	*into = &r
	return err
}

// text reads a text by its id: a lagging list must not look like a deletion.
func (l *look) text(ctx context.Context, ref quorum.TextRef) (err error) {
	id := strconv.FormatInt(ref.ID, 10)
	var t quorum.Text
	if ref.Kind == quorum.TextReview {
		var r restReview
		_, err = l.f.client.Get(ctx, l.f.path(l.pr, "pulls", strconv.Itoa(l.pr.Number), "reviews", id), &r)
		t = r.text()
	} else {
		var c restComment
		_, err = l.f.client.Get(ctx, l.f.path(l.pr, "issues", "comments", id), &c)
		t = c.text()
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	switch {
	case IsNotFound(err) || IsGone(err):
		return nil // gone for good: what was remembered of it counts
	case err != nil:
		return err
	case ref.Kind == quorum.TextReview:
		l.s.Reviews = append(l.s.Reviews, t)
	default:
		l.s.Comments = append(l.s.Comments, t)
	}
	return nil
}

// whole refuses a look whose words are older than what the conversation knows of them, or that misses one of them: a
// text was edited between the two reads, or fell between two pages.
func (l *look) whole() error {
	var odd []int64
	known := map[int64]bool{}
	for _, t := range l.s.Comments {
		known[t.ID] = true
		if e, found := l.m.threads.edits[t.ID]; found && e.Updated.After(latest(t.At, t.Edited)) {
			odd = append(odd, t.ID)
		}
	}
	for _, t := range l.s.Reviews {
		known[t.ID] = true
	}
	for _, edits := range []map[int64]graphEdit{l.m.threads.edits, l.m.threads.amended} {
		for id := range edits {
			if !known[id] && l.conversed {
				odd = append(odd, id)
			}
		}
	}
	slices.Sort(odd)
	was := l.m.odd
	if l.m.odd = odd; len(odd) > 0 && !slices.Equal(odd, was) {
		return moved{"a text was edited, or the list of texts changed,"}
	}
	return nil // what is odd twice is GitHub's way of showing it: a wait must end
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// assemble joins what the answers say of the same things.
func (l *look) assemble() {
	c := l.m.threads
	l.s.Threads, l.s.Timeline, l.s.Earlier, l.s.Arrived = c.threads, c.timeline, slices.Clone(c.earlier), c.arrived
	for _, e := range c.timeline {
		if e.Kind == quorum.ForcePushed && e.From != l.s.PR.Head && !slices.Contains(l.s.Earlier, e.From) && e.From != "" {
			l.s.Earlier = append(l.s.Earlier, e.From)
		}
	}
	if l.f.client.Personal() {
		for _, st := range l.s.Statuses { // a status brings no suite
			if same(st.Creator, l.s.Ours) && (l.s.Arrived.IsZero() || st.At.Before(l.s.Arrived)) && (st.Context == l.p.Check || strings.HasPrefix(st.Context, l.p.Check+" (")) {
				l.s.Arrived = st.At
			}
		}
	}
	if l.s.Arrived.IsZero() { // it has come just now, as far as GitHub shows
		l.s.Arrived = l.f.now().Add(l.s.Skew)
	}
	for i, t := range l.s.Comments {
		l.s.Comments[i] = edited(t, c.edits)
	}
	for i, t := range l.s.Reviews {
		t = edited(t, c.amended)
		for _, th := range c.threads {
			if th.Review == t.ID {
				t.Threads++
			}
		}
		l.s.Reviews[i] = t
	}
	byTime := func(a, b quorum.Text) int { return a.At.Compare(b.At) }
	slices.SortStableFunc(l.s.Comments, byTime)
	slices.SortStableFunc(l.s.Reviews, byTime)
	for _, r := range l.runs {
		if r.Head != l.s.PR.Head {
			continue
		}
		run := r.run()
		run.Jobs = jobsOf(run, l.s.Checks)
		l.s.Runs = append(l.s.Runs, run)
	}
	l.s.Resolved = l.m.commits
	l.advise()
}

// edited adds who edited t last. What REST shows as edited, and GraphQL not yet, was edited by nobody knows whom.
func edited(t quorum.Text, edits map[int64]graphEdit) quorum.Text {
	e, found := edits[t.ID]
	switch {
	case !found || t.Edited.After(e.Updated):
	case t.Kind == quorum.TextReview && normal(e.Body) != normal(t.Body): // REST does not say when a review was edited
		t.Edited, t.Editor = t.At, quorum.Account{}
	default:
		t.Edited, t.Editor = e.Edited, e.Editor.account()
	}
	return t
}

// behind reports whether the conversation does not know of an edit of t that REST shows: then it is asked again.
func (c conversation) behind(t quorum.Text) bool {
	if t.Kind == quorum.TextReview {
		e, found := c.amended[t.ID]
		return found && normal(e.Body) != normal(t.Body)
	}
	e, found := c.edits[t.ID]
	return !t.Edited.IsZero() && (!found || t.Edited.After(e.Updated))
}

// jobsOf are the jobs of a run's newest attempt, found as check runs in the run's suite: a job's id is also its check
// run's. The jobs of earlier attempts stay in the list beside them, under the same names.
func jobsOf(run quorum.Run, checks []quorum.CheckRun) (jobs []quorum.Job) {
	newest := map[string]int64{}
	for _, c := range checks {
		if c.Suite == run.Suite && c.App == ActionsApp {
			newest[c.Name] = max(newest[c.Name], c.ID)
		}
	}
	for _, c := range checks {
		if c.Suite != run.Suite || c.App != ActionsApp || newest[c.Name] != c.ID {
			continue
		}
		job := quorum.Job{ID: c.ID, Name: c.Name, Status: c.Status, Conclusion: c.Conclusion, Started: c.Started, Completed: c.Completed}
		switch c.Status {
		case "queued", "waiting", "pending", "requested":
			job.Started = time.Time{} // GitHub shows the creation there until a runner takes it up
		}
		jobs = append(jobs, job)
	}
	slices.SortFunc(jobs, func(a, b quorum.Job) int { return cmp.Compare(a.ID, b.ID) })
	return jobs
}

// advise puts the logs that were read into the jobs.
func (l *look) advise() {
	for i := range l.s.Runs {
		for k, job := range l.s.Runs[i].Jobs {
			if known, found := l.m.logs[job.ID]; found {
				l.s.Runs[i].Jobs[k].Log, l.s.Runs[i].Jobs[k].Annotations, l.s.Runs[i].Jobs[k].Read = known.Log, known.Annotations, true
			}
		}
	}
}

// log reads the tail of a job's log, or its annotations where there is no log: a job that was never started has none, and
// why one was cancelled stands only there. It is advice: unreadable, it makes a failure unknown.
func (l *look) log(ctx context.Context, id int64, into *quorum.Job) error {
	into.Read = true
	n := strconv.FormatInt(id, 10)
	var limit *LimitError
	if !slices.ContainsFunc(l.s.Checks, func(c quorum.CheckRun) bool { return c.ID == id && c.Conclusion == "cancelled" }) {
		tail, err := l.f.client.Tail(ctx, l.f.path(l.pr, "actions", "jobs", n, "logs"), maxTail)
		switch {
		case errors.As(err, &limit) || ctx.Err() != nil:
			return err
		case err == nil && len(tail) > 0:
			into.Log = string(tail)
			return nil
		}
	}
	notes, err := pages[struct {
		Message string `json:"message"`
		Title   string `json:"title"`
	}](ctx, l.f, nil, l.f.path(l.pr, "check-runs", n, "annotations")+"?per_page=100", "")
	if errors.As(err, &limit) || ctx.Err() != nil {
		return err
	}
	for _, note := range notes {
		into.Annotations = append(into.Annotations, note.Message)
	}
	return nil
}

// commit reads a commit that a text names.
func (l *look) commit(ctx context.Context, id string, into *quorum.Commit) error {
	var c restCommit
	_, err := l.f.client.Get(ctx, l.f.path(l.pr, "commits", id), &c)
	if IsNotFound(err) || IsUnprocessable(err) || IsConflict(err) {
		return nil
	}
	into.SHA = c.SHA
	for _, p := range c.Parents {
		into.Parents = append(into.Parents, p.SHA)
	}
	return err
}

// permission reads what a person may on the repository.
func (l *look) permission(ctx context.Context, login string, into *quorum.Permission) error {
	var p struct {
		Permission string `json:"permission"`
		Role       string `json:"role_name"`
	}
	_, err := l.f.client.Get(ctx, l.f.path(l.pr, "collaborators", login, "permission"), &p)
	if IsNotFound(err) {
		return nil
	}
	switch { // "permission" says write for maintain
	case p.Permission == "admin":
		*into = quorum.Admin
	case p.Role == "maintain":
		*into = quorum.Maintain
	case p.Permission == "write":
		*into = quorum.Write
	}
	return err
}

// whoami reads whom a personal token belongs to; once.
func (f *Forge) whoami(ctx context.Context, into *quorum.Account) error {
	f.mu.Lock()
	known := f.me
	f.mu.Unlock()
	if known.Login == "" {
		var u restUser
		if _, err := f.client.Get(ctx, "user", &u); err != nil {
			return err
		}
		known = u.account()
		f.mu.Lock()
		f.me = known
		f.mu.Unlock()
	}
	*into = known
	return nil
}

func same(a, b quorum.Account) bool {
	return a.Login != "" && strings.EqualFold(a.Login, b.Login) && a.Bot == b.Bot
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
