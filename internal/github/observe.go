package github

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // Git names files by it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
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
	told      bool   // an event came since the last look
	expects   string // the head that it named
	p         quorum.Policy
	asIf      []quorum.Reviewer // p's, or until that was read those that are expected; nil: nobody knows
	src       []byte            // of the policy
	s         quorum.Snapshot
	listed    int    // changed_files
	label     string // "owner:branch" of the head
	have      parts
	raw       raw
	runs      []restRun    // raw.runs, and those that were read by their ids
	own       []ownCheck   // our checks on the head
	talked    conversation // that was read beside the texts
	sums      map[quorum.TextRef]untrusted.Digest
	blob      string // which the policy is, by that conversation
	related   bool   // it tells of siblings
	conversed bool
	gone      bool // the pull request itself answers 404
}

// raw are REST's answers about one head.
type raw struct {
	checks   []restCheck
	files    []restFile
	runs     []restRun
	reviews  []restReview
	comments []restComment
	siblings []restPull
	others   []restRun
	statuses []restStatus
	gated    bool
}

// Observe reads everything that a decision about pr depends on, or fails. Reads go side by side, in waves: the pull request
// and the policy, with what is expected of them; what they name and was not read yet; what only those answers show to be
// missing.
func (f *Forge) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	m, release := f.hold(pr)
	defer release()
	l := &look{f: f, pr: pr, m: m, seen: &changes{}}
	l.told, l.expects = m.listen()
	began := f.now()
	m.observed = time.Now()
	for _, step := range []func(context.Context) error{l.first, l.second, l.third, l.fourth} {
		err := step(ctx)
		if client.IsNotFound(err) && !l.gone { // a replica may lack a part of what is there
			if gone := l.pull(ctx); gone != nil {
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

// first reads the pull request and the policy, and beside them what is expected to be needed.
func (l *look) first(ctx context.Context) error {
	sc := l.expected()
	was, spared := l.sparedPolicy(sc)
	g, beside := together(ctx)
	g.Go(func() error { return l.pull(beside) })
	if !spared {
		g.Go(func() error { return l.policy(beside) })
	}
	if l.f.client.Personal() {
		g.Go(func() error { return l.f.whoami(beside, &l.s.Ours) })
	} else {
		l.s.Ours = quorum.Account{Login: l.f.app + "[bot]", Bot: true}
	}
	if sc.head != "" {
		l.parts(beside, g, sc, true)
	}
	if err := g.Wait(); err != nil {
		return err
	}
	switch {
	case spared && l.blob == was.file.SHA:
		l.s.File, l.p = was.file, was.policy
	case spared:
		g, ctx := together(ctx)
		g.Go(func() error { return l.policy(ctx) })
		if err := g.Wait(); err != nil {
			return err
		}
	}
	if l.src != nil && (l.blob != "" || l.have.has(partConversation)) { // both have named it
		l.f.named(l.pr, l.s.File.SHA, l.blob == blobID(l.src) && l.blob == l.s.File.SHA)
	}
	l.s.NoRecord = l.f.client.Personal()
	l.s.Skew = l.f.client.Skew()
	l.m.turn(l.s.PR.Head)
	l.settle(sc)
	l.asIf = l.p.Reviewers
	return nil
}

// second reads what stands on the head and in the pull request, as far as that was not done.
func (l *look) second(ctx context.Context) error {
	g, ctx := together(ctx)
	l.parts(ctx, g, l.scene(), false)
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
	return !l.m.asked || l.m.keptFor != authorsOf(l.asIf) || l.m.early || l.m.byThreads || !l.m.wake.IsZero() && !now.Before(l.m.wake) || l.m.threads.arrived.IsZero() && !l.f.client.Personal()
}

// third reads by its id what lists did not show, and the conversation if anything in it may be new and it was not read
// beside the texts. It comes after the texts: who edited one must never be older than the words.
func (l *look) third(ctx context.Context) error {
	l.checked()
	l.record()
	l.s.Gated = l.s.File.State != quorum.FileMissing && l.raw.gated
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
	l.runs = slices.Clone(l.raw.runs)
	g, ctx := together(ctx)
	serially := !l.conversed && (l.fresh() || l.seen.any)
	if serially {
		sc := l.scene()
		g.Go(func() error { return l.converse(ctx, sc) })
	}
	if l.s.File.Changed {
		g.Go(func() error { return l.proposed(ctx) })
	}
	missing := l.unlisted()
	found := make([]*restRun, len(missing))
	for i, id := range missing {
		g.Go(func() error { return l.byID(ctx, &found[i], "actions", "runs", strconv.FormatInt(id, 10)) })
	}
	for _, ref := range l.absent() {
		g.Go(func() error { return l.text(ctx, ref) })
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
		l.m.early = l.seen.any
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

// fourth puts the snapshot together and reads what it then turns out to lack.
func (l *look) fourth(ctx context.Context) error {
	if !l.judges() {
		return nil
	}
	if err := l.whole(); err != nil {
		return err
	}
	l.assemble()
	if l.s.PR.Commits <= 1 && slices.ContainsFunc(l.s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed }) {
		if !l.have.has(partOthers) {
			if err := l.others(ctx, l.scene()); err != nil {
				return err
			}
		}
		l.before()
	}
	wants := evidence.Missing(l.p, l.s)
	if wants.SameBranch {
		if err := l.sameBranch(ctx); err != nil {
			return err
		}
		wants = evidence.Missing(l.p, l.s)
	}
	g, ctx := together(ctx)
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

func (l *look) pull(ctx context.Context) error {
	var p restPull
	path := l.f.path(l.pr, "pulls", strconv.Itoa(l.pr.Number))
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
		l.seen.note(answer.Changed)
		break
	}
	if p.Number == 0 || len(p.Head.SHA) < 40 || p.Base.Repo.DefaultBranch == "" {
		return fmt.Errorf("read %s: the answer is no pull request: %w", path, client.ErrTransport)
	}
	l.s.PR = p.pull(l.pr)
	l.s.PR.FilesMissing = p.ChangedFiles > maxFiles
	l.listed, l.label = p.ChangedFiles, p.Head.Label
	return nil
}

// paths are where a policy may stand; the first that is there counts.
func (l *look) paths() []string {
	if l.f.config != "" {
		return []string{l.f.config}
	}
	return config.Paths()
}

// asked is the path of which the conversation tells what stands there: one that Git takes.
func (l *look) asked() string {
	if path := l.paths()[0]; fs.ValidPath(path) && l.f.policy == nil {
		return path
	}
	return config.Paths()[0]
}

// sparedPolicy returns the policy that was read last, if the conversation, which is read beside all else, will tell whether it
// still stands: then the file is asked for only if it does not.
func (l *look) sparedPolicy(sc scene) (was sight, spared bool) {
	was, known := l.f.sight(l.pr)
	return was, known && was.named && was.file.Path == l.asked() && l.f.policy == nil && sc.talk
}

// policy reads the policy file of the default branch: never of the pull request, nor of a base that a contributor chose.
func (l *look) policy(ctx context.Context) error {
	paths := l.paths()
	was, known := l.f.sight(l.pr)
	for _, path := range paths {
		src, sha, err := l.f.policy, "", error(nil)
		if src == nil {
			src, sha, err = l.file(ctx, path, "")
		}
		if client.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		l.src = src
		now := sight{file: quorum.PolicyFile{State: quorum.FileValid, Path: path, SHA: sha}, src: sha256.Sum256(src)}
		if known && was.src == now.src && was.file.Path == path && was.file.SHA == sha && was.file.State != quorum.FileMissing {
			l.s.File, l.p = was.file, was.policy
			return nil
		}
		if now.policy, err = l.f.memories.parse(path, src, now.src); err != nil {
			now.file.State, now.file.Problem = quorum.FileBroken, err.Error()
		}
		l.s.File, l.p = now.file, now.policy
		l.f.saw(l.pr, now)
		return nil
	}
	l.s.File = quorum.PolicyFile{State: quorum.FileMissing, Path: paths[0]}
	l.f.saw(l.pr, sight{file: l.s.File})
	return nil
}

// blobID is the name that Git gives to a file that holds src.
func blobID(src []byte) string {
	sum := sha1.Sum(slices.Concat(fmt.Appendf(nil, "blob %d\x00", len(src)), src)) //nolint:gosec // as Git does
	return hex.EncodeToString(sum[:])
}

var errNoFile = errors.New("it is no file")

// file reads a file; ref "" is the default branch.
func (l *look) file(ctx context.Context, path, ref string) (src []byte, sha string, err error) {
	at := l.f.path(l.pr, "contents") + "/" + client.EscapeSlashed(path)
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
		return nil, "", fmt.Errorf("read %s: %w", path, client.ErrTransport)
	}
	switch {
	case c.Size > config.MaxSize: // the parser says that it is too large
		return make([]byte, config.MaxSize+1), c.SHA, nil
	case c.Type != "" && c.Type != "file":
		return nil, "", fmt.Errorf("read %s: it is a %s: %w", path, untrusted.OneLine(c.Type, 50), errNoFile)
	case c.Encoding == "base64":
		src, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(c.Content, "\n", ""))
	default:
		src = []byte(c.Content)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", at, client.ErrTransport)
	}
	return src, c.SHA, nil
}

// checks reads all check runs of the head: jobs, other Apps', and our own with the record.
func (l *look) checks(ctx context.Context, sc scene) (err error) {
	l.raw.checks, err = pages[restCheck](ctx, l.f, nil, l.f.path(l.pr, "commits", sc.head, "check-runs")+"?filter=all&per_page=100", "check_runs")
	return err
}

// checked tells our own checks from those of others.
func (l *look) checked() {
	l.m.own, l.m.beside, l.own = nil, false, nil
	for _, c := range l.raw.checks {
		check := c.check()
		if !l.f.client.Personal() && l.f.ours(l.pr, check.CheckRun) {
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
	l.seen.note(l.m.checks != key)
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

func (l *look) statuses(ctx context.Context, sc scene) (err error) {
	l.raw.statuses, err = pages[restStatus](ctx, l.f, l.seen, l.f.path(l.pr, "commits", sc.head, "statuses")+"?per_page=100", "")
	return err
}

func (l *look) states() {
	for _, st := range l.raw.statuses {
		l.s.Statuses = append(l.s.Statuses, quorum.Status{ID: st.ID, Context: st.Context, State: st.State, Description: st.Description, Creator: st.Creator.account(), At: st.Created, URL: st.URL})
	}
	slices.SortStableFunc(l.s.Statuses, func(a, b quorum.Status) int { return cmp.Compare(b.ID, a.ID) })
	l.m.statuses = l.s.Statuses
}

func (l *look) files(ctx context.Context, _ scene) (err error) {
	l.raw.files, err = pages[restFile](ctx, l.f, l.seen, l.f.path(l.pr, "pulls", strconv.Itoa(l.pr.Number), "files")+"?per_page=100", "")
	return err
}

func (l *look) changed() {
	l.s.PR.Files = make([]quorum.File, 0, len(l.raw.files))
	for _, file := range l.raw.files {
		l.s.PR.Files = append(l.s.PR.Files, quorum.File{Path: file.Filename, Previous: file.Previous})
	}
	n := len(l.raw.files)
	l.s.PR.FilesMissing = l.s.PR.FilesMissing || n >= maxFiles || n < l.listed
	l.s.File.Changed = slices.ContainsFunc(l.s.PR.Files, func(file quorum.File) bool { return file.Path == l.s.File.Path || file.Previous == l.s.File.Path })
}

// proposed reads what the pull request makes of the policy.
func (l *look) proposed(ctx context.Context) error {
	src, _, err := l.file(ctx, l.s.File.Path, l.s.PR.Head)
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

func (l *look) workflows(ctx context.Context, sc scene) (err error) {
	l.raw.runs, err = pages[restRun](ctx, l.f, l.seen, l.f.path(l.pr, "actions", "runs")+"?per_page=100&exclude_pull_requests=true&head_sha="+sc.head, "workflow_runs")
	return err
}

// others reads the runs of earlier heads of the branch, back to the pull request's creation.
func (l *look) others(ctx context.Context, sc scene) (err error) {
	q := url.Values{"per_page": {"100"}, "exclude_pull_requests": {"true"}, "branch": {sc.headRef}, "created": {">=" + sc.created.UTC().Format(time.RFC3339)}}
	l.raw.others, err = pages[restRun](ctx, l.f, l.seen, l.f.path(l.pr, "actions", "runs")+"?"+q.Encode(), "workflow_runs")
	return err
}

func (l *look) before() {
	for _, r := range l.raw.others {
		if r.Head != l.s.PR.Head && (r.HeadRepo == nil && l.s.PR.HeadRepo == "" || r.HeadRepo != nil && strings.EqualFold(r.HeadRepo.FullName, l.s.PR.HeadRepo)) {
			l.s.Others = append(l.s.Others, r.run())
		}
	}
}

// sameBranch reads the pull requests of the head branch, closed ones as well, the one that changed last first: as far back as
// one may have had this head. Where GitHub refuses the list it is not whole, which costs an approval and no look.
func (l *look) sameBranch(ctx context.Context) error {
	l.s.SameBranch = []quorum.PullRequest{} // not nil: it was asked for
	if l.label == "" {
		return nil
	}
	since := l.s.PR.Created
	if l.s.Arrived.Before(since) {
		since = l.s.Arrived
	}
	q := url.Values{"per_page": {"100"}, "state": {"all"}, "head": {l.label}, "sort": {"updated"}, "direction": {"desc"}}
	path := l.f.path(l.pr, "pulls") + "?" + q.Encode()
	for range maxPages {
		page, answer, err := onePage[restPull](ctx, l.f, path, "")
		switch {
		case client.IsNotFound(err), client.IsUnprocessable(err):
			return nil
		case err != nil:
			return err
		}
		for _, p := range page {
			l.s.SameBranch = append(l.s.SameBranch, p.pull(quorum.PR{Owner: l.pr.Owner, Repo: l.pr.Repo, Number: p.Number}))
		}
		if path = answer.Next; path == "" || len(page) == 0 || page[len(page)-1].Updated.Before(since) {
			break
		}
	}
	return nil
}

func (l *look) reviews(ctx context.Context, _ scene) (err error) {
	l.raw.reviews, err = pages[restReview](ctx, l.f, l.seen, l.f.path(l.pr, "pulls", strconv.Itoa(l.pr.Number), "reviews")+"?per_page=100", "", func(r *restReview) {
		r.sum, r.Body = untrusted.DigestOf(r.Body), l.kept(r.User.account().Login, r.Body)
	})
	return err
}

// texts are the reviews and comments that the lists show.
func (l *look) texts() {
	l.sums = make(map[quorum.TextRef]untrusted.Digest, len(l.raw.reviews)+len(l.raw.comments))
	for _, r := range l.raw.reviews {
		t := r.text()
		l.s.Reviews, l.sums[t.TextRef] = append(l.s.Reviews, t), r.sum
	}
	for _, c := range l.raw.comments {
		t := c.text()
		l.s.Comments, l.sums[t.TextRef] = append(l.s.Comments, t), c.sum
	}
}

func (r restReview) text() quorum.Text {
	return quorum.Text{TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: r.ID}, Author: r.User.account(), Body: r.Body, At: r.Submitted, Commit: r.Commit, State: r.State, URL: r.URL}
}

func (l *look) comments(ctx context.Context, _ scene) (err error) {
	l.raw.comments, err = pages[restComment](ctx, l.f, l.seen, l.f.path(l.pr, "issues", strconv.Itoa(l.pr.Number), "comments")+"?per_page=100", "", func(c *restComment) {
		c.sum, c.Body = untrusted.DigestOf(c.Body), l.kept(c.User.account().Login, c.Body)
	})
	return err
}

func (c restComment) text() quorum.Text {
	t := quorum.Text{TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: c.ID}, Author: c.User.account(), Body: c.Body, At: c.Created, URL: c.URL}
	if c.Updated.After(c.Created) {
		t.Edited = c.Updated
	}
	return t
}

func (l *look) siblings(ctx context.Context, sc scene) (err error) {
	l.raw.siblings, err = pages[restPull](ctx, l.f, nil, l.f.path(l.pr, "commits", sc.head, "pulls")+"?per_page=100", "")
	return err
}

// alike lists the other open pull requests with this head, as the conversation or REST shows them.
func (l *look) alike() {
	numbers := l.talked.siblings
	if !l.related {
		numbers = nil
		for _, p := range l.raw.siblings {
			if p.Number != l.pr.Number && p.State == "open" && p.Head.SHA == l.s.PR.Head {
				numbers = append(numbers, p.Number)
			}
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		l.s.Siblings = append(l.s.Siblings, quorum.PullRequest{PR: quorum.PR{Owner: l.pr.Owner, Repo: l.pr.Repo, Number: n}, Head: l.s.PR.Head})
	}
	l.seen.note(!slices.Equal(l.m.siblings, numbers))
	l.m.siblings = numbers
}

// gated reads whether the base is one that matters: the default branch, a protected one, or one with rules.
func (l *look) gated(ctx context.Context, sc scene) error {
	base := sc.base
	l.raw.gated = base == sc.main
	if l.raw.gated {
		return nil
	}
	var branch struct {
		Protected bool `json:"protected"`
	}
	if _, err := l.f.client.Get(ctx, l.f.path(l.pr, "branches")+"/"+client.EscapeSlashed(base), &branch); err != nil && !client.IsNotFound(err) {
		return err
	}
	if l.raw.gated = branch.Protected; l.raw.gated {
		return nil
	}
	var rules []struct {
		Type string `json:"type"`
	}
	if _, err := l.f.client.Get(ctx, l.f.path(l.pr, "rules", "branches")+"/"+client.EscapeSlashed(base), &rules); err != nil && !client.IsNotFound(err) {
		return err
	}
	l.raw.gated = len(rules) > 0
	return nil
}

func (l *look) converse(ctx context.Context, sc scene) (err error) {
	c, _, err := l.f.converse(ctx, l.pr, sc, l.asked(), l.kept)
	if err == nil {
		l.take(c)
	}
	return err
}

func (l *look) take(c conversation) {
	l.m.threads, l.conversed = c, true
	l.m.keptFor = authorsOf(l.asIf)
}

// authorsOf stands for the accounts that reviewers have.
func authorsOf(reviewers []quorum.Reviewer) untrusted.Digest {
	var names strings.Builder
	for _, r := range reviewers {
		names.WriteString(strings.ToLower(r.Author) + "\n")
	}
	return sha256.Sum256([]byte(names.String()))
}

// record takes over what our own checks remember; of several the one that was written last.
func (l *look) record() {
	for _, c := range l.own {
		if rec, found := report.ParseRecord(c.Text); found && rec.Seq > l.s.Record.Seq && rec.Head == l.s.PR.Head {
			l.s.Record = rec
		}
	}
}

// absent are the texts of the record, and those of which an event told, that the lists do not show.
func (l *look) absent() (out []quorum.TextRef) {
	for _, seen := range l.s.Record.Texts {
		all := *l.listOf(seen.Kind)
		if !slices.ContainsFunc(all, func(t quorum.Text) bool { return t.TextRef == seen.TextRef }) && !slices.Contains(out, seen.TextRef) {
			out = append(out, seen.TextRef)
		}
	}
	for _, h := range l.unheard() {
		if !slices.Contains(out, h.ref) {
			out = append(out, h.ref)
		}
	}
	return out
}

// listOf is where the texts of a kind stand.
func (l *look) listOf(kind quorum.TextKind) *[]quorum.Text {
	if kind == quorum.TextReview {
		return &l.s.Reviews
	}
	return &l.s.Comments
}

// unheard are the reviewers' texts of which an event told and that are not shown as it told. What is no reviewer's is
// forgotten, and what was shown, or was not for too long: anybody can write a text and delete it.
func (l *look) unheard() []toldText {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	now := l.f.now()
	l.m.heard = slices.DeleteFunc(l.m.heard, func(h toldText) bool {
		return !l.minds(h.author) || now.Sub(h.since) >= apart || slices.ContainsFunc(*l.listOf(h.ref.Kind), h.shown)
	})
	return slices.Clone(l.m.heard)
}

// byID reads one thing; what answers 404 stays nil.
func (l *look) byID(ctx context.Context, into **restRun, parts ...string) error {
	var r restRun
	answer, err := l.f.client.Get(ctx, l.f.path(l.pr, parts...)+"?exclude_pull_requests=true", &r)
	if client.IsNotFound(err) {
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
	case client.IsNotFound(err) || client.IsGone(err):
		return nil // gone for good: what was remembered of it counts
	case err != nil:
		return err
	}
	l.sums[ref] = untrusted.DigestOf(t.Body)
	list := l.listOf(ref.Kind)
	if i := slices.IndexFunc(*list, func(o quorum.Text) bool { return o.TextRef == ref }); i >= 0 {
		(*list)[i] = t // it was listed as it had been before
	} else {
		*list = append(*list, t)
	}
	return nil
}

// apart is how long REST and GraphQL may show a text differently before that is taken for GitHub's way of showing it: a
// replica lags for seconds, and a wait must end.
const apart = 30 * time.Second

// whole refuses a look that shows a text otherwise than the conversation does, or that misses one of them: a text was edited
// between the two reads, fell between two pages, or one of the two comes from a replica that lags.
func (l *look) whole() error {
	var odd []int64
	known := map[int64]bool{}
	for _, t := range slices.Concat(l.s.Comments, l.s.Reviews) {
		known[t.ID] = true
		if !l.minds(t.Author.Login) {
			continue
		}
		later := t.Kind != quorum.TextReview && l.m.threads.edits[t.ID].updated.After(latest(t.At, t.Edited))
		if later || l.behind(t) {
			odd = append(odd, t.ID)
		}
	}
	for _, edits := range []map[int64]edit{l.m.threads.edits, l.m.threads.amended} {
		for id := range edits {
			if !known[id] && l.conversed && l.minds(edits[id].author) {
				odd = append(odd, id)
			}
		}
	}
	slices.Sort(odd)
	now := l.f.now()
	if slices.ContainsFunc(odd, func(id int64) bool { return !slices.Contains(l.m.odd, id) }) {
		l.m.oddSince = now
	}
	l.m.odd = odd
	if len(odd) > 0 && now.Sub(l.m.oddSince) < apart {
		l.m.asked = false
		return moved{"a text was edited, or the list of texts changed,"}
	}
	return nil
}

// minds reports whether login is a reviewer, or not known: whoever else writes and deletes all day must hold nothing up.
func (l *look) minds(login string) bool {
	return login == "" || slices.ContainsFunc(l.asIf, func(r quorum.Reviewer) bool { return strings.EqualFold(r.Author, login) })
}

// kept is as much of a text as may be needed. What is longer than a request for a review, and of nobody who is a reviewer, says
// nothing that counts, and there may be thousands of it.
func (l *look) kept(login, body string) string {
	if l.asIf == nil || l.minds(login) {
		return body
	}
	most := 1 << 10
	for _, r := range l.asIf {
		most = max(most, 2*len(r.Request.Comment)) // lines may come back with other ends
	}
	if len(body) > most {
		return ""
	}
	return body
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

// edited adds who edited t last. What REST shows, and GraphQL not yet or otherwise, was edited by nobody knows whom.
func edited(t quorum.Text, body untrusted.Digest, edits map[int64]edit) quorum.Text {
	e, found := edits[t.ID]
	switch {
	case !found || e.body != body:
		t.Edited, t.Editor = latest(latest(t.At, t.Edited), e.edited), quorum.Account{}
	case t.Edited.After(e.updated):
	default:
		t.Edited, t.Editor = e.edited, e.editor
	}
	return t
}

// behind reports whether the conversation does not know t, or not as REST shows it: then it is asked again.
func (l *look) behind(t quorum.Text) bool { return l.m.threads.behind(t, l.sums[t.TextRef]) }

func (c conversation) behind(t quorum.Text, body untrusted.Digest) bool {
	if t.Kind == quorum.TextReview {
		e, found := c.amended[t.ID]
		return !found || e.body != body || (t.State == "DISMISSED") != c.dismissed(t.ID)
	}
	e, found := c.edits[t.ID]
	return !found || e.body != body || t.Edited.After(e.updated)
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
	var limit *client.LimitError
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
	if client.IsNotFound(err) || client.IsUnprocessable(err) || client.IsConflict(err) {
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
	if client.IsNotFound(err) {
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
