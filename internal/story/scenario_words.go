package story

// The sentences of a timeline. Each verb stands once in the list of verbs, with the form in which help shows it; what a
// sentence does is a function of the world in which the story is played.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// token is a word of a sentence, or a text in quotes.
type token struct {
	text   string
	col    int // 1-based, in characters
	quoted bool
}

func (t token) width() int {
	n := utf8.RuneCountInString(t.text)
	if t.quoted {
		n += 2
	}
	return n
}

func splitTokens(line string) (all []token) {
	runes := []rune(line)
	for i := 0; i < len(runes); {
		switch {
		case runes[i] == ' ' || runes[i] == '\t':
			i++
		case runes[i] == '"':
			end := i + 1
			for end < len(runes) && (runes[end] != '"' || runes[end-1] == '\\') {
				end++
			}
			text := strings.ReplaceAll(string(runes[i+1:min(end, len(runes))]), `\"`, `"`)
			all = append(all, token{text: text, col: i + 1, quoted: true})
			i = end + 1
		default:
			end := i
			for end < len(runes) && runes[end] != ' ' && runes[end] != '\t' {
				end++
			}
			all = append(all, token{text: strings.TrimSuffix(string(runes[i:end]), ","), col: i + 1})
			i = end
		}
	}
	return all
}

// inlineComment is a comment on the diff, written below a review.
type inlineComment struct {
	text string
	line int
}

// sentenceParser reads one line of a timeline.
type sentenceParser struct {
	parser         *scenarioParser
	line           int
	tokens         []token
	pos            int
	subject        token
	body           []string
	inlineComments []inlineComment
	failed         bool
}

func (l *sentenceParser) fail(t token, message, hint string) {
	if !l.failed { // one mistake a line: the rest follows from it
		l.parser.addProblem(l.line, t.col, t.width(), message, hint)
	}
	l.failed = true
}

// peek returns the next word without taking it; behind the last one it is empty.
func (l *sentenceParser) peek() token {
	if l.pos < len(l.tokens) {
		return l.tokens[l.pos]
	}
	end := 1
	if n := len(l.tokens); n > 0 {
		end = l.tokens[n-1].col + l.tokens[n-1].width() + 1
	}
	return token{col: end}
}

func (l *sentenceParser) next(what string) token {
	t := l.peek()
	if l.pos >= len(l.tokens) {
		l.fail(t, what+" is missing", "")
	}
	l.pos++
	return t
}

// accept takes the next words if they are these.
func (l *sentenceParser) accept(words ...string) bool {
	for i, w := range words {
		if l.pos+i >= len(l.tokens) || l.tokens[l.pos+i].text != w || l.tokens[l.pos+i].quoted {
			return false
		}
	}
	l.pos += len(words)
	return true
}

// parseTime reads the time of a step: since the story's beginning, or with a plus since the line above.
func (l *sentenceParser) parseTime(last time.Duration) (time.Duration, bool) {
	t := l.next("the time")
	text, relative := strings.CutPrefix(t.text, "+")
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		l.fail(
			t,
			fmt.Sprintf("%q is not a time", t.text),
			"a line begins with the time since the story began, such as 0s, 1m30s, or with the time since the line above, such as +10s",
		)
	case d < 0:
		l.fail(t, "nothing happens before the story begins", "")
	case relative:
		d += last
	case d < last:
		l.fail(t, fmt.Sprintf("%s comes after %s", t.text, formatDuration(last)), "put the lines in the order in which they happen")
	}
	return d, !l.failed
}

func (l *sentenceParser) parseDuration(what string) time.Duration {
	t := l.next(what)
	d, err := time.ParseDuration(t.text)
	if (err != nil || d <= 0) && !l.failed {
		l.fail(t, fmt.Sprintf("%q is not a duration", t.text), "durations are written 90s, 3m, 2h")
	}
	return d
}

func (l *sentenceParser) parseCount(what string) int {
	t := l.next(what)
	n, err := strconv.Atoi(t.text)
	if (err != nil || n < 1) && !l.failed {
		l.fail(t, fmt.Sprintf("%q is not a number", t.text), "")
	}
	return n
}

// parsePullNumber reads #7.
func (l *sentenceParser) parsePullNumber() int {
	t := l.next("the pull request's number")
	n, err := strconv.Atoi(strings.TrimPrefix(t.text, "#"))
	if (err != nil || n < 1 || !strings.HasPrefix(t.text, "#")) && !l.failed {
		l.fail(t, fmt.Sprintf("%q is not the number of a pull request", t.text), "write #7")
	}
	return n
}

// acceptPullNumber reads "on #7"; without it the sentence is about the only pull request, or the first.
func (l *sentenceParser) acceptPullNumber(preposition string) (n int, found bool) {
	if l.pos+1 < len(l.tokens) && l.tokens[l.pos].text == preposition && strings.HasPrefix(l.tokens[l.pos+1].text, "#") {
		l.pos++
		return l.parsePullNumber(), true
	}
	return 0, false
}

// parseRunLabel reads the name of a run, or of the reviewer whose run it is.
func (l *sentenceParser) parseRunLabel() string {
	t := l.next("the run")
	l.parser.labelUses = append(l.parser.labelUses, labelUse{label: t.text, line: l.line, word: t})
	return t.text
}

// parseCommit reads the name of a commit.
func (l *sentenceParser) parseCommit(known bool) string {
	t := l.next("the commit")
	if known && !l.parser.knownCommits[t.text] && len(t.text) != 40 && !l.failed {
		l.fail(t, fmt.Sprintf("there is no commit %q yet", t.text), suggestWord(t.text, slices.Collect(maps.Keys(l.parser.knownCommits))))
	}
	l.parser.knownCommits[t.text] = true
	return t.text
}

func (l *sentenceParser) parsePaths() (all []string) {
	stop := []string{
		"at", "onto", "from", "branch", "as", "renaming", "of", "labelled", "with", "opened", "to", "written", "on",
		"pushed", "merging", "moving", "titled", "signed", "unsigned", "adding",
	}
	for l.pos < len(l.tokens) && !slices.Contains(stop, l.tokens[l.pos].text) {
		all = append(all, l.next("a path").text)
	}
	if len(all) == 0 {
		l.fail(l.peek(), "a path is missing", "")
	}
	return all
}

