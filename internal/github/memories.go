package github

// What is remembered of pull requests, within a bound: a process may live for years and see any number of them.

import (
	"container/list"
	"sync"
	"time"

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

	mu       sync.Mutex // of what the reads of one look write side by side, and of what events tell
	hints    []hint     // runs that an event named
	told     bool       // an event came since the last look
	expected string     // the head that it named

	last      scene      // as of the last look
	head      string     // of what follows
	checks    sum        // the check runs of others, as of the last look
	siblings  []int      // the other pull requests of the head, as of the last look
	own       []ownCheck // our checks on the head, as of the last look or write
	former    []ownCheck // our checks on the head before, as of the last look or write there
	formerly  string     // that head
	statuses  []quorum.Status
	beside    bool // a check run of our name stands on the head, though we write a status
	threads   conversation
	asked     bool    // threads holds an answer for head
	early     bool    // threads was asked for beside what turned out to be news
	serially  bool    // REST and GraphQL show the texts differently: they cannot be read side by side
	odd       []int64 // texts of which REST and GraphQL told different things at the last look
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

// ownCheck is a check run of ours with what it says.
type ownCheck struct {
	quorum.CheckRun
	annotations int
}

// recall returns what is remembered of pr, for now.
func (f *Forge) recall(pr quorum.PR) *memory {
	f.memories.mu.Lock()
	defer f.memories.mu.Unlock()
	return f.memories.recall(memoryKey{f.id, pr})
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
	m := &memory{key: key, logs: map[int64]quorum.Job{}, commits: map[string]quorum.Commit{}, done: map[string]bool{}}
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

// weigh says about how many bytes m takes: what strangers can make long.
func (m *memory) weigh() int {
	n := 2<<10 + 8*len(m.siblings)
	for _, all := range [][]ownCheck{m.own, m.former} {
		for _, c := range all {
			n += 256 + len(c.Title) + len(c.Summary) + len(c.Text)
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
	m.former, m.formerly = m.own, m.head
	m.head, m.own, m.asked, m.early, m.serially, m.threads = head, nil, false, false, false, conversation{}
	m.checks, m.siblings, m.statuses, m.odd, m.authors, m.authorsOf = sum{}, nil, nil, nil, nil, ""
	m.logs, m.commits = map[int64]quorum.Job{}, map[string]quorum.Commit{}
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
