package github

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

const (
	maxLookups   = 3 // tries for what a replica may not have yet
	replicaPause = time.Second
)

// A look is one observation while it is made.
type look struct {
	f          *Forge
	mem        *memory
	read       pullReader
	policyRead *policyReader
	since      eventsSince // the last look
	isSibling  bool        // see [Forge.ObserveSibling]
	pullSpared bool        // the pull request was not read, as the conversation shows what was known of it

	policy           quorum.Policy
	watched          reviewerSet // the policy's, or until it was read those that are expected
	snap             quorum.Snapshot
	headChanged      bool // since the last look
	before           beforeReader
	gone             bool // the pull request itself answers 404
	head             headReads
	runs             []restRun  // the head's, and those that were read by their ids
	own              []ownCheck // our checks on the head
	digests          map[quorum.TextRef]untrusted.Digest
	siblingsKnown    bool                 // head's conversation tells of siblings
	conversationRead bool                 // mem.conversation was read by this look
	likely           []quorum.PullRequest // that may have the same diff
}

// Observe reads everything that a decision about pr depends on, or fails. Reads go side by side, in waves: the pull
// request and the policy, with what is expected of them; what they name and was not read yet; what only those answers
// show to be missing.
func (f *Forge) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	m, release := f.holdMemory(pr)
	defer release()
	return observeWith(ctx, f, pr, m, false)
}

// ObserveSibling is [Forge.Observe] for a pull request of the same head as one that is looked at: another worker may
// look at it at the same time, so nothing is remembered of it, and nothing is published for it. One that was closed
// without a merge is read as if it were open.
func (f *Forge) ObserveSibling(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	fresh := &memory{key: memoryKey{f.id, pr}}
	f.withMemory(pr, func(known *memory) {
		known.noteReadElsewhere()
		fresh.disagrees = known.disagreesAsSibling
	})
	return observeWith(ctx, f, pr, fresh, true)
}

func observeWith(ctx context.Context, f *Forge, pr quorum.PR, m *memory, isSibling bool) (quorum.Policy, quorum.Snapshot, error) {
	l := &look{f: f, mem: m, policyRead: f.policyOf(pr.Owner, pr.Repo), isSibling: isSibling}
	l.read = pullReader{client: f.client, pr: pr, news: l.policyRead.news, texts: &m.pages}
	l.before = beforeReader{pullReader: l.read, app: f.app, known: &m.before}
	l.since = m.takeEvents()
	began := f.now()
	m.lookBegan = time.Now()
	readFix := func(ctx context.Context) error {
		if !l.willJudge() {
			return nil
		}
		return fixReader{l.read, &l.snap, &l.mem.hands}.readAll(ctx, l.policy)
	}
	for _, step := range []func(context.Context) error{l.readPullAndPolicy, l.readHead, l.reconcileSources, l.readMissing, readFix} {
		err := step(ctx)
		if client.IsNotFound(err) && !l.gone { // a replica may lack a part of what is there
			if gone := l.readPull(ctx); gone != nil {
				err = gone
			} else {
				err = moved{"something of it was not found (" + err.Error() + ")"}
			}
		}
		if err != nil {
			m.returnEvents(l.since)
			m.noteReadElsewhere()
			m.unread.note(began, err)
			return quorum.Policy{}, quorum.Snapshot{}, fmt.Errorf("observe %s: %w", pr, err)
		}
	}
	m.lastPlan, m.unread = l.actualPlan(), unreadLooks{}
	f.noteWholeLook(began)
	l.snap.Began = began.Add(l.snap.Skew)
	return l.policy, l.snap, nil
}

