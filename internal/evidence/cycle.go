package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Actions is the account as which workflows write, and which all of them share.
const Actions = "github-actions[bot]"

// a cycle is what happens on one head against one base. Its moments come from GitHub's own times alone: our own check's
// started_at would show one too, but anyone may write it.
type cycle struct {
	arrival time.Time // the head's: unnamed texts from before it are void
	base    time.Time // the last change of the base: everything from before it is void; zero if it never changed
	start   time.Time // clocks count from here
	another bool      // the pull request had another head before
}

// listed is how many of a pull request's commits are looked at for traces of an earlier head. Of those before, and of a
// personal token's statuses, which bring no check suite, nothing is known: there the head counts as not the first.
const listed = 20

func cycleOf(s quorum.Snapshot) cycle {
	c := cycle{arrival: latest(s.PR.Created, s.Arrived), another: len(s.Earlier)+len(s.Others) > 0 || s.PR.Commits > listed || s.NoRecord && s.PR.Commits > 1}
	for _, e := range s.Timeline {
		switch e.Kind {
		case quorum.ForcePushed:
			c.another = true
			if e.To == s.PR.Head {
				c.arrival = latest(c.arrival, e.At)
			}
		case quorum.BaseChanged:
			c.base = latest(c.base, e.At)
		case quorum.Reopened, quorum.ReadyForReview:
			c.start = latest(c.start, e.At)
		case quorum.Closed, quorum.ConvertedDraft, quorum.ReviewRequested, quorum.ReviewDismissed:
		}
	}
	c.start = latest(c.start, latest(c.arrival, c.base))
	return c
}

// past reports whether t is from before the base. GitHub's times are whole seconds, and who changes the base also
// chooses the second: what is of that very second counts as before.
func (c cycle) past(t time.Time) bool { return !c.base.IsZero() && !t.After(c.base) }

// Facts are what [quorum.Decide] needs to know of s beside the ballots.
func Facts(p quorum.Policy, s quorum.Snapshot) quorum.Facts {
	c := cycleOf(s)
	f := quorum.Facts{PR: s.PR.PR, Head: s.PR.Head, Base: s.PR.BaseRef, File: s.File, Draft: s.PR.Draft, Closed: s.PR.Closed, Start: c.start}
	for _, o := range s.Siblings {
		f.Siblings = append(f.Siblings, o.Number)
	}
	slices.Sort(f.Siblings)
	f.StandIns, f.Against = people(p, s, c)
	if pass := s.Record.Pass; pass != nil && s.Record.Head == s.PR.Head && !c.past(pass.At) {
		f.Pass = pass
	}
	return f
}

// people finds who is entitled to stand in and approves this head, and who requests changes.
func people(p quorum.Policy, s quorum.Snapshot, c cycle) (in []quorum.StandIn, against []string) {
	if p.StandIn == 0 {
		return nil, nil
	}
	last := lastWords(s)
	for _, t := range last {
		may, known := s.Permissions[strings.ToLower(t.Author.Login)]
		if may < p.StandIn && (known || t.State != "CHANGES_REQUESTED") { // nobody knows what he may: his objection stands
			continue
		}
		switch {
		case t.State == "CHANGES_REQUESTED":
			against = append(against, t.Author.Login)
		case t.Commit != s.PR.Head || c.past(t.At) || !t.Edited.IsZero() && !same(t.Editor, t.Author):
		case len(s.Commits) == 0 || len(s.Commits) < s.PR.Commits || wrote(s, t.Author): // unknown authors exclude everybody
		default:
			in = append(in, quorum.StandIn{Login: t.Author.Login, Review: t.ID, At: t.At, URL: t.URL})
		}
	}
	slices.SortStableFunc(in, func(a, b quorum.StandIn) int { return a.At.Compare(b.At) })
	slices.Sort(against)
	return in, against
}

// lastWords are the newest deciding reviews of each person that could count for or against: approvals of the head, and
// requests for changes of any head, which GitHub keeps up across pushes.
func lastWords(s quorum.Snapshot) (out []quorum.Text) {
	seen := map[string]bool{}
	for _, t := range slices.Backward(s.Reviews) {
		who := strings.ToLower(t.Author.Login)
		if t.Author.Bot || who == "" || seen[who] {
			continue
		}
		switch t.State {
		case "APPROVED", "CHANGES_REQUESTED", "DISMISSED":
			seen[who] = true
		}
		if t.State == "CHANGES_REQUESTED" || t.State == "APPROVED" && t.Commit == s.PR.Head {
			out = append(out, t)
		}
	}
	return out
}

// wrote reports whether a had a hand in the change: opened it, made one of its commits, or pushed its head.
func wrote(s quorum.Snapshot, a quorum.Account) bool {
	if same(a, s.PR.Author) {
		return true
	}
	for _, c := range s.Commits {
		if slices.ContainsFunc(c.People, func(b quorum.Account) bool { return same(a, b) }) {
			return true
		}
	}
	for _, r := range slices.Concat(s.Runs, s.Others) { // who caused a run pushed the head, unless it was his review that caused it
		if same(a, r.Actor) && !strings.HasPrefix(r.Event, "pull_request_review") {
			return true
		}
	}
	for _, e := range s.Timeline {
		if e.Kind == quorum.ForcePushed && same(a, e.Actor) {
			return true
		}
	}
	return false
}

// same compares accounts by id where both are known, else by login.
func same(a, b quorum.Account) bool {
	if a.ID != 0 && b.ID != 0 {
		return a.ID == b.ID
	}
	return a.Login != "" && strings.EqualFold(a.Login, b.Login) && a.Bot == b.Bot
}

// guarded finds the changed path that makes r's evidence untrustworthy: the pull request would instruct its own reviewer.
func guarded(p quorum.Policy, r quorum.Reviewer, s quorum.Snapshot, event string) (path string, yes bool) {
	patterns := slices.Clone(r.Guard)
	if r.Author == Actions || r.Workflow != "" && !strings.HasPrefix(r.Workflow, "dynamic/") {
		for _, g := range p.Guard {
			// A pull_request_target run used the default branch's workflow file.
			if event == "pull_request_target" && g == ".github/workflows/**" {
				continue
			}
			patterns = append(patterns, g)
		}
	}
	if len(patterns) == 0 {
		return "", false
	}
	if s.PR.FilesMissing {
		return "", true
	}
	list, err := pathfilter.CompileAll(patterns)
	if err != nil { // unreachable: config has compiled them all
		return "", true
	}
	for _, f := range s.PR.Files {
		for _, name := range []string{f.Path, f.Previous} {
			if name != "" && list.Match(name) {
				return name, true
			}
		}
	}
	return "", false
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
