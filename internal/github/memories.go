package github

// What is remembered of pull requests, within a bound: a process may live for years and see any number of them.

import (
	"container/list"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	mostPulls = 256      // remembered by a Forge of its own
	eachPull  = 64 << 10 // bytes that one of them may take on average; logs are most of it
	mostHints = 32
)

// Memories hold what is remembered of pull requests. Forges may share one, so that a process has one bound. Who was
// looked at longest ago is forgotten first, and nobody while a look at him is under way. What is forgotten costs a few
// requests at the next look, which then comes to the same.
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
	key  memoryKey
	held int // looks and writes that are under way
	size int // bytes, about, as of the last one

	observed time.Time // when the last look began, by the machine's clock

	mu sync.Mutex // of what the reads of one look write side by side, and of what events tell
	news
	known
}

// news are what events told.
type news struct {
	hints    []hint     // runs that an event named
	heard    []toldText // texts that an event told of, until a look shows them
	told     bool       // an event came since the last look
	expected string     // the head that it named
}

// known is what looks and writes have shown.
type known struct {
	last      scene            // as of the last look
	head      string           // of what follows
	checks    untrusted.Digest // the check runs of others, as of the last look
	siblings  []int            // the other pull requests of the head, as of the last look
	own       []written        // our checks on the head, as of the last look or write
	former    []written        // our open checks on the head before, as of the last look or write there
	formerly  string           // that head
	statuses  []quorum.Status
	beside    bool // a check run of our name stands on the head, though we write a status
	threads   conversation
	keptFor   untrusted.Digest // the reviewers whose long words threads holds
	asked     bool             // threads holds an answer for head
	early     bool             // threads was asked for beside what turned out to be news
	serially  bool             // REST and GraphQL show the texts differently: they cannot be read side by side
	odd       []int64          // texts of which REST and GraphQL told different things at the last look
	oddSince  time.Time        // when the newest of them was first found
	wake      time.Time
	byThreads bool // resolving a thread may change the decision
	logs      map[int64]quorum.Job
	commits   map[string]quorum.Commit
	authors   []quorum.Commit
	authorsOf string          // the head for which authors was read
	done      map[string]bool // retired checks that were looked after
}

// hint is a run that an event named.
type hint struct {
	run  int64
	head string // once it was seen
}

// toldText is a text that an event told of.
type toldText struct {
	ref       quorum.TextRef
	author    string    // login
	at        time.Time // when it was edited last; zero: not known, as of a review, whose edits REST does not date
	sum       string    // ShortDigest of what it says then; "": not known
	dismissed bool
	since     time.Time // when it was told
}

// shown reports whether t, as it is shown, is what was told, or newer.
func (h toldText) shown(t quorum.Text) bool {
	at := latest(t.At, t.Edited)
	if t.TextRef != h.ref || at.Before(h.at) || h.dismissed && t.State != "DISMISSED" {
		return false
	}
	newer := !h.at.IsZero() && at.After(h.at) // it was edited since, and may say something else
	return newer || h.sum == "" || h.sum == untrusted.ShortDigest(t.Body)
}

// recall hands over what is remembered of pr.
func (f *Forge) recall(pr quorum.PR, to func(*memory)) {
	f.memories.mu.Lock()
	defer f.memories.mu.Unlock()
	to(f.memories.recall(memoryKey{f.id, pr}))
}

// hold returns what is remembered of pr, and keeps it until the func is called.
func (f *Forge) hold(pr quorum.PR) (*memory, func()) {
	all := f.memories
	all.mu.Lock()
	defer all.mu.Unlock()
	m := all.recall(memoryKey{f.id, pr})
	m.held++
	return m, func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		m.held--
		now := m.weigh()
		if at, found := all.pulls[m.key]; found && at.Value == m {
			all.size += now - m.size
		}
		m.size = now
		all.shrink()
	}
}

func (all *Memories) recall(key memoryKey) *memory {
	if at, found := all.pulls[key]; found {
		all.order.MoveToFront(at)
		return at.Value.(*memory)
	}
	m := &memory{key: key}
	all.pulls[key] = all.order.PushFront(m)
	all.shrink()
	return m
}

