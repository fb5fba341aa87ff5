package github

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

const (
	maxFiles = 3000 // GitHub lists no more changed files of a pull request
	lookups  = 3    // tries for what a replica may not have yet
	replica  = time.Second
)

// A look is one observation while it is made.
type look struct {
	f       *Forge
	m       *memory
	read    pullReader
	policy  *policyReader
	told    bool   // an event came since the last look
	expects string // the head that it named

	p         quorum.Policy
	watched   reviewerSet // p's, or until that was read those that are expected
	s         quorum.Snapshot
	listed    int    // changed_files
	label     string // "owner:branch" of the head
	gone      bool   // the pull request itself answers 404
	head      headReads
	runs      []restRun  // the head's, and those that were read by their ids
	own       []ownCheck // our checks on the head
	sums      map[quorum.TextRef]untrusted.Digest
	related   bool // head's conversation tells of siblings
	conversed bool // m.threads was read by this look
}

// Observe reads everything that a decision about pr depends on, or fails. Reads go side by side, in waves: the pull request
// and the policy, with what is expected of them; what they name and was not read yet; what only those answers show to be
// missing.
func (f *Forge) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	m, release := f.hold(pr)
	defer release()
	l := &look{f: f, m: m, policy: f.policyOf(pr.Owner, pr.Repo)}
	l.read = pullReader{client: f.client, pr: pr, seen: l.policy.seen}
	l.told, l.expects = m.listen()
	began := f.now()
	m.observed = time.Now()
	for _, step := range []func(context.Context) error{l.readPullAndPolicy, l.readHead, l.reconcileSources, l.readMissing} {
		err := step(ctx)
		if client.IsNotFound(err) && !l.gone { // a replica may lack a part of what is there
			if gone := l.readPull(ctx); gone != nil {
				err = gone
			} else {
				err = moved{"something of it was not found (" + err.Error() + ")"}
			}
		}
		if err != nil {
			m.repeat(l.told, l.expects)
			return quorum.Policy{}, quorum.Snapshot{}, fmt.Errorf("observe %s: %w", pr, err)
		}
	}
	m.last = l.scene()
	l.s.Began = began.Add(l.s.Skew)
	return l.p, l.s, nil
}

// readPullAndPolicy reads the pull request and the policy, and beside them what is expected to be needed.
func (l *look) readPullAndPolicy(ctx context.Context) error {
	sc := l.expected()
	was, spared := l.policy.spared(sc.talk)
	g, beside := together(ctx)
	g.Go(func() error { return l.readPull(beside) })
	if !spared {
		g.Go(func() error { return l.policy.read(beside) })
	}
	if l.f.client.Personal() {
		g.Go(func() error { return l.f.whoami(beside, &l.s.Ours) })
	} else {
		l.s.Ours = quorum.Account{Login: l.f.app + "[bot]", Bot: true}
	}
	if sc.head != "" {
		l.readParts(beside, g, sc, true)
	}
	if err := g.Wait(); err != nil {
		return err
	}
	switch {
	case spared && l.head.blob == was.file.SHA:
		l.policy.file, l.policy.policy = was.file, was.policy
	case spared:
		g, ctx := together(ctx)
		g.Go(func() error { return l.policy.read(ctx) })
		if err := g.Wait(); err != nil {
			return err
		}
	}
	l.s.File, l.p = l.policy.file, l.policy.policy
	if src, blob := l.policy.src, l.head.blob; src != nil && (blob != "" || l.head.has(partConversation)) { // both have named it
		l.f.policies.noteNamed(l.read.pr, l.s.File.SHA, blob == blobID(src) && blob == l.s.File.SHA)
	}
	l.s.NoRecord = l.f.client.Personal()
	l.s.Skew = l.f.client.Skew()
	l.m.turn(l.s.PR.Head)
	l.settle(sc)
	l.watched = l.p.Reviewers
	return nil
}

// readHead reads what stands on the head and in the pull request, as far as that was not done.
func (l *look) readHead(ctx context.Context) error {
	g, ctx := together(ctx)
	l.readParts(ctx, g, l.scene(), false)
	return g.Wait()
}

