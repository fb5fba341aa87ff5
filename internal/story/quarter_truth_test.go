package story_test

// The oracle of the quarter: what each reviewer really said of which head, and what people really did, told by whoever
// made it happen. It reads no text, no check and no ballot, and leans to neither side where DESIGN leaves room: an
// approval counts here if it may count, an objection only if it must.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A voiceKind is how a reviewer of the quarter leaves its verdict.
type voiceKind int

const (
	voiceText voiceKind = iota
	voiceArtifact
	voiceConclusion
	voiceApp
	voiceStatus
)

// A voice is a reviewer of the quarter.
type voice struct {
	name, family string
	kind         voiceKind
	heading      string
	author       string
}

func (v *voice) workflow() string { return ".github/workflows/" + v.name + ".yml" }

func (v *voice) hasRuns() bool { return v.kind <= voiceConclusion }

var voices = []voice{
	{"openai", "openai", voiceText, "## OpenAI Code Review", "github-actions[bot]"},
	{"gemini", "google", voiceText, "## Gemini Code Review", "github-actions[bot]"},
	{"deep", "openai", voiceArtifact, "", "github-actions[bot]"},
	{"scan", "", voiceConclusion, "", "github-actions[bot]"},
	{"sage", "", voiceApp, "", "sage[bot]"},
	{"sonar", "", voiceStatus, "", "sonarbot[bot]"},
}

// teamRules is a policy in the oracle's words.
type teamRules struct {
	name     string
	need     int  // of all six
	families bool // are counted
	required string
	carries  bool
	override bool // a maintainer may accept
	asJob    bool // each look is a new job's, with GITHUB_TOKEN
	queue    bool // merged by a merge queue
	breaker  bool // outages over many pull requests, and a breaker that opens soon
	fixes    bool // a workflow fixes what is objected to
}

var teamPolicies = []teamRules{
	{name: "four of six, the daemon", need: 4},
	{name: "two of six, a job", need: 2, asJob: true},
	{name: "three families, scan required, carried approvals", need: 3, families: true, required: "scan", carries: true},
	{name: "four of six, accepts, a job", need: 4, override: true, asJob: true},
}

const (
	teamTimeout  = 6 * time.Minute
	teamDeadline = 30 * time.Minute
	teamGrace    = 2 * time.Minute
	checkName    = "Review quorum"
	defaultBase  = "main"
)

// yaml is the policy as its file has it; a comment makes another blob of it.
func (r *teamRules) yaml(comment string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\nversion: 1\nquorum: %d\ntimeout: 6m\ndeadline: 30m\ngrace: 2m\n", comment, r.need)
	if r.families {
		b.WriteString("families: distinct\n")
	}
	if r.carries {
		b.WriteString("carry: same_diff\n")
	}
	if r.override {
		b.WriteString("override: maintain\n")
	}
	if r.fixes {
		fmt.Fprintf(&b, "fix: {workflow: %s, max_restarts: %d}\n", fixFile, maxTeamFixes)
	}
	if r.breaker {
		fmt.Fprintf(&b, "circuit_breaker: {failure_threshold: %d, reset_timeout: 10m}\n", outagesThatOpen)
	}
	b.WriteString("lanes:\n  - {name: database, if: {any_path: [\"migrations/**\"]}, people: 1}\n" +
		"  - {name: careful, if: {labels: [careful]}, quorum: all}\n" +
		"  - {name: docs, if: {all_paths: [\"docs/**\"]}, quorum: none, why: docs only}\n" +
		"reviewers:\n")
	for i := range voices {
		v := &voices[i]
		fmt.Fprintf(&b, "  - name: %s\n", v.name)
		if v.family != "" {
			fmt.Fprintf(&b, "    family: %s\n", v.family)
		}
		if v.name == r.required {
			b.WriteString("    required: true\n")
		}
		if v.hasRuns() {
			fmt.Fprintf(&b, "    workflow: %s\n", v.workflow())
		}
		switch v.kind {
		case voiceText:
			fmt.Fprintf(&b, "    heading: %q\n", v.heading)
		case voiceArtifact:
			b.WriteString("    verdict: {artifact: review-verdict}\n")
		case voiceConclusion:
			b.WriteString("    verdict: conclusion\n    failure_means: findings\n")
		case voiceApp:
			b.WriteString("    author: sage[bot]\n    request: {comment: \"@sage review\"}\n")
		case voiceStatus:
			b.WriteString("    status: sonarqube\n    author: sonarbot[bot]\n    verdict: conclusion\n    failure_means: findings\n")
		}
	}
	return b.String()
}

