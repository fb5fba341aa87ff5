package story

// The result of a scenario: all that the coordinator wrote, in order, and how each vote ended.

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// EntryKind is the kind of thing that the coordinator did.
type EntryKind string

const (
	EntryChecked   EntryKind = "check"   // its check run reads differently
	EntryStated    EntryKind = "status"  // its commit status, with a personal token
	EntryReran     EntryKind = "rerun"   // it ran a run again
	EntryCancelled EntryKind = "cancel"  // it cancelled a run
	EntryAsked     EntryKind = "ask"     // it asked for a review
	EntryStarted   EntryKind = "start"   // it started a workflow
	EntryReplied   EntryKind = "reply"   // it answered a person's command
	EntryAnnotated EntryKind = "note"    // it annotated findings
	EntryGaveUp    EntryKind = "gave up" // it can do no more until something happens
	EntryTold      EntryKind = "tell"    // it told the verdict in its comment on the pull request
	EntryGated     EntryKind = "gate"    // GitHub's merge gate opens or closes, in a story that watches it
)

// An Entry is one thing that the coordinator wrote.
type Entry struct {
	At         time.Duration `json:"at"` // since the story began
	Kind       EntryKind     `json:"kind"`
	Head       string        `json:"head,omitempty"` // as the scenario calls it
	Name       string        `json:"name,omitempty"` // of the check
	Status     string        `json:"status,omitempty"`
	Conclusion string        `json:"conclusion,omitempty"`
	Text       string        `json:"text,omitempty"` // the title; the run; the reviewer that was asked
}

// checkState returns the state of a check in one word: its conclusion, or else its status.
func (e Entry) checkState() string {
	if e.Conclusion != "" {
		return e.Conclusion
	}
	return e.Status
}

func (e Entry) String() string {
	switch e.Kind {
	case EntryChecked, EntryStated:
		return fmt.Sprintf(
			"%-8s%-4s%s %-16s%s",
			formatDuration(e.At),
			e.Head,
			stateSymbol(e.checkState()),
			e.checkState(),
			e.titleWithName(),
		)
	case EntryGated:
		return fmt.Sprintf("%-8s%-4s→ %s", formatDuration(e.At), e.Head, e.Text)
	default:
		return fmt.Sprintf("%-8s%-4s→ %-16s%s", formatDuration(e.At), e.Head, e.Kind, e.Text)
	}
}

// titleWithName returns the check's title, with the check's name if that is another than the policy's.
func (e Entry) titleWithName() string {
	if e.Name != "" {
		return e.Text + "   [" + e.Name + "]"
	}
	return e.Text
}

func stateSymbol(state string) string {
	switch state {
	case "success":
		return "✓"
	case "failure", "error":
		return "✗"
	case "action_required":
		return "!"
	case "in_progress", "queued", "pending":
		return "●"
	default:
		return "–"
	}
}

