package story

// What came of a scenario: all that the coordinator wrote, in order, and how each vote ended.

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// EntryKind says what the coordinator did.
type EntryKind string

const (
	Checked   EntryKind = "check"   // its check run reads differently
	Stated    EntryKind = "status"  // its commit status, with a personal token
	Reran     EntryKind = "rerun"   // it ran a run again
	Cancelled EntryKind = "cancel"  // it cancelled a run
	Asked     EntryKind = "ask"     // it asked for a review
	Annotated EntryKind = "note"    // it annotated findings
	GaveUp    EntryKind = "gave up" // it can do no more until something happens
)

// An Entry is one thing that the coordinator wrote.
type Entry struct {
	At         time.Duration `json:"at"` // since the story began
	Kind       EntryKind     `json:"kind"`
	Head       string        `json:"head,omitempty"` // as the scenario calls it
	Name       string        `json:"name,omitempty"` // of the check
	Status     string        `json:"status,omitempty"`
	Conclusion string        `json:"conclusion,omitempty"`
	Text       string        `json:"text,omitempty"` // the title; what was run again; whom it asked
}

// state is how a check stands in one word.
func (e Entry) state() string {
	if e.Conclusion != "" {
		return e.Conclusion
	}
	return e.Status
}

func (e Entry) String() string {
	switch e.Kind {
	case Checked, Stated:
		return fmt.Sprintf("%-8s%-4s%s %-16s%s", short(e.At), e.Head, symbol(e.state()), e.state(), e.title())
	default:
		return fmt.Sprintf("%-8s%-4s→ %-16s%s", short(e.At), e.Head, e.Kind, e.Text)
	}
}

// title is what the check says, with its name where that is another than the policy's.
func (e Entry) title() string {
	if e.Name != "" {
		return e.Text + "   [" + e.Name + "]"
	}
	return e.Text
}

func symbol(state string) string {
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

// short writes a time as people do, to the second.
func short(d time.Duration) string {
	s := d.Truncate(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// A Story is what came of a scenario.
type Story struct {
	Entries []Entry `json:"entries"`
	Ends    []End   `json:"ends"`
}

// An End is how it stood with a pull request at the last look.
type End struct {
	Number  int             `json:"pull_request"`
	Verdict string          `json:"verdict"`
	Votes   []quorum.Ballot `json:"votes"`
}

// String is the story as scenario files hold it.
func (s Story) String() string {
	var b strings.Builder
	for _, e := range s.Entries {
		b.WriteString(strings.TrimRight(e.String(), " ") + "\n")
	}
	if len(s.Entries) == 0 {
		b.WriteString("nothing was written\n")
	}
	for _, end := range s.Ends {
		if len(end.Votes) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%-8s", fmt.Sprintf("#%d", end.Number))
		for i, v := range end.Votes {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(vote(v))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// vote is a ballot in few words: "gemini approves (approved, retry)".
func vote(b quorum.Ballot) string {
	does := map[quorum.Vote]string{quorum.Approve: "approves", quorum.Object: "objects", quorum.Unavailable: "is unavailable", quorum.Pending: "is pending"}[b.Vote]
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

// Final is how each check, or status, of ours stands in the end: by head and name, its state and title.
func (s Story) Final() map[string]string {
	final := map[string]string{}
	for _, e := range s.Entries {
		if e.Kind == Checked || e.Kind == Stated {
			final[e.Head+" "+e.Name] = e.state() + " " + e.Text
		}
	}
	return final
}

// Turns are the states that each check went through, and what was run again, cancelled and asked: what must be the same
// in every shell, whenever it looked.
func (s Story) Turns() (turns []string) {
	last := map[string]string{}
	var acts []string
	for _, e := range s.Entries {
		switch e.Kind {
		case Checked, Stated:
			key := e.Head + " " + e.Name
			if last[key] != e.state() {
				turns = append(turns, strings.TrimSpace(key)+": "+e.state())
			}
			last[key] = e.state()
		case Reran, Cancelled, Asked:
			acts = append(acts, string(e.Kind)+" "+e.Text)
		case Annotated, GaveUp:
		}
	}
	slices.Sort(acts)
	return append(turns, acts...)
}

// recorder notes what the program wrote by comparing GitHub before and after each request.
type recorder struct {
	w     *world
	wrote func(Entry)

	mu       sync.Mutex
	story    Story
	shown    map[int64]int // length of the history, by check
	noted    map[int64]int // annotations, by check
	statuses map[string]int
	reran    int
	cancels  map[int64]int
	comments int
	asked    int
	ends     map[int]loop.Look
}

func newRecorder(w *world, wrote func(Entry)) *recorder {
	return &recorder{w: w, wrote: wrote, shown: map[int64]int{}, noted: map[int64]int{}, statuses: map[string]int{}, cancels: map[int64]int{}, ends: map[int]loop.Look{}}
}

func (r *recorder) add(e Entry) {
	e.At = r.w.now().Sub(r.w.begin)
	r.story.Entries = append(r.story.Entries, e)
	if r.wrote != nil {
		r.wrote(e)
	}
}

// see notes what is new.
func (r *recorder) see() {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.w.g
	for _, head := range g.Heads() {
		name := r.w.name(head)
		for _, c := range g.Own(head) {
			for _, h := range c.History[min(r.shown[c.ID], len(c.History)):] {
				r.add(Entry{Kind: Checked, Head: name, Name: r.w.unusual(c.Name), Status: h.Status, Conclusion: h.Conclusion, Text: h.Title})
			}
			r.shown[c.ID] = len(c.History)
			if n := len(c.Annotations); n > r.noted[c.ID] {
				r.add(Entry{Kind: Annotated, Head: name, Text: fmt.Sprintf("%d findings", n-r.noted[c.ID])})
				r.noted[c.ID] = n
			}
		}
		mine := 0
		for _, st := range g.Statuses(head) {
			if r.w.s.person == "" || st.By != r.w.s.person {
				continue
			}
			if mine++; mine > r.statuses[head] {
				r.add(Entry{Kind: Stated, Head: name, Name: r.w.unusual(st.Context), Status: st.State, Text: st.Description})
			}
		}
		r.statuses[head] = mine
	}
	wrote := g.Wrote()
	for id, n := range wrote.Cancels {
		if n > r.cancels[id] {
			r.add(Entry{Kind: Cancelled, Text: r.w.labelOf(id)})
		}
		r.cancels[id] = n
	}
	for _, id := range wrote.Reran[min(r.reran, len(wrote.Reran)):] {
		r.add(Entry{Kind: Reran, Text: r.w.labelOf(id)})
	}
	for _, body := range wrote.Comments[min(r.comments, len(wrote.Comments)):] {
		r.add(Entry{Kind: Asked, Text: fmt.Sprintf("%q", body)})
	}
	for _, login := range wrote.Reviews[min(r.asked, len(wrote.Reviews)):] {
		r.add(Entry{Kind: Asked, Text: login})
	}
	r.reran, r.comments, r.asked = len(wrote.Reran), len(wrote.Comments), len(wrote.Reviews)
}

func (r *recorder) looked(l loop.Look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends[l.Snapshot.PR.Number] = l
}

// gaveUp notes that a look failed for good.
func (r *recorder) gaveUp(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(Entry{Kind: GaveUp, Text: err.Error()})
}

func (r *recorder) told() Story {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.w.numbers {
		if l, found := r.ends[n]; found {
			r.story.Ends = append(r.story.Ends, End{Number: n, Verdict: l.Decision.Verdict.String(), Votes: l.Decision.Ballots})
		}
	}
	return r.story
}