// bodyText returns the lines below the sentence.
func (l *sentenceParser) bodyText() string {
	return strings.Join(l.body, "\n")
}

// requireBodyText returns the lines below the sentence, and reports a mistake if there are none.
func (l *sentenceParser) requireBodyText() string {
	if len(l.body) == 0 {
		l.fail(l.tokens[len(l.tokens)-1], "its text is missing", "write it below, each line after a |")
	}
	return l.bodyText()
}

// A verb has a form, which help shows, and a function that parses the rest of its sentence.
type verb struct {
	words string
	form  string
	parse func(*sentenceParser) func(*world) error
}

// allVerbs lists everything that can happen. Where one verb begins like another the longer one comes first.
func allVerbs() []verb {
	return []verb{
		{
			"opens",
			"LOGIN opens #N [at COMMIT] [onto BRANCH] [branch NAME] [from fork OWNER] [as draft] " +
				"[changing PATH…] [renaming OLD NEW] [of N files] [labelled LABEL] [written by LOGIN] [with LOGIN] [pushed by LOGIN] [signed|unsigned] [adding N lines] [opened DURATION ago] " +
				"[titled \"TEXT\"]",
			(*sentenceParser).parseOpens,
		},
		{
			"force-pushes",
			"LOGIN force-pushes COMMIT [to #N] [with the same diff [but another mode|link|place|binary|file around]] " +
				"[changing PATH…] [written by LOGIN] [with LOGIN] [signed|unsigned] [adding N lines] [moving the review by AUTHOR]",
			(*sentenceParser).parsePushes,
		},
		{
			"pushes",
			"LOGIN pushes COMMIT [to #N] [merging BRANCH] [with the same diff [but another mode|link|place|binary|file around]] " +
				"[changing PATH…] [written by LOGIN] [with LOGIN] [signed|unsigned] [adding N lines] [moving the review by AUTHOR]",
			(*sentenceParser).parsePushes,
		},
		{"retargets", "LOGIN retargets [#N] to BRANCH [changing PATH…]", (*sentenceParser).parseRetargets},
		{"stacks", "LOGIN stacks #N on #M", parseStacks},
		{"converts to draft", "LOGIN converts to draft [#N]", parsePullAction((*sandbox.GitHub).ConvertToDraft)},
		{"marks ready", "LOGIN marks ready [#N]", parsePullAction((*sandbox.GitHub).MarkReady)},
		{"closes", "LOGIN closes [#N]", parsePullAction((*sandbox.GitHub).Close)},
		{"reopens the threads of", "LOGIN reopens the threads of AUTHOR", (*sentenceParser).parseUnresolves},
		{"reopens", "LOGIN reopens [#N]", parsePullAction((*sandbox.GitHub).Reopen)},
		{"merges the group of", "queue merges the group of [#N]", parsePullAction(mergeGroup)},
		{"merges", "LOGIN merges [#N]", parsePullAction((*sandbox.GitHub).Merge)},
		{"locks the conversation", "LOGIN locks the conversation [#N]", parsePullAction(sandbox.LockConversation)},
		{"unlocks the conversation", "LOGIN unlocks the conversation [#N]", parsePullAction(sandbox.UnlockConversation)},
		{"adds the team", "LOGIN adds the team NAME [of LOGIN…]", parseAddsTeam},
		{"hides the team", "LOGIN hides the team NAME", parseHidesTeam},
		{"labels", "LOGIN labels LABEL", parseLabelAction((*sandbox.GitHub).AddLabel)},
		{"unlabels", "LOGIN unlabels LABEL", parseLabelAction((*sandbox.GitHub).RemoveLabel)},
		{"queues", "LOGIN queues [#N] as COMMIT", parseQueued(sandbox.Enqueue)},
		{"rebuilds", "queue rebuilds [#N] as COMMIT", parseQueued(rebuildGroup)},
		{"dequeues", "LOGIN dequeues [#N]", parsePullAction(dequeuePull)},
		{"asks", "LOGIN asks LOGIN", (*sentenceParser).parseAsks},

		{
			"starts",
			"REVIEWER starts [queued|waiting|skipped|action_required|startup_failure] [as LABEL] " +
				"[workflow PATH] [event EVENT] [on COMMIT] [of #N] [by LOGIN] [created DURATION ago] [jobs NAME…]",
			(*sentenceParser).parseStarts,
		},
		{"gets a runner", "RUN gets a runner", parseRunAction((*sandbox.GitHub).StartJobs)},
		{"waits for an environment", "RUN waits for an environment", parseRunAction(sandbox.AwaitEnvironment)},
		{"finds no runner", "RUN finds no runner", parseRunAction((*sandbox.GitHub).WithholdRunner)},
		{"begins again", "RUN begins again", parseRunAction((*sandbox.GitHub).RestartRun)},
		{"is deleted", "RUN is deleted", parseRunAction((*sandbox.GitHub).DeleteRun)},
		{"is hidden", "RUN is hidden", parseHides(true)},
		{"is listed", "RUN is listed", parseHides(false)},
		{"cannot be rerun", `RUN cannot be rerun "GitHub's words"`, (*sentenceParser).parseRefuses},
		{"succeeds", "RUN succeeds [in step NAME] [in job NAME] [annotating TEXT] [losing its log]", parseEnds("success")},
		{"fails", `RUN fails ["log"] [in step NAME] [in job NAME] [annotating TEXT] [losing its log]`, parseEnds("failure")},
		{"times out", "RUN times out", parseEnds("timed_out")},
		{"is cancelled", "RUN is cancelled", parseEnds("cancelled")},
		{"ends", "RUN ends CONCLUSION", parseEnds("")},
		{"reruns", "LOGIN reruns RUN", (*sentenceParser).parseReruns},

		{"uploads", "RUN uploads NAME", parseUploads},
		{"loses its artifacts", "RUN loses its artifacts [to retention]", parseLosesArtifacts},

		{"comments", "AUTHOR comments [on #N]", (*sentenceParser).parseComments},
		{"presses Rerun reviewers", "LOGIN presses Rerun reviewers [on #N]", parsePresses},
		{"edits the comment by", "LOGIN edits the comment by AUTHOR", (*sentenceParser).parseEditsComment},
		{"deletes the comment by", "LOGIN deletes the comment by AUTHOR", (*sentenceParser).parseDeletesComment},
		{"approves", "AUTHOR approves [at COMMIT] [on #N]", parseReviews("APPROVED")},
		{"requests changes", "AUTHOR requests changes [at COMMIT] [on #N]", parseReviews("CHANGES_REQUESTED")},
		{"reviews", "AUTHOR reviews [at COMMIT] [on #N]", parseReviews("COMMENTED")},
		{"edits the review by", "LOGIN edits the review by AUTHOR", (*sentenceParser).parseEditsReview},
		{"dismisses the review by", "LOGIN dismisses the review by AUTHOR", (*sentenceParser).parseDismisses},
		{"replies to", "LOGIN replies to AUTHOR", (*sentenceParser).parseReplies},
		{"resolves the threads of", "LOGIN resolves the threads of AUTHOR", (*sentenceParser).parseResolves},
		{"outdates the threads of", "LOGIN outdates the threads of AUTHOR", (*sentenceParser).parseOutdates},

		{"sets status", `AUTHOR sets status CONTEXT to STATE ["description"] [on COMMIT]`, (*sentenceParser).parseSetsStatus},
		{"sets check", `APP sets check NAME to STATE ["title"] [on COMMIT]`, (*sentenceParser).parseSetsCheck},
		{"changes the policy", "LOGIN changes the policy", (*sentenceParser).parseChangesPolicy},
		{"removes the policy", "LOGIN removes the policy", (*sentenceParser).parseRemovesPolicy},
		{"writes", "LOGIN writes PATH [at COMMIT|onto BRANCH]", (*sentenceParser).parseWrites},
		{"links", "LOGIN links PATH to TARGET [onto BRANCH]", parseLinks},
		{"may", "LOGIN may read|triage|write|maintain|admin", (*sentenceParser).parseMay},
		{
			"protects", "LOGIN protects BRANCH [requiring CHECK [of APP]|requiring no check] [by ruleset]",
			(*sentenceParser).parseProtects,
		},
		{"takes the runs and checks", "retention takes the runs and checks [of #N]", parseExpires},
		{"is renamed to", "APP is renamed to NAME", parseRenames},
		{"forbids", "policy forbids EVENT…", parseForbids},
		{"owns the token", "LOGIN owns the token", (*sentenceParser).parseOwnsToken},
		{"watches the merge gate", "LOGIN watches the merge gate", parseWatchesGate},
		{"happens", "nothing happens", (*sentenceParser).parseNothing},
		{"says", `narrator says "TEXT"`, (*sentenceParser).parseSays},

		{
			"answers",
			`github answers STATUS ["body"] [header "NAME: VALUE"] to METHOD PATH [N times] [after N] [for DURATION]`,
			(*sentenceParser).parseAnswers,
		},
		{"loses", "github loses METHOD PATH [N times] [after N] [for DURATION]", parseFaults(sandbox.FaultLost)},
		{"drops", "github drops METHOD PATH [N times] [after N] [for DURATION]", parseFaults(sandbox.FaultUnsent)},
		{"resets", "github resets METHOD PATH [N times] [after N] [for DURATION]", parseFaults(sandbox.FaultReset)},
		{"truncates", "github truncates METHOD PATH [N times] [after N] [for DURATION]", parseFaults(sandbox.FaultTruncate)},
		{"garbles", "github garbles METHOD PATH [N times] [after N] [for DURATION]", parseFaults(sandbox.FaultGarbage)},
		{"recovers", "github recovers", (*sentenceParser).parseRecovers},
	}
}

