package config

// From the file to the policy: presets, defaults and words are resolved here, and what only shows when the whole file
// is seen is refused here. A check that needs a key which could not be read is left out, so that no mistake is told
// twice.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

var (
	workflowPattern = lazy.Regexp(`^(\.github/workflows/[^/\\]+\.ya?ml|dynamic/[A-Za-z0-9._/-]+)$`)
	reviewerName    = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	loginPattern    = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?$`)
	slugPattern     = lazy.Regexp(`^[a-z0-9][a-z0-9_-]{0,98}$`)
	eventPattern    = lazy.Regexp(`^[a-z][a-z_]{0,59}$`)
)

// ownByStandIn is the value of own_change by which people vouch for changes of their own.
const ownByStandIn = "stand_in"

// A policyResolver makes a policy of the keys that were read. Mistakes that only show then are noted at their keys.
type policyResolver struct{ *policyFileReader }

// resolvePolicy makes the policy of a file that was decoded. It may still note mistakes.
func (r policyResolver) resolvePolicy(f PolicyKeys) quorum.Policy {
	p := quorum.Policy{
		Check:      f.Check,
		Mode:       modes[f.Mode],
		Rules:      append([]quorum.NeedRule{quorum.NeedRule(f.Quorum)}, r.floor...),
		Floor:      r.floor,
		People:     f.People.asRules(),
		Families:   familyRules[f.Families],
		Grace:      time.Duration(f.Grace),
		Timeout:    time.Duration(f.Timeout),
		Deadline:   time.Duration(f.Deadline),
		EarlyStart: f.EarlyStart,
		DraftsWait: f.Drafts == "wait",
		StandIn:    permissions[f.StandIn],
		Override:   permissions[f.Override],
		OwnChange:  f.OwnChange == ownByStandIn,
		Threads:    threadEnders[f.Threads],
		Carry:      carries[f.Carry],
		Guard:      textsOf(f.Guard),
		Retry:      quorum.Retry{Max: f.Retry.Max, FastFail: time.Duration(f.Retry.FastFail), Backoff: time.Duration(f.Retry.Backoff)},

		Escalate: r.resolveEscalation(f),
		Comment:  commentWhens[f.Comment],
	}
	if f.Fix.Workflow != "" {
		p.Fix = quorum.FixPolicy{Workflow: f.Fix.Workflow, MaxRestarts: f.Fix.MaxRestarts}
	}
	if f.CircuitBreaker.Enabled {
		p.Breaker = quorum.Breaker{Threshold: f.CircuitBreaker.FailureThreshold, Reset: time.Duration(f.CircuitBreaker.ResetTimeout)}
	}
	r.checkTopLevel(f)
	for i, entry := range f.Reviewers {
		p.Reviewers = append(p.Reviewers, r.resolveReviewer(reviewerKey(i), entry, f))
	}
	r.checkNames("reviewer", namesOf(p.Reviewers), reviewerKey)
	r.checkIdentities(p.Reviewers)
	r.checkHeadings(p.Reviewers)
	r.checkTurns(p.Reviewers)
	r.checkPeople(p)
	r.checkFix(p)
	p.Need = r.resolveNeed(f.Quorum, p)
	p.Lanes = r.resolveLanes(f, p)
	return p
}

func reviewerKey(i int) string { return fmt.Sprintf("reviewers[%d]", i) }

// resolveEscalation makes the policy's escalation, and refuses names that nobody can have.
func (r policyResolver) resolveEscalation(f PolicyKeys) quorum.Escalation {
	e := quorum.Escalation{To: r.readInvitees("escalate.to", f.Escalate.To), Forks: f.Escalate.Forks}
	if len(e.To) > 0 {
		e.After = time.Duration(f.Escalate.After)
	}
	namesNobody := r.hasKey("escalate") && len(f.Escalate.To) == 0 && !r.anyBroken("escalate", "", ".to")
	r.failIf(namesNobody, "escalate", "escalate names nobody", `add to: ["@octocat"], or remove it`)
	return e
}

func (r policyResolver) checkTopLevel(f PolicyKeys) {
	r.failIf(strings.TrimSpace(f.Check) != f.Check, "check", "the name begins or ends with a space",
		"a rule that requires the check would not find it; remove the space")
	pause := f.Sweep.Backoff
	r.failIf(pause.Base > pause.Max && !r.anyBroken("sweep.backoff", ".base", ".max"), "sweep.backoff",
		fmt.Sprintf("base (%s) is longer than max (%s)", pause.Base, pause.Max), "swap the two")
	r.warnDurations(f)
	r.checkPatterns("guard", f.Guard)
	r.failIf(f.Fix.Workflow != "" && !workflowPattern().MatchString(f.Fix.Workflow), "fix.workflow",
		fmt.Sprintf("%s is not the path of a workflow file", quoteText(f.Fix.Workflow)),
		"write it as in .github/workflows/fix.yml")
}

// checkFix refuses a fix by the workflow of a reviewer: what approves must not be what changes.
func (r policyResolver) checkFix(p quorum.Policy) {
	isIt := func(o quorum.Reviewer) bool { return p.Fix.Workflow != "" && o.Workflow == p.Fix.Workflow }
	if i := slices.IndexFunc(p.Reviewers, isIt); i >= 0 {
		r.failKey("fix.workflow",
			fmt.Sprintf("%s is the workflow of the reviewer %s", quoteText(p.Fix.Workflow), quoteText(p.Reviewers[i].Name)),
			"give the fix a workflow of its own: a reviewer must not review what it wrote")
	}
}

// checkPatterns warns of a list that can never match.
func (r policyResolver) checkPatterns(key string, globs []Glob) {
	r.warnIf(key == "guard" && r.hasKey(key) && len(globs) == 0, key,
		"guard is empty: a pull request may change the workflows that review it", "leave it out for the default")
	r.warnIf(len(globs) > 0 && !slices.ContainsFunc(globs, func(g Glob) bool { return !strings.HasPrefix(string(g), "!") }), key,
		key+": a list of patterns that all begin with ! matches nothing", "begin with a pattern that matches something")
}

// resolveReviewer lays an entry over its preset.
func (r policyResolver) resolveReviewer(key string, e ReviewerKeys, f PolicyKeys) quorum.Reviewer {
	q := r.findPreset(key, e)
	overlayEntry(e, &q)
	q.Shadow = q.Shadow || r.hasKey(key+".vote") && !e.Vote
	q.Timeout = cmp.Or(q.Timeout, time.Duration(f.Timeout))
	if q.Workflow != "" && len(q.Events) == 0 {
		q.Events = quorum.DefaultEvents()
	}
	switch {
	case q.Author != "":
	case q.Workflow != "":
		q.Author = quorum.ActionsBot
	case q.Check != "" && q.App != "":
		q.Author = q.App + "[bot]"
	}
	if r.brokenKeys[key] {
		return q // it was no reviewer at all
	}
	r.checkSource(key, q)
	r.checkSpelling(key, e)
	r.checkContradictions(key, e, q)
	r.checkShapes(key, e, q)
	r.warnReviewer(key, q, f)
	return q
}

func (r policyResolver) findPreset(key string, e ReviewerKeys) quorum.Reviewer {
	q, isKnown := review.Preset(e.Preset)
	switch all := review.Presets(); {
	case isKnown:
		q.Preset, q.Name = e.Preset, cmp.Or(q.Name, e.Preset)
	case e.Preset != "":
		hint := "known presets: " + strings.Join(all, ", ")
		if like := presetsLike(strings.ToLower(e.Preset)); len(like) > 0 {
			hint = "did you mean " + strings.Join(like, " or ") + "?"
		}
		r.failKey(key+".preset", fmt.Sprintf("%s is not a preset", quoteText(e.Preset)), suggestWord(e.Preset, all, hint))
	}
	return q
}

// presetsLike returns the presets that begin like a word, as a vendor's or an action's name does, or read what is of that family.
func presetsLike(word string) []string {
	first, _, _ := strings.Cut(word, "-")
	family := cmp.Or(map[string]string{"gpt": "openai", "chatgpt": "openai"}[first], first)
	return slices.DeleteFunc(review.Presets(), func(name string) bool {
		q, _ := review.Preset(name)
		begins, _, _ := strings.Cut(name, "-")
		return begins != first && (family == "" || q.Family != family) || q.Retired
	})
}

// overlayEntry overrides what the entry says, key by key.
func overlayEntry(e ReviewerKeys, q *quorum.Reviewer) {
	if e.Workflow != "" || e.Check != "" || e.Status != "" {
		if e.Check == "" {
			q.App = ""
		}
		q.Workflow, q.Check, q.Status, q.Signal = e.Workflow, e.Check, e.Status, quorum.Signal{}
	}
	if e.Author != "" {
		q.Author, q.AuthorID = e.Author, 0
	}
	if e.Request.Comment != "" {
		q.Request.Comment, q.Request.Login = e.Request.Comment, ""
	}
	if e.Event != nil {
		q.Events = e.Event
	}
	if e.MinSeverity != "" { // any is zero
		q.MinSeverity = severities[e.MinSeverity]
	}
	q.Name = cmp.Or(e.Name, q.Name)
	q.App = cmp.Or(e.App, q.App)
	q.Heading = cmp.Or(e.Heading, q.Heading)
	if q.Verdict.Kind = cmp.Or(q.Verdict.Kind, quorum.Auto); e.Verdict.Kind != 0 {
		q.Verdict = e.Verdict.Format
	}
	q.Verdict.Covered = e.Coverage != ""
	q.FailureMeans = cmp.Or(review.FailureMeanings[e.FailureMeans], e.Verdict.failure, q.FailureMeans, quorum.MeansUnavailable)
	q.Timeout, q.OwnTimeout = cmp.Or(time.Duration(e.Timeout), q.Timeout), e.Timeout != 0
	q.Family = cmp.Or(strings.ToLower(strings.TrimSpace(e.Family)), q.Family)
	q.Required, q.Shadow, q.Request.AtStart = e.Required, e.Shadow, e.Request.AtStart // no preset says anything of these
	q.InsteadOf, q.After = e.InsteadOf, e.After
	q.When, q.Shapes = e.When.condition(), e.Shapes.quorumShapes()
}

// checkSource holds a reviewer to one place where its reviews come from.
func (r policyResolver) checkSource(key string, q quorum.Reviewer) {
	set, who := r.sourcesOf(key), reviewerPhrase(q)
	switch {
	case len(set) > 1:
		r.failKey(key+"."+set[1], who+" has more than one source: "+strings.Join(set, " and "),
			"keep one of workflow, check and status; make two reviewers of it if both count")
	case r.brokenKeys[key+".preset"]:
	case q.Preset != "" && review.NeedsWorkflow(q.Preset) && !r.hasKey(key+".workflow"):
		r.failKey(key, fmt.Sprintf("preset %s needs the workflow that runs it", q.Preset),
			"add workflow: .github/workflows/….yml")
	case q.Retired || q.Workflow != "" || len(set) > 0 && q.Check == "" && q.Status == "":
	case q.Check != "" && q.App == "" && !r.hasKey(key+".app"):
		r.failKey(key+".check", who+" names a check run without its app: anyone who can write checks could vote",
			"add app: with the App's slug, as in github.com/apps/SLUG")
	case q.Status != "" && q.Author == "" && !r.hasKey(key+".author"):
		r.failKey(key+".status", who+" names a status without its creator: anyone who can write statuses could vote",
			"add author: with the account that sets the status")
	case q.Check == "" && q.Status == "" && q.Author == "" && !r.hasKey(key+".author"):
		r.failKey(key, who+" has no source: nothing says where its reviews come from",
			"add workflow:, check: with app:, status: or author:, or use a preset:")
	}
}

// sourcesOf lists the sources that the entry at key names, be they wrong or misspelt.
func (r policyResolver) sourcesOf(key string) []string {
	isUnsaid := func(name string) bool { return !r.hasKey(key + "." + name) }
	return slices.DeleteFunc([]string{"workflow", "check", "status"}, isUnsaid)
}

// checkSpelling refuses names that do not have the form that GitHub gives them.
func (r policyResolver) checkSpelling(key string, e ReviewerKeys) {
	r.failIf(e.Workflow != "" && !workflowPattern().MatchString(e.Workflow), key+".workflow",
		fmt.Sprintf("%s is not the path of a workflow file", quoteText(e.Workflow)), workflowHint(e.Workflow))
	r.failIf(e.App != "" && !slugPattern().MatchString(e.App), key+".app",
		fmt.Sprintf("%s is not the slug of an App", quoteText(e.App)),
		"write it as in github.com/apps/SLUG: lower case, without [bot]")
	r.checkLogin(key+".author", e.Author)
	r.checkCondition(key+".when", e.When)
	for i, event := range e.Event {
		r.failIf(event != "" && !eventPattern().MatchString(event), fmt.Sprintf("%s.event[%d]", key, i),
			fmt.Sprintf("%s is not the name of an event", quoteText(event)),
			"write it as in a workflow's on:, e.g. pull_request")
	}
	r.failIf(e.Heading != "" && headingText(e.Heading) == "", key+".heading", "the heading has no text",
		`write the heading that its texts open with, as in "## Code Review"`)
}

func workflowHint(path string) string {
	file, ref, found := strings.Cut(path, "@")
	if _, rest, ok := strings.Cut(file, ".github/"); ok && (found && ref != "" || !strings.HasPrefix(file, ".github/")) {
		if fixed := ".github/" + rest; workflowPattern().MatchString(fixed) {
			return fmt.Sprintf("write %s, without repository and ref", cleanText(fixed, 80))
		}
	}
	if !strings.Contains(path, "/") && (strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")) {
		return "write .github/workflows/" + cleanText(path, 60)
	}
	return "write the file's path, as in .github/workflows/review.yml, or a dynamic/… path"
}

func (r policyResolver) checkLogin(key, account string) {
	hint := "write a login as in octocat, or an App's account as in name[bot]"
	switch slug, isApp := strings.CutPrefix(account, "app/"); {
	case isApp:
		hint = fmt.Sprintf("write %s[bot]", cleanText(slug, 40))
	case strings.HasPrefix(account, "@"):
		hint = "write it without the @"
	}
	r.failIf(account != "" && !loginPattern().MatchString(account), key, quoteText(account)+" is not a login", hint)
}

// checkContradictions refuses keys that contradict one another.
func (r policyResolver) checkContradictions(key string, e ReviewerKeys, q quorum.Reviewer) {
	who := reviewerPhrase(q)
	r.failIf(e.Required && q.Shadow, key+".required", who+" is a shadow and cannot be required",
		"remove required or shadow")
	r.failIf(e.Required && q.Retired, key+".required", who+" is retired and can approve nothing", "remove the reviewer")
	r.failIf(len(e.Event) > 0 && q.Workflow == "" && !r.hasKey(key+".workflow"), key+".event",
		"event belongs to a workflow, and "+who+" has none", "remove it, or add workflow:")
	r.failIf(e.App != "" && q.Check == "" && !r.hasKey(key+".check"), key+".app",
		"app belongs to a check, and "+who+" has none", "add check: with the name of its check run")
	r.failIf(e.FailureMeans != "" && q.Verdict.Kind != quorum.Conclusion && !r.brokenKeys[key+".verdict"], key+".failure_means",
		"failure_means needs verdict: conclusion: no other format reads a failure as a verdict", "add verdict: conclusion, or remove it")
	r.failIf(e.FailureMeans != "" && e.Verdict.failure != 0, key+".failure_means", "verdict says it", "remove it")
	r.failIf(q.Verdict.Covered && verdictNouns[q.Verdict.Kind] != "", key+".coverage", "no text is its verdict", "remove it")
	concludes := q.Workflow+q.Check+q.Status != "" || len(r.sourcesOf(key)) > 0
	r.failIf(q.Verdict.Kind == quorum.Conclusion && !concludes && !q.Retired, key+".verdict",
		"verdict: conclusion needs a workflow, a check or a status that has one", "add one of them, or choose another verdict")
	r.failIf(q.Verdict.Kind == quorum.Artifact && q.Workflow == "" && !r.hasKey(key+".workflow"), key+".verdict",
		"verdict: {artifact: …} needs a workflow: only a run has artifacts",
		"add workflow: with the path of the file that uploads it, or choose another verdict")
	r.failIf(q.Request.AtStart && !q.Request.Set() && !r.hasKey(key+".request.comment"), key+".request",
		"at_start without a comment: nothing says how "+who+" is asked", "add comment: with the words that start it")
}

// checkNames refuses names that read like what the check says, and two of one name: the record and the table know them by it.
func (r policyResolver) checkNames(what string, names []string, keyOf func(i int) string) {
	seen := map[string]int{}
	for i, name := range names {
		key := keyOf(i)
		first, isTaken := seen[strings.ToLower(name)]
		switch {
		case name == "" && !r.brokenKeys[key] && !r.hasKey(key+".name") && !r.brokenKeys[key+".preset"]:
			r.failKey(key, "a "+what+" without a name", "add name:")
			r.brokenKeys[key] = false // only its name is missing
		case name == "":
		case what == "reviewer" && !reviewerName().MatchString(name):
			r.failKey(key+".name", quoteText(name)+" is no name of a reviewer",
				"write letters, digits, and after the first of them also . _ and -, for names stand in titles and commands")
		case isTaken:
			at := r.firstSaid(key+".name", key+".preset", key)
			line := r.positionOfKey(keyOf(first)).line
			r.failKey(at, fmt.Sprintf("a second %s is called %s; the first is in line %d", what, quoteText(name), line),
				"give it another name")
		default:
			seen[strings.ToLower(name)] = i
		}
	}
}

// checkIdentities refuses two voters that are one: its word would count twice.
func (r policyResolver) checkIdentities(reviewers []quorum.Reviewer) {
	isKnown := func(i int) bool { return !r.brokenKeys[reviewerKey(i)+".preset"] && !r.verdictIsUnknown(i) }
	for i, q := range reviewers {
		for j, other := range reviewers[:i] {
			if isKnown(i) && isKnown(j) && areOne(other, q) {
				two := reviewerPhrase(other) + " and " + reviewerPhrase(q)
				r.failKey(reviewerKey(i), fmt.Sprintf("%s are one (%s): its word would count twice", two, identityOf(q)),
					"remove one of them, or make it a shadow")
				break
			}
		}
	}
}

// areOne reports whether two voters are one. The conclusion of a workflow's run is all that it says.
func areOne(a, b quorum.Reviewer) bool {
	isWhole := a.Verdict.Kind == quorum.Conclusion || b.Verdict.Kind == quorum.Conclusion
	return a.MayVote() && b.MayVote() &&
		(identityOf(a) != "" && identityOf(a) == identityOf(b) || a.Workflow != "" && a.Workflow == b.Workflow && isWhole)
}

// identityOf names who speaks where a reviewer is heard: a workflow by its file and what tells its verdict from others', a check or a
// status of Actions by its name, whatever else by its account. "" is nobody yet.
func identityOf(q quorum.Reviewer) string {
	isActions := strings.EqualFold(q.Author, quorum.ActionsBot)
	switch {
	case q.Workflow != "" && q.Verdict.Kind == quorum.Conclusion:
		return "workflow " + q.Workflow
	case q.Workflow != "" && q.Verdict.Kind == quorum.Artifact:
		return fmt.Sprintf("artifact %s of %s", q.Verdict.Artifact, q.Workflow)
	case q.Workflow != "":
		return fmt.Sprintf("heading %s of %s", quoteText(headingText(q.Heading)), q.Workflow)
	case isActions && q.Check != "":
		return "check " + quoteText(q.Check)
	case isActions && q.Status != "":
		return "status " + quoteText(strings.ToLower(q.Status)) // GitHub compares contexts without case
	case isActions || q.Author == "":
		return ""
	}
	return strings.ToLower(q.Author)
}

// verdictNouns name what holds the verdict of a reviewer whose texts are not read.
var verdictNouns = map[quorum.FormatKind]string{quorum.Conclusion: "conclusion", quorum.Artifact: "artifact"}

// checkHeadings demands a heading where others write as a reviewer's author, and that none begins another of that author.
func (r policyResolver) checkHeadings(reviewers []quorum.Reviewer) {
	readers := map[string]int{}
	for i, q := range reviewers {
		if readsTexts(q) && !r.brokenKeys[reviewerKey(i)+".preset"] {
			readers[strings.ToLower(q.Author)]++
		}
	}
	for i, q := range reviewers {
		key, author, who := reviewerKey(i), strings.ToLower(q.Author), reviewerPhrase(q)
		if !readsTexts(q) || r.anyBroken(key, ".author", ".preset") {
			continue
		}
		isOne := q.Workflow == "" && q.MayVote() // [policyResolver.checkIdentities] tells that
		isShared := author == quorum.ActionsBot || readers[author] > 1 && !isOne
		r.failIf(q.Heading == "" && isShared && !r.hasKey(key+".heading") && !r.verdictIsUnknown(i), key,
			fmt.Sprintf("%s needs a heading: others post as %s too, and nothing else tells its texts from theirs", who, q.Author),
			missingHeadingHint(q))
		j := slices.IndexFunc(reviewers[:i], func(other quorum.Reviewer) bool { return haveOneHeading(other, q) && !areOne(other, q) })
		if j >= 0 {
			r.failKey(r.firstSaid(key+".heading", key),
				fmt.Sprintf("the headings of %s (line %d) and %s begin alike: a text could be either's",
					reviewerPhrase(reviewers[j]), r.positionOfKey(reviewerKey(j)).line, who),
				"give each a heading that does not begin the other")
		}
	}
}

// haveOneHeading reports whether the heading of one of two reviewers of one author begins the other's.
func haveOneHeading(a, b quorum.Reviewer) bool {
	return readsTexts(a) && strings.EqualFold(a.Author, b.Author) && beginAlike(a.Heading, b.Heading)
}

// verdictIsUnknown reports whether the verdict, on which the need of a heading depends, could not be read.
func (r policyResolver) verdictIsUnknown(i int) bool {
	return r.anyBroken(reviewerKey(i), "", ".verdict", ".preset")
}

func readsTexts(q quorum.Reviewer) bool {
	return verdictNouns[q.Verdict.Kind] == "" && !q.Retired && q.Author != ""
}

// headingText returns a heading as it is compared: without its #, in lower case, with single spaces.
func headingText(heading string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.Trim(strings.TrimSpace(heading), "#")), " "))
}

// beginAlike reports whether one of two headings begins the other.
func beginAlike(a, b string) bool {
	if a == "" || b == "" {
		return false // there is none
	}
	a, b = headingText(a), headingText(b)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// checkPeople refuses people that are asked for and that nobody could be.
func (r policyResolver) checkPeople(p quorum.Policy) {
	r.failIf(len(p.People) > 0 && p.StandIn == 0 && !r.brokenKeys["stand_in"], "people",
		peoplePhrase(p.People)+" can never be had: stand_in: none lets nobody approve",
		"write stand_in: write, maintain or admin, or remove people")
}

func peoplePhrase(people quorum.People) string {
	if n := people.Least(); n > 1 {
		return fmt.Sprintf("approvals by %d people", n)
	}
	return "a person's approval"
}

// resolveNeed resolves the quorum against those who vote.
func (r policyResolver) resolveNeed(q Quorum, p quorum.Policy) int {
	if r.anyBroken("", "reviewers", "quorum", "families") || !r.votersAreKnown(p) {
		return 0
	}
	most := p.CountVoters(p.Reviewers)
	switch {
	case most == 0:
		r.failKey("reviewers", "nobody votes: every reviewer is a shadow or retired",
			"add a reviewer whose vote counts")
	case q.Count > most:
		r.failKey("quorum",
			fmt.Sprintf("a quorum of %d can never be reached: %s", q.Count, votersPhrase(p, p.Reviewers)),
			fmt.Sprintf("write %d or less, majority or all, or add a reviewer", most))
	case p.NeedOf(most) > most:
		r.failKey("quorum", fmt.Sprintf("a quorum of %d, which the organisation enforces, can never be reached: %s",
			p.NeedOf(most), votersPhrase(p, p.Reviewers)), "add a reviewer whose vote counts")
	}
	return p.NeedOf(most)
}

// votersAreKnown reports whether it could be read of every reviewer whether it votes, and for which family.
func (r policyResolver) votersAreKnown(p quorum.Policy) bool {
	for i := range p.Reviewers {
		if r.anyBroken(reviewerKey(i), "", ".shadow", ".preset", ".family") {
			return false
		}
	}
	return true
}

// votersPhrase says how many of the reviewers vote, and of how many families they are where that counts.
func votersPhrase(p quorum.Policy, reviewers []quorum.Reviewer) string {
	voters, distinct := quorum.Policy{Reviewers: reviewers}.Voters(), p.CountVoters(reviewers)
	phrase := fmt.Sprintf("%d reviewers vote", voters)
	if voters == 1 {
		phrase = "one reviewer votes"
	}
	switch {
	case distinct == voters:
		return phrase
	case distinct == 1:
		return phrase + ", and they are one family"
	}
	return fmt.Sprintf("%s, and they are %d families", phrase, distinct)
}

func namesOf(reviewers []quorum.Reviewer) (names []string) {
	for i := range reviewers {
		names = append(names, reviewers[i].Name)
	}
	return names
}

func reviewerPhrase(q quorum.Reviewer) string {
	if q.Name == "" {
		return "the reviewer"
	}
	return "reviewer " + quoteText(q.Name)
}

// textsOf returns a list as texts, nil if it is empty.
func textsOf[T ~string](list []T) (texts []string) {
	for _, text := range list {
		texts = append(texts, string(text))
	}
	return texts
}

// The core's values for the words of the file. A word that could not be read was replaced by nothing and has been reported: the
// zero values never leave this package.
var (
	modes        = map[string]quorum.Mode{"enforce": quorum.Enforce, "report": quorum.ReportOnly, "off": quorum.Off}
	permissions  = map[string]quorum.Permission{"write": quorum.Write, "maintain": quorum.Maintain, "admin": quorum.Admin} // none: 0
	threadEnders = map[string]quorum.ThreadsBy{"others": quorum.ByOthers, "anyone": quorum.ByAnyone}
	familyRules  = map[string]quorum.Families{"any": quorum.AnyFamily, "distinct": quorum.DistinctFamily}
	carries      = map[string]quorum.Carry{"none": quorum.CarryNone, "same_diff": quorum.CarrySameDiff}
	commentWhens = map[string]quorum.CommentWhen{"never": quorum.CommentNever, "on_problem": quorum.CommentOnProblem}
	severities   = map[string]quorum.Severity{
		"any": quorum.SeverityAny, "low": quorum.Low, "medium": quorum.Medium, "high": quorum.High, "critical": quorum.Critical,
	}
)
