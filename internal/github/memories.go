package github

// The memory of pull requests, within a bound: a process may live for years and see any number of them.

import (
	"cmp"
	"container/list"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	maxPulls     = 256      // remembered by a Forge of its own
	bytesPerPull = 64 << 10 // bytes that one of them may take on average; logs are most of it
	maxHints     = 32
)

// Memories hold what is remembered of pull requests. Forges may share one, so that a process has one bound. The pull
// request that was looked at longest ago is forgotten first, but none while a look at it is under way. A forgotten one
// costs a few requests at the next look, which then comes to the same.
type Memories struct {
	most int

	mu     sync.Mutex
	size   int // bytes, about
	forges int
	pulls  map[memoryKey]*list.Element
	order  list.List // of *memory, the one used last in front

	policies parsedPolicies
}

// memoryKey tells the same pull request apart as two Forges see it.
type memoryKey struct {
	forge int
	pr    quorum.PR
}

// NewMemories returns memories of at most that many pull requests.
func NewMemories(most int) *Memories {
	return &Memories{most: max(most, 1), pulls: map[memoryKey]*list.Element{}}
}

// Len says how many pull requests are remembered.
func (all *Memories) Len() int {
	all.mu.Lock()
	defer all.mu.Unlock()
	return len(all.pulls)
}

// memory is what one process knows of a pull request from its earlier looks.
type memory struct {
	key     memoryKey
	holders int // looks and writes that are under way
	size    int // bytes, about, as of the last one

	lookBegan time.Time // when the last look began, by the machine's clock
	pages     textPages
	unread    unreadLooks
	told      toldVerdict

	mu sync.Mutex // of what the reads of one look write side by side, and of what events tell
	eventHints
	observed
}

// eventHints are what events told.
type eventHints struct {
	runs      []runHint   // runs that an event named
	texts     []toldText  // texts that an event told of, until a look shows them
	presses   []toldPress // of our check's button; the record knows which were heard
	since     eventsSince // the last look
	elsewhere bool        // a look read answers that it did not keep here, or came to nothing: they are no news any more
}

// eventsSince says what events came since a look.
type eventsSince struct {
	came   bool
	head   string // that they named; "": none
	beside bool   // they told what they touched, and something of it stands beside the pull request itself
	within bool   // something may have changed the pull request itself
	gone   bool   // a comment was deleted
}

// spareThePull reports whether nothing that came may have changed the pull request itself.
func (e eventsSince) spareThePull() bool { return e.came && e.beside && !e.within }

// isBeside reports whether what was touched stands beside the pull request: an event of it changes neither base nor
// title, labels or state.
func isBeside(t quorum.Touch) bool {
	switch t.Event {
	case "workflow_run", "check_run", "check_suite", "status", "issue_comment", "pull_request_review", "pull_request_review_comment":
		return true
	}
	return false
}

// observed is what looks and writes have shown.
type observed struct {
	lastPlan            readPlan         // as of the last look
	pull                knownPull        // as of the last look that read it over REST
	head                string           // of what follows
	foreignChecks       untrusted.Digest // the check runs of others, as of the last look
	foreignStatuses     untrusted.Digest // the commit statuses of others, as of the last look
	siblings            []int            // the other pull requests of the head, as of the last look
	ownChecks           []writtenCheck   // our checks on the head, as of the last look or write
	previousChecks      []writtenCheck   // our open and green checks on the head before, as of the last look or write there
	previousHead        string           // that head
	before              headBefore
	statuses            []quorum.Status // of the head, the newest first; nil: they were not read
	foreignCheckOnHead  bool            // a check run of our name stands on the head, though we write a status
	jobsCheckOnHead     bool            // a check run of our name that a job wrote stands on the head, though we write as an App
	conversation        conversation
	commentsFromQuery   bool             // comments were taken from the conversation alone
	commentsApart       bool             // REST showed a comment of the head otherwise: it is read beside the conversation
	wordsKeptFor        untrusted.Digest // the reviewers whose long words the conversation holds
	conversationAsked   time.Time        // when the conversation was read, by GitHub's clock
	conversationCurrent bool             // the conversation holds an answer for head
	queriedInParallel   bool             // the conversation was read in parallel with REST data that had changed: read it again
	readSerially        bool             // REST and GraphQL show the texts differently: they cannot be read side by side
	disagrees           *disagreement    // of looks at the pull request itself
	disagreesAsSibling  *disagreement    // of looks at it for another one, which remember nothing else
	wake                time.Time
	threadsDecide       bool // resolving a thread may change the decision
	logs                map[int64]quorum.Job
	uploads             knownUploads
	commits             map[string]quorum.Commit
	hands               knownHands
	sameBranch          []quorum.PullRequest // of the head branch
	sameBranchRun       int64                // the newest run that was known when sameBranch was read; 0: it is to be read
	retired             map[string]bool      // retired checks that were looked after
}

// runHint is a run that an event named.
type runHint struct {
	run  int64
	head string // once it was seen
}

