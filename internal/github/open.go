package github

// Lists the open pull requests of a repository that must be looked at. One page of GraphQL tells of a hundred of them,
// for seven points, what our check says, of which look it is, and when GitHub changed anything since. No other request
// is made for those that need no look.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

const openHead = `query($owner: String!, $name: String!, $first: Int!, $after: String%s) {
  repository(owner: $owner, name: $name) {
    defaultBranchRef { name }
    pullRequests(states: OPEN, first: $first, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title isDraft updatedAt headRefOid headRefName baseRefName isCrossRepository author { login }`

// openChecks asks for our check, whose record stands in its text, among the suites: there it is whatever else stands on
// the commit. Other suites are asked for as well, as the head's branch shows them: a run that has no job yet has no
// check run. For a personal token GitHub may refuse both, and its statuses hold no record.
const openChecks = `
        reviewThreads(first: 100) { totalCount nodes { isResolved isOutdated } }
        headRef { target { ... on Commit { oid checkSuites(first: 50) { pageInfo { hasNextPage } nodes { databaseId updatedAt } } } } }
        commits(last: 1) { nodes { commit {
          oid
          checkSuites(first: 2, filterBy: {checkName: $check}) { nodes {
            databaseId app { slug databaseId }
            checkRuns(first: 5, filterBy: {checkName: $check}) { nodes { name externalId status conclusion startedAt completedAt text } }
          } }`

// openRollup asks for all checks and statuses, ours against other bases among them. It takes the permission statuses:
// read.
const openRollup = `
          statusCheckRollup { contexts(first: 100) {
            pageInfo { hasNextPage }
            nodes {
              __typename
              ... on CheckRun {
                name externalId status conclusion startedAt completedAt text
                checkSuite { databaseId app { slug databaseId } }
              }
              ... on StatusContext { context state createdAt }
            }
          } }`

const openChecksTail = `
        } } }`

const openTail = `
      }
    }
  }
}`

// largestPage is what GitHub gives at most; a page that it cannot make in its ten seconds is asked for in smaller ones.
const (
	largestPage  = 100
	cheapestPage = 20
	smallestPage = 5
)

// maxTitle bounds what a stranger's title may take of a list.
const maxTitle = 200

// sweepLookMargin is how much older than our look a change may seem and yet have been invisible to it: clocks differ by
// up to two seconds before that is corrected, and GitHub's replicas lag.
const sweepLookMargin = 5 * time.Second

// Open is what a repository's open pull requests come to.
type Open struct {
	Count     int                  // open pull requests
	Due       []Due                // those that must be looked at, the most urgent first
	Heard     []quorum.HeardAnswer // reviewers' newest answers, as our checks tell
	File      quorum.PolicyFile
	Sweep     config.SweepKeys // how they are to be looked at
	Threshold int              // of faults in a row, after which GitHub is down
}

// Due is a pull request that must be looked at.
type Due struct {
	PR    quorum.PR
	Title string // hostile
	Why   Why
}

// Why says why a pull request must be looked at, in the order of urgency.
type Why uint8

const (
	Awake     Why = 1 + iota // the moment has come at which its decision changes by itself
	Unseen                   // it has no check of ours that can be read
	Changed                  // it, or a check on its head, changed after our look
	Settled                  // a thread was resolved, or opened again
	Outdated                 // the policy is another
	Undecided                // none of these, but nothing is decided yet
)

func (w Why) String() string {
	words := [...]string{
		"",
		"due",
		"without a check",
		"changed",
		"with threads resolved",
		"under an older policy",
		"undecided",
	}
	if int(w) < len(words) {
		return words[w]
	}
	return fmt.Sprintf("%%!%d", uint8(w))
}

// Open says which open pull requests of a repository must be looked at.
func (f *Forge) Open(ctx context.Context, owner, repo string) (Open, error) {
	return f.openFrom(ctx, owner, repo, largestPage)
}

// OpenOfFew is [Forge.Open] for a job that has other work: it begins with a page that costs one point, for most
// repositories have few open pull requests.
func (f *Forge) OpenOfFew(ctx context.Context, owner, repo string) (Open, error) {
	return f.openFrom(ctx, owner, repo, cheapestPage)
}

