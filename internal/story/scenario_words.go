package story

// The sentences of a timeline. Each verb stands once in the list of verbs, with the form in which help shows it; what a
// sentence does is a function of the world in which the story is played.

import (
	"fmt"
	"github.com/review-coordinator/coordinator/internal/sandbox"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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

func tokens(line string) (all []token) {
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

// inline is a comment on the diff, below a review.
type inline struct {
	text string
	line int
}

// sentence is one line while it is read.
type sentence struct {
	p       *parser
	line    int
	toks    []token
	i       int
	subject token
	body    []string
	inline  []inline
	failed  bool
}

func (l *sentence) fail(t token, message, hint string) {
	if !l.failed { // one mistake a line: the rest follows from it
		l.p.fail(l.line, t.col, t.width(), message, hint)
	}
	l.failed = true
}

// here is the word that comes next; behind the last one it is empty.
func (l *sentence) here() token {
	if l.i < len(l.toks) {
		return l.toks[l.i]
	}
	end := 1
	if n := len(l.toks); n > 0 {
		end = l.toks[n-1].col + l.toks[n-1].width() + 1
	}
	return token{col: end}
}

func (l *sentence) next(what string) token {
	t := l.here()
	if l.i >= len(l.toks) {
		l.fail(t, what+" is missing", "")
	}
	l.i++
	return t
}

// accept takes the next words if they are these.
func (l *sentence) accept(words ...string) bool {
	for i, w := range words {
		if l.i+i >= len(l.toks) || l.toks[l.i+i].text != w || l.toks[l.i+i].quoted {
			return false
		}
	}
	l.i += len(words)
	return true
}

// time reads when it happens: since the story's beginning, or with a plus since the line above.
func (l *sentence) time(last time.Duration) (time.Duration, bool) {
	t := l.next("the time")
	text, relative := strings.CutPrefix(t.text, "+")
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		l.fail(t, fmt.Sprintf("%q is not a time", t.text), "a line begins with the time since the story began, such as 0s, 1m30s, or with the time since the line above, such as +10s")
	case d < 0:
		l.fail(t, "nothing happens before the story begins", "")
	case relative:
		d += last
	case d < last:
		l.fail(t, fmt.Sprintf("%s comes after %s", t.text, short(last)), "put the lines in the order in which they happen")
	}
	return d, !l.failed
}

func (l *sentence) duration(what string) time.Duration {
	t := l.next(what)
	d, err := time.ParseDuration(t.text)
	if (err != nil || d <= 0) && !l.failed {
		l.fail(t, fmt.Sprintf("%q is not a duration", t.text), "durations are written 90s, 3m, 2h")
	}
	return d
}

func (l *sentence) count(what string) int {
	t := l.next(what)
	n, err := strconv.Atoi(t.text)
	if (err != nil || n < 1) && !l.failed {
		l.fail(t, fmt.Sprintf("%q is not a number", t.text), "")
	}
	return n
}

// number reads #7.
func (l *sentence) number() int {
	t := l.next("the pull request's number")
	n, err := strconv.Atoi(strings.TrimPrefix(t.text, "#"))
	if (err != nil || n < 1 || !strings.HasPrefix(t.text, "#")) && !l.failed {
		l.fail(t, fmt.Sprintf("%q is not the number of a pull request", t.text), "write #7")
	}
	return n
}

// pull reads "on #7"; without it the only pull request is meant, or the first.
func (l *sentence) pull(preposition string) (n int, found bool) {
	if l.i+1 < len(l.toks) && l.toks[l.i].text == preposition && strings.HasPrefix(l.toks[l.i+1].text, "#") {
		l.i++
		return l.number(), true
	}
	return 0, false
}

// label reads the name of a run, or of the reviewer whose run it is.
func (l *sentence) label() string {
	t := l.next("the run")
	l.p.used = append(l.p.used, use{label: t.text, line: l.line, tok: t})
	return t.text
}

// commit reads the name of a commit.
func (l *sentence) commit(known bool) string {
	t := l.next("the commit")
	if known && !l.p.commits[t.text] && len(t.text) != 40 && !l.failed {
		l.fail(t, fmt.Sprintf("there is no commit %q yet", t.text), meant(t.text, slices.Collect(maps.Keys(l.p.commits))))
	}
	l.p.commits[t.text] = true
	return t.text
}

func (l *sentence) paths() (all []string) {
	stop := []string{"at", "onto", "from", "branch", "as", "renaming", "of", "labelled", "with", "opened", "to", "written", "on"}
	for l.i < len(l.toks) && !slices.Contains(stop, l.toks[l.i].text) {
		all = append(all, l.next("a path").text)
	}
	if len(all) == 0 {
		l.fail(l.here(), "a path is missing", "")
	}
	return all
}

// text is the lines below the sentence.
func (l *sentence) text() string {
	return strings.Join(l.body, "\n")
}

// needText is the same where there is nothing without it.
func (l *sentence) needText() string {
	if len(l.body) == 0 {
		l.fail(l.toks[len(l.toks)-1], "its text is missing", "write it below, each line after a |")
	}
	return l.text()
}

// A verb with its form and what reads the rest of its sentence.
type verb struct {
	words string
	form  string
	read  func(*sentence) func(*world) error
}

// verbs are all that can happen. Where one begins like another the longer one comes first.
func verbs() []verb {
	return []verb{
		{"opens", "LOGIN opens #N [at COMMIT] [onto BRANCH] [branch NAME] [from fork OWNER] [as draft] [changing PATH…] [renaming OLD NEW] [of N files] [labelled LABEL] [written by LOGIN] [with LOGIN] [opened DURATION ago]", (*sentence).opens},
		{"force-pushes", "LOGIN force-pushes COMMIT [to #N] [changing PATH…]", (*sentence).pushes},
		{"pushes", "LOGIN pushes COMMIT [to #N] [changing PATH…] [written by LOGIN] [with LOGIN]", (*sentence).pushes},
		{"retargets", "LOGIN retargets [#N] to BRANCH", (*sentence).retargets},
		{"converts to draft", "LOGIN converts to draft [#N]", simple((*sandbox.GitHub).Draft)},
		{"marks ready", "LOGIN marks ready [#N]", simple((*sandbox.GitHub).Ready)},
		{"closes", "LOGIN closes [#N]", simple((*sandbox.GitHub).Close)},
		{"reopens the threads of", "LOGIN reopens the threads of AUTHOR", (*sentence).unresolves},
		{"reopens", "LOGIN reopens [#N]", simple((*sandbox.GitHub).Reopen)},
		{"merges", "LOGIN merges [#N]", simple((*sandbox.GitHub).Merge)},
		{"labels", "LOGIN labels LABEL", labels((*sandbox.GitHub).Label)},
		{"unlabels", "LOGIN unlabels LABEL", labels((*sandbox.GitHub).Unlabel)},
		{"asks", "LOGIN asks LOGIN", (*sentence).asks},

		{"starts", "REVIEWER starts [queued|waiting|skipped|action_required|startup_failure] [as LABEL] [workflow PATH] [event EVENT] [on COMMIT] [of #N] [by LOGIN] [created DURATION ago] [jobs NAME…]", (*sentence).starts},
		{"gets a runner", "RUN gets a runner", toRun((*sandbox.GitHub).JobStarts)},
		{"finds no runner", "RUN finds no runner", toRun((*sandbox.GitHub).NoRunner)},
		{"begins again", "RUN begins again", toRun((*sandbox.GitHub).Restart)},
		{"is deleted", "RUN is deleted", toRun((*sandbox.GitHub).DeleteRun)},
		{"is hidden", "RUN is hidden", hides(true)},
		{"is listed", "RUN is listed", hides(false)},
		{"cannot be rerun", `RUN cannot be rerun "GitHub's words"`, (*sentence).refuses},
		{"succeeds", "RUN succeeds [in step NAME] [in job NAME] [annotating TEXT] [losing its log]", ends("success")},
		{"fails", `RUN fails ["log"] [in step NAME] [in job NAME] [annotating TEXT] [losing its log]`, ends("failure")},
		{"times out", "RUN times out", ends("timed_out")},
		{"is cancelled", "RUN is cancelled", ends("cancelled")},
		{"ends", "RUN ends CONCLUSION", ends("")},
		{"reruns", "LOGIN reruns RUN", (*sentence).reruns},

		{"comments", "AUTHOR comments [on #N]", (*sentence).comments},
		{"edits the comment by", "LOGIN edits the comment by AUTHOR", (*sentence).editsComment},
		{"deletes the comment by", "LOGIN deletes the comment by AUTHOR", (*sentence).deletesComment},
		{"approves", "AUTHOR approves [at COMMIT] [on #N]", reviews("APPROVED")},
		{"requests changes", "AUTHOR requests changes [at COMMIT] [on #N]", reviews("CHANGES_REQUESTED")},
		{"reviews", "AUTHOR reviews [at COMMIT] [on #N]", reviews("COMMENTED")},
		{"edits the review by", "LOGIN edits the review by AUTHOR", (*sentence).editsReview},
		{"dismisses the review by", "LOGIN dismisses the review by AUTHOR", (*sentence).dismisses},
		{"replies to", "LOGIN replies to AUTHOR", (*sentence).replies},
		{"resolves the threads of", "LOGIN resolves the threads of AUTHOR", (*sentence).resolves},
		{"outdates the threads of", "LOGIN outdates the threads of AUTHOR", (*sentence).outdates},

		{"sets status", `AUTHOR sets status CONTEXT to STATE ["description"] [on COMMIT]`, (*sentence).setsStatus},
		{"sets check", `APP sets check NAME to STATE ["title"] [on COMMIT]`, (*sentence).setsCheck},
		{"changes the policy", "LOGIN changes the policy", (*sentence).changesPolicy},
		{"removes the policy", "LOGIN removes the policy", (*sentence).removesPolicy},
		{"writes", "LOGIN writes PATH [at COMMIT]", (*sentence).writes},
		{"may", "LOGIN may read|triage|write|maintain|admin", (*sentence).may},
		{"protects", "LOGIN protects BRANCH", (*sentence).protects},
		{"owns the token", "LOGIN owns the token", (*sentence).owns},
		{"happens", "nothing happens", (*sentence).nothing},
		{"says", `narrator says "TEXT"`, (*sentence).says},

		{"answers", `github answers STATUS ["body"] [header "NAME: VALUE"] to METHOD PATH [N times] [after N] [for DURATION]`, (*sentence).answers},
		{"loses", "github loses METHOD PATH [N times] [after N] [for DURATION]", faults(sandbox.FaultLost)},
		{"drops", "github drops METHOD PATH [N times] [after N] [for DURATION]", faults(sandbox.FaultUnsent)},
		{"resets", "github resets METHOD PATH [N times] [after N] [for DURATION]", faults(sandbox.FaultReset)},
		{"truncates", "github truncates METHOD PATH [N times] [after N] [for DURATION]", faults(sandbox.FaultTruncate)},
		{"garbles", "github garbles METHOD PATH [N times] [after N] [for DURATION]", faults(sandbox.FaultGarbage)},
		{"recovers", "github recovers", (*sentence).recovers},
	}
}

// Forms are the sentences of a timeline, as help shows them.
func Forms() (all []string) {
	for _, v := range verbs() {
		all = append(all, v.form)
	}
	return all
}

// parse reads subject, verb and the rest.
func (l *sentence) parse() func(*world) error {
	l.subject = l.next("who or what it is about")
	if l.failed {
		return nil
	}
	at := l.here()
	for _, v := range verbs() {
		if !l.accept(strings.Fields(v.words)...) {
			continue
		}
		do := v.read(l)
		if rest := l.here(); rest.text != "" && !l.failed {
			l.fail(rest, fmt.Sprintf("%q does not belong here", rest.text), "it is written: "+v.form)
		}
		if l.failed {
			return nil
		}
		return do
	}
	var known []string
	for _, v := range verbs() {
		first, _, _ := strings.Cut(v.words, " ")
		known = append(known, first)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if at.text == "" {
		l.fail(at, "it does not say what happens", "known: "+strings.Join(known, ", "))
		return nil
	}
	l.fail(at, fmt.Sprintf("nothing is known that %q does here", at.text), l.hint(at.text, known))
	return nil
}

// Words that people write first, with the form that they mean.
var otherwise = map[string]string{
	"posts": "AUTHOR comments", "answered": "AUTHOR comments", "replies": "LOGIN replies to AUTHOR", "commented": "AUTHOR comments",
	"crashes": `RUN fails "log"`, "crashed": `RUN fails "log"`, "errors": `RUN fails "log"`, "breaks": `RUN fails "log"`, "dies": `RUN fails "log"`, "failed": `RUN fails "log"`,
	"passes": "RUN succeeds", "finishes": "RUN succeeds", "completes": "RUN succeeds", "hangs": "RUN starts, and nothing after it",
	"rejects": "AUTHOR requests changes", "objects": "AUTHOR requests changes", "blocks": "AUTHOR requests changes",
	"begins": "REVIEWER starts", "runs": "REVIEWER starts", "creates": "LOGIN opens #N", "commits": "LOGIN pushes COMMIT",
	"rate": `RUN fails "429 Too Many Requests"`, "limited": `RUN fails "429 Too Many Requests"`, "rate-limited": `RUN fails "429 Too Many Requests"`, "hits": `RUN fails "429 Too Many Requests"`,
	"overloaded": `RUN fails "529 Overloaded"`,
	"down":       `RUN fails "503 Service Unavailable"`, "unavailable": `RUN fails "503 Service Unavailable"`, "cancels": "RUN is cancelled",
}

// hint says how a sentence that is not understood is written: by its verb, or by the word after "is" and "has".
func (l *sentence) hint(verb string, known []string) string {
	words := []string{strings.ToLower(verb)}
	if l.i+1 < len(l.toks) && slices.Contains([]string{"is", "gets", "has", "was", "goes"}, words[0]) {
		words = append(words, strings.ToLower(l.toks[l.i+1].text))
	}
	for _, word := range slices.Backward(words) {
		if form, found := otherwise[strings.TrimRight(word, "-.,")]; found {
			return "it is written: " + form
		}
	}
	// The verb may be right and its rest not: its forms say more than other verbs would.
	var forms []string
	for _, v := range verbs() {
		if first, _, _ := strings.Cut(v.words, " "); first == verb {
			forms = append(forms, v.form)
		}
	}
	if len(forms) > 0 {
		return "it is written: " + strings.Join(forms, "; ")
	}
	return meant(verb, known)
}

// simple is what somebody does to a pull request as a whole.
func simple(do func(*sandbox.GitHub, int, string) error) func(*sentence) func(*world) error {
	return func(l *sentence) func(*world) error {
		n := 0
		if strings.HasPrefix(l.here().text, "#") {
			n = l.number()
		}
		who := l.subject.text
		return func(w *world) error { return do(w.g, w.number(n), who) }
	}
}

func labels(do func(*sandbox.GitHub, int, string, string) error) func(*sentence) func(*world) error {
	return func(l *sentence) func(*world) error {
		label, who := l.next("the label").text, l.subject.text
		return func(w *world) error { return do(w.g, w.number(0), label, who) }
	}
}

func (l *sentence) opens() func(*world) error {
	s := sandbox.PullSpec{Author: l.subject.text, Number: l.number(), Head: "a1"}
	age := time.Duration(0)
	for l.here().text != "" && !l.failed {
		switch {
		case l.accept("at"):
			s.Head = l.commit(false)
		case l.accept("onto"):
			s.Base = l.next("the branch").text
		case l.accept("branch"):
			s.Branch = l.next("the branch").text
		case l.accept("from", "fork"):
			s.Fork = l.next("the fork's owner").text
		case l.accept("as", "draft"):
			s.Draft = true
		case l.accept("changing"):
			for _, path := range l.paths() {
				s.Files = append(s.Files, sandbox.File{Path: path})
			}
		case l.accept("renaming"):
			old := l.next("the old path").text
			s.Files = append(s.Files, sandbox.File{Previous: old, Path: l.next("the new path").text})
		case l.accept("of"):
			s.Changed = l.count("the number of files")
			if !l.accept("files") {
				l.fail(l.here(), "of N files", "")
			}
		case l.accept("labelled"):
			s.Labels = append(s.Labels, l.next("the label").text)
		case l.accept("written", "by"):
			s.Commit.Author = l.next("the author").text
		case l.accept("with"):
			s.Commit.CoAuthors = append(s.Commit.CoAuthors, l.next("the co-author").text)
		case l.accept("opened"):
			age = l.ago()
		default:
			return nil
		}
	}
	l.p.commits[s.Head], l.p.opens = true, true
	return func(w *world) error {
		s := s
		if age > 0 {
			s.Opened = w.now().Add(-age)
		}
		w.opened(w.g.OpenPull(s))
		return nil
	}
}

// ago reads "48h ago".
func (l *sentence) ago() time.Duration {
	d := l.duration("how long ago")
	if !l.accept("ago") {
		l.fail(l.here(), `"ago" is missing`, "")
	}
	return d
}

func (l *sentence) pushes() func(*world) error {
	s := sandbox.PushSpec{By: l.subject.text, Force: l.toks[l.i-1].text == "force-pushes"}
	head, n := l.commit(false), 0
	for l.here().text != "" && !l.failed {
		switch {
		case l.accept("to"):
			n = l.number()
		case l.accept("changing"):
			for _, path := range l.paths() {
				s.Files = append(s.Files, sandbox.File{Path: path})
			}
		case l.accept("written", "by"):
			s.Commit.Author = l.next("the author").text
		case l.accept("with"):
			s.Commit.CoAuthors = append(s.Commit.CoAuthors, l.next("the co-author").text)
		default:
			return nil
		}
	}
	return func(w *world) error { return w.g.Push(w.number(n), head, s) }
}

func (l *sentence) retargets() func(*world) error {
	n := 0
	if strings.HasPrefix(l.here().text, "#") {
		n = l.number()
	}
	if !l.accept("to") {
		l.fail(l.here(), `"to" and a branch are missing`, "")
	}
	base, who := l.next("the branch").text, l.subject.text
	return func(w *world) error { return w.g.Retarget(w.number(n), base, who) }
}

func (l *sentence) asks() func(*world) error {
	whom, who := l.next("whom it asks").text, l.subject.text
	return func(w *world) error { return w.g.RequestReview(w.number(0), w.author(whom), who) }
}

func (l *sentence) starts() func(*world) error {
	label, s, age, n := l.subject.text, sandbox.RunSpec{}, time.Duration(0), 0
	named := false
	for l.here().text != "" && !l.failed {
		switch word := l.here().text; {
		case word == "queued" || word == "waiting":
			l.i++
			s.Status = word
		case slices.Contains([]string{"skipped", "action_required", "startup_failure"}, word):
			l.i++
			s.Conclusion = word
		case l.accept("as"):
			label = l.next("the run's label").text
		case l.accept("workflow"):
			s.Workflow, named = l.next("the workflow's path").text, true
		case l.accept("event"):
			s.Event = l.next("the event").text
		case l.accept("on"):
			s.Head = l.commit(true)
		case l.accept("of"):
			n = l.number()
		case l.accept("by"):
			s.By = l.next("who caused it").text
		case l.accept("created"):
			age = l.ago()
		case l.accept("jobs"):
			for l.here().text != "" {
				s.Jobs = append(s.Jobs, l.next("the job's name").text)
			}
		default:
			return nil
		}
	}
	l.p.labels[label] = true
	reviewer := l.subject.text
	if !named {
		l.p.used = append(l.p.used, use{label: reviewer, line: l.line, tok: l.subject, starts: true})
	}
	return func(w *world) error {
		s := s
		if s.Workflow == "" {
			r, found := w.s.reviewers[reviewer]
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
		s.PR = w.number(n)
		return w.started(label, s)
	}
}

// toRun is what happens to a run.
func toRun(do func(*sandbox.GitHub, int64) error) func(*sentence) func(*world) error {
	return func(l *sentence) func(*world) error {
		label := l.itself()
		return func(w *world) error { return w.run(label, func(id int64) error { return do(w.g, id) }) }
	}
}

// itself is the run that is the sentence's subject.
func (l *sentence) itself() string {
	l.p.used = append(l.p.used, use{label: l.subject.text, line: l.line, tok: l.subject})
	return l.subject.text
}

func hides(hidden bool) func(*sentence) func(*world) error {
	return func(l *sentence) func(*world) error {
		label := l.itself()
		return func(w *world) error { return w.run(label, func(id int64) error { return w.g.Hide(id, hidden) }) }
	}
}

func (l *sentence) refuses() func(*world) error {
	label, words := l.itself(), l.next("what GitHub says").text
	return func(w *world) error { return w.run(label, func(id int64) error { return w.g.Refuse(id, words) }) }
}

var conclusions = []string{"success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale"}

func ends(conclusion string) func(*sentence) func(*world) error {
	return func(l *sentence) func(*world) error {
		label, f := l.itself(), sandbox.Finish{Conclusion: conclusion, Log: l.text()}
		if conclusion == "" {
			t := l.next("the conclusion")
			f.Conclusion = t.text
			if !slices.Contains(conclusions, t.text) {
				l.fail(t, fmt.Sprintf("GitHub has no conclusion %q", t.text), meant(t.text, slices.Clone(conclusions)))
			}
		}
		if l.here().quoted {
			f.Log = l.next("its log").text
		}
		for l.here().text != "" && !l.failed {
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
			return w.run(label, func(id int64) error {
				f := f
				f.Attempt = w.attempt
				_, err := w.g.FinishRun(id, f)
				return err
			})
		}
	}
}

func (l *sentence) reruns() func(*world) error {
	label, who := l.label(), l.subject.text
	return func(w *world) error { return w.run(label, func(id int64) error { return w.g.RerunByPerson(id, who) }) }
}

func (l *sentence) comments() func(*world) error {
	n, _ := l.pull("on")
	body, who := l.needText(), l.subject.text
	return func(w *world) error {
		id, err := w.g.Comment(w.number(n), w.author(who), w.expand(body))
		w.comments[who] = id
		return err
	}
}

func (l *sentence) editsComment() func(*world) error {
	whose, who, body := l.next("whose comment").text, l.subject.text, l.needText()
	return func(w *world) error {
		id, found := w.comments[whose]
		if !found {
			return fmt.Errorf("%s has written no comment", whose)
		}
		return w.g.EditComment(id, w.author(who), w.expand(body))
	}
}

func (l *sentence) deletesComment() func(*world) error {
	whose := l.next("whose comment").text
	return func(w *world) error {
		id, found := w.comments[whose]
		if !found {
			return fmt.Errorf("%s has written no comment", whose)
		}
		return w.g.DeleteComment(id)
	}
}

func reviews(state string) func(*sentence) func(*world) error {
	return func(l *sentence) func(*world) error {
		s, n := sandbox.ReviewSpec{State: state, Body: l.text()}, 0
		for l.here().text != "" && !l.failed {
			if number, found := l.pull("on"); found {
				n = number
			} else if l.accept("at") {
				s.Commit = l.commit(true)
			} else {
				return nil
			}
		}
		for _, in := range l.inline {
			place, body, _ := strings.Cut(in.text, " ")
			path, number, _ := strings.Cut(place, ":")
			line, err := strconv.Atoi(number)
			if number != "" && err != nil || body == "" {
				l.p.fail(in.line, 1, len(l.p.lines[in.line-1]), "a comment on the diff needs its place and its text", "> cart.go:12 The price may be negative.")
			}
			s.Comments = append(s.Comments, sandbox.Line{Path: path, Line: line, Body: body})
		}
		who := l.subject.text
		return func(w *world) error {
			s := s
			s.By, s.Body = w.author(who), w.expand(s.Body)
			id, err := w.g.Review(w.number(n), s)
			w.reviews[who] = id
			return err
		}
	}
}

// review is what is done to the newest review by somebody.
func (l *sentence) review(do func(w *world, id int64, who string) error) func(*world) error {
	whose, who := l.next("whose review").text, l.subject.text
	return func(w *world) error {
		id, found := w.reviews[whose]
		if !found {
			return fmt.Errorf("%s has written no review", whose)
		}
		return do(w, id, w.author(who))
	}
}

func (l *sentence) editsReview() func(*world) error {
	body := l.text()
	return l.review(func(w *world, id int64, who string) error { return w.g.EditReview(id, who, w.expand(body)) })
}

func (l *sentence) dismisses() func(*world) error {
	return l.review(func(w *world, id int64, who string) error { return w.g.Dismiss(id, who) })
}

// threads is what is done to the threads that somebody opened.
func (l *sentence) threads(do func(w *world, opener, who string) error) func(*world) error {
	opener, who := l.next("whose threads").text, l.subject.text
	return func(w *world) error { return do(w, w.author(opener), w.author(who)) }
}

func (l *sentence) replies() func(*world) error {
	body := l.needText()
	return l.threads(func(w *world, opener, who string) error {
		_, err := w.g.Reply(w.number(0), opener, who, w.expand(body))
		return err
	})
}

func (l *sentence) resolves() func(*world) error {
	return l.threads(func(w *world, opener, who string) error { return w.g.Resolve(w.number(0), opener, who) })
}

func (l *sentence) unresolves() func(*world) error {
	return l.threads(func(w *world, opener, _ string) error { return w.g.Unresolve(w.number(0), opener) })
}

func (l *sentence) outdates() func(*world) error {
	return l.threads(func(w *world, opener, _ string) error { return w.g.Outdate(w.number(0), opener) })
}

// settings reads: NAME to STATE ["words"] [on COMMIT].
func (l *sentence) settings(states []string) (name, state, words, head string) {
	name = l.next("its name").text
	if !l.accept("to") {
		l.fail(l.here(), `"to" and a state are missing`, "")
	}
	t := l.next("the state")
	state = t.text
	if !slices.Contains(states, state) && !l.failed {
		l.fail(t, fmt.Sprintf("%q is not a state of it", state), meant(state, slices.Clone(states)))
	}
	if l.here().quoted {
		words = l.next("").text
	}
	if l.accept("on") {
		head = l.commit(true)
	}
	return name, state, words, head
}

func (l *sentence) setsStatus() func(*world) error {
	context, state, words, head := l.settings([]string{"pending", "success", "failure", "error"})
	who := l.subject.text
	return func(w *world) error {
		_, err := w.g.SetStatus(sandbox.Status{Context: context, State: state, Description: words, Head: w.head(head), By: w.author(who)})
		return err
	}
}

func (l *sentence) setsCheck() func(*world) error {
	open := []string{"queued", "in_progress"}
	name, state, words, head := l.settings(append(open, conclusions...))
	s := sandbox.CheckSpec{Name: name, Title: words, Summary: l.text(), App: sandbox.App{Slug: l.subject.text}}
	if slices.Contains(open, state) {
		s.Status = state
	} else {
		s.Conclusion = state
	}
	return func(w *world) error {
		s := s
		s.Head, s.Summary = w.head(head), w.expand(s.Summary)
		_, err := w.g.SetCheck(s)
		return err
	}
}

const policyPath = ".github/review-coordinator.yml"

func (l *sentence) changesPolicy() func(*world) error {
	policy := l.needText()
	l.p.mends = true
	l.p.learn(policy)
	return func(w *world) error {
		w.g.SetFile(policyPath, "", policy)
		return nil
	}
}

func (l *sentence) removesPolicy() func(*world) error {
	return func(w *world) error {
		w.g.RemoveFile(policyPath, "")
		return nil
	}
}

func (l *sentence) writes() func(*world) error {
	path, ref := l.next("the path").text, ""
	if l.accept("at") {
		ref = sandbox.SHA(l.commit(false))
	}
	content := l.text()
	return func(w *world) error {
		w.g.SetFile(path, ref, content)
		return nil
	}
}

func (l *sentence) may() func(*world) error {
	t, who := l.next("the permission"), l.subject.text
	if known := []string{"none", "read", "triage", "write", "maintain", "admin"}; !slices.Contains(known, t.text) {
		l.fail(t, fmt.Sprintf("GitHub has no permission %q", t.text), meant(t.text, known))
	}
	return func(w *world) error {
		w.g.Permission(who, t.text)
		return nil
	}
}

func (l *sentence) protects() func(*world) error {
	branch := l.next("the branch").text
	return func(w *world) error {
		w.g.Protect(branch)
		return nil
	}
}

// owns says that the coordinator has a personal token.
func (l *sentence) owns() func(*world) error {
	l.p.person = l.subject.text
	return func(*world) error { return nil }
}

func (l *sentence) nothing() func(*world) error {
	if l.subject.text != "nothing" {
		l.fail(l.subject, "only nothing happens", "write: nothing happens")
	}
	return func(*world) error { return nil }
}

// says is for those who listen.
func (l *sentence) says() func(*world) error {
	if l.subject.text != "narrator" {
		l.fail(l.subject, "only the narrator says something", "people and reviewers write: LOGIN comments")
	}
	l.next("what the narrator says")
	return func(*world) error { return nil }
}

// byGitHub checks that it is GitHub that does it.
func (l *sentence) byGitHub() {
	l.p.faulty = true
	if l.subject.text != "github" {
		l.fail(l.subject, "only github does that", "")
	}
}

func faults(kind sandbox.FaultKind) func(*sentence) func(*world) error {
	return func(l *sentence) func(*world) error { return l.fault(sandbox.Fault{Kind: kind}) }
}

func (l *sentence) answers() func(*world) error {
	f := sandbox.Fault{Status: l.count("the status")}
	if l.here().quoted {
		f.Body = fmt.Sprintf(`{"message":%q}`, l.next("").text)
	}
	for l.accept("header") {
		f.Header = append(f.Header, l.next("the header").text)
	}
	if !l.accept("to") {
		l.fail(l.here(), `"to", a method and a path are missing`, "")
	}
	return l.fault(f)
}

// fault reads METHOD PATH [N times] [after N] [for DURATION].
func (l *sentence) fault(f sandbox.Fault) func(*world) error {
	l.byGitHub()
	method := l.next("the method")
	if known := []string{"GET", "POST", "PATCH", "PUT", "DELETE", "*"}; !slices.Contains(known, method.text) && !l.failed {
		l.fail(method, fmt.Sprintf("%q is not a method", method.text), meant(method.text, known))
	}
	path := l.next("the path")
	if !strings.HasPrefix(path.text, "/") && !l.failed {
		l.fail(path, "a path begins with a slash", "* is one part of it, ** at the end the rest: /repos/*/*/actions/**")
	}
	f.Match = method.text + " " + path.text
	for l.here().text != "" && !l.failed {
		switch {
		case l.accept("after"):
			f.Skip = l.count("the number of requests")
		case l.accept("for"):
			f.For = l.duration("how long")
		case l.accept("once"):
			f.Times = 1
		default:
			f.Times = l.count("how often")
			if !l.accept("times") {
				l.fail(l.here(), `"times" is missing`, "it is written: METHOD PATH [N times] [after N] [for DURATION]")
			}
		}
	}
	return func(w *world) error {
		w.g.Fault(f)
		return nil
	}
}

func (l *sentence) recovers() func(*world) error {
	l.byGitHub()
	return func(w *world) error {
		w.g.ClearFaults()
		return nil
	}
}
