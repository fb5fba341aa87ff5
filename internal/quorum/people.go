package quorum

import (
	"cmp"
	"slices"
	"strings"
)

// People are approvals by people on top of the quorum. Each rule needs its own number; a person may count for several rules.
type People []PeopleRule

// A PeopleRule asks for approvals by people who could stand in.
type PeopleRule struct {
	Count int      `json:"count"`
	Of    []string `json:"of,omitempty"` // logins, and teams as OWNER/TEAM; none: whoever could stand in
}

// IsTeam reports whether a name that a policy gives to people is a team's.
func IsTeam(name string) bool { return strings.Contains(name, "/") }

// Teams are the members of teams, as far as they were asked for, by the lower-case OWNER/TEAM.
type Teams map[string]Team

type Team struct {
	Members []string // logins
	Unread  bool     // GitHub does not say who is in it
}

// A TeamName asks whether a person is in a team.
type TeamName struct{ Team, Login string }

func (t Teams) Note(name string, says Team) {
	team := t[strings.ToLower(name)]
	t[strings.ToLower(name)] = Team{Members: append(team.Members, says.Members...), Unread: team.Unread || says.Unread}
}

// NewPeople returns some rules without those that others cover, in one order.
func NewPeople(rules ...PeopleRule) (p People) {
	for _, r := range rules {
		if r.Count > 0 && p.AsksLess(People{r}) {
			p = append(slices.DeleteFunc(p, r.coversRule), r)
		}
	}
	slices.SortFunc(p, func(a, b PeopleRule) int { return cmp.Or(slices.Compare(a.Of, b.Of), a.Count-b.Count) })
	return p
}

func (p People) And(o People) People { return NewPeople(slices.Concat(p, o)...) }

// AsksLess reports whether o asks for something that p does not.
func (p People) AsksLess(o People) bool {
	return slices.ContainsFunc(o, func(r PeopleRule) bool {
		return !slices.ContainsFunc(p, func(own PeopleRule) bool { return own.coversRule(r) })
	})
}

// Least is the least number of people who can give these approvals.
func (p People) Least() (n int) {
	for _, r := range p {
		n = max(n, r.Count)
	}
	return n
}

// Teams are the teams whose members' approvals p asks for.
func (p People) Teams() (names []string) {
	for _, r := range p {
		for _, name := range r.Of {
			if IsTeam(name) && !hasFold(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// coversRule reports whether whoever gives what r asks for gives what o asks for.
func (r PeopleRule) coversRule(o PeopleRule) bool {
	isOther := func(name string) bool { return !hasFold(o.Of, name) }
	return r.Count >= o.Count && (len(o.Of) == 0 || len(r.Of) > 0 && !slices.ContainsFunc(r.Of, isOther))
}

// isOf reports whether a person is one of those whose approval r asks for.
func (r PeopleRule) isOf(login string, teams Teams) bool {
	return len(r.Of) == 0 || hasFold(r.Of, login) || slices.ContainsFunc(r.Of, func(name string) bool {
		return hasFold(teams[strings.ToLower(name)].Members, login)
	})
}

// hasFold reports whether a list has a name, as GitHub compares them.
func hasFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
