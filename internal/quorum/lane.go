package quorum

import (
	"cmp"
	"slices"
	"time"
)

// A Lane is a rule for some pull requests. What it asks as much or more than the top level is added wherever it possibly holds. What
// it asks less counts where it surely holds, and the first that does is the last that is read, unless it only waits less.
type Lane struct {
	Name string
	Why  string // the reason that the check gives; hostile to Markdown, as all that a policy says
	If   Condition

	// The keys that it names; nil: the top level's.
	Need       *NeedRule
	People     *People
	Voters     []string // names of the reviewers that vote
	Grace      *time.Duration
	Timeout    *time.Duration
	Deadline   *time.Duration
	EarlyStart *bool
	StandIn    *Permission
	OwnChange  *bool
	Override   *Permission
	Threads    *ThreadsBy
}

// A Condition says which pull requests a lane, or a reviewer, is for: surely, or only possibly. All that is named must hold.
type Condition struct {
	AllPaths []string `json:"all_paths,omitempty"` // patterns; surely: every changed path matches; possibly: one does
	AnyPath  []string `json:"any_path,omitempty"`  // patterns; possibly: one changed path matches
	Authors  []string `json:"authors,omitempty"`   // accounts; surely: nobody else had a hand in it; possibly: one had
	Labels   []string `json:"labels,omitempty"`    // possibly: one of them is on it
	Base     []string `json:"base,omitempty"`      // patterns of the base branch
}

func (c Condition) Names() bool {
	return len(c.AllPaths)+len(c.AnyPath)+len(c.Authors)+len(c.Labels)+len(c.Base) > 0
}

// OnlyAdds reports whether it never holds surely: one more file would reach it, and whoever may triage may set a label.
func (c Condition) OnlyAdds() bool { return len(c.AnyPath)+len(c.Labels) > 0 }

// A NeedRule says how many approvals are needed of those who vote.
type NeedRule struct {
	Share Share
	Count int // with ByNumber
}

// Share says how the number of approvals that are needed follows from the number of those who vote.
type Share uint8

const (
	ByNumber Share = 1 + iota // whoever votes
	Majority                  // more than half of them
	All                       //
	NoReview                  // none is needed
)

// Of is how many approvals are needed of so many voters, or families where those are counted: of all at least one.
func (n NeedRule) Of(voters int) int {
	switch n.Share {
	case ByNumber:
		return n.Count
	case Majority:
		return voters/2 + 1
	case NoReview:
		return 0
	case All:
	}
	return max(voters, 1) // all, and without any rule whoever is there
}

// IsLess reports whether n asks less than o of some number of voters up to most.
func (n NeedRule) IsLess(o NeedRule, most int) bool {
	for voters := range most + 1 {
		if n.Of(voters) < o.Of(voters) {
			return true
		}
	}
	return false
}

// IsWider reports whether more people have p than have o; 0 is nobody's.
func (p Permission) IsWider(o Permission) bool { return p != 0 && (o == 0 || p < o) }

// A LaneChoice says which lanes count for a pull request. The zero value is the top level.
type LaneChoice struct {
	Name  string     `json:"name,omitempty"` // of the lane that asks less; "": none does
	Why   string     `json:"why,omitempty"`
	By    Condition  `json:"-"`               // the condition of that lane
	Added []LaneSaid `json:"added,omitempty"` // lanes that count beside it: they ask more, or wait less
	Not   []LaneNot  `json:"not,omitempty"`   // lanes that ask less, surely hold, and are not for this pull request
}

// A LaneSaid is a lane that asks more, or only waits less.
type LaneSaid struct {
	Name string    `json:"name"`
	Why  string    `json:"why,omitempty"`
	Less bool      `json:"less,omitempty"` // it waits less
	By   Condition `json:"-"`
}