func (f *Forge) openFrom(ctx context.Context, owner, repo string, first int) (Open, error) {
	o := Open{}
	fail := func(err error) (Open, error) {
		return Open{}, fmt.Errorf("list open pull requests of %s/%s: %w", owner, repo, err)
	}
	in, read, err := f.inquire(ctx, owner, repo)
	if err != nil {
		return fail(err)
	}
	o.File = in.file
	o.Sweep, o.Threshold = config.ParseSweep(in.file.Path, read.src, read.org.policy)
	all, defaultBranch, err := f.listOpen(ctx, in, first)
	if err != nil {
		return fail(err)
	}
	if in.names, err = f.checkNames(ctx, in, all, defaultBranch); err != nil {
		return fail(err)
	}
	in.now = f.now().Add(f.client.Skew())
	o.Count = len(all)
	greenBranches := map[string]bool{}
	own := make([]ownCheckState, len(all))
	for i, p := range all {
		own[i] = in.ownCheckOf(p, p.tip())
		greenBranches[p.HeadName] = greenBranches[p.HeadName] || !p.Fork && own[i].isGreen()
	}
	for i, p := range all {
		tip, own := p.tip(), own[i]
		status := in.takeEqualStatus(&tip, cmp.Or(in.nameOf(p.Base, own.Decision.Trunk), in.policy.Check))
		o.Heard = append(o.Heard, in.answersOn(p, own)...)
		why := in.whyDue(p, tip, own, status)
		isOther := own.isOtherAbove(greenBranches[p.Base])
		if why == 0 && hasLeft(own.siblings, p.Head, all) || (why == 0 || why == Undecided) && isOther {
			why = Changed
		}
		if why != 0 {
			o.Due = append(
				o.Due,
				Due{
					PR:    quorum.PR{Owner: owner, Repo: repo, Number: p.Number},
					Title: untrusted.OneLine(p.Title, maxTitle),
					Why:   why,
				},
			)
		}
	}
	o.Heard = quorum.NewestAnswers(o.Heard)
	in.sortByUrgency(o.Due)
	if o.Sweep.Limit > 0 && len(o.Due) > o.Sweep.Limit {
		o.Due = in.interleave(o.Due)
	}
	return o, nil
}

// hasLeft reports whether one of the pull requests that share a check has that head no more.
func hasLeft(siblings []int, head string, open []graphOpen) bool {
	return slices.ContainsFunc(siblings, func(n int) bool {
		return !slices.ContainsFunc(open, func(p graphOpen) bool { return p.Number == n && p.Head == head })
	})
}

// inquiry is all that decides whether an open pull request must be looked at, apart from the pull request itself.
type inquiry struct {
	owner, repo string
	app         string // slug
	appID       int64  // 0: not known
	personal    bool
	file        quorum.PolicyFile
	policy      quorum.Policy
	names       map[string]string // of our check, by base, as far as they are known
	now         time.Time         // by GitHub's clock
}

// inquire begins an inquiry, with the policy as a look reads it.
func (f *Forge) inquire(ctx context.Context, owner, repo string) (in inquiry, l *policyReader, err error) {
	l = f.policyOf(owner, repo)
	if err := l.readPolicy(ctx); err != nil {
		return inquiry{}, nil, err
	}
	return inquiry{
		owner: owner, repo: repo, app: f.app.KnownSlug(), appID: f.app.id(), personal: f.client.Personal(),
		file: l.file, policy: l.policy,
	}, l, nil
}

// checkName returns the name of our check against a base; "" where that is not known.
func (in inquiry) checkName(base string) string { return in.names[base] }

// nameOf returns the name of our check against a base; "" where it is not known. Of a layer of a stack, of whose trunk
// our check tells, it is the plain one.
func (in inquiry) nameOf(base, trunk string) string {
	if trunk != "" {
		return report.CheckName(in.policy, true, base)
	}
	return in.checkName(base)
}

// maxBasesRead is how many bases besides the default branch are asked what they require.
const maxBasesRead = 5

