package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// lawfulOrganisation is strict in everything, and enforces what is put at its end.
const lawfulOrganisation = `
mode: enforce
grace: 4m
timeout: 12m
deadline: 50m
stand_in: maintain
override: admin
threads: others
guard: ['.github/**', 'policies/**']
families: distinct
carry: none
reviewers:
  - {name: openai, check: AI review, app: openai-reviewer, verdict: conclusion, family: gpt}
  - {name: sage, author: 'sage[bot]', when: {any_path: ['src/**']}}
enforce: `

// harmlessKeys are those by which no repository lets a pull request pass that its organisation would hold, and why.
var harmlessKeys = map[string]string{
	"version":         "there is one",
	"early_start":     "it blocks sooner",
	"drafts":          "a draft cannot be merged",
	"retry":           "who is run again must still answer",
	"circuit_breaker": "it delays",
	"sweep":           "it says when it is looked, not what is seen",
	"fix":             "what it pushes is a new head",
	"comment":         "it tells",
	"escalate":        "it asks people",
	"enforce":         "a repository cannot say it",
	"name":            "of a lane",
	"if":              "each lane is held to the same",
	"why":             "it tells",
}

// loosened are the values of keys that a repository may try, by the key; each key stands here or is harmless.
var loosened = map[string][]string{
	"check":      {"Other"},
	"mode":       {"enforce", "report", "'off'"},
	"quorum":     {"1", "2", "3", "majority", "all"},
	"grace":      {"0s", "1h"},
	"timeout":    {"1s", "30m"},
	"deadline":   {"1s", "2h"},
	"stand_in":   {"none", "write", "maintain", "admin"},
	"override":   {"none", "maintain", "admin"},
	"threads":    {"others", "anyone"},
	"own_change": {"refused", "stand_in"},
	"guard":      {"[]", "['!**']", "['!policies/**', 'a/**']", "['!.github/**']"},
	"families":   {"any", "distinct"},
	"people":     {"0", "1", "3"},
	"carry":      {"none", "same_diff"},
	"lanes":      nil, // see drawLooseFile
	"reviewers":  nil,
}

// TestEachKeyIsHeldOrHarmless: a key that comes to the language is thought of here, or nobody holds it.
func TestEachKeyIsHeldOrHarmless(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[PolicyKeys](), reflect.TypeFor[LaneKeys]()} {
		for field := range of.Fields() {
			key := field.Tag.Get("yaml")
			_, isHeld := loosened[key]
			if _, isHarmless := harmlessKeys[key]; isHeld == isHarmless {
				t.Errorf("%s of %s: held %t, harmless %t", key, of.Name(), isHeld, isHarmless)
			}
		}
	}
}

// drawLooseFile writes the file of somebody who owns a repository and would rather be left alone.
func drawLooseFile(t *rapid.T) string {
	var b strings.Builder
	anyOf := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	chance := func(what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }
	for _, key := range slices.Sorted(func(yield func(string) bool) {
		for key := range loosened {
			if !yield(key) {
				return
			}
		}
	}) {
		if values := loosened[key]; values != nil && chance(key) {
			fmt.Fprintf(&b, "%s: %s\n", key, anyOf(key, values...))
		}
	}
	b.WriteString("reviewers:\n")
	names := rapid.SliceOfNDistinct(
		rapid.SampledFrom([]string{"openai", "OpenAI", "sage", "Sage", "mine", "other", "third"}), 1, 4, strings.ToLower,
	).Draw(t, "names")
	for i, name := range names {
		source := fmt.Sprintf("author: 'mine%d[bot]'", i)
		if chance("an enforced one's") {
			source = anyOf("source", "author: 'sage[bot]'", "author: 'Openai-Reviewer[bot]'", "check: Another, app: openai-reviewer, verdict: conclusion")
		}
		fmt.Fprintf(&b, "  - {name: %s, %s", name, source)
		for key, values := range map[string][]string{
			"required": {"true", "false"}, "shadow": {"true"}, "when": {"{any_path: ['never/**']}"}, "timeout": {"1s"}, "family": {"gpt", "own"},
			"min_severity": {"critical"},
		} {
			if chance(key) {
				fmt.Fprintf(&b, ", %s: %s", key, anyOf(key, values...))
			}
		}
		b.WriteString("}\n")
	}
	if chance("lanes") {
		b.WriteString("lanes:\n")
		for i := range rapid.IntRange(1, 2).Draw(t, "lanes") {
			fmt.Fprintf(&b, "  - {name: lane%d, if: {all_paths: ['**'], base: [b%d]}", i, i)
			for field := range reflect.TypeFor[LaneKeys]().Fields() {
				key := field.Tag.Get("yaml")
				values := loosened[key]
				switch key {
				case "reviewers":
					values = []string{"[" + strings.Join(names, ", ") + "]", "[" + names[0] + "]", "[" + names[len(names)-1] + "]"}
				case "quorum":
					values = []string{"none", "1", "all"}
				case "override":
					values = []string{"none", "maintain", "admin"}
				}
				if values != nil && chance(key) {
					fmt.Fprintf(&b, ", %s: %s", key, anyOf(key, values...))
				}
			}
			b.WriteString("}\n")
		}
	}
	return b.String()
}