// SentenceForms lists the sentences of a timeline, as help shows them.
func SentenceForms() (all []string) {
	for _, v := range allVerbs() {
		all = append(all, v.form)
	}
	return all
}

// parse reads subject, verb and the rest.
func (l *sentenceParser) parse() func(*world) error {
	l.subject = l.next("who or what it is about")
	if l.failed {
		return nil
	}
	at := l.peek()
	for _, v := range allVerbs() {
		if !l.accept(strings.Fields(v.words)...) {
			continue
		}
		do := v.parse(l)
		if rest := l.peek(); rest.text != "" && !l.failed {
			l.fail(rest, fmt.Sprintf("%q does not belong here", rest.text), "it is written: "+v.form)
		}
		if l.failed {
			return nil
		}
		return do
	}
	var known []string
	for _, v := range allVerbs() {
		first, _, _ := strings.Cut(v.words, " ")
		known = append(known, first)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if at.text == "" {
		l.fail(at, "it does not say what happens", "known: "+strings.Join(known, ", "))
		return nil
	}
	l.fail(at, fmt.Sprintf("nothing is known that %q does here", at.text), l.hintFor(at.text, known))
	return nil
}

// formsByWord maps words that people try first to the form that they mean.
var formsByWord = map[string]string{
	"posts": "AUTHOR comments", "answered": "AUTHOR comments", "replies": "LOGIN replies to AUTHOR", "commented": "AUTHOR comments",
	"crashes": `RUN fails "log"`, "crashed": `RUN fails "log"`, "errors": `RUN fails "log"`,
	"breaks": `RUN fails "log"`, "dies": `RUN fails "log"`, "failed": `RUN fails "log"`,
	"passes": "RUN succeeds", "finishes": "RUN succeeds", "completes": "RUN succeeds", "hangs": "RUN starts, and nothing after it",
	"rejects": "AUTHOR requests changes", "objects": "AUTHOR requests changes", "blocks": "AUTHOR requests changes",
	"begins": "REVIEWER starts", "runs": "REVIEWER starts", "creates": "LOGIN opens #N", "commits": "LOGIN pushes COMMIT",
	"rate": `RUN fails "429 Too Many Requests"`, "limited": `RUN fails "429 Too Many Requests"`,
	"rate-limited": `RUN fails "429 Too Many Requests"`, "hits": `RUN fails "429 Too Many Requests"`,
	"overloaded":  `RUN fails "529 Overloaded"`,
	"down":        `RUN fails "503 Service Unavailable"`,
	"unavailable": `RUN fails "503 Service Unavailable"`, "cancels": "RUN is cancelled",
}

// hintFor says how a sentence that is not understood is written: by its verb, or by the word after "is" and "has".
func (l *sentenceParser) hintFor(verb string, known []string) string {
	words := []string{strings.ToLower(verb)}
	if l.pos+1 < len(l.tokens) && slices.Contains([]string{"is", "gets", "has", "was", "goes"}, words[0]) {
		words = append(words, strings.ToLower(l.tokens[l.pos+1].text))
	}
	for _, word := range slices.Backward(words) {
		if form, found := formsByWord[strings.TrimRight(word, "-.,")]; found {
			return "it is written: " + form
		}
	}
	// The verb may be right and its rest not: its forms say more than other verbs would.
	var forms []string
	for _, v := range allVerbs() {
		if first, _, _ := strings.Cut(v.words, " "); first == verb {
			forms = append(forms, v.form)
		}
	}
	if len(forms) > 0 {
		return "it is written: " + strings.Join(forms, "; ")
	}
	return suggestWord(verb, known)
}

// parsePullAction parses a sentence about something that is done to a pull request as a whole.
func parsePullAction(do func(*sandbox.GitHub, int, string) error) func(*sentenceParser) func(*world) error {
	return func(l *sentenceParser) func(*world) error {
		n := 0
		if strings.HasPrefix(l.peek().text, "#") {
			n = l.parsePullNumber()
		}
		who := l.subject.text
		return func(w *world) error { return do(w.g, w.pullNumber(n), who) }
	}
}

// parseStacks reads "#8 on #7": the base of #8 is the branch of #7.
func parseStacks(l *sentenceParser) func(*world) error {
	n := l.parsePullNumber()
	upon, found := l.acceptPullNumber("on")
	if !found {
		l.fail(l.peek(), "the pull request below is missing", "write on #7")
	}
	return func(w *world) error { return w.stack(n, upon) }
}

func parseLabelAction(do func(*sandbox.GitHub, int, string, string) error) func(*sentenceParser) func(*world) error {
	return func(l *sentenceParser) func(*world) error {
		label, who := l.next("the label").text, l.subject.text
		return func(w *world) error { return do(w.g, w.pullNumber(0), label, who) }
	}
}

func parseAddsTeam(l *sentenceParser) func(*world) error {
	team := l.next("the team").text
	var members []string
	for of := l.accept("of"); of && (len(members) == 0 || l.peek().text != ""); {
		members = append(members, l.next("a member").text)
	}
	return func(w *world) error {
		sandbox.AddTeam(w.g, team, members...)
		return nil
	}
}

func parseHidesTeam(l *sentenceParser) func(*world) error {
	team := l.next("the team").text
	return func(w *world) error {
		sandbox.HideTeam(w.g, team)
		return nil
	}
}

func (l *sentenceParser) parseOpens() func(*world) error {
	s := sandbox.PullSpec{Author: l.subject.text, Number: l.parsePullNumber(), Head: "a1"}
	age := time.Duration(0)
	for l.peek().text != "" && !l.failed {
		switch {
		case l.accept("at"):
			s.Head = l.parseCommit(false)
		case l.accept("onto"):
			s.Base = l.next("the branch").text
		case l.accept("branch"):
			s.Branch = l.next("the branch").text
		case l.accept("from", "fork"):
			s.Fork = l.next("the fork's owner").text
		case l.accept("as", "draft"):
			s.Draft = true
		case l.accept("changing"):
			for _, path := range l.parsePaths() {
				s.Files = append(s.Files, sandbox.ChangedFile{Path: path})
			}
		case l.accept("renaming"):
			old := l.next("the old path").text
			s.Files = append(s.Files, sandbox.ChangedFile{Previous: old, Path: l.next("the new path").text})
		case l.accept("of"):
			s.ChangedCount = l.parseCount("the number of files")
			if !l.accept("files") {
				l.fail(l.peek(), "of N files", "")
			}
		case l.accept("labelled"):
			s.Labels = append(s.Labels, l.next("the label").text)
		case l.accept("pushed", "by"):
			s.PushedBy = l.next("who pushed it").text
		case parseMakers(l, &s.Commit), parseSignature(l, &s.Commit):
		case l.accept("adding"):
			s.Files = parseAddedLines(l, s.Files)
		case l.accept("opened"):
			age = l.parseAgo()
		case l.accept("titled"):
			s.Title = l.next("the title").text
		default:
			return nil
		}
	}
	l.parser.knownCommits[s.Head], l.parser.opensPull = true, true
	return func(w *world) error { return openPull(w, s, age) }
}

// openPull opens a pull request that is as old as that.
func openPull(w *world, s sandbox.PullSpec, age time.Duration) error {
	if age > 0 {
		s.Opened = w.now().Add(-age)
	}
	if err := sandbox.CheckOpening(w.g, s); err != nil {
		return err
	}
	w.addPull(w.g.OpenPull(s))
	return nil
}

// parseAgo reads "48h ago".
func (l *sentenceParser) parseAgo() time.Duration {
	d := l.parseDuration("how long ago")
	if !l.accept("ago") {
		l.fail(l.peek(), `"ago" is missing`, "")
	}
	return d
}

// parseMakers reads who made a commit beside the one who pushed it.
func parseMakers(l *sentenceParser, commit *sandbox.CommitSpec) (found bool) {
	switch {
	case l.accept("written", "by"):
		commit.Author = l.next("the author").text
	case l.accept("with"):
		commit.CoAuthors = append(commit.CoAuthors, l.next("the co-author").text)
	default:
		return false
	}
	return true
}

// parseSignature reads whether GitHub has verified a commit's signature. Where nothing says so it has that of a robot's
// own commit.
func parseSignature(l *sentenceParser, commit *sandbox.CommitSpec) (found bool) {
	switch {
	case l.accept("signed"):
		commit.Signature = sandbox.Signed
	case l.accept("unsigned"):
		commit.Signature = sandbox.Unsigned
	default:
		return false
	}
	return true
}

// parseAddedLines reads "N lines" of "adding N lines": they are added to the last of the changed files.
func parseAddedLines(l *sentenceParser, files []sandbox.ChangedFile) []sandbox.ChangedFile {
	n := l.parseCount("the number of lines")
	if !l.accept("lines") {
		l.fail(l.peek(), "adding N lines", "")
	}
	if len(files) == 0 {
		files = []sandbox.ChangedFile{{Path: "main.go"}}
	}
	files[len(files)-1].Added = n
	return files
}

// parseLinks parses "LOGIN links PATH to TARGET": a symbolic link, whose target is told from where it stands.
func parseLinks(l *sentenceParser) func(*world) error {
	path, ref := l.next("the link's path").text, ""
	if !l.accept("to") {
		l.fail(l.peek(), `"to" and where it leads are missing`, "")
	}
	target := l.next("where it leads").text
	if l.accept("onto") {
		ref = l.next("the branch").text
	}
	return func(w *world) error {
		sandbox.SetLink(w.g, path, ref, target)
		return nil
	}
}

func (l *sentenceParser) parsePushes() func(*world) error {
	s := sandbox.PushSpec{By: l.subject.text, Force: l.tokens[l.pos-1].text == "force-pushes"}
	head, n := l.parseCommit(false), 0
	for l.peek().text != "" && !l.failed {
		switch {
		case l.accept("to"):
			n = l.parsePullNumber()
		case l.accept("changing"):
			for _, path := range l.parsePaths() {
				s.Files = append(s.Files, sandbox.ChangedFile{Path: path})
			}
		case l.accept("written", "by"):
			s.Commit.Author = l.next("the author").text
		case l.accept("with", "the", "same", "diff"):
			s.Same = true
			if l.accept("but", "another") {
				s.But = parseDifference(l)
			}
		case l.accept("with"):
			s.Commit.CoAuthors = append(s.Commit.CoAuthors, l.next("the co-author").text)
		case parseSignature(l, &s.Commit):
		case l.accept("adding"):
			s.Files = parseAddedLines(l, s.Files)
		case !s.Force && l.accept("merging"):
			s.Merges = l.next("the branch").text
		case l.accept("moving", "the", "review", "by"):
			s.Moves = append(s.Moves, l.next("whose review").text)
		default:
			return nil
		}
	}
	return func(w *world) error {
		s := s
		s.Moves = slices.Clone(s.Moves)
		for i, author := range s.Moves {
			s.Moves[i] = w.loginOf(author)
		}
		return w.g.Push(w.pullNumber(n), head, s)
	}
}

// parseDifference reads in what a push differs that leaves all else of the diff as it was.
func parseDifference(l *sentenceParser) sandbox.Difference {
	for d := sandbox.OtherMode; d <= sandbox.OtherSurroundings; d++ {
		if l.accept(strings.Fields(d.String())...) {
			return d
		}
	}
	l.fail(l.peek(), "it does not say what differs", "write mode, link, place, binary or file around")
	return 0
}

func (l *sentenceParser) parseRetargets() func(*world) error {
	n := 0
	if strings.HasPrefix(l.peek().text, "#") {
		n = l.parsePullNumber()
	}
	if !l.accept("to") {
		l.fail(l.peek(), `"to" and a branch are missing`, "")
	}
	base, who := l.next("the branch").text, l.subject.text
	var files []sandbox.ChangedFile
	if l.accept("changing") {
		for _, path := range l.parsePaths() {
			files = append(files, sandbox.ChangedFile{Path: path})
		}
	}
	return func(w *world) error { return w.g.Retarget(w.pullNumber(n), base, who, files...) }
}

func (l *sentenceParser) parseAsks() func(*world) error {
	whom, who := l.next("whom it asks").text, l.subject.text
	return func(w *world) error { return w.g.RequestReview(w.pullNumber(0), w.loginOf(whom), who) }
}

func (l *sentenceParser) parseStarts() func(*world) error {
	label, s, age, n := l.subject.text, sandbox.RunSpec{}, time.Duration(0), 0
	named := false
	for l.peek().text != "" && !l.failed {
		switch word := l.peek().text; {
		case word == "queued" || word == "waiting":
			l.pos++
			s.Status = word
		case slices.Contains([]string{"skipped", "action_required", "startup_failure"}, word):
			l.pos++
			s.Conclusion = word
		case l.accept("as"):
			label = l.next("the run's label").text
		case l.accept("workflow"):
			s.Workflow, named = l.next("the workflow's path").text, true
		case l.accept("event"):
			s.Event = l.next("the event").text
		case l.accept("on"):
			s.Head = l.parseCommit(true)
		case l.accept("of"):
			n = l.parsePullNumber()
		case l.accept("by"):
			s.By = l.next("who caused it").text
		case l.accept("created"):
			age = l.parseAgo()
		case l.accept("jobs"):
			for l.peek().text != "" {
				s.Jobs = append(s.Jobs, l.next("the job's name").text)
			}
		default:
			return nil
		}
	}
	l.parser.runLabels[label] = true
	reviewer := l.subject.text
	if !named {
		l.parser.labelUses = append(l.parser.labelUses, labelUse{label: reviewer, line: l.line, word: l.subject, startsRun: true})
	}
	return func(w *world) error {
		s := s
		if s.Workflow == "" {
			r, found := w.scenario.reviewers[reviewer]
			if !found || r.Workflow == "" {
				return fmt.Errorf("the policy has no reviewer %q with a workflow", reviewer)
			}
			s.Workflow = r.Workflow
			if s.Event == "" && len(r.Events) > 0 && !slices.Contains(r.Events, "pull_request") {
				s.Event = r.Events[0]
			}
		}
		if age > 0 {
			s.Created = w.now().Add(-age)
		}
		s.PR = w.pullNumber(n)
		return w.startRun(label, s)
	}
}

// parseRunAction parses a sentence about something that happens to a run.
func parseRunAction(do func(*sandbox.GitHub, int64) error) func(*sentenceParser) func(*world) error {
	return func(l *sentenceParser) func(*world) error {
		label := l.subjectRun()
		return func(w *world) error { return w.withRun(label, func(id int64) error { return do(w.g, id) }) }
	}
}

// subjectRun returns the label of the run that is the sentence's subject.
func (l *sentenceParser) subjectRun() string {
	l.parser.labelUses = append(l.parser.labelUses, labelUse{label: l.subject.text, line: l.line, word: l.subject})
	return l.subject.text
}

func parseHides(hidden bool) func(*sentenceParser) func(*world) error {
	return func(l *sentenceParser) func(*world) error {
		label := l.subjectRun()
		return func(w *world) error { return w.withRun(label, func(id int64) error { return w.g.HideRun(id, hidden) }) }
	}
}

func (l *sentenceParser) parseRefuses() func(*world) error {
	label, words := l.subjectRun(), l.next("what GitHub says").text
	return func(w *world) error {
		return w.withRun(label, func(id int64) error { return w.g.RefuseRerun(id, words) })
	}
}

var knownConclusions = []string{"success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale"}

func parseEnds(conclusion string) func(*sentenceParser) func(*world) error {
	return func(l *sentenceParser) func(*world) error {
		label, f := l.subjectRun(), sandbox.Finish{Conclusion: conclusion, Log: l.bodyText()}
		if conclusion == "" {
			t := l.next("the conclusion")
			f.Conclusion = t.text
			if !slices.Contains(knownConclusions, t.text) {
				l.fail(t, fmt.Sprintf("GitHub has no conclusion %q", t.text), suggestWord(t.text, slices.Clone(knownConclusions)))
			}
		}
		if l.peek().quoted {
			f.Log = l.next("its log").text
		}
		for l.peek().text != "" && !l.failed {
			switch {
			case l.accept("in", "step"):
				f.Step = l.next("the step").text
			case l.accept("in", "job"):
				f.Job = l.next("the job").text
			case l.accept("annotating"):
				f.Annotation = l.next("the annotation").text
			case l.accept("losing", "its", "log"):
				f.NoLog = true
			default:
				return nil
			}
		}
		return func(w *world) error {
			return w.withRun(label, func(id int64) error {
				f := f
				f.Attempt = w.reactionAttempt
				_, err := w.g.FinishRun(id, f)
				return err
			})
		}
	}
}

func (l *sentenceParser) parseReruns() func(*world) error {
	label, who := l.parseRunLabel(), l.subject.text
	return func(w *world) error {
		return w.withRun(label, func(id int64) error { return w.g.RerunByPerson(id, who) })
	}
}

// parseUploads reads an upload as actions/upload-artifact with overwrite makes it. In its text {run} and {attempt}
// stand for the run's id and its attempt.
func parseUploads(l *sentenceParser) func(*world) error {
	label, name := l.subjectRun(), l.next("the artifact's name").text
	body := l.requireBodyText()
	return func(w *world) error {
		return w.withRun(label, func(id int64) error {
			state, err := w.g.StateOfRun(id)
			if err != nil {
				return err
			}
			content := strings.NewReplacer("{run}", strconv.FormatInt(id, 10), "{attempt}", strconv.Itoa(state.Attempt)).
				Replace(w.expandCommits(body))
			file := sandbox.ArtifactUpload{Name: name, File: "verdict.json", Content: content, Overwrite: true}
			_, err = sandbox.UploadArtifact(w.g, id, file)
			return err
		})
	}
}

func parseLosesArtifacts(l *sentenceParser) func(*world) error {
	label, lose := l.subjectRun(), sandbox.DeleteArtifacts
	if l.accept("to", "retention") {
		lose = sandbox.ExpireArtifacts
	}
	return func(w *world) error { return w.withRun(label, func(id int64) error { return lose(w.g, id) }) }
}

func (l *sentenceParser) parseComments() func(*world) error {
	n, _ := l.acceptPullNumber("on")
	body, who := l.requireBodyText(), l.subject.text
	return func(w *world) error {
		id, err := w.g.Comment(w.pullNumber(n), w.loginOf(who), w.expandCommits(body))
		w.commentIDs[who] = id
		return err
	}
}

// parsePresses parses "LOGIN presses Rerun reviewers": the button of the check on the pull request's head. GitHub tells
// of it in an event alone.
func parsePresses(l *sentenceParser) func(*world) error {
	n, _ := l.acceptPullNumber("on")
	who := l.subject.text
	return func(w *world) error {
		w.notePress(w.pullNumber(n), who)
		return sandbox.PressButton(w.g, w.g.Head(w.pullNumber(n)), who, "Rerun reviewers")
	}
}

func (l *sentenceParser) parseEditsComment() func(*world) error {
	whose, who, body := l.next("whose comment").text, l.subject.text, l.requireBodyText()
	return func(w *world) error {
		id, found := w.commentIDs[whose]
		if !found {
			return fmt.Errorf("%s has written no comment", whose)
		}
		return w.g.EditComment(id, w.loginOf(who), w.expandCommits(body))
	}
}

func (l *sentenceParser) parseDeletesComment() func(*world) error {
	whose := l.next("whose comment").text
	return func(w *world) error {
		id, found := w.commentIDs[whose]
		if !found {
			return fmt.Errorf("%s has written no comment", whose)
		}
		return w.g.DeleteComment(id)
	}
}

func parseReviews(state string) func(*sentenceParser) func(*world) error {
	return func(l *sentenceParser) func(*world) error {
		s, n := sandbox.ReviewSpec{State: state, Body: l.bodyText()}, 0
		for l.peek().text != "" && !l.failed {
			if number, found := l.acceptPullNumber("on"); found {
				n = number
			} else if l.accept("at") {
				s.Commit = l.parseCommit(true)
			} else {
				return nil
			}
		}
		for _, in := range l.inlineComments {
			place, body, _ := strings.Cut(in.text, " ")
			path, number, _ := strings.Cut(place, ":")
			line, err := strconv.Atoi(number)
			if number != "" && err != nil || body == "" {
				l.parser.addProblem(
					in.line,
					1,
					len(l.parser.lines[in.line-1]),
					"a comment on the diff needs its place and its text",
					"> cart.go:12 The price may be negative.",
				)
			}
			s.Comments = append(s.Comments, sandbox.LineComment{Path: path, Line: line, Body: body})
		}
		who := l.subject.text
		return func(w *world) error {
			s := s
			s.By, s.Body = w.loginOf(who), w.expandCommits(s.Body)
			id, err := w.g.Review(w.pullNumber(n), s)
			w.reviewIDs[who] = id
			return err
		}
	}
}

// parseReviewAction parses a sentence about the newest review by an author.
func (l *sentenceParser) parseReviewAction(do func(w *world, id int64, who string) error) func(*world) error {
	whose, who := l.next("whose review").text, l.subject.text
	return func(w *world) error {
		id, found := w.reviewIDs[whose]
		if !found {
			return fmt.Errorf("%s has written no review", whose)
		}
		return do(w, id, w.loginOf(who))
	}
}

func (l *sentenceParser) parseEditsReview() func(*world) error {
	body := l.bodyText()
	return l.parseReviewAction(func(w *world, id int64, who string) error { return w.g.EditReview(id, who, w.expandCommits(body)) })
}

func (l *sentenceParser) parseDismisses() func(*world) error {
	return l.parseReviewAction(func(w *world, id int64, who string) error { return w.g.DismissReview(id, who) })
}

// parseThreadsAction parses a sentence about the threads that an author opened.
func (l *sentenceParser) parseThreadsAction(do func(w *world, opener, who string) error) func(*world) error {
	opener, who := l.next("whose threads").text, l.subject.text
	return func(w *world) error { return do(w, w.loginOf(opener), w.loginOf(who)) }
}

func (l *sentenceParser) parseReplies() func(*world) error {
	body := l.requireBodyText()
	return l.parseThreadsAction(func(w *world, opener, who string) error {
		_, err := w.g.ReplyInThread(w.pullNumber(0), opener, who, w.expandCommits(body))
		return err
	})
}

func (l *sentenceParser) parseResolves() func(*world) error {
	return l.parseThreadsAction(func(w *world, opener, who string) error { return w.g.ResolveThreads(w.pullNumber(0), opener, who) })
}

func (l *sentenceParser) parseUnresolves() func(*world) error {
	return l.parseThreadsAction(func(w *world, opener, _ string) error { return w.g.UnresolveThreads(w.pullNumber(0), opener) })
}

func (l *sentenceParser) parseOutdates() func(*world) error {
	return l.parseThreadsAction(func(w *world, opener, _ string) error { return w.g.OutdateThreads(w.pullNumber(0), opener) })
}

// parseSetting reads: NAME to STATE ["words"] [on COMMIT].
func (l *sentenceParser) parseSetting(states []string) (name, state, words, head string) {
	name = l.next("its name").text
	if !l.accept("to") {
		l.fail(l.peek(), `"to" and a state are missing`, "")
	}
	t := l.next("the state")
	state = t.text
	if !slices.Contains(states, state) && !l.failed {
		l.fail(t, fmt.Sprintf("%q is not a state of it", state), suggestWord(state, slices.Clone(states)))
	}
	if l.peek().quoted {
		words = l.next("").text
	}
	if l.accept("on") {
		head = l.parseCommit(true)
	}
	return name, state, words, head
}

func (l *sentenceParser) parseSetsStatus() func(*world) error {
	context, state, words, head := l.parseSetting([]string{"pending", "success", "failure", "error"})
	who := l.subject.text
	return func(w *world) error {
		_, err := w.g.SetStatus(
			sandbox.CommitStatus{Context: context, State: state, Description: words, Head: w.headSHA(head), By: w.loginOf(who)},
		)
		return err
	}
}

func (l *sentenceParser) parseSetsCheck() func(*world) error {
	open := []string{"queued", "in_progress"}
	name, state, words, head := l.parseSetting(append(open, knownConclusions...))
	s := sandbox.CheckSpec{Name: name, Title: words, Summary: l.bodyText(), App: sandbox.App{Slug: l.subject.text}}
	if slices.Contains(open, state) {
		s.Status = state
	} else {
		s.Conclusion = state
	}
	return func(w *world) error {
		s := s
		s.Head, s.Summary = w.headSHA(head), w.expandCommits(s.Summary)
		_, err := w.g.SetCheck(s)
		return err
	}
}

const policyPath = ".github/review-coordinator.yml"

func (l *sentenceParser) parseChangesPolicy() func(*world) error {
	policy := l.requireBodyText()
	l.parser.changesPolicy = true
	l.parser.learnReviewers(policy)
	return func(w *world) error {
		w.g.SetFile(policyPath, "", policy)
		return nil
	}
}

func (l *sentenceParser) parseRemovesPolicy() func(*world) error {
	return func(w *world) error {
		w.g.RemoveFile(policyPath, "")
		return nil
	}
}

func (l *sentenceParser) parseWrites() func(*world) error {
	path, ref := l.next("the path").text, ""
	switch {
	case l.accept("at"):
		ref = sandbox.SHA(l.parseCommit(false))
	case l.accept("onto"):
		ref = l.next("the branch").text
	}
	content := l.bodyText()
	return func(w *world) error {
		w.g.SetFile(path, ref, content)
		return nil
	}
}

func (l *sentenceParser) parseMay() func(*world) error {
	t, who := l.next("the permission"), l.subject.text
	if known := []string{"none", "read", "triage", "write", "maintain", "admin"}; !slices.Contains(known, t.text) {
		l.fail(t, fmt.Sprintf("GitHub has no permission %q", t.text), suggestWord(t.text, known))
	}
	return func(w *world) error {
		w.g.SetPermission(who, t.text)
		return nil
	}
}

// parseProtects parses "LOGIN protects BRANCH": it requires the check of the policy, unless the sentence names another,
// or none.
func (l *sentenceParser) parseProtects() func(*world) error {
	branch, protect := l.next("the branch").text, sandbox.ProtectBranch
	required, requiresNone := sandbox.RequiredCheck{}, false
	switch {
	case l.accept("requiring", "no", "check"):
		requiresNone = true
	case l.accept("requiring"):
		required.Name = l.next("the check").text
		if l.accept("of") {
			required.AppID = sandbox.App{Slug: l.next("the App").text}.WithID().ID
		}
	}
	if l.accept("by", "ruleset") {
		protect = sandbox.AddBranchRuleset
	}
	return func(w *world) error {
		required := required
		required.Name = cmp.Or(required.Name, w.scenario.checkName)
		if requiresNone {
			protect(w.g, branch)
		} else {
			protect(w.g, branch, required)
		}
		return nil
	}
}

// parseExpires parses "retention takes the runs and checks": those of a pull request's head, and its statuses.
func parseExpires(l *sentenceParser) func(*world) error {
	if l.subject.text != "retention" {
		l.fail(l.subject, "only retention takes them", "a single run goes with: RUN is deleted")
	}
	n, _ := l.acceptPullNumber("of")
	return func(w *world) error { return sandbox.Expire(w.g, w.pullNumber(n)) }
}

// parseRenames parses "APP is renamed to NAME"; the App may be called by its slug, by its bot, or by the reviewer that
// it is.
func parseRenames(l *sentenceParser) func(*world) error {
	who, name := l.subject.text, strings.TrimSuffix(l.next("the new name").text, "[bot]")
	return func(w *world) error {
		sandbox.RenameApp(w.g, strings.TrimSuffix(w.loginOf(who), "[bot]"), name)
		return nil
	}
}

// parseForbids parses "policy forbids EVENT…": the repository's policy for Actions lets these events start no workflow.
func parseForbids(l *sentenceParser) func(*world) error {
	if l.subject.text != "policy" {
		l.fail(l.subject, "only a policy forbids an event", "it is written: policy forbids pull_request_target")
	}
	events := []string{l.next("the event").text}
	for l.peek().text != "" {
		events = append(events, l.next("an event").text)
	}
	return func(w *world) error {
		sandbox.ForbidEvents(w.g, events...)
		return nil
	}
}

// parseOwnsToken parses "LOGIN owns the token": the coordinator has a personal token, or with NAME[bot] an App's.
func (l *sentenceParser) parseOwnsToken() func(*world) error {
	if slug, isApp := strings.CutSuffix(l.subject.text, "[bot]"); isApp {
		l.parser.appSlug = slug
	} else {
		l.parser.tokenOwner = l.subject.text
	}
	return func(*world) error { return nil }
}

// parseWatchesGate parses "LOGIN watches the merge gate": from then on the story tells when it opens and closes.
func parseWatchesGate(*sentenceParser) func(*world) error {
	return func(w *world) error {
		w.recorder.watchGates()
		return nil
	}
}

func (l *sentenceParser) parseNothing() func(*world) error {
	if l.subject.text != "nothing" {
		l.fail(l.subject, "only nothing happens", "write: nothing happens")
	}
	return func(*world) error { return nil }
}

// parseSays parses the narrator's words, which only the audience hears.
func (l *sentenceParser) parseSays() func(*world) error {
	if l.subject.text != "narrator" {
		l.fail(l.subject, "only the narrator says something", "people and reviewers write: LOGIN comments")
	}
	l.next("what the narrator says")
	return func(*world) error { return nil }
}

// requireGitHub checks that the sentence's subject is github.
func (l *sentenceParser) requireGitHub() {
	l.parser.hasFaults = true
	if l.subject.text != "github" {
		l.fail(l.subject, "only github does that", "")
	}
}

func parseFaults(kind sandbox.FaultKind) func(*sentenceParser) func(*world) error {
	return func(l *sentenceParser) func(*world) error { return l.parseFault(sandbox.Fault{Kind: kind}) }
}

func (l *sentenceParser) parseAnswers() func(*world) error {
	f := sandbox.Fault{Status: l.parseCount("the status")}
	if l.peek().quoted {
		f.Body = fmt.Sprintf(`{"message":%q}`, l.next("").text)
	}
	for l.accept("header") {
		f.Header = append(f.Header, l.next("the header").text)
	}
	if !l.accept("to") {
		l.fail(l.peek(), `"to", a method and a path are missing`, "")
	}
	return l.parseFault(f)
}

// parseFault reads METHOD PATH [N times] [after N] [for DURATION].
func (l *sentenceParser) parseFault(f sandbox.Fault) func(*world) error {
	l.requireGitHub()
	method := l.next("the method")
	if known := []string{"GET", "POST", "PATCH", "PUT", "DELETE", "*"}; !slices.Contains(known, method.text) && !l.failed {
		l.fail(method, fmt.Sprintf("%q is not a method", method.text), suggestWord(method.text, known))
	}
	path := l.next("the path")
	if !strings.HasPrefix(path.text, "/") && !l.failed {
		l.fail(path, "a path begins with a slash", "* is one part of it, ** at the end the rest: /repos/*/*/actions/**")
	}
	f.Match = method.text + " " + path.text
	for l.peek().text != "" && !l.failed {
		switch {
		case l.accept("after"):
			f.Skip = l.parseCount("the number of requests")
		case l.accept("for"):
			f.For = l.parseDuration("how long")
		case l.accept("once"):
			f.Times = 1
		default:
			f.Times = l.parseCount("how often")
			if !l.accept("times") {
				l.fail(l.peek(), `"times" is missing`, "it is written: METHOD PATH [N times] [after N] [for DURATION]")
			}
		}
	}
	return func(w *world) error {
		w.g.AddFault(f)
		return nil
	}
}

func (l *sentenceParser) parseRecovers() func(*world) error {
	l.requireGitHub()
	return func(w *world) error {
		w.g.ClearFaults()
		return nil
	}
}