// shrink forgets until the bound is kept, or only those are left that are looked at, and the newest.
func (all *Memories) shrink() {
	for at := all.order.Back(); at != nil && at != all.order.Front() && (len(all.pulls) > all.most || all.size > all.most*eachPull); {
		before := at.Prev()
		if at.Value.(*memory).held == 0 {
			all.drop(at)
		}
		at = before
	}
}

func (all *Memories) forget(key memoryKey) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if at, found := all.pulls[key]; found {
		all.drop(at)
	}
}

func (all *Memories) drop(at *list.Element) {
	m := all.order.Remove(at).(*memory)
	all.size -= m.size
	delete(all.pulls, m.key)
}

// Compact moves what is remembered together. Of what a rush leaves behind, little is kept, but that lies scattered among
// what has gone, and Go gives no page back on which anything is left. What is under way stays where it is.
func (all *Memories) Compact() {
	all.mu.Lock()
	defer all.mu.Unlock()
	kept := make([]*memory, 0, len(all.pulls))
	same := texts{}
	for at := all.order.Front(); at != nil; at = at.Next() {
		m := at.Value.(*memory)
		if m.held == 0 {
			m = m.moved(same)
		}
		kept = append(kept, m)
	}
	all.order.Init()
	all.pulls = make(map[memoryKey]*list.Element, len(kept))
	for _, m := range kept {
		all.pulls[m.key] = all.order.PushBack(m)
	}
}

// moved is a copy of m, nothing of which lies where it lay, but for what few pull requests have. What m points to is shared
// with the snapshots that were taken, and stays as it is.
func (m *memory) moved(same texts) *memory {
	n := &memory{key: m.key, size: m.size, observed: m.observed, news: m.news, known: m.known}
	t := &n.threads
	n.hints, n.heard, n.siblings, n.odd = slices.Clone(n.hints), slices.Clone(n.heard), slices.Clone(n.siblings), slices.Clone(n.odd)
	t.siblings, t.commits = slices.Clone(t.siblings), slices.Clone(t.commits)
	same.keep(
		&n.key.pr.Owner, &n.key.pr.Repo, &n.expected, &n.head, &n.formerly, &n.authorsOf,
		&n.last.head, &n.last.headRef, &n.last.base, &n.last.main, &n.last.check, &t.head, &t.check, &t.external, &t.base,
	)
	for i := range n.hints {
		same.keep(&n.hints[i].head)
	}
	for i := range n.heard {
		same.keep(&n.heard[i].author, &n.heard[i].sum)
	}
	for i := range t.commits {
		same.keep(&t.commits[i].sha)
	}
	n.own, n.former = slices.Clone(n.own), slices.Clone(n.former)
	for _, checks := range [][]written{n.own, n.former} {
		for i := range checks {
			c := &checks[i]
			same.keep(&c.name, &c.external, &c.status, &c.conclusion, &c.url)
		}
	}
	t.threads, t.timeline = slices.Clone(t.threads), slices.Clone(t.timeline)
	for i := range t.threads {
		x := &t.threads[i]
		same.keep(&x.Author.Login, &x.Body, &x.Path, &x.Commit, &x.Editor.Login, &x.ResolvedBy.Login, &x.URL)
	}
	for i := range t.timeline {
		x := &t.timeline[i]
		same.keep(&x.Actor.Login, &x.From, &x.To, &x.Target.Login)
	}
	t.edits, t.amended = same.edits(t.edits), same.edits(t.amended)
	return n
}

// texts are the strings that were moved: many pull requests have the same ones.
type texts map[string]string

// long is what a text has, about, that lies on pages of its own.
const long = 4 << 10

func (same texts) keep(all ...*string) {
	for _, s := range all {
		if len(*s) > long {
			continue
		}
		known, found := same[*s]
		if !found {
			known = strings.Clone(*s)
			same[known] = known
		}
		*s = known
	}
}