// A toldVerdict is a comment that was written just now.
type toldVerdict struct {
	quorum.ToldComment
	at time.Time
}

// toldText is a review or comment that an event told of.
type toldText struct {
	ref       quorum.TextRef
	author    string    // login
	at        time.Time // when it was edited last; zero: not known, as of a review, whose edits REST does not date
	sum       string    // ShortDigest of what it says then; "": not known
	dismissed bool
	isCommand bool      // a member's
	since     time.Time // when it was told
}

// toldPress is a press of our check's button, and the head that the check is of.
type toldPress struct {
	quorum.Press
	head string
}

// isShownBy reports whether t, as it is shown, is what was told, or newer.
func (h toldText) isShownBy(t quorum.Text) bool {
	at := laterOf(t.At, t.Edited)
	if t.TextRef != h.ref || at.Before(h.at) || h.dismissed && t.State != "DISMISSED" {
		return false
	}
	if h.isCommand { // of a long one not all is kept
		return true
	}
	newer := !h.at.IsZero() && at.After(h.at) // it was edited since, and may say something else
	return newer || h.sum == "" || h.sum == untrusted.ShortDigest(t.Body)
}

// withMemory hands over what is remembered of pr.
func (f *Forge) withMemory(pr quorum.PR, to func(*memory)) {
	f.memories.mu.Lock()
	defer f.memories.mu.Unlock()
	to(f.memories.memoryOf(memoryKey{f.id, pr}))
}

// holdMemory returns what is remembered of pr, and keeps it until the func is called.
func (f *Forge) holdMemory(pr quorum.PR) (*memory, func()) {
	all := f.memories
	all.mu.Lock()
	defer all.mu.Unlock()
	m := all.memoryOf(memoryKey{f.id, pr})
	m.holders++
	return m, func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		m.holders--
		now := m.estimateSize()
		if at, found := all.pulls[m.key]; found && at.Value == m {
			all.size += now - m.size
		}
		m.size = now
		all.keepBounds()
	}
}

func (all *Memories) memoryOf(key memoryKey) *memory {
	if at, found := all.pulls[key]; found {
		all.order.MoveToFront(at)
		return at.Value.(*memory)
	}
	m := &memory{key: key}
	m.disagrees, m.disagreesAsSibling = &disagreement{}, &disagreement{}
	all.pulls[key] = all.order.PushFront(m)
	all.keepBounds()
	return m
}

// keepBounds forgets until the bound is kept, or only those are left that are looked at, and the newest.
func (all *Memories) keepBounds() {
	for at := all.order.Back(); at != nil && at != all.order.Front() && (len(all.pulls) > all.most || all.size > all.most*bytesPerPull); {
		before := at.Prev()
		if at.Value.(*memory).holders == 0 {
			all.dropMemory(at)
		}
		at = before
	}
}

func (all *Memories) forget(key memoryKey) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if at, found := all.pulls[key]; found {
		all.dropMemory(at)
	}
}

func (all *Memories) dropMemory(at *list.Element) {
	m := all.order.Remove(at).(*memory)
	all.size -= m.size
	delete(all.pulls, m.key)
}

// estimateSize says about how many bytes m takes, by the parts that strangers can make long.
func (m *memory) estimateSize() int {
	n := 3<<10 + 8*len(m.siblings)
	for _, all := range [][]writtenCheck{m.ownChecks, m.previousChecks} {
		for _, c := range all {
			n += 512 + len(c.name) + len(c.external) + len(c.url)
		}
	}
	for _, t := range m.conversation.threads {
		n += 512 + len(t.Body)
	}
	n += 128*(len(m.conversation.commentEdits)+len(m.conversation.reviewEdits)) +
		256*(len(m.conversation.timeline)+len(m.statuses)) + 64*len(m.conversation.earlier) + 256*len(m.conversation.siblings)
	for _, job := range m.logs {
		n += 256 + len(job.Log)
		for _, note := range job.Annotations {
			n += len(note)
		}
	}
	return n + m.before.size() + m.uploads.size() + m.hands.size() + 256*(len(m.commits)+len(m.sameBranch)+len(m.retired))
}

// changeHead takes up another head, and drops all that was only of the one before.
func (m *memory) changeHead(head string) (changed bool) {
	if m.head == head {
		return false
	}
	m.previousChecks, m.previousHead = slices.DeleteFunc(m.ownChecks, func(o writtenCheck) bool { return !o.isOpenOrGreen() }), m.head
	m.head, m.ownChecks, m.conversation = head, nil, conversation{}
	m.conversationCurrent, m.queriedInParallel, m.readSerially = false, false, false
	m.commentsFromQuery, m.commentsApart = false, false
	m.foreignChecks, m.foreignStatuses = untrusted.Digest{}, untrusted.Digest{}
	m.siblings, m.statuses = nil, nil
	m.hands = knownHands{}
	m.sameBranch, m.sameBranchRun = nil, 0
	m.logs, m.commits, m.uploads = nil, nil, nil
	m.before = headBefore{}
	return true
}

