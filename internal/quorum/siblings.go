package quorum

import (
	"cmp"
	"maps"
	"slices"
)

// Several open pull requests may have one head, and a check belongs to a commit. Here stands who of them speaks in it,
// and what it says: it must be the same whichever of them is looked at.

// How many pull requests of one head a check knows: anybody may open many.
const (
	MaxSiblings = 10 // that are judged together
	maxSilent   = 20 // that it names and that do not speak in it
	maxGone     = 5  // that it remembers and that have left the head
)

// A SharedPull is a pull request of a head of which several are open, as their check names it.
type SharedPull struct {
	Number  int     `json:"number"`
	Base    string  `json:"base"`
	Fork    bool    `json:"fork,omitempty"`
	Draft   bool    `json:"draft,omitempty"`
	Speaks  bool    `json:"speaks,omitempty"`  // its verdict counts
	Verdict Verdict `json:"verdict,omitempty"` // of one that speaks
	Title   string  `json:"title,omitempty"`   // of one that speaks: what its check would say alone
}

// SpeakersOf returns those of the open pull requests of one head that speak in a check which all of them have, by
// number: each of this repository, or else each of the author of the oldest fork's; a draft only where all are.
func SpeakersOf(all []PullRequest) []PullRequest {
	speakers := sortedByNumber(all)
	for _, isLeftOut := range []func(p, oldest PullRequest) bool{
		func(p, _ PullRequest) bool { return p.Fork },
		func(p, oldest PullRequest) bool {
			return p.Fork && p.Number != oldest.Number && !p.Author.Same(oldest.Author)
		},
		func(p, _ PullRequest) bool { return p.Draft },
	} {
		left := slices.DeleteFunc(slices.Clone(speakers), func(p PullRequest) bool { return isLeftOut(p, speakers[0]) })
		if len(left) > 0 {
			speakers = left
		}
	}
	return speakers
}

// UnheardOf are the pull requests that were closed on the head of a snapshot's, not by a merge, and that no look has shown
// since: what was objected there last may stand in no record. Those are left out that may not speak here.
func UnheardOf(s *Snapshot) []PullRequest {
	return slices.DeleteFunc(slices.Clone(s.SameHead), func(p PullRequest) bool {
		isHeard := slices.ContainsFunc(s.Held, func(h HeldRecord) bool { return slices.Contains(h.HeardClosed, p.Number) })
		there := Record{Stranger: p.Stranger(), Base: p.BaseRef}
		return !p.Closed || p.Merged || isHeard || !there.maySpeakIn(&s.PR)
	})
}

// HeldNow is what our checks on the head of a snapshot's hold, without records of closed pull requests that another record says
// were looked at since, and had nothing against the head any more: the check in which they stand is written no more.
func HeldNow(s *Snapshot) []HeldRecord {
	return slices.DeleteFunc(slices.Clone(s.Held), func(h HeldRecord) bool {
		isIt := func(p PullRequest) bool { return p.Number == h.Pull && p.Closed }
		isHeard := func(o HeldRecord) bool { return o.Pull != h.Pull && slices.Contains(o.HeardClosed, h.Pull) }
		return slices.ContainsFunc(s.SameHead, isIt) && slices.ContainsFunc(s.Held, isHeard) && !slices.Contains(h.HeardClosed, h.Pull)
	})
}

func sortedByNumber(pulls []PullRequest) []PullRequest {
	return slices.SortedFunc(slices.Values(pulls), func(a, b PullRequest) int { return a.Number - b.Number })
}

// A Sibling is one of several open pull requests of a head, with what was decided about it alone.
type Sibling struct {
	PR       PullRequest
	Check    string // the name of its check
	Gated    bool   // that is the plain one
	Decision Decision
	Title    string // what its check would say alone
}

// A SharedCheck is the check of all open pull requests of a head for which it has that name.
type SharedCheck struct {
	Name  string
	Lead  int          // the number of the pull request of which the check shows the decision: the worst of those that speak
	Pulls []SharedPull // by number: those that speak, and of the others the oldest
	More  int          // others that are not among Pulls
}

// Shared returns the checks of a head. judged are those that were judged, all are all open pull requests of the head, and held is
// what our checks on it hold. Of those that share a name each of [SpeakersOf] speaks, and the worst verdict counts.
func Shared(judged []Sibling, all []PullRequest, held []HeldRecord) (checks []SharedCheck) {
	pulls := map[string][]PullRequest{}
	for _, s := range judged {
		pulls[s.Check] = append(pulls[s.Check], s.PR)
	}
	for _, name := range slices.Sorted(maps.Keys(pulls)) {
		checks = append(checks, sharedCheck(name, SpeakersOf(pulls[name]), judged, all, held))
	}
	return checks
}