// judges reports whether anything will be judged: else all that is needed is whether a check of ours is open.
func (l *look) judges() bool {
	return !l.s.PR.Closed && judged(l.s.File, l.p)
}

func judged(file quorum.PolicyFile, p quorum.Policy) bool {
	return file.State == quorum.FileValid && p.Mode != quorum.Off
}

// fresh reports whether the conversation must be asked for anew, whatever REST answers: at first, for other reviewers, when the clock is about
// to change the decision, while a thread can end an objection, for REST does not show that, and while the head has no
// check suite: our own check brings one, and clocks count from it.
func (l *look) fresh() bool {
	now := l.f.now().Add(l.s.Skew)
	return !l.m.asked || l.m.keptFor != l.watched.digest() || l.m.early || l.m.byThreads || !l.m.wake.IsZero() && !now.Before(l.m.wake) || l.m.threads.arrived.IsZero() && !l.f.client.Personal()
}

// reconcileSources reads by its id what lists did not show, and the conversation if anything in it may be new and it was not read
// beside the texts. It comes after the texts: who edited one must never be older than the words.
func (l *look) reconcileSources(ctx context.Context) error {
	l.checked()
	l.record()
	l.s.Gated = l.s.File.State != quorum.FileMissing && l.head.gated
	if l.scene().statuses {
		l.states()
	}
	if !l.judges() {
		return nil
	}
	if err := l.agree(ctx); err != nil {
		return err
	}
	l.changed()
	l.texts()
	l.alike()
	if l.s.PR.Commits > 1 {
		l.before()
	}
	l.runs = slices.Clone(l.head.runs)
	g, ctx := together(ctx)
	serially := !l.conversed && (l.fresh() || l.read.seen.any)
	if serially {
		sc := l.scene()
		g.Go(func() error { return l.readConversation(ctx, sc) })
	}
	if l.s.File.Changed {
		g.Go(func() error { return l.readProposedPolicy(ctx) })
	}
	missing := l.unlisted()
	found := make([]*restRun, len(missing))
	for i, id := range missing {
		g.Go(func() (err error) {
			found[i], err = l.read.runByID(ctx, id)
			return err
		})
	}
	for _, ref := range l.absent() {
		g.Go(func() error { return l.readText(ctx, ref) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if len(l.unheard()) > 0 {
		return moved{"a text of which an event told was not shown, or not as it told,"}
	}
	for _, r := range found {
		if r != nil && r.Head == l.s.PR.Head {
			l.runs = append(l.runs, *r)
		}
	}
	l.m.place(l.s.PR.Head, l.runs, found)
	l.m.asked = !slices.ContainsFunc(slices.Concat(l.s.Comments, l.s.Reviews), l.behind)
	switch {
	case serially:
		l.m.early = false
		l.m.serially = !l.covers(l.m.threads)
	case l.conversed:
		l.m.early = l.read.seen.any
	}
	return nil
}

// unlisted are runs of which an event or the record tells, and the list does not.
func (l *look) unlisted() (ids []int64) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	all := make([]int64, 0, len(l.m.hints)+len(l.s.Record.Runs))
	for _, h := range l.m.hints {
		if h.head == "" || h.head == l.s.PR.Head {
			all = append(all, h.run)
		}
	}
	for _, r := range l.s.Record.Runs {
		all = append(all, r.ID)
	}
	for _, id := range all {
		if !slices.ContainsFunc(l.runs, func(r restRun) bool { return r.ID == id }) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// readMissing puts the snapshot together and reads what it then turns out to lack.
func (l *look) readMissing(ctx context.Context) error {
	if !l.judges() {
		return nil
	}
	if err := l.whole(); err != nil {
		return err
	}
	l.assemble()
	if l.s.PR.Commits <= 1 && slices.ContainsFunc(l.s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed }) {
		if !l.head.has(partOthers) {
			if err := l.head.readOthers(ctx, l.read, l.scene()); err != nil {
				return err
			}
		}
		l.before()
	}
	wants := evidence.Missing(l.p, l.s)
	if wants.SameBranch {
		if err := l.readSameBranch(ctx); err != nil {
			return err
		}
		wants = evidence.Missing(l.p, l.s)
	}
	g, ctx := together(ctx)
	jobs := make([]quorum.Job, len(wants.Logs))
	for i, id := range wants.Logs {
		cancelled := slices.ContainsFunc(l.s.Checks, func(c quorum.CheckRun) bool { return c.ID == id && c.Conclusion == "cancelled" })
		g.Go(func() (err error) {
			jobs[i], err = l.read.jobLog(ctx, id, cancelled)
			return err
		})
	}
	commits := make([]quorum.Commit, len(wants.Commits))
	for i, id := range wants.Commits {
		g.Go(func() (err error) {
			commits[i], err = l.read.commit(ctx, id)
			return err
		})
	}
	may := make([]quorum.Permission, len(wants.People))
	for i, login := range wants.People {
		g.Go(func() (err error) {
			may[i], err = l.read.permission(ctx, login)
			return err
		})
	}
	if wants.Authors && l.m.authorsOf != l.s.PR.Head {
		g.Go(func() (err error) {
			l.m.authors, err = l.read.commitAuthors(ctx, l.s.PR.Head)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, id := range wants.Logs {
		l.m.logs = with(l.m.logs, id, jobs[i])
	}
	for i, id := range wants.Commits {
		l.m.commits = with(l.m.commits, id, commits[i])
	}
	l.s.Resolved = l.m.commits
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

// checked tells our own checks from those of others.
func (l *look) checked() {
	l.m.own, l.m.beside, l.own = nil, false, nil
	for _, c := range l.head.checks {
		check := c.check()
		if !l.f.client.Personal() && l.f.ours(l.read.pr, check.CheckRun) {
			l.own = append(l.own, check)
			continue
		}
		l.s.Checks = append(l.s.Checks, check.CheckRun)
		if l.p.Check != "" && check.Name == l.p.Check {
			l.s.Foreign = append(l.s.Foreign, check.CheckRun)
			l.m.beside = l.f.client.Personal()
		}
	}
	// Our own writes change this list too; only what others wrote is news.
	key := digest(l.s.Checks)
	l.read.seen.note(l.m.checks != key)
	l.m.checks = key
	slices.SortFunc(l.own, func(a, b ownCheck) int { return cmp.Compare(b.ID, a.ID) })
	for _, o := range l.own {
		l.m.own = append(l.m.own, o.written())
	}
}

// digest stands for what check runs say.
func digest(all []quorum.CheckRun) untrusted.Digest {
	h := sha256.New()
	for _, c := range all {
		fmt.Fprintf(h, "%d %d %d %d %d", c.ID, c.AppID, c.Suite, c.Started.UnixNano(), c.Completed.UnixNano())
		for _, text := range []string{c.Name, c.App, c.Status, c.Conclusion, c.ExternalID, c.Title, c.Summary, c.Text, c.URL} {
			fmt.Fprintf(h, " %d:", len(text))
			_, _ = io.WriteString(h, text) // a hash takes everything
		}
	}
	return untrusted.Digest(h.Sum(nil))
}

func (l *look) states() {
	for _, st := range l.head.statuses {
		l.s.Statuses = append(l.s.Statuses, quorum.Status{ID: st.ID, Context: st.Context, State: st.State, Description: st.Description, Creator: st.Creator.account(), At: st.Created, URL: st.URL})
	}
	slices.SortStableFunc(l.s.Statuses, func(a, b quorum.Status) int { return cmp.Compare(b.ID, a.ID) })
	l.m.statuses = l.s.Statuses
}

func (l *look) changed() {
	l.s.PR.Files = make([]quorum.File, 0, len(l.head.files))
	for _, file := range l.head.files {
		l.s.PR.Files = append(l.s.PR.Files, quorum.File{Path: file.Filename, Previous: file.Previous})
	}
	n := len(l.head.files)
	l.s.PR.FilesMissing = l.s.PR.FilesMissing || n >= maxFiles || n < l.listed
	l.s.File.Changed = slices.ContainsFunc(l.s.PR.Files, func(file quorum.File) bool { return file.Path == l.s.File.Path || file.Previous == l.s.File.Path })
}

// readProposedPolicy reads what the pull request makes of the policy.
func (l *look) readProposedPolicy(ctx context.Context) error {
	src, _, err := l.read.file(ctx, l.s.File.Path, l.s.PR.Head)
	switch {
	case client.IsNotFound(err):
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

func (l *look) before() {
	for _, r := range l.head.others {
		if r.Head != l.s.PR.Head && (r.HeadRepo == nil && l.s.PR.HeadRepo == "" || r.HeadRepo != nil && strings.EqualFold(r.HeadRepo.FullName, l.s.PR.HeadRepo)) {
			l.s.Others = append(l.s.Others, r.run())
		}
	}
}

// alike lists the other open pull requests with this head, as the conversation or REST shows them.
func (l *look) alike() {
	numbers := l.head.talked.siblings
	if !l.related {
		numbers = nil
		for _, p := range l.head.siblings {
			if p.Number != l.read.pr.Number && p.State == "open" && p.Head.SHA == l.s.PR.Head {
				numbers = append(numbers, p.Number)
			}
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		l.s.Siblings = append(l.s.Siblings, quorum.PullRequest{PR: quorum.PR{Owner: l.read.pr.Owner, Repo: l.read.pr.Repo, Number: n}, Head: l.s.PR.Head})
	}
	l.read.seen.note(!slices.Equal(l.m.siblings, numbers))
	l.m.siblings = numbers
}

func (l *look) readPull(ctx context.Context) error {
	var p restPull
	path := l.read.pullPath("pulls")
	for try := 1; ; try++ {
		answer, err := l.f.client.Get(ctx, path, &p)
		if client.IsNotFound(err) && try < lookups { // just after the event a replica may not know it
			if err := pause(ctx, replica); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			l.gone = client.IsNotFound(err)
			return err
		}
		l.read.seen.note(answer.Changed)
		break
	}
	if p.Number == 0 || len(p.Head.SHA) < 40 || p.Base.Repo.DefaultBranch == "" {
		return fmt.Errorf("read %s: the answer is no pull request: %w", path, client.ErrTransport)
	}
	l.s.PR = p.pull(l.read.pr)
	l.s.PR.FilesMissing = p.ChangedFiles > maxFiles
	l.listed, l.label = p.ChangedFiles, p.Head.Label
	return nil
}

func (l *look) readConversation(ctx context.Context, sc scene) error {
	c, _, err := l.read.conversation(ctx, sc.head, sc.check, l.policy.pathInConversation(), l.watched)
	if err == nil {
		l.takeConversation(c)
	}
	return err
}

// readSameBranch reads the other pull requests of the head branch, as far back as one may have had this head.
func (l *look) readSameBranch(ctx context.Context) (err error) {
	l.s.SameBranch = []quorum.PullRequest{} // not nil: it was asked for
	if l.label == "" {
		return nil
	}
	since := l.s.PR.Created
	if l.s.Arrived.Before(since) {
		since = l.s.Arrived
	}
	l.s.SameBranch, err = l.read.branchPulls(ctx, l.label, since)
	return err
}

func (l *look) takeConversation(c conversation) {
	l.m.threads, l.conversed = c, true
	l.m.keptFor = l.watched.digest()
}

// record takes over what our own checks remember; of several the one that was written last.
func (l *look) record() {
	for _, c := range l.own {
		if rec, found := report.ParseRecord(c.Text); found && rec.Seq > l.s.Record.Seq && rec.Head == l.s.PR.Head {
			l.s.Record = rec
		}
	}
}

// assemble joins what the answers say of the same things.
func (l *look) assemble() {
	c := l.m.threads
	l.s.Threads, l.s.Timeline, l.s.Arrived = c.threads, c.timeline, c.arrived
	for _, k := range c.commits {
		if k.suites {
			l.s.Earlier = append(l.s.Earlier, k.sha)
		}
	}
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
		l.s.Comments[i] = edited(t, l.sums[t.TextRef], c.edits)
	}
	for i, t := range l.s.Reviews {
		t = edited(t, l.sums[t.TextRef], c.amended)
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