// Names are the lanes that count.
func (c LaneChoice) Names() (names []string) {
	for _, l := range append(slices.Clip(c.Added), LaneSaid{Name: c.Name}) {
		if l.Name != "" && !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	return names
}

// A LaneNot is a lane that asks less and is not for a pull request although its condition surely holds.
type LaneNot struct {
	Name   string `json:"name"`
	Reason Reason `json:"reason"`           // ReasonLaneBase, ReasonLaneGuard, ReasonLanePolicy, ReasonLaneLinks
	Detail string `json:"detail,omitempty"` // the branch or the path; hostile
}

// waits are the keys of a lane in which less ends no reading of lanes: they change when a check decides, and not what it takes.
var waits = []string{"grace", "timeout", "deadline", "early_start"}

// EndsReading reports whether a lane that asks less in those keys is the last that is read, if it surely holds.
func EndsReading(less []string) bool {
	return slices.ContainsFunc(less, func(key string) bool { return !slices.Contains(waits, key) })
}

// Compare says which keys of l are added to p, the top level, wherever l may hold, for they ask as much or more, and in which l asks
// less, which is nowhere if it never surely holds; as the policy file names them. It may do both in one key: "all" beside a quorum of 2
// where a reviewer votes on some paths only, or one of two people beside one of two others.
func (p *Policy) Compare(l *Lane) (adds, less []string) {
	named := findKeys(func(key laneKey) bool { return key.isNamed(l) })
	own := p.withKeys(l, named)
	less = own.LessThan(p)
	more := p.LessThan(&own)
	_, most := p.CountAnyVoters()
	adds = slices.DeleteFunc(named, func(key string) bool {
		isBoth := slices.Contains(more, key) || key == "quorum" && own.NeedOf(most) >= p.NeedOf(most)
		return key == "reviewers" || slices.Contains(less, key) && !isBoth
	})
	if l.If.OnlyAdds() {
		less = nil
	}
	return adds, less
}

// A laneKey is a key that a lane may name, as the policy file names it.
type laneKey struct {
	name    string
	isNamed func(l *Lane) bool
	isLess  func(p, o *Policy) bool // p asks less than o
	set     func(p *Policy, l *Lane)
	add     func(p *Policy, l *Lane) // nil: set, unless l asks less
}

var laneKeys = []laneKey{
	{
		"quorum", func(l *Lane) bool { return l.Need != nil }, (*Policy).needsFewer,
		func(p *Policy, l *Lane) { p.Rules = append([]NeedRule{*l.Need}, p.Floor...) }, (*Policy).addNeed,
	},
	{
		"people", func(l *Lane) bool { return l.People != nil }, func(p, o *Policy) bool { return p.People.AsksLess(o.People) },
		func(p *Policy, l *Lane) { p.People = *l.People }, func(p *Policy, l *Lane) { p.People = p.People.And(*l.People) },
	},
	{
		"reviewers", func(l *Lane) bool { return l.Voters != nil }, (*Policy).leavesOutVoter,
		func(p *Policy, l *Lane) { p.leaveVoteTo(l.Voters) }, nil,
	},
	keyOf("grace", func(l *Lane) *time.Duration { return l.Grace }, func(p *Policy) *time.Duration { return &p.Grace }, isShorter),
	{
		"timeout", func(l *Lane) bool { return l.Timeout != nil }, func(p, o *Policy) bool { return p.Timeout < o.Timeout },
		func(p *Policy, l *Lane) { p.setTimeout(*l.Timeout) }, nil,
	},
	keyOf("deadline", func(l *Lane) *time.Duration { return l.Deadline }, func(p *Policy) *time.Duration { return &p.Deadline }, isShorter),
	keyOf("early_start", func(l *Lane) *bool { return l.EarlyStart }, func(p *Policy) *bool { return &p.EarlyStart },
		func(own, other bool) bool { return own && !other }),
	keyOf("stand_in", func(l *Lane) *Permission { return l.StandIn }, func(p *Policy) *Permission { return &p.StandIn }, isWider),
	keyOf("own_change", func(l *Lane) *bool { return l.OwnChange }, func(p *Policy) *bool { return &p.OwnChange },
		func(own, other bool) bool { return own && !other }),
	keyOf("override", func(l *Lane) *Permission { return l.Override }, func(p *Policy) *Permission { return &p.Override }, isWider),
	keyOf("threads", func(l *Lane) *ThreadsBy { return l.Threads }, func(p *Policy) *ThreadsBy { return &p.Threads },
		func(own, other ThreadsBy) bool { return own > other }),
}

var isShorter, isWider = cmp.Less[time.Duration], Permission.IsWider

// keyOf is a key that a lane has set where it names it, and that is of the policy as it stands.
func keyOf[T any](name string, ofLane func(*Lane) *T, ofPolicy func(*Policy) *T, isLess func(own, other T) bool) laneKey {
	return laneKey{
		name, func(l *Lane) bool { return ofLane(l) != nil },
		func(p, o *Policy) bool { return isLess(*ofPolicy(p), *ofPolicy(o)) },
		func(p *Policy, l *Lane) { *ofPolicy(p) = *ofLane(l) }, nil,
	}
}

func findKeys(matches func(laneKey) bool) (names []string) {
	for _, key := range laneKeys {
		if matches(key) {
			names = append(names, key.name)
		}
	}
	return names
}

// LessThan are the keys in which p asks less than o, as the policy file names them.
func (p *Policy) LessThan(o *Policy) (keys []string) {
	return findKeys(func(key laneKey) bool { return key.isLess(p, o) })
}

// needsFewer reports whether p needs fewer approvals than o of some number of those who vote under one of the two.
func (p *Policy) needsFewer(o *Policy) bool {
	least, most := p.CountAnyVoters()
	leastOfO, mostOfO := o.CountAnyVoters()
	for n := min(least, leastOfO); n <= max(most, mostOfO); n++ {
		if p.NeedOf(n) < o.NeedOf(n) {
			return true
		}
	}
	return false
}

// leavesOutVoter reports whether somebody votes under o and not under p. Where no review is needed nobody does.
func (p *Policy) leavesOutVoter(o *Policy) bool {
	return !o.NeedsNoReview() && slices.ContainsFunc(o.Reviewers, func(r Reviewer) bool {
		return r.Voter() && slices.ContainsFunc(p.Reviewers, func(own Reviewer) bool { return own.Name == r.Name && !own.Voter() })
	})
}

// withKeys returns p with what l says in some keys that it names.
func (p Policy) withKeys(l *Lane, names []string) Policy {
	for _, key := range laneKeys {
		if slices.Contains(names, key.name) {
			key.set(&p, l)
		}
	}
	return p
}

// Adding returns p with what l asks more in some keys: of each the stricter, of quorum and people both.
func (p Policy) Adding(l *Lane, keys []string) Policy {
	for _, key := range laneKeys {
		switch {
		case !slices.Contains(keys, key.name):
		case key.add != nil:
			key.add(&p, l)
		default:
			if own := p.withKeys(l, []string{key.name}); !key.isLess(&own, &p) {
				p = own
			}
		}
	}
	p.Lane.Added = append(slices.Clip(p.Lane.Added), LaneSaid{Name: l.Name, Why: l.Why, By: l.If})
	return p
}

// addNeed adds the number of approvals that l asks for: of several rules what asks most counts.
func (p *Policy) addNeed(l *Lane) {
	if len(p.Rules) == 0 {
		p.Rules = []NeedRule{{Share: ByNumber, Count: p.Need}} // it goes on to hold
	}
	if !slices.Contains(p.Rules, *l.Need) {
		p.Rules = append(slices.Clip(p.Rules), *l.Need)
	}
}

// Loosened returns p with what l says in the keys in which it asks less, but for those that lanes above have added: an exception
// shields from nothing above it. "All" and "majority" are of those who vote, so who votes hangs on the quorum.
func (p Policy) Loosened(l *Lane, less, added []string) Policy {
	keys := slices.DeleteFunc(slices.Clone(less), func(key string) bool {
		return slices.Contains(added, key) || key == "reviewers" && slices.Contains(added, "quorum")
	})
	p = p.withKeys(l, keys)
	switch {
	case EndsReading(keys):
		p.Lane.Name, p.Lane.Why, p.Lane.By = l.Name, l.Why, l.If
	case len(keys) > 0:
		p.Lane.Added = append(slices.Clip(p.Lane.Added), LaneSaid{Name: l.Name, Why: l.Why, By: l.If, Less: true})
	}
	return p
}

// InLane returns p, the top level, as it holds where l alone surely does.
func (p Policy) InLane(l *Lane) Policy {
	adds, less := p.Compare(l)
	p = p.Loosened(l, less, nil)
	if len(adds) > 0 {
		p = p.Adding(l, adds)
	}
	return p
}

func votersOf(reviewers []Reviewer) []Reviewer {
	return slices.DeleteFunc(slices.Clone(reviewers), func(r Reviewer) bool { return !r.Voter() })
}

// CountVoters counts those of some reviewers who vote, of a family one where families are counted.
func (p *Policy) CountVoters(reviewers []Reviewer) int {
	return countPlaces(p.Families, votersOf(reviewers), func(r Reviewer) string { return r.Family })
}

// CountAnyVoters counts those who vote on every pull request, and all.
func (p *Policy) CountAnyVoters() (least, most int) {
	always := slices.DeleteFunc(slices.Clone(p.Reviewers), func(r Reviewer) bool { return r.When.Names() })
	return p.CountVoters(always), p.CountVoters(p.Reviewers)
}

func (p *Policy) leaveVoteTo(names []string) {
	p.Reviewers = slices.Clone(p.Reviewers)
	for i := range p.Reviewers {
		r := &p.Reviewers[i]
		if seat := cmp.Or(r.InsteadOf, r.Name); !slices.Contains(names, seat) && r.Excused == "" && r.MayVote() {
			r.Excused = ReasonOtherLane
		}
	}
}

// setTimeout gives another timeout to the reviewers that have none of their own.
func (p *Policy) setTimeout(timeout time.Duration) {
	p.Timeout, p.Reviewers = timeout, slices.Clone(p.Reviewers)
	for i := range p.Reviewers {
		if !p.Reviewers[i].OwnTimeout {
			p.Reviewers[i].Timeout = timeout
		}
	}
}