// A saidThing is a text, an upload, a review, a conclusion or a status of a reviewer, as it was meant.
type saidThing struct {
	voice   int
	head    string
	at      time.Time
	yes, no bool
	id      int64 // of the comment or review
	gone    bool  // deleted, dismissed, or edited by somebody else
	lapsed  bool  // its threads were resolved by one who may: the no is a yes
	attempt *attempt
}

// An attempt is one attempt of a run.
type attempt struct {
	pull       *teamPull
	voice      int
	run        int64
	number     int
	head       string
	created    time.Time // of the run
	begun      time.Time
	ended      time.Time
	conclusion string
	answer     string
	foreign    bool // started for another pull request
}

// An objection is a no that no later look may forget.
type objection struct {
	said     *saidThing
	lines    int
	base     string
	seen     bool // a look has seen it
	answered bool
	ended    bool // by a person who may
	attempt  *attempt
}

// personReview is a review by a person.
type personReview struct {
	by, state, head string
	gone            bool
	id              int64
	at              time.Time
}

// A teamPull is what is true of a pull request.
type teamPull struct {
	number                int
	author, branch, fork  string
	head, base            string
	draft, closed, merged bool
	heads                 []string
	lines                 map[string]int // which lines a head changes
	labels                []string
	path                  string              // of the file that it changes
	tooMany               bool                // GitHub does not list all of its files
	hands                 map[string][]string // of a head: who made its commits and pushed it
	opened, baseSince     time.Time
	clock                 time.Time // the deadline counts from here
	attempts              []*attempt
	said                  []*saidThing
	objections            []*objection
	people                []*personReview
	carried               map[int]bool // voices whose approval of the head before may stand
	mustJudge             map[int]bool // who objected to what was changed since
	deletedRuns           map[int]bool // voices that lost a run
	returned              bool         // to an older head
	moved                 bool         // a review of an older head shows on a newer one
	murky                 bool         // something happened of which DESIGN leaves open what it is worth
	team                  *teamWeek
	twin                  *teamPull // the pull request whose head it has

	lookAt   time.Time
	lookedAt time.Time
	looks    int
	patient  time.Time // faults are borne since
	checked  checkSeen
	history  []string
	names    int // of heads
	dice     *dice
	asks     map[string]int // by head and base
	reruns   map[string]int // ours, by voice and head
	byHand   map[string]int // people's
	calm     bool           // nothing happens to it but what the queue does
	forced   map[int]string // how reviewers answer the next time
	fixes    map[string]int // started, by diff and base
	fixCount int
	stubborn bool // three object, and each fix mends one thing
	noRecord bool // our check was deleted, and what only it knew
}

func (p *teamPull) note(format string, args ...any) {
	at := p.team.clock.Sub(p.opened)
	p.history = append(p.history, fmt.Sprintf("%-9s %s", at, fmt.Sprintf(format, args...)))
}

// runsOf are a voice's attempts on the head that count against the base, by the numbers of their runs.
func (p *teamPull) runsOf(place int, now time.Time) (all []*attempt) {
	for _, a := range p.attempts {
		visible := a.number == 1 || now.Sub(a.begun) > 3*time.Second
		if a.voice == place && a.head == p.head && !a.foreign && !a.created.Before(p.baseSince) && visible {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b *attempt) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.number, b.number)) })
	return all
}

// saidIn are the words that stand of an attempt. What a workflow writes names no run: a yes that was written while two
// of them ran may be either's.
func (p *teamPull) saidIn(a *attempt) (yes, no bool) {
	for _, s := range p.said {
		mayBeIts := s.voice == a.voice && s.head == a.head && voices[a.voice].kind == voiceText &&
			!s.at.Before(a.begun) && (a.ended.IsZero() || !s.at.After(a.ended.Add(time.Minute)))
		yes = yes || s.yes && !s.gone && (s.attempt == a || mayBeIts)
		no = no || s.no && s.attempt == a && !p.isEnded(s)
	}
	return yes, no
}