// readPullAndPolicy reads the pull request and the policy, and in parallel all that is expected to be needed.
func (l *look) readPullAndPolicy(ctx context.Context) error {
	sc := l.expectedPlan()
	was, spared := l.policyRead.sparedPolicy(ctx, sc.conversation)
	g, beside := newGroup(ctx)
	l.pullSpared = l.mem.pull.isSpared(sc, l.since)
	if !l.pullSpared {
		g.Go(func() error { return l.readPull(beside) })
	}
	if !spared {
		g.Go(func() error { return l.policyRead.readPolicy(beside) })
	}
	if l.f.client.Personal() {
		g.Go(func() error { return l.f.readIdentity(beside, &l.snap.Ours) })
	}
	if sc.head != "" {
		l.readParts(beside, g, sc, true)
	}
	if sc.judged {
		l.before.readLeft(beside, g, sc.left)
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if !l.f.client.Personal() { // the first answer of an App's brings its slug
		l.snap.Ours = quorum.Account{Login: l.f.app.KnownSlug() + "[bot]", Bot: true}
	}
	l.before.left.shared = l.head.leftShared
	g, beside = newGroup(ctx)
	if l.pullSpared {
		g.Go(func() error { return takePull(beside, l) })
	}
	switch {
	case spared && l.head.blob == was.file.SHA:
		l.policyRead.file, l.policyRead.policy = was.file, was.policy
	case spared:
		g.Go(func() error { return l.policyRead.readPolicy(beside) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if l.policyRead.vanished {
		if l.head.blob != "" {
			return moved{"its policy was not found, but is there"}
		}
		if err := l.policyRead.readPolicy(ctx); err != nil { // the pull request was found: GitHub does not answer 404 to everything
			return err
		}
	}
	l.snap.File, l.policy = l.policyRead.file, l.policyRead.policy
	if src, blob := l.policyRead.src, l.head.blob; src != nil && (blob != "" || l.head.has(partConversation)) { // both have named it
		l.f.policies.noteNamed(l.read.pr, l.snap.File.SHA, blob == blobID(src) && blob == l.snap.File.SHA)
	}
	l.snap.NoRecord = l.f.client.Personal()
	l.snap.Skew = l.f.client.Skew()
	l.headChanged, l.mem.before.checks = l.mem.changeHead(l.snap.PR.Head), headChecks{}
	l.dropStaleReads(sc)
	l.watched = l.policy.Reviewers
	return nil
}

// readHead reads what stands on the head and in the pull request, as far as that was not done.
func (l *look) readHead(ctx context.Context) error {
	g, beside := newGroup(ctx)
	l.readParts(beside, g, l.actualPlan(), false)
	if l.headChanged && l.mayInherit() {
		l.before.readLeft(beside, g, l.mem.previousHead)
	}
	if err := g.Wait(); err != nil || !l.willJudge() {
		return err
	}
	return l.head.readMissingRuns(ctx, l.read, l.snap.PR.Head)
}

// willJudge reports whether anything will be judged. Else all that is needed is whether a check of ours is open.
func (l *look) willJudge() bool {
	isOver := l.snap.PR.Closed && l.f.policy == nil && (l.snap.PR.Merged || !l.isSibling)
	return !isOver && policyJudges(l.snap.File, l.policy)
}

func policyJudges(file quorum.PolicyFile, p quorum.Policy) bool {
	return file.State == quorum.FileValid && p.Mode != quorum.Off
}

// threadsPause is how often threads are asked for while one of them can end an objection, and no event tells of any:
// each time takes two points of a job's thousand an hour.
const threadsPause = time.Minute

// conversationDue reports whether the conversation must be read again, whatever REST answers: at first, for other
// reviewers, when the clock is about to change the decision, now and then while a thread can end an objection, for REST
// does not show that, and for each event meanwhile, also if an answer to it lagged: there may be no other; and while
// the head has no check suite: our own check brings one, and clocks count from it.
func (l *look) conversationDue() bool {
	now := l.f.now().Add(l.snap.Skew)
	isFirstSearch := mayBeAlike(l) && !evidence.IsCompared(&l.snap) // it tells the sizes of other pull requests
	return isFirstSearch || !l.mem.conversationCurrent || l.mem.wordsKeptFor != l.watched.authorsDigest() || l.mem.queriedInParallel ||
		l.mem.threadsDecide && (l.since.came || now.Sub(l.mem.conversationAsked) >= threadsPause) ||
		!l.mem.wake.IsZero() && !now.Before(l.mem.wake) ||
		l.mem.conversation.arrived.IsZero() && !l.f.client.Personal()
}

// reconcileSources joins what lists, events, the record and the conversation say of the same things. It reads by its id
// what lists did not show, and the conversation if anything in it may be new and it was not read in parallel with the
// texts: the editor of a text must never be older than its words.
func (l *look) reconcileSources(ctx context.Context) error {
	l.sortChecks()
	l.takeRecord()
	if err := noteLostOrganisation(ctx, l); err != nil {
		return err
	}
	takeGate(&l.snap, l.head.gate)
	if l.actualPlan().statuses {
		if err := l.takeStatuses(); err != nil {
			return err
		}
	}
	if !l.willJudge() {
		if l.snap.PR.Closed {
			l.snap.Siblings = withFormerSiblings(l.snap)
		}
		return nil
	}
	if err := l.takeAgreeingConversation(ctx); err != nil {
		return err
	}
	l.mem.commentsFromQuery = l.head.fromQuery
	l.takeFiles()
	l.takeTexts()
	l.snap.Told = toldComments(l.head.comments, l.snap.Ours)
	l.takeSiblings()
	if l.snap.PR.Commits > 1 {
		l.takeBranchRuns()
	}
	l.runs = slices.Clone(l.head.runs)
	g, beside := newGroup(ctx)
	l.read.news.note(l.mem.takeReadElsewhere())
	serially := !l.conversationRead && (l.conversationDue() || l.read.news.any)
	beginReadingElsewhere(beside, g, l)
	if serially {
		sc := l.actualPlan()
		g.Go(func() error { return l.readConversation(beside, sc) })
	}
	if l.snap.File.Changed {
		g.Go(func() (err error) {
			l.snap.File.Proposed, err = l.policyRead.readProposedPolicy(beside, l.snap.File.Path, l.snap.PR.Head)
			return err
		})
	}
	missing := l.mem.unlistedRuns(l.snap.PR.Head, l.snap.Record.Runs, l.runs)
	found := l.read.beginReadingRuns(beside, g, missing)
	for _, ref := range l.missingTexts() {
		g.Go(func() error { return l.readText(beside, ref) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if len(l.unshownTexts()) > 0 {
		return moved{"a text of which an event told was not shown, or not as it told,"}
	}
	l.runs = appendRunsOf(l.snap.PR.Head, l.runs, found)
	if serially {
		more, err := l.head.readOtherRuns(ctx, l.read, &l.mem.conversation, l.runs)
		if err != nil {
			return err
		}
		l.runs = append(l.runs, more...)
	}
	l.mem.placeHints(l.snap.PR.Head, l.runs, found)
	l.mem.conversationCurrent = !slices.ContainsFunc(slices.Concat(l.snap.Comments, l.snap.Reviews), l.isBehind)
	switch {
	case serially:
		l.mem.queriedInParallel = false
		l.mem.readSerially = !l.isCovering(l.mem.conversation)
	case l.conversationRead:
		l.mem.queriedInParallel = l.read.news.any
	}
	return nil
}

// takeGate takes over what was read of the gate. A stack whose trunk does not matter is none.
func takeGate(s *quorum.Snapshot, gate gateRead) {
	s.Gated = s.File.State != quorum.FileMissing && gate.open
	if !s.Gated || !gate.onTrunk {
		s.PR.Stack = quorum.Stack{}
	}
}

// appendRunsOf appends those of found that are of the head.
func appendRunsOf(head string, runs []restRun, found []*restRun) []restRun {
	for _, r := range found {
		if r != nil && r.Head == head {
			runs = append(runs, *r)
		}
	}
	return runs
}

// readMissing puts the snapshot together and reads the logs, commits and permissions that it then lacks.
func (l *look) readMissing(ctx context.Context) error {
	if !l.willJudge() {
		return nil
	}
	if err := l.requireAgreement(); err != nil {
		return err
	}
	l.snap.PR.Closed, l.snap.PR.Merged = false, false // a sibling's, or supposed: no other one that is closed comes here
	if err := l.readRunsOfLostHeads(ctx); err != nil {
		return err
	}
	heads, checks, statuses := evidence.LeftHeads(l.policy, l.snap)
	var err error
	if l.snap.Left, err = l.before.readLeftHeads(ctx, heads, checks, statuses); err != nil {
		return err
	}
	showJobsOfLeftHeads(&l.snap, l.mem.logs)
	if err := l.inheritFromBefore(ctx); err != nil {
		return err
	}
	if err := noteLostOrganisation(ctx, l); err != nil || !l.willJudge() {
		return err
	}
	if err := l.readWhatTellsLane(ctx); err != nil {
		return err
	}
	wants, err := l.readWhatTellsWants(ctx, change.PolicyFor(l.policy, l.snap))
	if err != nil {
		return err
	}
	g, ctx := newGroup(ctx)
	jobs := readEach(g, wants.Logs, func(id int64) (quorum.Job, error) {
		cancelled := slices.ContainsFunc(l.snap.Checks, func(c quorum.CheckRun) bool { return c.ID == id && c.Conclusion == "cancelled" })
		return l.read.readJobLog(ctx, id, cancelled)
	})
	commits := readEach(g, wants.Commits, func(id string) (quorum.Commit, error) { return l.read.readCommit(ctx, id) })
	may := readEach(g, wants.People, func(login string) (quorum.Permission, error) { return l.read.readPermission(ctx, login) })
	members := readEach(g, wants.Teams, func(n quorum.TeamName) (quorum.Team, error) { return readMembership(ctx, l.read, n) })
	blobs := readEach(g, wants.Blobs, func(file quorum.BranchFile) (string, error) { return l.read.readBlobSHA(ctx, file) })
	pr, tree := l.snap.PR, l.snap.PR.Diff.Tree
	if wants.Tree {
		g.Go(func() (err error) {
			tree, err = l.read.readTreePrint(ctx, pr, l.head.files)
			return err
		})
	}
	l.mem.hands.readWanted(ctx, g, l.read, &l.snap, wants)
	var below quorum.Below
	g.Go(func() (err error) {
		below, err = layersReader{l.read, l.f.app, l.snap.Ours, cmp.Or(l.policy.Check, quorum.DefaultCheck)}.readBelow(ctx, &pr)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	l.snap.PR.Diff.Tree, l.snap.Below = tree, below
	for i, id := range wants.Logs {
		l.mem.logs = withEntry(l.mem.logs, id, jobs[i])
	}
	for i, id := range wants.Commits {
		l.mem.commits = withEntry(l.mem.commits, id, commits[i])
	}
	l.snap.Blobs = map[quorum.BranchFile]string{}
	for i, file := range wants.Blobs {
		l.snap.Blobs[file] = blobs[i]
	}
	l.snap.Resolved = l.mem.commits
	l.snap.Permissions = map[string]quorum.Permission{}
	for i, login := range wants.People {
		l.snap.Permissions[strings.ToLower(login)] = may[i]
	}
	l.snap.Teams = quorum.Teams{}
	for i, name := range wants.Teams {
		l.snap.Teams.Note(name.Team, members[i])
	}
	l.mem.hands.showIn(&l.snap, wants)
	attachLogs(l.snap.Runs, l.mem.logs)
	attachLogs(l.snap.Others, l.mem.logs)
	l.inherit() // the tree tells which approvals of the head before it takes over
	return nil
}

// noteLostOrganisation makes the policy a broken one where a check's record knew a policy of the organisation that is
// not shown any more: a restart must not loosen what is enforced. The check's name may be enforced, too: our checks,
// here or on the head before, tell it.
func noteLostOrganisation(ctx context.Context, l *look) error {
	switch {
	case l.snap.File.Org.Broken:
	case l.snap.Record.Org == "" || l.snap.File.Org.SHA != "" || l.snap.File.State == quorum.FileBroken:
		return nil
	default:
		if isLost, err := noteLostFile(ctx, l); err != nil || !isLost {
			return err
		}
	}
	was := l.policy.Check
	l.policy = quorum.Policy{Check: cmp.Or(plainNameOf(slices.Concat(l.own, l.mem.before.checks.checks)), was, quorum.DefaultCheck)}
	if l.head.has(partGated) && l.policy.Check == was { // else that is of a check of another name
		return nil
	}
	var err error
	l.head.gate, err = readGate(ctx, l.read, l.actualPlan(), l.policy.Check, l.f.app.id()) // nothing was asked, as there was no policy
	l.head.add(partGated)
	return err
}

// noteLostFile notes a lost policy of the organisation in the snapshot, and reports whether it is lost.
func noteLostFile(ctx context.Context, l *look) (bool, error) {
	at := l.read
	at.pr = l.f.organisations.repositoryOf(l.read.pr.Owner)
	isLost, err := isLostFile(ctx, at)
	if errors.Is(err, client.ErrTransport) {
		l.f.organisations.forgetAll() // what was read may be what lagged
	}
	if err != nil || !isLost {
		return false, err
	}
	name := at.pr.Owner + "/" + at.pr.Repo
	l.snap.File.State, l.snap.File.Problem = quorum.FileBroken, lostOrganisation(name)
	l.snap.File.Org = quorum.OrganisationFile{Repo: name, SHA: l.snap.Record.Org, Broken: true}
	return true, nil
}

// plainNameOf returns the name of our checks, whatever base they are against; "" without one.
func plainNameOf(own []ownCheck) string {
	if len(own) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(own[0].Name, " (→ ")
	return name
}

// mayInherit reports whether what the head before left may be needed. Of a draft, too: the next head has it from there.
// A personal token's status holds no record.
func (l *look) mayInherit() bool {
	return l.willJudge() && !l.snap.NoRecord
}

// inheritFromBefore takes over what the head before left, unless the head's own record has done so.
func (l *look) inheritFromBefore(ctx context.Context) error {
	switch _, left := evidence.HeadsBefore(l.snap); {
	case evidence.HasInherited(l.snap, left):
		l.mem.before = headBefore{checks: l.mem.before.checks}
	case l.mayInherit():
		if err := l.before.readRecord(ctx, &l.snap, l.mem.previousHead, l.mem.conversation); err != nil {
			return err
		}
	}
	if mayBeAlike(l) {
		if err := readAlike(ctx, l, l.head.others, true); err != nil {
			return err
		}
	}
	if evidence.MayBeSameBase(l.snap) {
		if err := readGuards(ctx, l.read, l.policy, &l.snap, l.snap.Record.Base); err != nil {
			return err
		}
	}
	l.inherit()
	return nil
}

// inherit makes the head's record of what it held and of what the head before left.
func (l *look) inherit() {
	l.snap.Record = evidence.Inherit(l.policy, l.snap)
}

// readWhatTellsLane reads what tells which lanes hold: who made the change and, where one that asks less may hold, what
// guarded names link to.
func (l *look) readWhatTellsLane(ctx context.Context) error {
	for range 2 { // links are worth a request only if those who made it are the ones
		wants := evidence.Missing(l.policy, l.snap)
		if !wants.Lane {
			return nil
		}
		g, beside := newGroup(ctx)
		l.mem.hands.readWanted(beside, g, l.read, &l.snap, wants)
		if wants.Links {
			g.Go(func() (err error) {
				l.snap.Links, err = l.read.readGuardedLinks(beside, &l.f.links, l.policy, &l.snap.PR, l.mem.conversation.tip)
				l.snap.NoLinks = l.snap.Links == nil
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		l.mem.hands.showIn(&l.snap, wants)
	}
	return nil
}

// readWhatTellsWants reads the artifacts, the attempts that failed unseen and the pull requests of the branch: what
// else is wanted shows by them.
func (l *look) readWhatTellsWants(ctx context.Context, p quorum.Policy) (wants quorum.Wants, err error) {
	wants = evidence.Missing(p, l.snap)
	if len(wants.Uploads) > 0 {
		r := uploadReader{l.read, l.mem.uploads, slices.Concat(l.snap.Runs, l.snap.Others), l.f.now().Add(l.snap.Skew - quorum.ReplicaLag)}
		if l.snap.Uploads, l.mem.uploads, err = r.readAll(ctx, wants.Uploads); err != nil {
			return quorum.Wants{}, err
		}
		wants = evidence.Missing(p, l.snap)
	}
	if len(wants.Attempts) > 0 {
		g, ctx := newGroup(ctx)
		attempts := readEach(g, wants.Attempts, func(n quorum.AttemptName) (quorum.Run, error) { return l.read.readAttempt(ctx, n) })
		if err := g.Wait(); err != nil {
			return quorum.Wants{}, err
		}
		l.snap.Attempts = attempts
		wants = evidence.Missing(p, l.snap)
	}
	if wants.SameBranch {
		if err := l.readSameBranch(ctx, wants.SameBranchRun); err != nil {
			return quorum.Wants{}, err
		}
		wants = evidence.Missing(p, l.snap)
	}
	return wants, nil
}

// minRetention is the least time for which GitHub keeps runs, checks and statuses, since 2026-10-01. Source: GitHub's
// changelog of 2026-07-17.
const minRetention = 24 * time.Hour

// readLostArrival finds out when a head arrived of which retention has taken the runs, the checks and our record: when
// it was pushed, or when the pull request was created, if that was later. Where GitHub does not tell it counts as new,
// which voids what was said before.
func readLostArrival(ctx context.Context, l *look) error {
	if kept := l.snap.Record.Arrived; !kept.IsZero() {
		l.snap.Arrived, l.snap.Expired = kept, true
		return nil
	}
	before := l.f.now().Add(l.snap.Skew - minRetention)
	if !l.mem.conversation.arrived.IsZero() || l.snap.PR.Created.After(before) || l.f.client.Personal() {
		return nil
	}
	pushes, err := l.read.readPushes(ctx, l.snap.PR.HeadRepo, l.snap.PR.HeadRef)
	if err != nil {
		return err
	}
	var pushed time.Time
	for _, e := range l.mem.conversation.timeline {
		if e.Kind == quorum.ForcePushed && e.To == l.snap.PR.Head {
			pushed = laterOf(pushed, e.At)
		}
	}
	if i := slices.IndexFunc(pushes, func(p quorum.Push) bool { return p.After == l.snap.PR.Head }); i >= 0 { // the newest first
		pushed = laterOf(pushed, pushes[i].At)
	}
	if !pushed.IsZero() && !pushed.After(before) {
		l.snap.Arrived, l.snap.Expired = laterOf(pushed, l.snap.PR.Created), true
	}
	return nil
}

// readRunsOfLostHeads joins the answers, and reads the runs of the branch where a force-push has left the commit of an
// earlier head in no list.
func (l *look) readRunsOfLostHeads(ctx context.Context) error {
	if err := readLostArrival(ctx, l); err != nil {
		return err
	}
	l.joinAnswers()
	if l.snap.PR.Commits > 1 || !slices.ContainsFunc(l.snap.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed }) {
		return nil
	}
	if !l.head.has(partBranchRuns) {
		if err := l.head.readBranchRuns(ctx, l.read, l.actualPlan()); err != nil {
			return err
		}
	}
	l.takeBranchRuns()
	return nil
}

// sortChecks tells our own checks from those of others.
func (l *look) sortChecks() {
	l.mem.ownChecks, l.mem.foreignCheckOnHead, l.mem.jobsCheckOnHead, l.own = nil, false, false, nil
	for _, c := range l.head.checks {
		check := c.toCheck()
		if !l.f.client.Personal() && isOwnCheck(l.f.app, l.read.pr, check.CheckRun) {
			if check.App != l.f.app.KnownSlug() { // it was renamed
				l.f.app.NoteSlug(check.App)
				l.snap.Ours.Login = check.App + "[bot]"
			}
			l.own = append(l.own, check)
			continue
		}
		l.snap.Checks = append(l.snap.Checks, check.CheckRun)
		if l.policy.Check != "" && check.Name == l.policy.Check {
			l.snap.Foreign = append(l.snap.Foreign, check.CheckRun)
			l.mem.foreignCheckOnHead = l.f.client.Personal()
			l.mem.jobsCheckOnHead = l.mem.jobsCheckOnHead || check.App == quorum.ActionsApp
		}
	}
	// Our own writes change this list too; only what others wrote is news.
	key := digestChecks(l.snap.Checks)
	l.read.news.note(l.mem.foreignChecks != key)
	l.mem.foreignChecks = key
	slices.SortStableFunc(l.own, newestCheckFirst)
	for _, o := range l.own {
		l.mem.ownChecks = append(l.mem.ownChecks, o.asWritten())
	}
}

// digestChecks stands for what check runs say.
func digestChecks(all []quorum.CheckRun) untrusted.Digest {
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

// takeStatuses takes over the commit statuses. Where GitHub does not show them to a job they are not known, and the
// check stands alone; but whoever is answered by a status, or writes one, must see them.
func (l *look) takeStatuses() error {
	if refused := l.head.unshown; refused != nil {
		if l.f.client.Personal() || hasStatusReviewer(l.policy) {
			return refused
		}
		l.mem.statuses = nil
		if l.f.writesAsJob() {
			l.f.warnOfUnshownStatuses(l.read.pr)
		}
		return nil
	}
	h := sha256.New()
	l.snap.Statuses = []quorum.Status{} // not nil: they were read
	for i := range l.head.statuses {
		st := l.head.statuses[i].toStatus()
		l.snap.Statuses = append(l.snap.Statuses, st)
		if !strings.EqualFold(st.Context, l.policy.Check) { // our own writes are no news
			fmt.Fprintf(h, "%d ", st.ID)
		}
	}
	key := untrusted.Digest(h.Sum(nil))
	l.read.news.note(l.mem.foreignStatuses != key)
	l.mem.foreignStatuses = key
	sortStatuses(l.snap.Statuses)
	l.mem.statuses = l.snap.Statuses
	return nil
}

func (l *look) takeFiles() {
	l.snap.PR.Files = make([]quorum.File, 0, len(l.head.files))
	for _, file := range l.head.files {
		l.snap.PR.Files = append(l.snap.PR.Files, quorum.File{
			Path: file.Filename, Previous: file.Previous,
			Deleted: file.Status == "removed", NoText: file.Additions+file.Deletions == 0,
		})
	}
	n := len(l.head.files)
	l.snap.PR.FilesMissing = l.snap.PR.FilesMissing || n >= maxFiles || n < l.mem.pull.changedFiles
	l.snap.PR.Diff = quorum.DiffPrint{
		Lines: linesPrint(l.head.files, l.mem.pull.changedFiles), Files: filesPrint(l.head.files, l.mem.pull.changedFiles),
	}
	if rec := &l.snap.Record; rec.Head == l.snap.PR.Head && rec.Base == l.snap.PR.BaseRef && rec.Diff == l.snap.PR.Diff.Lines {
		l.snap.PR.Diff.Tree = rec.Tree
	}
	l.snap.File.Changed = slices.ContainsFunc(
		l.snap.PR.Files,
		func(file quorum.File) bool { return file.Path == l.snap.File.Path || file.Previous == l.snap.File.Path },
	)
}

func (l *look) takeBranchRuns() {
	for _, r := range l.head.branchRuns {
		if r.Head != l.snap.PR.Head &&
			(r.HeadRepo == nil && l.snap.PR.HeadRepo == "" ||
				r.HeadRepo != nil && strings.EqualFold(r.HeadRepo.FullName, l.snap.PR.HeadRepo)) {
			l.snap.Others = append(l.snap.Others, r.toRun())
		}
	}
}

// takeSiblings lists the other pull requests with this head, as the conversation or REST shows them.
func (l *look) takeSiblings() {
	all := l.head.conversation.siblingsOf(l.read.pr)
	if !l.siblingsKnown {
		all = siblingsAmong(l.head.siblings, l.snap.PR)
	}
	l.snap.SameHead = all
	var numbers []int
	for _, p := range all {
		if !p.Closed {
			l.snap.Siblings = append(l.snap.Siblings, p)
			numbers = append(numbers, p.Number)
		}
	}
	l.read.news.note(!slices.Equal(l.mem.siblings, numbers))
	l.mem.siblings = numbers
}

func (l *look) readPull(ctx context.Context) error {
	var p restPull
	path := l.read.pullPath("pulls")
	for try := 1; ; try++ {
		answer, err := l.f.client.Get(ctx, path, &p)
		if client.IsNotFound(err) && try < maxLookups { // just after the event a replica may not know it
			if err := pause(ctx, replicaPause); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			l.gone = client.IsNotFound(err)
			return err
		}
		l.read.news.note(answer.Changed)
		break
	}
	if p.Number == 0 || len(p.Head.SHA) < 40 || p.Base.Repo.DefaultBranch == "" {
		return fmt.Errorf("read %s: the answer is no pull request: %w", path, client.ErrTransport)
	}
	l.mem.pull = knownPull{
		PullRequest: p.toPull(l.read.pr), changedFiles: p.ChangedFiles, lines: p.Additions + p.Deletions, label: p.Head.Label,
		differs: l.mem.pull.differs && l.mem.pull.Head == p.Head.SHA,
	}
	l.snap.PR = l.mem.pull.PullRequest
	l.snap.PR.FilesMissing = p.ChangedFiles > maxFiles
	return nil
}

// takePull takes the pull request as it is known, if the conversation shows it so, and reads it else.
func takePull(ctx context.Context, l *look) error {
	was := l.mem.pull
	if l.head.has(partConversation) && l.head.pull == was.facts() {
		l.snap.PR = was.PullRequest
		l.snap.PR.FilesMissing = was.changedFiles > maxFiles
		return nil
	}
	l.pullSpared = false
	err := l.readPull(ctx)
	l.mem.pull.differs = l.head.has(partConversation) && l.mem.pull.facts() == was.facts()
	return err
}

func (l *look) readConversation(ctx context.Context, sc readPlan) error {
	c, err := l.read.readConversation(ctx, sc.head, sc.left, sc.check, l.policyRead.pathInConversation(), l.watched)
	if err == nil {
		l.takeConversation(c.conversation)
		l.head.others = c.others
	}
	return err
}

// readSameBranch reads the other pull requests of the head branch, as far back as one may have had this head; not again
// if they were read when that run was known.
func (l *look) readSameBranch(ctx context.Context, run int64) (err error) {
	l.snap.SameBranch = []quorum.PullRequest{} // not nil: it was asked for
	if l.mem.pull.label == "" {
		return nil
	}
	if run != 0 && run <= l.mem.sameBranchRun {
		l.snap.SameBranch = l.mem.sameBranch
		return nil
	}
	since := l.snap.PR.Created
	if l.snap.Arrived.Before(since) {
		since = l.snap.Arrived
	}
	l.snap.SameBranch, err = l.read.readBranchPulls(ctx, l.mem.pull.label, since)
	isWhole := slices.ContainsFunc(l.snap.SameBranch, func(p quorum.PullRequest) bool { return p.Number == l.snap.PR.Number })
	if err == nil && isWhole { // else the list may be late
		l.mem.sameBranch, l.mem.sameBranchRun = l.snap.SameBranch, run
		known := l.f.now().Add(l.snap.Skew - quorum.ReplicaLag)
		for i := range l.snap.Runs { // all that were known before the list may have been late
			if run := &l.snap.Runs[i]; run.Created.Before(known) {
				l.mem.sameBranchRun = max(l.mem.sameBranchRun, run.ID)
			}
		}
	}
	return err
}

func (l *look) takeConversation(c conversation) {
	l.mem.conversation, l.conversationRead = c, true
	l.mem.conversationAsked = l.f.now().Add(l.snap.Skew)
	l.mem.wordsKeptFor = l.watched.authorsDigest()
}

// takeRecord takes over the records in our own checks; of several of a pull request the one that was written last.
func (l *look) takeRecord() {
	for _, c := range l.own {
		if rec, found := report.ParseRecord(c.Text); found && rec.Head == l.snap.PR.Head {
			l.snap.Held = append(l.snap.Held, quorum.HeldRecords(c.Name, rec)...)
		}
	}
	l.snap.Record = quorum.RecordOf(&l.snap.PR, l.snap.Held)
}

// joinAnswers joins what the answers say of the same things.
func (l *look) joinAnswers() {
	c := l.mem.conversation
	l.snap.Threads, l.snap.Timeline, l.snap.Pushed = c.threads, c.timeline, c.pushed
	if c.siblingsKnown && c.head == l.snap.PR.Head { // REST lists none that was closed without a merge
		l.snap.SameHead = c.siblingsOf(l.read.pr)
	}
	if l.snap.Arrived.IsZero() {
		l.snap.Arrived = c.arrived
	}
	for _, k := range c.earlier {
		if k.hasSuites {
			l.snap.Earlier = append(l.snap.Earlier, k.sha)
		}
	}
	var away []string
	for _, e := range c.timeline {
		if e.Kind == quorum.ForcePushed && e.From != l.snap.PR.Head && !slices.Contains(l.snap.Earlier, e.From) && e.From != "" {
			away = append(away, e.From)
		}
	}
	l.snap.Earlier = append(away, l.snap.Earlier...) // the head before one that no force brought is a commit of the pull request
	if l.f.client.Personal() {
		for _, st := range l.snap.Statuses { // a status brings no suite
			if st.Creator.Same(l.snap.Ours) && (l.snap.Arrived.IsZero() || st.At.Before(l.snap.Arrived)) &&
				(st.Context == l.policy.Check || strings.HasPrefix(st.Context, l.policy.Check+" (")) {
				l.snap.Arrived = st.At
			}
		}
	}
	switch {
	case l.snap.Arrived.IsZero() && l.f.policy != nil && !l.snap.PR.ClosedAt.IsZero():
		l.snap.Arrived = l.snap.PR.Created
	case l.snap.Arrived.IsZero(): // it has come just now, as far as GitHub shows
		l.snap.Arrived = l.f.now().Add(l.snap.Skew)
	}
	for i, t := range l.snap.Comments {
		l.snap.Comments[i] = withEditor(t, l.digests[t.TextRef], c.commentEdits)
	}
	for i, t := range l.snap.Reviews {
		t = withEditor(t, l.digests[t.TextRef], c.reviewEdits)
		for _, th := range c.threads {
			if th.Review == t.ID {
				t.Threads++
			}
		}
		l.snap.Reviews[i] = t
	}
	byTime := func(a, b quorum.Text) int { return a.At.Compare(b.At) }
	slices.SortStableFunc(l.snap.Comments, byTime)
	slices.SortStableFunc(l.snap.Reviews, byTime)
	for _, r := range l.runs {
		if r.Head != l.snap.PR.Head {
			continue
		}
		run := r.toRun()
		run.Jobs, run.FailedJobs = jobsOf(run, l.snap.Checks)
		l.snap.Runs = append(l.snap.Runs, run)
	}
	if l.f.writesAsJob() {
		l.snap.PassedOverFor = passedOverFor(l.own, l.runs)
	}
	l.snap.Resolved = l.mem.commits
	l.snap.Presses = l.mem.pressesOn(l.snap.PR.Head)
	attachLogs(l.snap.Runs, l.mem.logs)
}

// passedOverFor returns the file of the workflow in whose suite GitHub has filed our check, if the merge gate passes
// over that suite: a newer run of the workflow and event exists, or its run was dispatched or scheduled. Source: the
// probes of rmartz/merge-safety 73 and b24ui 353, autumn 2026.
func passedOverFor(own []ownCheck, runs []restRun) string {
	if len(own) == 0 {
		return ""
	}
	at := slices.IndexFunc(runs, func(r restRun) bool { return r.Suite == own[0].Suite })
	if at < 0 {
		return ""
	}
	in := runs[at]
	isNewer := func(r restRun) bool {
		return r.ID > in.ID && r.Head == in.Head && r.Event == in.Event && workflowPath(r.Path) == workflowPath(in.Path)
	}
	if in.Event == "workflow_dispatch" || in.Event == "schedule" || slices.ContainsFunc(runs, isNewer) {
		return workflowPath(in.Path)
	}
	return ""
}

// jobsOf are the jobs of a run's newest attempt, and those of earlier ones that failed, found as check runs in the
// run's suite: a job's id is also its check run's. The jobs of earlier attempts stay in the list beside them, under the
// same names, and so do checks that are no jobs: those that somebody's job wrote.
func jobsOf(run quorum.Run, checks []quorum.CheckRun) (jobs, failedBefore []quorum.Job) {
	newest := map[string]int64{}
	for _, c := range checks {
		if c.Suite == run.Suite && c.Job {
			newest[c.Name] = max(newest[c.Name], c.ID)
		}
	}
	for _, c := range checks {
		if c.Suite != run.Suite || !c.Job {
			continue
		}
		job := quorum.Job{ID: c.ID, Conclusion: c.Conclusion, Started: c.Started, Completed: c.Completed}
		switch c.Status {
		case "queued", "waiting", "pending", "requested":
			job.Started = time.Time{} // GitHub shows the creation there until a runner takes it up
		}
		if newest[c.Name] == c.ID {
			jobs = append(jobs, job)
		}
		isOfBefore := newest[c.Name] != c.ID || run.Attempt > 1 && job.Completed.Before(run.Started) // the next may not show yet
		if isOfBefore && (job.Conclusion == "failure" || job.Conclusion == "timed_out") {
			failedBefore = append(failedBefore, job)
		}
	}
	for _, list := range [][]quorum.Job{jobs, failedBefore} {
		sort.SliceStable(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	}
	return jobs, failedBefore
}

// showJobsOfLeftHeads adds the jobs of runs of heads that were left, as far as their checks were read.
func showJobsOfLeftHeads(s *quorum.Snapshot, logs map[int64]quorum.Job) {
	for _, left := range s.Left {
		for i := range s.Others {
			if run := &s.Others[i]; run.Head == left.SHA {
				run.Jobs, run.FailedJobs = jobsOf(*run, left.Checks)
			}
		}
	}
	attachLogs(s.Others, logs)
}

// attachLogs puts the logs that were read into the jobs of runs.
func attachLogs(runs []quorum.Run, logs map[int64]quorum.Job) {
	for i := range runs {
		for _, jobs := range [][]quorum.Job{runs[i].Jobs, runs[i].FailedJobs} {
			for k := range jobs {
				if known, found := logs[jobs[k].ID]; found {
					jobs[k].Log, jobs[k].Annotations, jobs[k].Read = known.Log, known.Annotations, true
				}
			}
		}
	}
}

// readIdentity reads whom a personal token belongs to; once.
func (f *Forge) readIdentity(ctx context.Context, into *quorum.Account) error {
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