// checkNames returns the name of our check against the bases of open pull requests. It may have changed with what a
// branch requires, which changes no pull request.
func (f *Forge) checkNames(
	ctx context.Context,
	in inquiry,
	all []graphOpen,
	defaultBranch string,
) (map[string]string, error) {
	names := map[string]string{}
	if in.file.State != quorum.FileValid || in.personal || defaultBranch == "" {
		return names, nil
	}
	asked := 0
	for _, p := range all {
		if _, known := names[p.Base]; known || p.Base == "" {
			continue
		}
		if p.Base != defaultBranch {
			if asked++; asked > maxBasesRead {
				continue
			}
		}
		r := pullReader{client: f.client, pr: quorum.PR{Owner: in.owner, Repo: in.repo}}
		plan := readPlan{base: p.Base, defaultBranch: defaultBranch, named: change.NamingOf(in.policy, p.Base)}
		gated, err := r.readGated(ctx, plan, in.policy.Check, f.app.id())
		if err != nil {
			return nil, err
		}
		names[p.Base] = report.CheckName(in.policy, gated, p.Base)
	}
	return names, nil
}

// graphOpen is an open pull request as a page shows it.
type graphOpen struct {
	Number  int       `json:"number"`
	Title   string    `json:"title"`
	Draft   bool      `json:"isDraft"`
	Updated time.Time `json:"updatedAt"`
	Head    string    `json:"headRefOid"`

	HeadName string `json:"headRefName"`

	Base   string `json:"baseRefName"`
	Fork   bool   `json:"isCrossRepository"`
	Author struct {
		Login string `json:"login"`
	} `json:"author"`
	HeadRef *struct {
		Target struct {
			OID    string                     `json:"oid"`
			Suites graphConnection[openSuite] `json:"checkSuites"`
		} `json:"target"`
	} `json:"headRef"` // nil: the branch is gone, or not shown
	Threads struct {
		Total int `json:"totalCount"`
		Nodes []struct {
			Resolved bool `json:"isResolved"`
			Outdated bool `json:"isOutdated"`
		} `json:"nodes"`
	} `json:"reviewThreads"`
	Commits struct {
		Nodes []struct {
			Commit graphTip `json:"commit"`
		} `json:"nodes"`
	} `json:"commits"`
}

// graphTip is a head with the suites in which a check of our name stands, and all that the rollup shows.
type graphTip struct {
	OID    string                     `json:"oid"`
	Suites graphConnection[openSuite] `json:"checkSuites"`
	Rollup *struct {
		Contexts graphConnection[graphContext] `json:"contexts"`
	} `json:"statusCheckRollup"`
}

type openSuite struct {
	ID      int64                         `json:"databaseId"`
	Updated time.Time                     `json:"updatedAt"`
	App     graphApp                      `json:"app"`
	Checks  graphConnection[graphContext] `json:"checkRuns"`
}

type graphApp struct {
	Slug string `json:"slug"`
	ID   int64  `json:"databaseId"`
}

// openTip is what stands on the head of an open pull request, as far as a page shows it.
type openTip struct {
	contexts []graphContext
	suites   []openSuite // all, with their last change
	whole    bool        // there is no more
}

// tip returns what stands on p's head.
func (p graphOpen) tip() (tip openTip) {
	hasRollup := false
	if n := len(p.Commits.Nodes); n > 0 && p.Commits.Nodes[n-1].Commit.OID == p.Head {
		shown := p.Commits.Nodes[n-1].Commit
		if hasRollup = shown.Rollup != nil; hasRollup {
			tip.contexts, tip.whole = shown.Rollup.Contexts.Nodes, !shown.Rollup.Contexts.Page.HasNext
		}
		for _, s := range shown.Suites.Nodes {
			for _, c := range s.Checks.Nodes {
				c.Type, c.Suite.ID, c.Suite.App = "CheckRun", s.ID, s.App
				tip.contexts = append(tip.contexts, c)
			}
		}
	}
	switch {
	case p.HeadRef == nil: // a branch that is gone, or of a private fork: a run is seen once it has a job
	case p.HeadRef.Target.OID != p.Head:
		tip.whole = false
	default:
		suites := p.HeadRef.Target.Suites
		tip.suites, tip.whole = suites.Nodes, (tip.whole || !hasRollup) && !suites.Page.HasNext
	}
	return tip
}

// graphContext is a check run or a commit status.
type graphContext struct {
	Type       string    `json:"__typename"`
	Name       string    `json:"name"`
	ExternalID string    `json:"externalId"`
	Status     string    `json:"status"`
	Conclusion string    `json:"conclusion"`
	Started    time.Time `json:"startedAt"`
	Completed  time.Time `json:"completedAt"`
	Created    time.Time `json:"createdAt"`
	Text       string    `json:"text"`
	Context    string    `json:"context"`
	State      string    `json:"state"`
	Suite      struct {
		ID  int64    `json:"databaseId"`
		App graphApp `json:"app"`
	} `json:"checkSuite"`
}

