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

// RecordOf is the record of a pull request among those that our checks on its head hold; fork says that it comes from
// one. What was objected to the same commit in other pull requests, and accepted there, is part of it, but for what was said
// in a fork's to one of this repository. One that has no record yet takes over what another's tells of the commit.
func RecordOf(number int, fork bool, held []HeldRecord) (rec Record) {
	held = newestOf(held)
	var other Record
	for _, h := range held {
		switch {
		case h.Pull == number || h.Pull == 0:
			if h.Seq > rec.Seq {
				rec = h.Record
			}
		case h.Seq > other.Seq && (fork || !h.Fork):
			other = h.Record
		}
	}
	if rec.Seq == 0 {
		rec = other.forAnother()
		rec.Objections = nil // each comes from the record in which it stands
	}
	for _, h := range held {
		if h.Pull == number || h.Pull == 0 || h.Fork && !fork {
			continue
		}
		rec.Objections = withForeign(rec.Objections, h.Record)
		rec.Commands = withAccepts(rec.Commands, rec.Base, h.Record)
	}
	return rec
}

// withAccepts adds what another pull request's commands accept against the base: that belongs to the change.
func withAccepts(all []Command, base string, other Record) []Command {
	for _, c := range other.Commands {
		isKnown := slices.ContainsFunc(all, func(x Command) bool { return x.ID == c.ID })
		if isAccept := c.Verb == CommandAccept && c.Refused == "" && c.Base == base; isAccept && !isKnown {
			c.Replied = true // there
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
			o.Of = other.Pull
			all = append(slices.Clip(all), o)
		}
	}
	return all
}

// newestOf leaves of each pull request's records the newest one.
func newestOf(held []HeldRecord) (newest []HeldRecord) {
	for _, h := range held {
		i := slices.IndexFunc(newest, func(o HeldRecord) bool { return o.Pull == h.Pull })
		switch {
		case i < 0:
			newest = append(newest, h)
		case h.Seq > newest[i].Seq:
			newest[i] = h
		}
	}
	return newest
}

// WithoutForeign is the record without what stands in another pull request's.
func (r Record) WithoutForeign() Record {
	r.Objections = slices.DeleteFunc(slices.Clone(r.Objections), func(o Objection) bool { return o.Of != 0 })
	if len(r.Objections) == 0 {
		r.Objections = nil
	}
	return r
}

// standing are the pull request's own objections that nothing has answered or ended. Of those to this head it has also
// what was said against a base of before, under each name of that: taking the pull request elsewhere sheds nothing.
func (r Record) standing() (all []Objection) {
	for _, o := range r.Objections {
		isHere := r.Concerns(&o, r.Base, r.Diff)
		if o.Of != 0 || o.Answered || o.Ended || !isHere && o.Carried != "" {
			continue
		}
		if isHere && o.Carried != "" {
			o.Base = r.Base
		}
		all = append(all, o)
		for _, m := range r.Moved {
			if was := o; isHere && m.From != o.Base {
				was.Base = m.From
				all = append(all, was)
			}
		}
	}
	return all
}

// WithSiblings is the record of a check that several pull requests of a head share: r with the others', by number. here
// are the records of those that were judged now, held those that stood in the check. The newest are kept: whole where
// isOpen says that the head is still the pull request's, and else what was objected there, for it counts against the base.
func (r Record) WithSiblings(here []Record, held []Record, isOpen func(number int) bool) Record {
	r = r.WithoutForeign()
	r.Siblings = nil
	add := func(x Record) {
		x = x.WithoutForeign()
		x.Siblings, x.Seen = nil, Seen{}
		r.Siblings = append(r.Siblings, x)
	}
	newest := slices.Clone(held)
	slices.SortStableFunc(newest, func(a, b Record) int { return cmp.Or(b.Seq-a.Seq, b.Pull-a.Pull) })
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
				Version: x.Version, Seq: x.Seq, Head: x.Head, Base: x.Base, Pull: x.Pull, Fork: x.Fork, Diff: x.Diff, Heads: x.Heads,
				Objections: x.standing(),
			})
		}
	}
	slices.SortStableFunc(r.Siblings, func(a, b Record) int { return a.Pull - b.Pull })
	return r
}
