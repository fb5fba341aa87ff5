package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// answer is what an attempt came to, before the policy is applied to it.
type answer struct {
	outcome  quorum.Outcome
	reason   quorum.Reason
	detail   string
	at       time.Time // when it came
	ref      quorum.TextRef
	url      string
	findings []quorum.Finding
	threads  bool          // resolving threads would end the objection
	excerpt  string        // of an answer without a verdict
	reset    time.Time     // of a limit
	until    time.Duration // of a cancellation: how long a newer run may supersede it
}

// read says what attempt a of r came to. The order of judgement: texts (identity and binding came first), then what was
// remembered of them, then the run's log and annotations, then its conclusion.
func (j judge) read(r quorum.Reviewer, a attempt) answer {
	if r.Verdict.Kind == quorum.Conclusion {
		if got, seen := j.concluded(r, a); seen {
			return j.remembered(r, a, got, nil)
		}
		return j.unseen(a)
	}
	words := j.words(r, a)
	return j.remembered(r, a, j.heard(r, a, words), words)
}

// words are all of r's evidence in texts, checks and statuses, oldest first.
func (j judge) words(r quorum.Reviewer, a attempt) []word {
	words := j.texts(r, a)
	for _, all := range [][]word{j.checkWords(r), j.statusWords(r)} {
		if w, found := clearest(all); found {
			words = append(words, w)
		}
	}
	if a.run == nil && (a.number > 1 || a.byPerson) { // what was no verdict belongs to the attempt before
		words = slices.DeleteFunc(words, func(w word) bool { return !w.verdict() && !w.void && w.at.Before(a.from) })
	}
	slices.SortStableFunc(words, func(a, b word) int { return a.at.Compare(b.at) })
	return slices.DeleteFunc(words, func(w word) bool { return w.Outcome == quorum.Unrelated })
}

func readCheck(r quorum.Reviewer, c quorum.CheckRun) review.Reading {
	if c.Status != "completed" {
		return review.Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning}
	}
	return review.Read(r, review.Material{Kind: review.Check, Body: strings.Join([]string{c.Title, c.Summary, c.Text}, "\n\n"), Conclusion: c.Conclusion})
}

func readStatus(r quorum.Reviewer, st quorum.Status) review.Reading {
	return review.Read(r, review.Material{Kind: review.Status, Body: st.Description, State: st.State})
}

// checkWords are r's check runs on this head and base, by name and App: never a status of that name, never another App's. A
// job is as good as its run: of another branch it is nothing, and it approves once a list shows that run.
func (j judge) checkWords(r quorum.Reviewer) (words []word) {
	if r.Check == "" {
		return nil
	}
	for _, c := range j.s.Checks {
		if c.Name != r.Check || !strings.EqualFold(c.App, r.App) || j.c.past(latest(c.Started, c.Completed)) {
			continue
		}
		w := word{Reading: readCheck(r, c), at: latest(c.Started, c.Completed), ref: quorum.TextRef{Kind: quorum.TextCheck, ID: c.ID}, url: c.URL, body: c.Summary}
		run, listed := j.runOf(c)
		if c.Job && (listed && j.elsewhere(run) || !listed && w.Outcome == quorum.Approved) {
			continue
		}
		if w.Inline { // it counts the comments that stand in its reviews
			w.threads = j.opened(r, 0)
		}
		words = append(words, w.unless(j.checkOfAnother(c)))
	}
	return words
}

// statusWords are r's commit statuses on this head and base, by context and creator.
func (j judge) statusWords(r quorum.Reviewer) (words []word) {
	if r.Status == "" {
		return nil
	}
	for _, st := range j.s.Statuses {
		if strings.EqualFold(st.Context, r.Status) && st.Creator.Is(r.Author) && !j.c.past(st.At) {
			w := word{Reading: readStatus(r, st), at: st.At, ref: quorum.TextRef{Kind: quorum.TextStatus, ID: st.ID}, url: st.URL, body: st.Description}
			words = append(words, w.unless(j.another(st.At)))
		}
	}
	return words
}