// listOpen reads all open pull requests, each once.
func (f *Forge) listOpen(ctx context.Context, in inquiry, first int) (all []graphOpen, defaultBranch string, err error) {
	rollup := openRollup
	vars := map[string]any{
		"owner": in.owner,
		"name":  in.repo,
		"check": cmp.Or(in.policy.Check, quorum.DefaultCheck),
		"first": first,
	}
	seen := map[int]bool{}
	for range maxPages * largestPage / smallestPage {
		var answer struct {
			Repository *struct {
				Default struct {
					Name string `json:"name"`
				} `json:"defaultBranchRef"`
				Pulls graphConnection[graphOpen] `json:"pullRequests"`
			} `json:"repository"`
		}
		query := fmt.Sprintf(openHead, ", $check: String!") + openChecks + rollup + openChecksTail + openTail
		if in.personal {
			query = fmt.Sprintf(openHead, "") + openTail
			delete(vars, "check")
		}
		err := f.client.GraphQL(ctx, query, vars, &answer)
		size := vars["first"].(int)
		switch {
		case err != nil && size > smallestPage && (errors.Is(err, client.ErrTransport) || errors.Is(err, client.ErrTooLong)):
			vars["first"] = max(size/4, smallestPage)
			continue
		case client.IsForbidden(err) && rollup != "" && !in.personal:
			rollup = ""
			f.log.Warn(
				"GitHub does not show commit statuses to this token: a change of one is seen with the next change of the pull request; "+
					"the permission statuses: read helps",
				oplog.Repository(in.owner, in.repo),
			)
			continue
		case err != nil:
			return nil, "", err
		case answer.Repository == nil:
			return nil, "", errors.New("the repository is not there, or the token may not see it")
		}
		if size == first {
			vars["first"] = largestPage
		}
		pulls := answer.Repository.Pulls
		for _, p := range pulls.Nodes {
			if !seen[p.Number] && p.Number > 0 { // the list may move while it is read
				seen[p.Number] = true
				all = append(all, p)
			}
		}
		if !advanceCursor(vars, "after", pulls.Page) {
			return all, answer.Repository.Default.Name, nil
		}
	}
	return nil, "", errors.New("the list has no end")
}

// ownCheckState is our check as a page shows it.
type ownCheckState struct {
	report.ParsedCheck
	any       bool // there is one
	open      bool // one of them is not completed
	readable  bool
	cancelled bool           // the one that was written last
	shows     int            // the pull request of which it shows the decision; 0: not known
	siblings  []int          // the pull requests that share it, by their records; nil where it is one's alone
	misnamed  bool           // one under a name that none should have is open or green
	reads     report.Check   // its status and conclusion
	suites    map[int64]bool // in which our checks are
}

// ownCheckOf finds our check among what stands on p's head. Of several the one of the latest look speaks.
func (in inquiry) ownCheckOf(p graphOpen, tip openTip) (s ownCheckState) {
	s.suites = map[int64]bool{}
	id := report.ExternalID(quorum.PR{Owner: in.owner, Repo: in.repo, Number: p.Number})
	for _, c := range tip.contexts {
		shown, ok := report.ParseCheck(c.Text)
		ok = ok && shown.Record.Head == p.Head
		rec, isNamed := recordIn(shown.Record, p.Number)
		isNamed = isNamed && (rec.Pull != 0 || strings.EqualFold(c.ExternalID, id)) // an old record names no pull request
		if !in.isOwnCheck(c, id) || ok && !isNamed || !ok && !strings.EqualFold(c.ExternalID, id) {
			continue
		}
		want := in.nameOf(p.Base, shown.Decision.Trunk)
		s.misnamed = s.misnamed ||
			want != "" && c.Name != "" && c.Name != want && (c.Status != "COMPLETED" || c.Conclusion == "SUCCESS")
		s.any, s.suites[c.Suite.ID] = true, true
		s.open = s.open || c.Status != "COMPLETED"
		if ok && (!s.readable || shown.Record.Seen.At.After(s.Record.Seen.At)) {
			s.siblings, s.shows = siblingsIn(shown.Record), shown.Record.Pull
			rec.Seen = shown.Record.Seen
			shown.Record = rec
			s.ParsedCheck, s.readable, s.cancelled = shown, !shown.Record.Seen.At.IsZero(), c.Conclusion == "CANCELLED"
			s.reads = report.Check{Status: strings.ToLower(c.Status), Conclusion: strings.ToLower(c.Conclusion)}
		}
	}
	return s
}