// noteEvent takes over what an event has shown.
func (m *memory) noteEvent(head string, runs []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since.came = true
	if head != "" {
		m.since.head = head
	}
	for _, id := range runs {
		if !slices.ContainsFunc(m.runs, func(h runHint) bool { return h.run == id }) {
			m.runs = append(m.runs, runHint{run: id})
		}
	}
	m.runs = m.runs[max(0, len(m.runs)-maxHints):]
}

// noteTouches takes over what events told of: which texts, and whether the pull request itself may have changed. The
// zero touch is anything.
func (m *memory) noteTouches(touches []quorum.Touch, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range touches {
		m.since.beside, m.since.within = m.since.beside || isBeside(t), m.since.within || !isBeside(t)
		m.since.gone = m.since.gone || t.Event == "issue_comment" && t.Action == "deleted"
		h := toldText{
			ref:       quorum.TextRef{Kind: quorum.TextComment, ID: t.Text},
			author:    t.Author,
			sum:       t.Sum,
			dismissed: t.Action == "dismissed",
			isCommand: t.Command,
			since:     now,
		}
		if t.Press != 0 {
			m.notePress(t)
			continue
		}
		if t.Event == "pull_request_review" {
			h.ref.Kind = quorum.TextReview
		}
		if t.At != 0 {
			h.at = time.Unix(t.At, 0)
		}
		if t.Text == 0 {
			continue
		}
		if i := slices.IndexFunc(m.texts, func(o toldText) bool { return o.ref == h.ref }); i >= 0 {
			was := m.texts[i]
			if h.at.Before(was.at) { // it came late
				h.at, h.sum = was.at, was.sum
			}
			h.since, h.dismissed = was.since, h.dismissed || was.dismissed
			m.texts = slices.Delete(m.texts, i, i+1)
		}
		if t.Action != "deleted" {
			m.texts = append(m.texts, h)
		}
	}
	m.texts = m.texts[max(0, len(m.texts)-maxHints):]
}

// notePress takes over a press of our check's button.
func (m *memory) notePress(t quorum.Touch) {
	if slices.ContainsFunc(m.presses, func(p toldPress) bool { return p.ID == t.Press }) {
		return
	}
	by := quorum.Account{Login: t.Author, ID: t.By, Bot: strings.HasSuffix(t.Author, "[bot]")}
	m.presses = append(m.presses, toldPress{quorum.Press{ID: t.Press, By: by, At: time.Unix(t.At, 0).UTC()}, t.Head})
	m.presses = m.presses[max(0, len(m.presses)-maxHints):]
}

// pressesOn are the presses of the button of our check on a head.
func (m *memory) pressesOn(head string) (all []quorum.Press) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.presses {
		if p.head == head {
			all = append(all, p.Press)
		}
	}
	return all
}

// takeEvents hands over what events told since the last look.
func (m *memory) takeEvents() (told eventsSince) {
	m.mu.Lock()
	defer m.mu.Unlock()
	told, m.since = m.since, eventsSince{}
	return told
}

// returnEvents gives back the events of a look that came to nothing, for the next one.
func (m *memory) returnEvents(told eventsSince) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since = eventsSince{
		came: m.since.came || told.came, head: cmp.Or(m.since.head, told.head),
		beside: m.since.beside || told.beside, within: m.since.within || told.within, gone: m.since.gone || told.gone,
	}
}

// noteReadElsewhere notes that answers about the pull request were read that this memory does not know: GitHub says of
// them that they have not changed since.
func (m *memory) noteReadElsewhere() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.elsewhere = true
}

// takeReadElsewhere reports whether such answers were read since it was asked last.
func (m *memory) takeReadElsewhere() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.elsewhere
	m.elsewhere = false
	return was
}

// placeHints notes of which head the runs are that events named, and drops those of other heads that were read before.
func (m *memory) placeHints(head string, listed []restRun, read []*restRun) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := map[int64]string{}
	for _, r := range listed {
		of[r.ID] = r.Head
	}
	for _, r := range read {
		if r != nil {
			of[r.ID] = r.Head
		}
	}
	kept := m.runs[:0]
	for _, h := range m.runs {
		if h.head != "" && h.head != head {
			continue
		}
		if at, found := of[h.run]; found {
			h.head = at
		}
		kept = append(kept, h)
	}
	m.runs = kept
}

// unlistedRuns are the ids of runs that an event or the record names and the list does not show.
func (m *memory) unlistedRuns(head string, recorded []quorum.SeenRun, listed []restRun) (ids []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]int64, 0, len(m.runs)+len(recorded))
	for _, h := range m.runs {
		if h.head == "" || h.head == head {
			all = append(all, h.run)
		}
	}
	for _, r := range recorded {
		all = append(all, r.ID)
	}
	for _, id := range all {
		if !slices.ContainsFunc(listed, func(r restRun) bool { return r.ID == id }) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// withEntry returns m with one entry more: most pull requests need none of these maps.
func withEntry[K comparable, V any](m map[K]V, k K, v V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[k] = v
	return m
}