// formatDuration writes a duration as people do, to the second.
func formatDuration(d time.Duration) string {
	s := d.Truncate(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// A Story is the result of a scenario.
type Story struct {
	Entries []Entry   `json:"entries"`
	Ends    []PullEnd `json:"ends"`
}

// A PullEnd is the verdict and the votes of a pull request at the last look.
type PullEnd struct {
	Number  int             `json:"pull_request"`
	Verdict string          `json:"verdict"`
	Votes   []quorum.Ballot `json:"votes"`

	// the story watched the merge gate, and it never opened
	GateStaysClosed bool `json:"merge_gate_stays_closed,omitempty"`
}

// String returns the story as scenario files hold it.
func (s Story) String() string {
	var b strings.Builder
	for _, e := range inOrderOfNames(s.Entries) {
		b.WriteString(strings.TrimRight(e.String(), " ") + "\n")
	}
	if len(s.Entries) == 0 {
		b.WriteString("nothing was written\n")
	}
	for _, end := range s.Ends {
		number := fmt.Sprintf("#%d", end.Number)
		if end.GateStaysClosed {
			fmt.Fprintf(&b, "%-8smerge gate stays closed\n", number)
		}
		if len(end.Votes) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%-8s", number)
		for i, v := range end.Votes {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(voteText(v))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// inOrderOfNames puts checks of several names that were written on a commit at the same moment into the order of
// their names: they are of several pull requests, which are looked at side by side.
func inOrderOfNames(all []Entry) []Entry {
	all = slices.Clone(all)
	for i := range all {
		for j := i; j > 0 && all[j].isBeside(all[j-1]) && all[j].Name < all[j-1].Name; j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
	return all
}

// isBeside reports whether two checks of different names were written on a commit at the same moment.
func (e Entry) isBeside(o Entry) bool {
	return e.Kind == EntryChecked && o.Kind == EntryChecked && e.At == o.At && e.Head == o.Head && e.Name != o.Name
}

// voteText writes a ballot in few words: "gemini approves (approved, retry)".
func voteText(b quorum.Ballot) string {
	does := map[quorum.Vote]string{
		quorum.Approve: "approves", quorum.Object: "objects",
		quorum.Unavailable: "is unavailable", quorum.Pending: "is pending",
	}[b.Vote]
	why := b.Outcome.String()
	if r := string(b.Reason); r != why && strings.ReplaceAll(r, "_", " ") != why {
		why += ": " + strings.ReplaceAll(r, "_", " ")
	}
	if b.Retried {
		why += ", retried"
	}
	if b.Shadow {
		why += ", shadow"
	}
	return fmt.Sprintf("%s %s (%s)", b.Reviewer, does, why)
}

// FinalStates returns the last state and title of each check, or status, of ours, by head and name.
func (s Story) FinalStates() map[string]string {
	final := map[string]string{}
	for _, e := range s.Entries {
		if e.Kind == EntryChecked || e.Kind == EntryStated {
			final[e.Head+" "+e.Name] = e.checkState() + " " + e.Text
		}
	}
	return final
}

// Transitions lists the states that each check went through, by head, and the reruns, cancels and requests: they must
// be the same in every shell, at whatever moments it looked, and whichever of several heads it looked at first.
func (s Story) Transitions() (turns []string) {
	last := map[string]string{}
	var acts, others []string // others are of checks with names of their own: another pull request's, maybe
	for _, e := range s.Entries {
		switch e.Kind {
		case EntryChecked, EntryStated:
			key := e.Head + " " + e.Name
			turn := strings.TrimSpace(key) + ": " + e.checkState()
			switch {
			case last[key] == e.checkState():
			case e.Name != "":
				others = append(others, turn)
			default:
				turns = append(turns, turn)
			}
			last[key] = e.checkState()
		case EntryTold: // the word alone: on the way to it the rest depends on the moments of the looks
			word, _, _ := strings.Cut(e.Text, ".")
			if last["told"] != word {
				others = append(others, "tell "+word)
			}
			last["told"] = word
		case EntryGated:
			others = append(others, e.Head+": "+e.Text)
		case EntryReran, EntryCancelled, EntryAsked, EntryReplied, EntryStarted:
			acts = append(acts, string(e.Kind)+" "+e.Text)
		case EntryAnnotated, EntryGaveUp:
		}
	}
	slices.SortStableFunc(turns, func(a, b string) int {
		headOfA, _, _ := strings.Cut(a, ":")
		headOfB, _, _ := strings.Cut(b, ":")
		return strings.Compare(headOfA, headOfB)
	})
	slices.Sort(acts)
	return slices.Concat(turns, others, acts)
}

// recorder notes the program's writes by comparing GitHub before and after each request.
type recorder struct {
	world   *world
	onEntry func(Entry)

	mu                 sync.Mutex
	story              Story
	shownRevisions     map[int64]int // length of the history, by check
	annotationCounts   map[int64]int // annotations, by check
	statusCounts       map[string]int
	rerunCount         int
	cancelCounts       map[int64]int
	commentCount       int
	reviewRequestCount int
	reactionCount      int
	dispatchCount      int
	revisionCount      int
	deletionCount      int
	lastLooks          map[int]loop.Look
	watchesGates       bool
	gates              []mergeGate // one for each pull request
}

// mergeGate is what the merge gate of a pull request is and was.
type mergeGate struct {
	pull            int
	isOpen, wasOpen bool
}

// newRecorder begins now: what was written on a GitHub that had a story before is none of this one's.
func newRecorder(w *world, wrote func(Entry)) *recorder {
	r := &recorder{
		world:            w,
		shownRevisions:   map[int64]int{},
		annotationCounts: map[int64]int{},
		statusCounts:     map[string]int{},
		cancelCounts:     map[int64]int{},
		lastLooks:        map[int]loop.Look{},
	}
	r.recordWrites()
	r.story, r.onEntry = Story{}, wrote
	return r
}

func (r *recorder) addEntry(e Entry) {
	e.At = r.world.now().Sub(r.world.begin)
	r.story.Entries = append(r.story.Entries, e)
	if r.onEntry != nil {
		r.onEntry(e)
	}
}

// recordWrites adds an entry for everything that was written since the last call.
func (r *recorder) recordWrites() {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.world.g
	for _, head := range g.WrittenHeads() {
		name := r.world.commitName(head)
		for _, c := range g.OwnCheckRuns(head) {
			for _, h := range c.History[min(r.shownRevisions[c.ID], len(c.History)):] {
				r.addEntry(
					Entry{
						Kind:       EntryChecked,
						Head:       name,
						Name:       r.world.extraCheckName(c.Name),
						Status:     h.Status,
						Conclusion: h.Conclusion,
						Text:       h.Title,
					},
				)
			}
			r.shownRevisions[c.ID] = len(c.History)
			if n := len(c.Annotations); n > r.annotationCounts[c.ID] {
				r.addEntry(Entry{Kind: EntryAnnotated, Head: name, Text: fmt.Sprintf("%d findings", n-r.annotationCounts[c.ID])})
				r.annotationCounts[c.ID] = n
			}
		}
		mine := 0
		for _, st := range g.Statuses(head) {
			if r.world.scenario.tokenOwner == "" || st.By != r.world.scenario.tokenOwner {
				continue
			}
			if mine++; mine > r.statusCounts[head] {
				r.addEntry(
					Entry{Kind: EntryStated, Head: name, Name: r.world.extraCheckName(st.Context), Status: st.State, Text: st.Description},
				)
			}
		}
		r.statusCounts[head] = mine
	}
	wrote := g.Wrote()
	for id, n := range wrote.Cancels {
		if n > r.cancelCounts[id] {
			r.addEntry(Entry{Kind: EntryCancelled, Text: r.world.runLabel(id)})
		}
		r.cancelCounts[id] = n
	}
	for _, id := range wrote.RerunOrder[min(r.rerunCount, len(wrote.RerunOrder)):] {
		r.addEntry(Entry{Kind: EntryReran, Text: r.world.runLabel(id)})
	}
	for _, x := range wrote.Reactions[min(r.reactionCount, len(wrote.Reactions)):] {
		thumb := map[string]string{"+1": "👍", "-1": "👎"}[x.Content]
		r.addEntry(Entry{Kind: EntryReplied, Text: thumb + " to " + x.Author})
	}
	r.reactionCount = len(wrote.Reactions)
	for _, x := range wrote.Dispatched[min(r.dispatchCount, len(wrote.Dispatched)):] {
		r.addEntry(Entry{Kind: EntryStarted, Text: r.world.dispatchText(x)})
	}
	r.dispatchCount = len(wrote.Dispatched)
	for _, body := range wrote.Comments[min(r.commentCount, len(wrote.Comments)):] {
		if strings.HasPrefix(body, quorum.VerdictMarker) {
			r.addEntry(Entry{Kind: EntryTold, Text: toldText(body)})
			continue
		}
		r.addEntry(Entry{Kind: EntryAsked, Text: fmt.Sprintf("%q", body)})
	}
	for _, login := range wrote.RequestedReviews[min(r.reviewRequestCount, len(wrote.RequestedReviews)):] {
		r.addEntry(Entry{Kind: EntryAsked, Text: login})
	}
	for _, x := range wrote.Revisions[min(r.revisionCount, len(wrote.Revisions)):] {
		r.addEntry(Entry{Kind: EntryTold, Text: toldText(x.Body)})
	}
	for range wrote.Deleted[min(r.deletionCount, len(wrote.Deleted)):] {
		r.addEntry(Entry{Kind: EntryTold, Text: "its other comment is deleted"})
	}
	r.revisionCount, r.deletionCount = len(wrote.Revisions), len(wrote.Deleted)
	r.rerunCount, r.commentCount, r.reviewRequestCount = len(wrote.RerunOrder), len(wrote.Comments), len(wrote.RequestedReviews)
	r.recordGates()
}

// toldText is the verdict and the first sentence of a comment that tells it.
func toldText(body string) string {
	_, text, _ := strings.Cut(body, "\n")
	text, _, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, " This is about commit")
	_, text, _ = strings.Cut(strings.ReplaceAll(text, "**", ""), ": ")
	return text
}

// watchGates lets the story tell from now on when a merge gate opens or closes.
func (r *recorder) watchGates() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchesGates = true
}

// addGate adds the merge gate of a pull request that was opened.
func (r *recorder) addGate(pull int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gates = append(r.gates, mergeGate{pull: pull})
}

// recordGates adds an entry for every merge gate that has opened or closed since the last call, if the story watches
// them.
func (r *recorder) recordGates() {
	if !r.watchesGates {
		return
	}
	for i := range r.gates {
		gate, w := &r.gates[i], r.world
		opens := sandbox.MergeGateOpens(w.g, gate.pull, w.scenario.checkName)
		if opens != gate.isOpen {
			text := "merge gate " + map[bool]string{true: "opens", false: "closes"}[opens]
			r.addEntry(Entry{Kind: EntryGated, Head: w.commitName(w.g.Head(gate.pull)), Text: text})
		}
		gate.isOpen, gate.wasOpen = opens, gate.wasOpen || opens
	}
}

// staysClosed reports whether the story watched the merge gate of a pull request, and never saw it open.
func (r *recorder) staysClosed(pull int) bool {
	isIt := func(g mergeGate) bool { return g.pull == pull && !g.wasOpen }
	return r.watchesGates && slices.ContainsFunc(r.gates, isIt)
}

func (r *recorder) recordLook(l loop.Look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastLooks[l.Snapshot.PR.Number] = l
}

// recordFailure notes that a look failed for good.
func (r *recorder) recordFailure(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addEntry(Entry{Kind: EntryGaveUp, Text: err.Error()})
}

func (r *recorder) finishStory() Story {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.world.pullNumbers {
		if l, found := r.lastLooks[n]; found {
			r.story.Ends = append(r.story.Ends, PullEnd{
				Number: n, Verdict: l.Decision.Verdict.String(), Votes: l.Decision.Ballots,
				GateStaysClosed: r.staysClosed(n),
			})
		}
	}
	return r.story
}