// TestNothingLoosensWhatIsEnforced: whatever a repository's file says, what it comes to asks for all that its
// organisation does, in each of its lanes, or is broken.
func TestNothingLoosensWhatIsEnforced(t *testing.T) {
	for enforced, asks := range map[string]enforcedParts{
		"{reviewers: [openai, sage], quorum: 2, people: 1}": {reviewers: 2, quorum: 2, people: 1},
		"{reviewers: [openai, sage]}":                       {reviewers: 2, quorum: 1},
		"{reviewers: [openai], people: 1}":                  {reviewers: 1, quorum: 1, people: 1},
		"{quorum: 2}":                                       {quorum: 2},
		"{people: 1}":                                       {people: 1},
	} {
		t.Run(enforced, func(t *testing.T) { checkNothingLoosens(t, enforced, asks) })
	}
}

// enforcedParts say how many of an organisation's reviewers are enforced, and how many approvals.
type enforcedParts struct{ reviewers, quorum, people int }

func checkNothingLoosens(t *testing.T, enforced string, asks enforcedParts) {
	o, err := ParseOrganisation("org.yml", []byte(lawfulOrganisation+enforced+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	org := o.Policy()
	valid, lanes := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 8 {
			src := drawLooseFile(t)
			p, err := Merge("repo.yml", []byte(src), o)
			if err != nil {
				continue // a broken policy lets nothing pass
			}
			valid++
			lanes += len(p.Lanes)
			if says := looserThan(org, asks, p); says != "" {
				t.Fatalf("%s:\n%s", says, src)
			}
			for i := range p.Lanes {
				if says := looserThan(org, asks, p.InLane(&p.Lanes[i])); says != "" {
					t.Fatalf("lane %s: %s:\n%s", p.Lanes[i].Name, says, src)
				}
			}
		}
	})
	if valid < 100 || lanes < 50 {
		t.Errorf("only %d files were valid, with %d lanes: the law was hardly asked", valid, lanes)
	}
}

// looserThan says in what a policy asks less than an organisation's; "": in nothing.
func looserThan(org quorum.Policy, asks enforcedParts, p quorum.Policy) string {
	voters := p.Voters()
	for _, want := range org.Reviewers[:asks.reviewers] {
		want.Required = true
		k := slices.IndexFunc(p.Reviewers, func(r quorum.Reviewer) bool { return strings.EqualFold(r.Name, want.Name) })
		switch {
		case k < 0:
			return want.Name + " is missing"
		case !reflect.DeepEqual(asDescribed(p.Reviewers[k]), asDescribed(want)):
			return fmt.Sprintf("%s is\n  %+v\nand not\n  %+v", want.Name, p.Reviewers[k], want)
		case p.Reviewers[k].Excused != "":
			return want.Name + " does not vote"
		}
		for _, other := range p.Reviewers {
			if other.Name != want.Name && other.MayVote() && strings.EqualFold(other.Author, want.Author) {
				return want.Name + " votes as " + other.Name + ", too"
			}
		}
	}
	guarded, err := pathfilter.CompileAll(p.Guard)
	if err != nil {
		return err.Error()
	}
	for _, path := range []string{".github/workflows/a.yml", "policies/a"} {
		if !guarded.Match(path) {
			return path + " is not guarded"
		}
	}
	switch {
	case p.Check != org.Check:
		return "the name of its check"
	case p.Mode != org.Mode:
		return "its mode"
	case p.NeedOf(voters) < asks.quorum, p.NeedsNoReview() && asks.quorum > 0:
		return fmt.Sprintf("its quorum of %d", p.NeedOf(voters))
	case p.People.Least() < asks.people:
		return "it asks nobody"
	case p.OwnChange && !org.OwnChange, p.StandIn.IsWider(org.StandIn), p.Override.IsWider(org.Override), p.Threads != org.Threads:
		return "who may do what"
	case p.Carry != org.Carry, p.Families != org.Families:
		return "what an approval is"
	case p.Grace < org.Grace, p.Timeout < org.Timeout, p.Deadline < org.Deadline:
		return "how long it waits"
	}
	return ""
}

// asDescribed returns a reviewer as its entry describes it: whether a lane lets it vote is asked apart.
func asDescribed(r quorum.Reviewer) quorum.Reviewer {
	r.Excused = ""
	return r
}