// isGreen reports whether the check says that it has passed.
func (s ownCheckState) isGreen() bool {
	return s.readable && !s.open && !s.cancelled && s.Decision.Verdict == quorum.Passed
}

// isOtherAbove reports whether a check is a layer's that says otherwise than it must above a check that is green, or is not.
func (s ownCheckState) isOtherAbove(green bool) bool {
	return s.Decision.Trunk != "" && (s.isGreen() && !green || s.Decision.Reason == quorum.ReasonLayer && green)
}

// recordIn returns the record of a pull request among those of a check.
func recordIn(rec quorum.Record, number int) (quorum.Record, bool) {
	if rec.Pull == number || rec.Pull == 0 {
		return rec, true
	}
	i := slices.IndexFunc(rec.Siblings, func(x quorum.Record) bool { return x.Pull == number })
	if i < 0 {
		return quorum.Record{}, false
	}
	return rec.Siblings[i], true
}

// siblingsIn are the numbers of the pull requests that share a check; none where it is one's alone. Of one that has
// left the head the record holds objections and nothing else, not even by which policy it was judged.
func siblingsIn(rec quorum.Record) (numbers []int) {
	for _, x := range append([]quorum.Record{rec}, rec.Siblings...) {
		if x.Policy != "" {
			numbers = append(numbers, x.Pull)
		}
	}
	slices.Sort(numbers)
	if len(numbers) < 2 {
		return nil
	}
	return numbers
}

func (in inquiry) isOwnCheck(c graphContext, id string) bool {
	isOurs := c.Suite.App.Slug == in.app || in.appID != 0 && c.Suite.App.ID == in.appID
	return c.Type == "CheckRun" && isOurs && isOfOurs(strings.ToLower(c.ExternalID), strings.ToLower(id))
}

// whyDue says why p must be looked at, on whose head that stands, with our check and the state of the status beside it;
// 0 if nothing calls for it.
func (in inquiry) whyDue(p graphOpen, tip openTip, s ownCheckState, status string) Why {
	switch {
	case in.file.State == quorum.FileMissing, in.file.State == quorum.FileValid && in.policy.Mode == quorum.Off:
		if s.open || in.personal && in.file.State == quorum.FileValid { // it ends
			return Undecided
		}
		return 0
	case !s.readable || s.cancelled:
		return Unseen
	case s.misnamed, s.differsFrom(status):
		return Changed
	case s.open && !s.wakeReached(in.now) && in.isWaitingDraft(p, s):
		return 0
	case s.wakeReached(in.now):
		return Awake
	case s.changedSince(p, tip):
		return Changed
	case s.threadsChanged(p):
		return Settled
	case !in.underCurrentPolicy(s):
		return Outdated
	case s.open:
		return Undecided
	}
	return 0
}

// takeEqualStatus takes the status of that name that a job keeps beside its check out of what stands on a head, and
// returns its state; "" without one.
func (in inquiry) takeEqualStatus(tip *openTip, name string) (state string) {
	if in.app != quorum.ActionsApp || in.personal {
		return ""
	}
	tip.contexts = slices.DeleteFunc(tip.contexts, func(c graphContext) bool {
		isEqual := c.Type == "StatusContext" && strings.EqualFold(c.Context, name)
		if isEqual {
			state = strings.ToLower(c.State)
		}
		return isEqual
	})
	return state
}

// differsFrom reports whether the status that stands beside the check says another thing. GitHub's expected is its
// pending.
func (s ownCheckState) differsFrom(status string) bool {
	want := statusBeside(s.reads).state
	return status != "" && status != want && !(want == "" && status == statusSuccess) &&
		!(want == statusPending && status == "expected")
}

// wakeReached reports whether the decision's wake has come.
func (s ownCheckState) wakeReached(now time.Time) bool {
	return !s.Decision.Wake.IsZero() && !now.Before(s.Decision.Wake)
}