func (same texts) edits(all map[int64]edit) map[int64]edit {
	if len(all) == 0 {
		return nil
	}
	moved := make(map[int64]edit, len(all))
	for id, e := range all {
		same.keep(&e.editor.Login, &e.author)
		moved[id] = e
	}
	return moved
}

// weigh says about how many bytes m takes: what strangers can make long.
func (m *memory) weigh() int {
	n := 2<<10 + 8*len(m.siblings)
	for _, all := range [][]written{m.own, m.former} {
		for _, c := range all {
			n += 512 + len(c.name) + len(c.external) + len(c.url)
		}
	}
	for _, t := range m.threads.threads {
		n += 512 + len(t.Body)
	}
	n += 128*(len(m.threads.edits)+len(m.threads.amended)) + 256*(len(m.threads.timeline)+len(m.statuses)) + 64*len(m.threads.commits)
	for _, job := range m.logs {
		n += 256 + len(job.Log)
		for _, note := range job.Annotations {
			n += len(note)
		}
	}
	return n + 256*(len(m.commits)+len(m.authors)+len(m.done))
}

// turn takes up another head. What was only of the one before goes.
func (m *memory) turn(head string) {
	if m.head == head {
		return
	}
	m.former, m.formerly = slices.DeleteFunc(m.own, func(o written) bool { return o.status == "completed" }), m.head
	m.head, m.own, m.asked, m.early, m.serially, m.threads = head, nil, false, false, false, conversation{}
	m.checks, m.siblings, m.statuses, m.odd, m.authors, m.authorsOf = untrusted.Digest{}, nil, nil, nil, nil, ""
	m.logs, m.commits = nil, nil
}

// tell takes over what an event has shown.
func (m *memory) tell(head string, runs []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = true
	if head != "" {
		m.expected = head
	}
	for _, id := range runs {
		if !containsRun(m.hints, id) {
			m.hints = append(m.hints, hint{run: id})
		}
	}
	m.hints = m.hints[max(0, len(m.hints)-mostHints):]
}

// hear takes over which texts events told of.
func (m *memory) hear(touches []quorum.Touch, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range touches {
		h := toldText{ref: quorum.TextRef{Kind: quorum.TextComment, ID: t.Text}, author: t.Author, sum: t.Sum, dismissed: t.Action == "dismissed", since: now}
		if t.Event == "pull_request_review" {
			h.ref.Kind = quorum.TextReview
		}
		if t.At != 0 {
			h.at = time.Unix(t.At, 0)
		}
		if t.Text == 0 {
			continue
		}
		if i := slices.IndexFunc(m.heard, func(o toldText) bool { return o.ref == h.ref }); i >= 0 {
			was := m.heard[i]
			if h.at.Before(was.at) { // it came late
				h.at, h.sum = was.at, was.sum
			}
			h.since, h.dismissed = was.since, h.dismissed || was.dismissed
			m.heard = slices.Delete(m.heard, i, i+1)
		}
		if t.Action != "deleted" {
			m.heard = append(m.heard, h)
		}
	}
	m.heard = m.heard[max(0, len(m.heard)-mostHints):]
}

// listen hands over what events told since the last look.
func (m *memory) listen() (told bool, head string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	told, head = m.told, m.expected
	m.told, m.expected = false, ""
	return told, head
}

// repeat takes back what a look that came to nothing was told.
func (m *memory) repeat(told bool, head string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = m.told || told
	if m.expected == "" {
		m.expected = head
	}
}

// place notes of which head the runs are that events named, and drops those of other heads that were read before.
func (m *memory) place(head string, listed []restRun, read []*restRun) {
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
	kept := m.hints[:0]
	for _, h := range m.hints {
		if h.head != "" && h.head != head {
			continue
		}
		if at, found := of[h.run]; found {
			h.head = at
		}
		kept = append(kept, h)
	}
	m.hints = kept
}

func containsRun(hints []hint, id int64) bool {
	for _, h := range hints {
		if h.run == id {
			return true
		}
	}
	return false
}

// with is a map with one entry more: most pull requests need none of these maps.
func with[K comparable, V any](m map[K]V, k K, v V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[k] = v
	return m
}