func sharedCheck(name string, speakers []PullRequest, judged []Sibling, all []PullRequest, held []HeldRecord) SharedCheck {
	speaking := slices.DeleteFunc(slices.Clone(judged), func(s Sibling) bool {
		return !slices.ContainsFunc(speakers, func(p PullRequest) bool { return p.Number == s.PR.Number })
	})
	lead := slices.MinFunc(speaking, func(a, b Sibling) int {
		return cmp.Or(b.Decision.Verdict.badness()-a.Decision.Verdict.badness(), a.PR.Number-b.PR.Number)
	})
	c, silent := SharedCheck{Name: name, Lead: lead.PR.Number}, 0
	for _, p := range sortedByNumber(all) {
		named := SharedPull{Number: p.Number, Base: p.BaseRef, Fork: p.Fork, Draft: p.Draft}
		i := slices.IndexFunc(speaking, func(s Sibling) bool { return s.PR.Number == p.Number })
		known := slices.IndexFunc(judged, func(s Sibling) bool { return s.PR.BaseRef == p.BaseRef })
		switch {
		case i >= 0:
			named.Speaks, named.Verdict, named.Title = true, speaking[i].Decision.Verdict, speaking[i].Title
		case known < 0 && !lead.Gated, known >= 0 && judged[known].Check != name, HasOtherCheck(&p, name, held):
			continue // it has a check of its own name
		case silent == maxSilent:
			c.More++
			continue
		default:
			silent++
		}
		c.Pulls = append(c.Pulls, named)
	}
	return c
}

// badness orders verdicts: the worst of several counts. One that was never made is as bad as one that needs a person.
func (v Verdict) badness() int {
	if i := slices.Index([]Verdict{Ended, Passed, Waiting, Unverified, Blocked}, v); i >= 0 {
		return i
	}
	return Unverified.badness()
}

// A HeldRecord is a pull request's record, and the name of our check on the head in which it stands.
type HeldRecord struct {
	Check string
	Record
}

// HeldRecords are the records in a check of ours of that name, each by itself.
func HeldRecords(check string, rec Record) []HeldRecord {
	all := []HeldRecord{{check, rec}}
	all[0].Siblings = nil
	for _, s := range rec.Siblings {
		if s.Head == rec.Head {
			all = append(all, HeldRecord{check, s})
		}
	}
	return all
}

// HasOtherCheck reports whether a pull request's newest record against its base stands in our check of another name.
func HasOtherCheck(p *PullRequest, name string, held []HeldRecord) (isOther bool) {
	newest := 0
	for _, h := range held {
		if h.Pull == p.Number && h.Base == p.BaseRef && h.Seq >= newest {
			isOther = h.Check != name && (isOther || h.Seq > newest) // of two of one age it may have either
			newest = h.Seq
		}
	}
	return isOther
}

// RecordOf is the record of a pull request among those that our checks on its head hold. What was objected to the same
// commit in other pull requests, and accepted there, is part of it, but for what a stranger's fork may not say here. One
// that has no record yet takes over what another's tells of the commit.
func RecordOf(p *PullRequest, held []HeldRecord) (rec Record) {
	held = slices.SortedStableFunc(slices.Values(held), func(a, b HeldRecord) int { return cmp.Or(a.Pull-b.Pull, b.Seq-a.Seq) })
	held = slices.CompactFunc(held, func(a, b HeldRecord) bool { return a.Pull == b.Pull }) // the newest of each
	var other Record
	for _, h := range held {
		switch {
		case h.Pull == p.Number || h.Pull == 0:
			if h.Seq > rec.Seq {
				rec = h.Record
			}
		case h.Seq > other.Seq && h.maySpeakIn(p):
			other = h.Record
		}
	}
	own := rec // of the same head as the others
	if rec.Seq == 0 {
		rec = other.forAnother()
		rec.Objections = nil // each comes from the record in which it stands
	}
	for _, h := range held {
		if h.Pull == p.Number || h.Pull == 0 || !h.maySpeakIn(p) {
			continue
		}
		rec.Objections = withForeign(rec.Objections, h.Record)
		isSame := h.Base == p.BaseRef || own.Base == p.BaseRef && own.Files != "" && h.Files == own.Files
		rec.Commands = withAccepts(rec.Commands, p.BaseRef, h.Record, isSame)
	}
	return rec
}