// underCurrentPolicy reports whether the check was decided by the policy that stands. A broken one leaves no trace in
// the record.
func (in inquiry) underCurrentPolicy(s ownCheckState) bool {
	if in.file.State == quorum.FileBroken || s.Decision.Reason == quorum.ReasonBroken {
		return in.file.State == quorum.FileBroken && s.Decision.Reason == quorum.ReasonBroken
	}
	return s.Record.Policy == in.file.SHA && s.Record.Org == in.file.Org.SHA
}

// isWaitingDraft reports whether p is a draft that waits as one: whatever happens to it, that stays so.
func (in inquiry) isWaitingDraft(p graphOpen, s ownCheckState) bool {
	return p.Draft && in.policy.DraftsWait && s.Decision.Reason == quorum.ReasonDraft && in.underCurrentPolicy(s)
}

// changedSince reports whether anything on GitHub is newer than our look. A check suite in which our own check stands
// changes whenever we write: there the other check runs tell.
func (s ownCheckState) changedSince(p graphOpen, tip openTip) bool {
	since := s.Record.Seen.At.Add(-sweepLookMargin)
	newer := func(t time.Time) bool { return !t.Before(since) }
	if newer(p.Updated) {
		return true
	}
	for _, suite := range tip.suites {
		if !s.suites[suite.ID] && newer(suite.Updated) {
			return true
		}
	}
	if !tip.whole { // of the rest the page does not tell
		return true
	}
	return slices.ContainsFunc(tip.contexts, func(c graphContext) bool {
		own := c.Type == "CheckRun" && s.suites[c.Suite.ID] && strings.HasPrefix(c.ExternalID, "review-coordinator ")
		return !own && (newer(c.Started) || newer(c.Completed) || newer(c.Created))
	})
}

// threadsChanged reports whether a thread may have ended an objection, or brought one back. GitHub says of neither
// when.
func (s ownCheckState) threadsChanged(p graphOpen) bool {
	if len(s.siblings) > 0 { // the marks are another pull request's, maybe
		return p.Threads.Total > 0 && (s.Decision.Verdict == quorum.Blocked || s.Decision.Verdict == quorum.Passed)
	}
	marks := s.Record.Seen.Threads
	for i, t := range p.Threads.Nodes {
		was, is := i < len(marks) && marks[i] == '1', t.Resolved || t.Outdated
		switch s.Decision.Verdict {
		case quorum.Blocked:
			if was != is {
				return true
			}
		case quorum.Passed:
			if was && !is {
				return true
			}
		case quorum.Waiting, quorum.Unverified, quorum.Ended:
		}
	}
	return (s.Decision.Verdict == quorum.Blocked || s.Decision.Verdict == quorum.Passed) &&
		p.Threads.Total > quorum.MaxSeenThreads // of the rest the page does not tell
}

// interleave is due where a limit cuts it off: one of each kind in turn, and of each kind others every time. Strangers
// can make any number of one kind, and those that cannot be evaluated stay what they are.
func (in inquiry) interleave(due []Due) []Due {
	var kinds [Undecided + 1][]Due
	for _, d := range due {
		kinds[d.Why] = append(kinds[d.Why], d)
	}
	for i, kind := range kinds {
		if n := uint64(len(kind)); n > 0 {
			from := uint64(in.now.Unix()/60) * 0x9E3779B97F4A7C15 >> 32 % n
			kinds[i] = slices.Concat(kind[from:], kind[:from])
		}
	}
	out := make([]Due, 0, len(due))
	for len(out) < len(due) {
		for i, kind := range kinds {
			if len(kind) > 0 {
				out, kinds[i] = append(out, kind[0]), kind[1:]
			}
		}
	}
	return out
}

// sortByUrgency puts the most urgent first. Where a limit cuts the list off, the rest of those that merely wait comes
// another time: each sweep begins at another of them.
func (in inquiry) sortByUrgency(due []Due) {
	sort.SliceStable(due, func(i, j int) bool {
		a, b := &due[i], &due[j]
		return a.Why < b.Why || a.Why == b.Why && a.PR.Number < b.PR.Number
	})
	first := slices.IndexFunc(due, func(d Due) bool { return d.Why == Undecided })
	if first < 0 {
		return
	}
	waiting := due[first:]
	from := int(in.now.Unix()/60) % len(waiting)
	copy(waiting, slices.Concat(waiting[from:], waiting[:from]))
}