// isEnded reports whether a person who may has ended what was objected.
func (p *teamPull) isEnded(s *saidThing) bool {
	return slices.ContainsFunc(p.objections, func(o *objection) bool { return o.said == s && o.ended })
}

// isTalking reports whether the attempt may be the one that speaks: not one that was cancelled without a word.
func (p *teamPull) isTalking(a *attempt) bool {
	yes, no := p.saidIn(a)
	return yes || no || a.conclusion != "cancelled" && a.conclusion != "skipped" && a.conclusion != "action_required"
}

// isSpeaking reports whether the attempt may replace what others left: not one that left nothing by its end or deadline, nor one
// that failed and was run again, for what the next attempt left is what the run left.
func (p *teamPull) isSpeaking(a *attempt, now time.Time) bool {
	yes, no := p.saidIn(a)
	isRunAgain := slices.ContainsFunc(p.attempts, func(b *attempt) bool {
		isOver := !b.ended.IsZero() || !now.Before(b.begun.Add(teamTimeout)) // no deadline ends what a person began after it
		return b.run == a.run && b.number > a.number && isOver
	})
	leftNothing := p.isOver(a, now) && (a.ended.IsZero() || a.conclusion == "success" || a.conclusion == "neutral" || isRunAgain)
	return yes || no || p.isTalking(a) && !leftNothing
}

// mayApprove reports whether a reviewer's approval of this head and base may count now.
func (p *teamPull) mayApprove(place int, now time.Time) bool {
	return p.isCarried(place, now) || p.mayApproveBy(place, now, func(a *attempt) bool { return p.isSpeaking(a, now) })
}

// isCarried reports whether an approval of the head before may stand: no newer run has really run.
func (p *teamPull) isCarried(place int, now time.Time) bool {
	return p.carried[place] && (!voices[place].hasRuns() || !slices.ContainsFunc(p.runsOf(place, now), p.isTalking))
}

// mayApproveAsLeft reports whether its approval may count for the next head: what is under way may yet say nothing.
func (p *teamPull) mayApproveAsLeft(place int, now time.Time) bool {
	return p.mayApprove(place, now) || p.mayApproveBy(place, now, func(a *attempt) bool { return !a.ended.IsZero() && p.isTalking(a) })
}

// mayApproveBy reports whether the attempt that ended last of those that count approves, or the last word of who has no
// runs.
func (p *teamPull) mayApproveBy(place int, now time.Time, counts func(*attempt) bool) bool {
	v := &voices[place]
	if p.path == guardedFile && v.hasRuns() {
		return false
	}
	if !v.hasRuns() {
		return p.lastWordApproves(place)
	}
	all := p.runsOf(place, now)
	if p.deletedRuns[place] {
		return slices.ContainsFunc(all, func(a *attempt) bool { return p.attemptApproves(a, now) })
	}
	slices.SortStableFunc(all, func(a, b *attempt) int {
		if a.ended.IsZero() || b.ended.IsZero() {
			return b.ended.Compare(a.ended)
		}
		return a.ended.Compare(b.ended)
	})
	for _, a := range slices.Backward(all) {
		if counts(a) {
			return p.attemptApproves(a, now)
		}
	}
	return false
}

func (p *teamPull) attemptApproves(a *attempt, now time.Time) bool {
	yes, no := p.saidIn(a)
	return yes && !no && p.isOver(a, now)
}

// isOver reports whether an attempt has ended, or passed its deadline.
func (p *teamPull) isOver(a *attempt, now time.Time) bool {
	return !a.ended.IsZero() || !now.Before(a.begun.Add(teamTimeout)) || !now.Before(p.clock.Add(teamDeadline))
}