// maySpeakIn reports whether what was objected in the record's pull request may count for another one of the head. A fork's
// holds up none of this repository, and another author's none onto another base: there anybody may have a check of its own.
func (r *Record) maySpeakIn(p *PullRequest) bool {
	return r.Stranger == "" || p.Fork && (r.Stranger == p.Stranger() || r.Base == p.BaseRef)
}

// withAccepts adds what another pull request's commands accept against the base, or against its own if both are the same change.
func withAccepts(all []Command, base string, other Record, isSame bool) []Command {
	for _, c := range other.Commands {
		isKnown := slices.ContainsFunc(all, func(x Command) bool { return x.ID == c.ID })
		isHere := c.Base == base || isSame && c.Base == other.Base
		if isAccept := c.Verb == CommandAccept && c.Refused == "" && isHere; isAccept && !isKnown {
			c.Base, c.Of, c.Replied = base, cmp.Or(c.Of, other.Pull), true // there
			all = append(slices.Clip(all), c)
		}
	}
	return all
}

// withForeign returns objections with the unanswered ones that another pull request's record holds.
func withForeign(all []Objection, other Record) []Objection {
	for _, o := range other.standing() {
		isKnown := slices.ContainsFunc(all, func(x Objection) bool {
			return x.Reviewer == o.Reviewer && x.Base == o.Base && x.TextRef == o.TextRef && x.Attempt == o.Attempt
		})
		if !isKnown {
			o.Of, o.Pull = other.Pull, cmp.Or(o.Pull, other.Pull)
			all = append(slices.Clip(all), o)
		}
	}
	return all
}

// WithoutForeign is the record without what stands in another pull request's.
func (r Record) WithoutForeign() Record {
	r.Objections = slices.DeleteFunc(slices.Clone(r.Objections), func(o Objection) bool { return o.Of != 0 })
	return r
}

// standing are the pull request's own objections that nothing has answered or ended, each with its diff. Of those to this
// head it has also what was said against a base of before: taking the pull request elsewhere sheds nothing.
func (r Record) standing() (all []Objection) {
	for _, o := range r.Objections {
		if o.Of == 0 && !o.Answered && !o.Ended && (o.Carried == "" || r.Concerns(&o, r.Base, r.Diff)) {
			o.Diff = r.DiffOf(&o)
			all = append(all, o)
		}
	}
	return all
}

// WithSiblings is the record of a check that several pull requests of a head share: r with the others', by number. here
// are the records of those that were judged now, held those that stood in the check. Those of the last numbers are kept: whole where
// isOpen says that the head is still the pull request's, and else what was objected there, for it counts against the base.
func (r Record) WithSiblings(here []Record, held []Record, isOpen func(number int) bool) Record {
	r = r.WithoutForeign()
	r.Siblings, r.HeardClosed = nil, slices.DeleteFunc(slices.Clone(r.HeardClosed), isOpen) // in one that is open again more may be said
	add := func(x Record) {
		x = x.WithoutForeign()
		x.Siblings, x.Seen, x.HeardClosed = nil, Seen{}, slices.DeleteFunc(slices.Clone(x.HeardClosed), isOpen)
		r.Siblings = append(r.Siblings, x)
	}
	newest := slices.Clone(held)
	slices.SortStableFunc(newest, func(a, b Record) int { return cmp.Or(b.Pull-a.Pull, b.Seq-a.Seq) })
	open, gone := 0, 0
	for i, x := range slices.Concat(here, newest) {
		isKnown := x.Pull == r.Pull || slices.ContainsFunc(r.Siblings, func(o Record) bool { return o.Pull == x.Pull })
		switch {
		case isKnown, i >= len(here) && x.Pull == 0:
		case i < len(here):
			add(x)
		case isOpen(x.Pull) && open < MaxSiblings:
			open++
			add(x)
		case gone < maxGone && len(x.standing()) > 0:
			gone++
			add(Record{
				Version: x.Version, Seq: x.Seq, Head: x.Head, Base: x.Base, Pull: x.Pull, Stranger: x.Stranger, Diff: x.Diff,
				Objections: x.standing(), HeardClosed: x.HeardClosed,
			})
		case slices.Contains(x.HeardClosed, x.Pull) && len(x.standing()) == 0 && !slices.Contains(r.HeardClosed, x.Pull):
			r.HeardClosed = append(slices.Clip(r.HeardClosed), x.Pull)
		}
	}
	slices.SortStableFunc(r.Siblings, func(a, b Record) int { return a.Pull - b.Pull })
	return r
}