// clearest is the newest of checks or statuses; one that may be about another pull request leaves the word to the others.
func clearest(words []word) (best word, found bool) {
	for _, w := range words {
		if !found || best.void && !w.void || best.void == w.void && w.ref.ID >= best.ref.ID {
			best, found = w, true
		}
	}
	return best, found
}

// heard is what the words of an attempt say together.
func (j judge) heard(r quorum.Reviewer, a attempt, words []word) answer {
	var approval, objection, other *word
	for i := range words {
		w := &words[i]
		if w.void {
			continue
		}
		switch w.Outcome {
		case quorum.Findings:
			if j.ended(r, *w) {
				approval = w
				continue
			}
			objection = w
		case quorum.Approved:
			approval = w
			if w.review && objection != nil && objection.review && r.Author != Actions { // of several reviews the newest that holds a verdict counts
				objection = nil
			}
		default:
			if other == nil || !final(other.Outcome) || final(w.Outcome) {
				other = w
			}
		}
	}
	switch {
	case objection != nil:
		return j.objects(*objection)
	case approval != nil:
		return j.approves(r, *approval)
	case other != nil && (other.Outcome != quorum.Running || a.ended.IsZero()):
		return j.without(a, *other)
	}
	got := j.unseen(a)
	switch {
	case got.outcome == quorum.Empty && j.lost(r, a):
		got.reason = quorum.ReasonAmbiguous
	case got.outcome == quorum.Silent && slices.ContainsFunc(words, func(w word) bool { return w.why == quorum.ReasonUnnamed }):
		got.reason = quorum.ReasonUnnamed
	}
	if got.outcome != quorum.Silent && got.outcome != quorum.Empty {
		return got
	}
	for _, w := range words {
		if w.why == quorum.ReasonOtherPull {
			return w.declined()
		}
	}
	return got
}

// final reports whether an outcome without a verdict says why there is none.
func final(o quorum.Outcome) bool {
	switch o {
	case quorum.Limited, quorum.Failed, quorum.Declined, quorum.Overloaded:
		return true
	}
	return false
}

// ended reports whether an objection by inline comments has ended: every thread of it is resolved or outdated. An
// objection in words or by CHANGES_REQUESTED does not end that way.
func (j judge) ended(r quorum.Reviewer, w word) bool {
	if len(w.threads) == 0 || !w.Inline || w.reviewState == "CHANGES_REQUESTED" || j.fewer(w) {
		return false
	}
	for _, t := range w.threads {
		if !j.over(t) || t.Edited && !t.Editor.Is(r.Author) {
			return false
		}
	}
	return true
}

// fewer reports whether threads of a remembered objection are gone: deleting them does not end it.
func (j judge) fewer(w word) bool {
	return slices.ContainsFunc(j.s.Record.Objections, func(o quorum.Objection) bool { return o.TextRef == w.ref && len(w.threads) < o.Threads })
}

func (j judge) objects(w word) answer {
	got := answer{outcome: quorum.Findings, reason: quorum.ReasonFindings, detail: w.Detail, at: w.at, ref: w.ref, url: w.url, findings: w.Findings}
	for _, t := range w.threads {
		got.findings = append(got.findings, thread(t))
		got.threads = true
	}
	return got
}

func thread(t quorum.Thread) quorum.Finding {
	return quorum.Finding{Path: t.Path, Line: t.Line, Body: t.Body, Thread: t.ID, URL: t.URL}
}