// lastWordApproves judges reviewers without runs: the newest word on this head since the base changed.
func (p *teamPull) lastWordApproves(place int) bool {
	all := p.said
	if p.twin != nil && voices[place].kind == voiceStatus {
		all = p.twin.said // it belongs to the commit
	}
	for _, s := range slices.Backward(all) {
		if s.voice != place || s.head != p.head || !s.at.After(p.baseSince) && !p.baseSince.Equal(p.opened) {
			continue
		}
		if s.no && !s.lapsed {
			continue // it is an objection, which stands or is answered
		}
		if (s.yes || s.lapsed) && !s.gone {
			return true
		}
	}
	return false
}

// standing are the objections to these lines and this base that were seen and that nothing answered.
func (p *teamPull) standing() (all []*objection) {
	for _, o := range p.objections {
		if o.seen && !o.answered && !o.ended && o.lines == p.lines[p.head] && o.base == p.base {
			all = append(all, o)
		}
	}
	return all
}

// hasUnanswered reports whether the reviewer has objected to something of the pull request and not answered it.
func (p *teamPull) hasUnanswered(place int) bool {
	return slices.ContainsFunc(p.objections, func(o *objection) bool { return o.said.voice == place && !o.answered })
}

// answer notes that a reviewer's yes may answer what it had objected.
func (p *teamPull) answer(place int, by *attempt) {
	for _, o := range p.objections {
		sameAttempt := by != nil && o.attempt == by
		if o.said.voice == place && o.lines == p.lines[p.head] && o.base == p.base && !sameAttempt {
			o.answered = true
		}
	}
	if p.mustJudge[place] {
		delete(p.mustJudge, place)
	}
}

// standIns are people who may fill what is missing, and those who are against it.
func (p *teamPull) standIns() (approving, against int) {
	last := map[string]*personReview{}
	for _, r := range p.people {
		if r.head == p.head && !r.gone && p.isEntitled(r.by) {
			last[r.by] = r
		}
	}
	for _, r := range last {
		switch r.state {
		case "APPROVED":
			approving++
		case "CHANGES_REQUESTED":
			against++
		}
	}
	return approving, against
}

// isEntitled reports whether a person may write and had no hand in the change.
func (p *teamPull) isEntitled(login string) bool {
	return slices.Contains(maintainers, login) && !p.hadHand(login)
}

// hadHand reports whether somebody opened the pull request, pushed its head, or made one of its commits.
func (p *teamPull) hadHand(login string) bool {
	return login == p.author || slices.Contains(p.hands[p.head], login)
}

// need is how many approvals it truly takes, and how many people beside them; zero approvals need no review.
func (p *teamPull) need() (approvals, people int) {
	need := p.team.rules.need
	voters := len(voices)
	if p.team.rules.families {
		voters = len(voices) - 1 // two are of one family
	}
	if strings.HasPrefix(p.path, "docs/") && !p.tooMany && p.base == defaultBase {
		need = 0
	}
	if strings.HasPrefix(p.path, "migrations/") || p.tooMany {
		people = 1
	}
	if slices.Contains(p.labels, "careful") {
		need = voters
	}
	return need, people
}

// whyNotPass says why the check must not pass now; "" if it may.
func (p *teamPull) whyNotPass(now time.Time) string {
	if p.draft {
		return "it is a draft"
	}
	if all := p.standing(); len(all) > 0 {
		o := all[0]
		return fmt.Sprintf("%s objected to it %s after it was opened, and nothing has answered that", voices[o.said.voice].name, o.said.at.Sub(p.opened))
	}
	need, people := p.need()
	var approving []string
	families := map[string]bool{}
	missing := ""
	for i := range voices {
		v := &voices[i]
		if !p.mayApprove(i, now) {
			if need > 0 && (v.name == p.team.rules.required || p.mustJudge[i]) {
				missing = v.name
			}
			continue
		}
		if p.team.rules.families && v.family != "" && families[v.family] {
			continue
		}
		families[v.family] = true
		approving = append(approving, v.name)
	}
	persons, against := p.standIns()
	if len(approving) < need || missing != "" {
		people++
	}
	if persons < people || people > 0 && against > 0 {
		return fmt.Sprintf("only %v approve it, of %d that are needed (missing: %q); %d people stand in of %d, %d are against it",
			approving, need, missing, persons, people, against)
	}
	return ""
}