// approves is an approval; of a reviewer that reports only what is new it counts only if none of its threads is open.
func (j judge) approves(r quorum.Reviewer, w word) answer {
	got := answer{outcome: quorum.Approved, reason: quorum.ReasonApproved, at: w.at, ref: w.ref, url: w.url, findings: w.Findings}
	if w.Below {
		got.reason = quorum.ReasonAccepted
	}
	if w.Outcome == quorum.Findings {
		got.findings, got.reason = nil, quorum.ReasonResolved
		var by []string
		for _, t := range w.threads {
			if t.Resolved && !slices.Contains(by, t.ResolvedBy.Login) {
				by = append(by, t.ResolvedBy.Login)
			}
		}
		got.detail = strings.Join(by, ", ")
	}
	got.threads = len(w.threads) > 0 // they may be opened again
	if !r.OnlyNew && !w.NoOpen {
		return got
	}
	var open []quorum.Finding
	for _, t := range j.s.Threads {
		if t.Author.Is(r.Author) && !j.over(t) {
			open = append(open, thread(t))
		}
	}
	if len(open) == 0 {
		return got
	}
	return answer{outcome: quorum.Findings, reason: quorum.ReasonOpenThreads, at: w.at, ref: w.ref, url: w.url, findings: open, threads: true}
}

// without is an answer that holds no verdict.
func (j judge) without(a attempt, w word) answer {
	got := answer{outcome: w.Outcome, reason: w.Reason, detail: w.Detail, at: w.at, ref: w.ref, url: w.url}
	switch {
	case w.Reset > 0:
		got.reset = w.at.Add(w.Reset)
	case !w.Until.IsZero():
		got.reset = w.Until
	}
	got.excerpt = excerptOf(w)
	if a.run == nil || final(w.Outcome) || a.ended.IsZero() {
		return got
	}
	if run := j.unseen(a); run.outcome != quorum.Empty && run.outcome != quorum.Unknown { // the log or the conclusion knows more
		return run
	}
	return got
}

func excerptOf(w word) string {
	if w.Outcome != quorum.Malformed {
		return ""
	}
	return Excerpt(w.body)
}

// Excerpt is the beginning of a text, at most 600 characters.
func Excerpt(s string) string {
	s = strings.TrimSpace(s)
	n := 0
	for i := range s {
		if n == 600 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// lost reports whether a's run left a text that may as well be about another run's head.
func (j judge) lost(r quorum.Reviewer, a attempt) bool {
	if a.run == nil {
		return false
	}
	return slices.ContainsFunc(j.s.Comments, func(t quorum.Text) bool {
		at := latest(t.At, t.Edited)
		return t.Author.Is(r.Author) && r.Heading != "" && j.headed(r, t) && !at.Before(a.from) && !at.After(a.ended.Add(afterEnd)) && j.ambiguous(r, *a.run, at)
	})
}

// concluded reads a verdict: conclusion.
func (j judge) concluded(r quorum.Reviewer, a attempt) (answer, bool) {
	var w word
	seen := true
	switch {
	case r.Check != "":
		w, seen = clearest(j.checkWords(r))
	case r.Status != "":
		w, seen = clearest(j.statusWords(r))
	case a.run != nil && a.run.Completed():
		if a.run.Conclusion == "success" {
			w = word{Reading: review.Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved}, at: a.ended, ref: quorum.TextRef{Kind: quorum.TextRun, ID: a.run.ID}, url: a.run.URL}.unless(j.runOfAnother(*a.run))
			break
		}
		run := j.unseen(a)
		if run.outcome == quorum.Empty { // neutral
			run.outcome, run.reason = quorum.Declined, quorum.ReasonSkipped
		}
		if run.outcome == quorum.Unknown && a.run.Conclusion == "failure" {
			if a.number > 1 {
				run.reason = quorum.ReasonFailedTwice
			}
			if r.FailureMeans == quorum.MeansFindings {
				run.outcome, run.reason, run.ref = quorum.Findings, quorum.ReasonFindings, quorum.TextRef{Kind: quorum.TextRun, ID: a.run.ID}
			}
		}
		return run, true
	default:
		seen = false
	}
	if w.void {
		return w.declined(), seen
	}
	return answer{outcome: w.Outcome, reason: w.Reason, detail: w.Detail, at: w.at, ref: w.ref, url: w.url, findings: w.Findings}, seen
}

// unseen is what an attempt without a word came to, as its run shows.
func (j judge) unseen(a attempt) answer {
	got := answer{at: a.from}
	if a.run == nil {
		got.outcome, got.reason = quorum.Silent, quorum.ReasonSilent
		return got
	}
	run := *a.run
	got.url = run.URL
	switch {
	case run.Status == "waiting", run.Completed() && run.Conclusion == "action_required":
		got.outcome, got.reason = quorum.AwaitingApproval, quorum.ReasonApproval
		return got
	case !run.Completed():
		got.outcome, got.reason, got.at = quorum.Running, quorum.ReasonRunning, a.working
		return got
	}
	got.at = a.ended
	switch run.Conclusion {
	case "skipped":
		got.outcome, got.reason = quorum.Declined, quorum.ReasonSkipped
		return got
	case "cancelled": // by somebody, or by the job's own timeout-minutes
		if log, told := explained(run); told && log.Outcome == quorum.Hung {
			got.outcome, got.reason, got.detail = log.Outcome, log.Reason, log.Detail
			return got
		}
		got.outcome, got.reason, got.until = quorum.Cancelled, quorum.ReasonCancelled, j.p.Retry.FastFail
		return got
	case "timed_out":
		got.outcome, got.reason = quorum.Hung, quorum.ReasonHung
		return got
	}
	if log, told := explained(run); told {
		got.outcome, got.reason, got.detail = log.Outcome, log.Reason, log.Detail
		switch {
		case log.Reset > 0:
			got.reset = a.ended.Add(log.Reset)
		case !log.Until.IsZero():
			got.reset = log.Until
		}
		return got
	}
	switch run.Conclusion {
	case "success", "neutral":
		got.outcome, got.reason = quorum.Empty, quorum.ReasonEmpty
	default:
		got.outcome, got.reason = quorum.Unknown, quorum.ReasonUnknown
	}
	return got
}

// explained reads the logs and annotations of a run. What will not go away beats what may.
func explained(run quorum.Run) (best review.Reading, told bool) {
	for _, job := range run.Jobs {
		for _, text := range append(slices.Clone(job.Annotations), job.Log) {
			if text == "" {
				continue
			}
			got := review.Read(quorum.Reviewer{Verdict: quorum.Format{Kind: quorum.Auto}}, review.Material{Kind: review.Log, Body: text, Conclusion: run.Conclusion})
			if got.Outcome == quorum.Unknown || got.Outcome == quorum.Unrelated || got.Outcome == quorum.Empty && run.Conclusion != "success" {
				continue
			}
			if !told || weight(got.Outcome) > weight(best.Outcome) {
				best, told = got, true
			}
		}
	}
	return best, told
}

// weight orders what a log may say: what is final beats what is transient.
func weight(o quorum.Outcome) int {
	switch o {
	case quorum.Failed:
		return 4
	case quorum.Declined:
		return 3
	case quorum.Limited:
		return 2
	case quorum.Overloaded, quorum.Hung:
		return 1
	}
	return 0
}

// remembered applies the record to an answer: an objection does not end because its text is gone, and an approval that
// stood and stands no more is not bought anew.
func (j judge) remembered(r quorum.Reviewer, a attempt, got answer, words []word) answer {
	if got.outcome == quorum.Findings {
		return got
	}
	if w, found := j.before(r, a, got); found {
		old := j.objects(w)
		old.reason = quorum.ReasonStands
		return old
	}
	for _, o := range j.s.Record.Objections {
		if o.Reviewer == r.Name && o.Base == j.s.PR.BaseRef && !j.c.past(o.At) && j.stands(r, a, got, o, words) {
			return answer{outcome: quorum.Findings, reason: quorum.ReasonStands, at: o.At, ref: o.TextRef, url: o.URL, findings: []quorum.Finding{{Body: o.Excerpt, URL: o.URL}}}
		}
	}
	if got.outcome == quorum.Approved {
		return got
	}
	since := j.c.base // of a reviewer without a run, whose first attempt begins anew with a reopening
	if a.run != nil {
		since = latest(since, a.from)
	}
	for _, st := range j.s.Record.Stood {
		if st.Reviewer == r.Name && !st.At.Before(since) && st.Kind != quorum.TextCheck && st.Kind != quorum.TextStatus && st.Kind != quorum.TextRun {
			why, by := quorum.ReasonDeleted, ""
			for _, w := range words {
				switch {
				case w.ref != st.TextRef:
				case w.void:
					why, by = w.why, w.by
				case w.Outcome == quorum.Running: // its author has begun anew in the same place
					return got
				default:
					why, by = quorum.ReasonEdited, r.Author
				}
			}
			return answer{outcome: quorum.Withdrawn, reason: why, detail: by, at: st.At, ref: st.TextRef}
		}
	}
	return got
}

// before is an objection of an earlier attempt or run of this head, which stands if the newest ended without a verdict. Nobody needs to have
// looked in between.
func (j judge) before(r quorum.Reviewer, a attempt, got answer) (objection word, found bool) {
	if r.Verdict.Kind == quorum.Conclusion || a.run == nil || a.ended.IsZero() || got.outcome == quorum.Approved {
		return word{}, false
	}
	var earlier []attempt
	for _, run := range j.runs(r) {
		switch {
		case run.ID == a.run.ID && a.number > 1:
			earlier = append(earlier, attempt{run: a.run, number: a.number - 1, from: run.Created, ended: a.from})
		case run.ID != a.run.ID && run.Completed() && run.Number < a.run.Number:
			earlier = append(earlier, attempt{run: &run, number: run.Attempt, from: run.Created, ended: j.end(run)})
		}
	}
	for _, e := range earlier {
		for _, w := range j.texts(r, e) {
			if w.verdict() && w.at.Before(a.from) {
				objection, found = w, w.Outcome == quorum.Findings && !j.ended(r, w)
			}
		}
	}
	return objection, found
}

// stands reports whether a remembered objection still objects.
func (j judge) stands(r quorum.Reviewer, a attempt, got answer, o quorum.Objection, words []word) bool {
	if o.Kind == quorum.TextThread { // open when it was remembered: deleting it does not close it
		return !slices.ContainsFunc(j.s.Threads, func(t quorum.Thread) bool { return t.ID == o.ID })
	}
	if o.Kind == quorum.TextRun || j.older(o, a) { // the newest attempt speaks, once it has said something
		return got.outcome != quorum.Approved && got.outcome != quorum.Running && (a.run == nil || !a.ended.IsZero()) && o.Kind != quorum.TextRun
	}
	if o.Kind == quorum.TextCheck || o.Kind == quorum.TextStatus { // nobody but its App writes it; its threads are others' to delete
		return slices.ContainsFunc(words, func(w word) bool {
			return w.ref == o.TextRef && w.Outcome == quorum.Findings && len(w.threads) < o.Threads
		})
	}
	for _, w := range words {
		if w.ref != o.TextRef {
			continue
		}
		switch {
		case w.void && w.why == quorum.ReasonDismissed:
			return w.by == "" || strings.EqualFold(w.by, j.s.PR.Author.Login)
		case w.void:
			return true
		case r.Author == Actions && w.at.After(o.At): // any workflow may have edited it since its attempt ended
			return true
		}
		return len(w.threads) < o.Threads
	}
	// Its text is gone. A later review of the same reviewer replaces an earlier one; nothing else does.
	return !(o.Kind == quorum.TextReview && got.outcome == quorum.Approved && got.ref.Kind == quorum.TextReview && got.at.After(o.At))
}

// older reports whether an objection is of an attempt before a: an earlier one of its run, or one of an earlier run that
// is still there to be compared.
func (j judge) older(o quorum.Objection, a attempt) bool {
	if a.run == nil || o.Run == a.run.ID {
		return o.Attempt < a.number
	}
	return slices.ContainsFunc(j.s.Runs, func(run quorum.Run) bool {
		return run.ID == o.Run && run.Path == a.run.Path && run.Number < a.run.Number
	})
}

// settle applies the policy to an answer: the vote, and what time will do to it.
func (j judge) settle(r quorum.Reviewer, a attempt, got answer, b quorum.Ballot) quorum.Ballot {
	b.Outcome, b.Reason, b.Detail, b.Evidence, b.Findings = got.outcome, got.reason, got.detail, got.ref, got.findings
	b.Attempt = a.number
	if got.url != "" {
		b.URL = got.url
	}
	if !got.at.IsZero() {
		b.Since = got.at
	}
	limit := j.c.start.Add(j.p.Deadline)
	if a.byPerson {
		limit = a.from.Add(j.p.Deadline)
	}
	end := earliest(a.working.Add(r.Timeout), limit)

	// GitHub starts no workflow for a Copilot review, nor for a check on a commit on which Actions run.
	b.Watch = r.Workflow == "" && (r.Request.Login != "" || r.Check != "")
	switch got.outcome {
	case quorum.Approved, quorum.Findings:
		return j.vote(r, a, got, b, end)
	case quorum.Silent:
		b.Vote, b.Deadline, b.Late, b.Open = quorum.Pending, end, quorum.ReasonNoAnswer, true
		if a.request == nil && !a.byPerson && j.asksFirst(r) {
			b.Next = []quorum.Action{j.ask(r, 1, j.c.start, limit)}
		}
		return j.settling(r, a, b, limit)
	case quorum.Running:
		return j.running(r, a, b, end, limit)
	case quorum.AwaitingApproval:
		b.Vote, b.Deadline, b.Late, b.Open = quorum.Pending, limit, quorum.ReasonApproval, true
		return b
	case quorum.Withdrawn:
		b.Vote, b.Deadline, b.Late, b.Open = quorum.Pending, end, got.reason, true
		return b
	case quorum.Cancelled:
		if !j.intended(quorum.Cancel, r.Name, a.run.ID, a.number) {
			b.Vote, b.Deadline, b.Late, b.Open = quorum.Pending, earliest(a.ended.Add(got.until), limit), quorum.ReasonCancelled, true
			return b
		}
		b.Outcome, b.Reason = quorum.Hung, quorum.ReasonHung
	case quorum.Failed, quorum.Declined:
		b.Vote = quorum.Unavailable
		return b
	}
	return j.again(r, a, got, b, limit)
}

// vote is a verdict. It counts once its attempt has ended, or that attempt's deadline is reached.
func (j judge) vote(r quorum.Reviewer, a attempt, got answer, b quorum.Ballot, end time.Time) quorum.Ballot {
	b.Vote, b.At, b.Retried, b.Threads = quorum.Approve, latest(got.at, j.c.start), a.number > 1, got.threads
	if got.outcome == quorum.Findings {
		b.Vote = quorum.Object
	}
	if a.run == nil {
		return b
	}
	if a.ended.IsZero() && got.reason != quorum.ReasonStands {
		then := b
		then.At = latest(got.at, end)
		b.Vote, b.Outcome, b.Reason, b.Deadline, b.Then, b.Findings = quorum.Pending, quorum.Running, quorum.ReasonRunning, end, &then, nil
		b.At, b.Since, b.Retried, b.Retrying, b.Threads = time.Time{}, a.working, false, a.number > 1, false
		b.Watch = a.number > 1
		return b
	}
	b.At = latest(b.At, a.ended)
	if at, found := j.stood(r.Name, got.ref); found && !at.Before(a.from) {
		b.At = earliest(b.At, at)
	}
	return b
}

// running is an attempt under way: it is cancelled at its end and run again if an attempt is left, else left to run.
func (j judge) running(r quorum.Reviewer, a attempt, b quorum.Ballot, end, limit time.Time) quorum.Ballot {
	b.Vote, b.Deadline, b.Late, b.Open, b.Retrying = quorum.Pending, end, quorum.ReasonLate, true, a.number > 1
	b.Watch = b.Watch || a.number > 1 && !a.byPerson
	if a.run == nil {
		return j.settling(r, a, b, limit)
	}
	if !j.left(r, a) {
		b.Spent, b.Failed = a.number > 1, a.number // at its deadline this one has failed, too
		return b
	}
	if i := slices.IndexFunc(j.s.Record.Refusals, func(no quorum.Refusal) bool {
		return no.Kind == quorum.Cancel && no.Run == a.run.ID && no.Attempt == a.number
	}); i >= 0 { // so it is left to run
		b.Late, b.Detail = j.s.Record.Refusals[i].Reason, j.s.Record.Refusals[i].Detail
		return b
	}
	b.Deadline = limit
	b.Next = []quorum.Action{{Kind: quorum.Cancel, Reviewer: r.Name, Due: end, Run: a.run.ID, Attempt: a.number}}
	if in, found := j.intent(quorum.Cancel, r.Name, a.run.ID, a.number); found {
		b.Outcome, b.Reason, b.Retrying, b.Watch = quorum.Hung, quorum.ReasonHung, true, true
		b.Next[0].Due = in.At.Add(settling)
		if in.Tries >= tries {
			b.Next = nil
		}
	}
	return b
}

// left reports whether an attempt is left that we may start.
func (j judge) left(r quorum.Reviewer, a attempt) bool {
	return !r.Shadow && a.spent < j.p.Retry.Max
}

// again is an attempt that ended without a verdict: it is run or asked again once, if that can help.
func (j judge) again(r quorum.Reviewer, a attempt, got answer, b quorum.Ballot, limit time.Time) quorum.Ballot {
	b.Failed = a.number
	b.Answers = j.answers(r, a, got)
	ended := latest(got.at, a.ended)
	due := ended.Add(j.backoff(a))
	switch b.Outcome {
	case quorum.Hung:
		due = ended
		if a.run != nil && a.run.Conclusion == "timed_out" {
			due = ended.Add(j.backoff(a))
		}
	case quorum.Empty:
		if a.run != nil && a.ended.Sub(a.working) < j.p.Retry.FastFail {
			due = ended
		}
	case quorum.Limited:
		if got.reset.IsZero() || !got.reset.Before(limit) {
			b.Vote, b.Open = quorum.Unavailable, a.run == nil
			return b
		}
		due = got.reset
	}
	if refusal, found := j.refusal(r, a); found {
		b.Vote, b.Outcome, b.Reason, b.Detail, b.Spent = quorum.Unavailable, quorum.Refused, refusal.Reason, refusal.Detail, true
		return b
	}
	possible := a.run != nil || j.mayAsk(r)
	if in, found := j.pendingRerun(a, r); found {
		b.Vote, b.Retrying, b.Watch = quorum.Pending, true, true
		b.Deadline, b.Late, b.Spent = earliest(in.At.Add(r.Timeout), latest(limit, in.At)), b.Reason, true
		if in.Tries < tries {
			b.Next = []quorum.Action{j.rerun(r, a, in.At.Add(settling), limit)}
		}
		return b
	}
	if !possible || !j.left(r, a) || !due.Before(limit) {
		b.Vote, b.Spent, b.Open = quorum.Unavailable, possible && !r.Shadow, a.run == nil
		return b
	}
	b.Vote, b.Retrying, b.Watch, b.Deadline, b.Late, b.Open = quorum.Pending, true, true, limit, b.Reason, true
	if a.run != nil {
		b.Next = []quorum.Action{j.rerun(r, a, due, limit)}
	} else {
		b.Next = []quorum.Action{j.ask(r, a.number+1, due, limit)}
	}
	return b
}

// settling repeats a request of which GitHub shows no trace.
func (j judge) settling(r quorum.Reviewer, a attempt, b quorum.Ballot, limit time.Time) quorum.Ballot {
	if a.request == nil {
		b.Watch = b.Watch || len(b.Next) > 0
		return b
	}
	b.Watch, b.Retrying = true, a.number > 1
	if refusal, found := j.refusal(r, a); found {
		b.Vote, b.Outcome, b.Reason, b.Detail, b.Next, b.Deadline = quorum.Unavailable, quorum.Refused, refusal.Reason, refusal.Detail, nil, time.Time{}
		return b
	}
	if !j.arrived(r, *a.request) && a.request.Tries < tries {
		b.Next = []quorum.Action{j.ask(r, a.number, a.request.At.Add(settling), limit)}
	}
	return b
}

// arrived reports whether GitHub shows a request of ours.
func (j judge) arrived(r quorum.Reviewer, in quorum.Intent) bool {
	since := in.At.Add(-slack)
	if r.Request.Login == "" {
		return slices.ContainsFunc(j.s.Comments, func(t quorum.Text) bool {
			return asks(t, r) && same(t.Author, j.s.Ours) && !t.At.Before(since)
		})
	}
	return slices.ContainsFunc(j.s.Timeline, func(e quorum.Event) bool {
		return e.Kind == quorum.ReviewRequested && !e.At.Before(since) && targets(e, r)
	})
}

func (j judge) ask(r quorum.Reviewer, attempt int, due, until time.Time) quorum.Action {
	return quorum.Action{Kind: quorum.Ask, Reviewer: r.Name, Due: due, Attempt: attempt, Request: r.Request, Until: until, Timeout: r.Timeout}
}

func (j judge) rerun(r quorum.Reviewer, a attempt, due, until time.Time) quorum.Action {
	failed := slices.ContainsFunc(a.run.Jobs, func(job quorum.Job) bool { return job.Conclusion == "failure" || job.Conclusion == "timed_out" })
	return quorum.Action{Kind: quorum.Rerun, Reviewer: r.Name, Due: due, Run: a.run.ID, Attempt: a.number, FailedOnly: failed, Until: until, Timeout: r.Timeout}
}

// pendingRerun is our rerun of an attempt of which GitHub shows nothing yet.
func (j judge) pendingRerun(a attempt, r quorum.Reviewer) (quorum.Intent, bool) {
	if a.run == nil {
		return quorum.Intent{}, false
	}
	return j.intent(quorum.Rerun, r.Name, a.run.ID, a.number)
}

func (j judge) refusal(r quorum.Reviewer, a attempt) (quorum.Refusal, bool) {
	for _, no := range slices.Backward(j.s.Record.Refusals) {
		if a.run == nil && no.Kind == quorum.Ask && no.Reviewer == r.Name || a.run != nil && no.Kind == quorum.Rerun && no.Run == a.run.ID && no.Attempt == a.number {
			return no, true
		}
	}
	return quorum.Refusal{}, false
}

// answers are the excerpts of r's answers without a verdict, this one last.
func (j judge) answers(r quorum.Reviewer, a attempt, got answer) (out []string) {
	if got.outcome != quorum.Malformed {
		return nil
	}
	for _, old := range j.s.Record.Answers {
		if old.Reviewer == r.Name && old.Attempt < a.number {
			out = append(out, old.Excerpt)
		}
	}
	return append(out, got.excerpt)
}

// backoff is the pause before a rerun: ±20 % by the run's id, so that a decision stays a function of its inputs.
func (j judge) backoff(a attempt) time.Duration {
	var seed uint64
	if a.run != nil {
		seed = uint64(a.run.ID)
	}
	spread := float64(seed*0x9E3779B97F4A7C15>>54) / 1024 // 0 … 1
	return time.Duration(float64(j.p.Retry.Backoff) * (0.8 + 0.4*spread))
}
