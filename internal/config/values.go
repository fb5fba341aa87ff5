package config

// The values of the file that are more than a YAML scalar: each knows how it is read.

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// A nodeReader reads itself from a node and reports what is wrong with it.
type nodeReader interface {
	decodeNode(r *policyFileReader, key string, n ast.Node)
}

// A Duration is written as Go writes one: 90s, 3m, 1h30m.
type Duration time.Duration

const durationHint = "write a duration with its unit, as in 90s, 3m or 1h30m"

func (d *Duration) decodeNode(r *policyFileReader, key string, n ast.Node) {
	text, ok := scalarText(n)
	if !ok {
		r.failWrongType(key, n, "a duration", durationHint)
		return
	}
	parsed, err := time.ParseDuration(text)
	switch {
	case err == nil && parsed < 0:
		r.failKey(key, fmt.Sprintf("%s is negative", quoteText(text)), "write a duration of zero or more")
	case err == nil:
		*d = Duration(parsed)
	case n.Type() == ast.IntegerType:
		r.failKey(key, fmt.Sprintf("%s has no unit", quoteText(text)),
			fmt.Sprintf("write %ss for seconds or %sm for minutes", text, text))
	default:
		r.failKey(key, fmt.Sprintf("%s is not a duration", quoteText(text)), durationHint)
	}
}

func (d Duration) String() string {
	return zeroUnits().ReplaceAllString(time.Duration(d).String(), "$1")
}

var zeroUnits = lazy.Regexp(`([hm])(?:0m)?0s$`)

// A Glob is one of GitHub's filter patterns.
type Glob string

func (g *Glob) decodeNode(r *policyFileReader, key string, n ast.Node) {
	text, ok := r.readText(key, n, "a pattern", false)
	_, err := pathfilter.Compile(text)
	problem, hint := misspelling(text)
	switch {
	case !ok:
	case err != nil:
		r.failKey(key, fmt.Sprintf("%s is not a pattern: %v", quoteText(text), err),
			`patterns are those of GitHub's path filters: * within a folder, ** anything, [a-z] a set; a \ takes a character as it is`)
	case problem != "":
		r.failKey(key, fmt.Sprintf("%s matches nothing: %s", quoteText(text), problem), hint)
	default:
		*g = Glob(text)
	}
}

// misspelling says why no path or branch of git's can match a pattern, and how it is written; "" if one can.
func misspelling(pattern string) (problem, hint string) {
	body := strings.TrimPrefix(pattern, "!")
	write := func(fixed string) string {
		return fmt.Sprintf("write %q", cleanText(strings.TrimSuffix(pattern, body)+fixed, 80))
	}
	switch trimmed := strings.TrimSpace(body); {
	case trimmed != body:
		return "a path neither begins nor ends with a space", write(trimmed)
	case strings.HasPrefix(body, "./"):
		return "a path begins with the name of a folder or file", write(strings.TrimLeft(body, "./"))
	case strings.HasPrefix(body, "/"):
		return "a path begins with no slash", write(strings.TrimLeft(body, "/"))
	case strings.HasSuffix(body, "/"):
		return "a path ends with no slash", write(body + "**")
	case windowsPath().MatchString(body):
		return "folders are parted by /", write(strings.ReplaceAll(body, `\`, "/"))
	case alternatives().MatchString(body):
		return "braces are no alternatives here", "write a pattern for each of them"
	}
	return "", ""
}

// What other tools take for a path below a folder, and for alternatives.
var (
	windowsPath  = lazy.Regexp(`\\[\pL\pN_.]`)
	alternatives = lazy.Regexp(`\{[^{}]*,[^{}]*\}`)
)

// The words of quorum.
const (
	majorityWord = "majority"
	allWord      = "all"
	noneWord     = "none" // of a lane alone
)

var needShares = map[string]quorum.Share{majorityWord: quorum.Majority, allWord: quorum.All, noneWord: quorum.NoReview}

// A Quorum is a number of approvals or a word.
type Quorum quorum.NeedRule

func (q *Quorum) decodeNode(r *policyFileReader, key string, n ast.Node) {
	r.decodeNeed(key, n, (*quorum.NeedRule)(q), majorityWord, allWord)
}

// A LaneQuorum is the quorum of a lane: as at the top level, or the word none.
type LaneQuorum quorum.NeedRule

func (q *LaneQuorum) decodeNode(r *policyFileReader, key string, n ast.Node) {
	r.decodeNeed(key, n, (*quorum.NeedRule)(q), majorityWord, allWord, noneWord)
}

// decodeNeed reads a number or one of the words.
func (r *policyFileReader) decodeNeed(key string, n ast.Node, into *quorum.NeedRule, words ...string) {
	last := len(words) - 1
	hint := "write a number, " + strings.Join(words[:last], ", ") + " or " + words[last]
	text, ok := scalarText(n)
	if !ok {
		r.failWrongType(key, n, "a number or a word", hint)
		return
	}
	count, err := strconv.Atoi(text)
	switch {
	case n.Type() == ast.IntegerType && err == nil && count < 1:
		r.failKey(key, fmt.Sprintf("a quorum of %d would pass without a review", count),
			strings.Replace(hint, "a number", "1 or more", 1))
	case n.Type() == ast.IntegerType && err == nil:
		*into = quorum.NeedRule{Share: quorum.ByNumber, Count: count}
	case n.Type() == ast.StringType && err == nil:
		r.failKey(key, fmt.Sprintf("%s is text, not a number", quoteText(text)), "write the number without quotes")
	case slices.Contains(words, text):
		*into = quorum.NeedRule{Share: needShares[text]}
	case text == noneWord:
		r.failKey(key, "only a lane may need no review",
			"name the pull requests that need none: lanes: with if: and quorum: none")
	default:
		r.failKey(key, fmt.Sprintf("%s is neither a number nor one of %s", quoteText(text), strings.Join(words, ", ")),
			suggestWord(text, words, hint))
	}
}

// PeopleKeys say how many people must approve: a number, or a list.
type PeopleKeys []PersonKeys

// PersonKeys are an entry of people.
type PersonKeys struct {
	Count int      `yaml:"count" jsonschema:"minimum=1,maximum=20"`
	Of    []string `yaml:"of"    jsonschema:"minItems=1,maxItems=20"`
}

func (p *PeopleKeys) decodeNode(r *policyFileReader, key string, n ast.Node) {
	if n.Type() == ast.IntegerType {
		one := PersonKeys{}
		r.decodeInt(key, n, reflect.ValueOf(&one.Count).Elem(), `jsonschema:"minimum=0,maximum=20"`)
		*p = PeopleKeys{one}
		return
	}
	if n.Type() != ast.SequenceType {
		r.failWrongType(key, n, "a number or a list", `write a number without quotes, or as in [{count: 1, of: ["@octo/owners", octocat]}]`)
		return
	}
	var list []PersonKeys
	r.decodeList(key, n, reflect.ValueOf(&list).Elem(), `jsonschema:"minItems=1,maxItems=10"`)
	for i := range list {
		at := fmt.Sprintf("%s[%d]", key, i)
		if !r.hasKey(at + ".count") {
			list[i].Count = 1
		}
		count, named := list[i].Count, list[i].Of
		list[i].Of = r.readInvitees(at+".of", named)
		r.failIf(len(named) > 0 && count > len(named) && !slices.ContainsFunc(named, quorum.IsTeam), at+".of",
			fmt.Sprintf("%d of %d people can never approve", count, len(named)), "name more people, or lower count")
	}
	*p = list
}

var inviteePattern = lazy.Regexp(`^@?[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$`)

// readInvitees returns names of people and teams without their @. It refuses what nobody is called, and who is named twice.
func (r *policyFileReader) readInvitees(key string, names []string) (bare []string) {
	for i, name := range names {
		at, one := fmt.Sprintf("%s[%d]", key, i), strings.TrimPrefix(name, "@")
		switch {
		case name == "": // it was reported
		case strings.HasSuffix(name, "[bot]"):
			r.failKey(at, quoteText(name)+" is no person", "name people or teams; whom a bot helps to review is a reviewer")
		case !inviteePattern().MatchString(name):
			r.failKey(at, quoteText(name)+" is neither a login nor a team",
				"write a login as in @octocat, or a team as in @octo/reviewers")
		case slices.ContainsFunc(bare, func(n string) bool { return strings.EqualFold(n, one) }):
			r.failKey(at, quoteText(name)+" is named twice", "remove one of them")
		default:
			bare = append(bare, one)
		}
	}
	return bare
}

// asRules returns p as the core's.
func (p PeopleKeys) asRules() quorum.People {
	rules := make([]quorum.PeopleRule, len(p))
	for i, keys := range p {
		rules[i] = quorum.PeopleRule(keys)
	}
	return quorum.NewPeople(rules...)
}

// withEnforced returns p with what is enforced beside it, where p asks less.
func (p PeopleKeys) withEnforced(enforced PeopleKeys) PeopleKeys {
	if p.asRules().AsksLess(enforced.asRules()) {
		return slices.Concat(p, enforced)
	}
	return p
}

// A VerdictFormat is a verdict format: a word, or what the policy itself names.
type VerdictFormat struct {
	quorum.Format
	failure quorum.FailureMeans // of a conclusion; 0: as failure_means says
}

// VerdictKeys are the mapping form of a verdict.
type VerdictKeys struct {
	Artifact   string         `yaml:"artifact"   jsonschema:"minLength=1,maxLength=200" jsonschema_description:"The name of the artifact that its run uploads; or:"`
	Conclusion ConclusionKeys `yaml:"conclusion"                                        jsonschema_description:"What the conclusion of its check or run means; or:"`
	Field      string         `yaml:"field"      jsonschema:"minLength=1,maxLength=60"  jsonschema_description:"The label of a field, as in Verdict. Its value begins with one of the words below. Without it each of them is a whole line."`
	Approve    VerdictWords   `yaml:"approve"                                           jsonschema_description:"Words that approve."`
	Object     VerdictWords   `yaml:"object"                                            jsonschema_description:"Words that object."`
	None       VerdictWords   `yaml:"none"                                              jsonschema_description:"Words that say that there was no review: it is run again once."`
}

// ConclusionKeys say what conclusions mean.
type ConclusionKeys struct {
	Success string `yaml:"success" jsonschema:"enum=approve"                 default:"approve"     jsonschema_description:"It approves."`
	Neutral string `yaml:"neutral" jsonschema:"enum=object,enum=unavailable" default:"unavailable" jsonschema_description:"unavailable: it chose not to review."`
	Failure string `yaml:"failure" jsonschema:"enum=object,enum=unavailable" default:"unavailable" jsonschema_description:"unavailable: it is run again once."`
}

// VerdictWords are words as a reviewer writes them. [review.CheckWord] says which can be used.
type VerdictWords []string

func (w *VerdictWords) decodeNode(r *policyFileReader, key string, n ast.Node) {
	if text, ok := scalarText(n); ok {
		r.failKey(key, quoteText(text)+" is no list of words", verdictWordHint)
		return
	}
	r.decodeList(key, n, reflect.ValueOf((*[]string)(w)).Elem(), `jsonschema:"minItems=1,maxItems=40"`)
}

const verdictWordHint = "write the words as the reviewer writes them, as in [APPROVE, Looks good]; no expressions"

var verdictHint = "write one of " + strings.Join(review.FormatWords[:], ", ") +
	", {artifact: NAME}, {conclusion: {neutral: object}}, or {field: LABEL, approve: [WORD], object: [WORD]}"

func (v *VerdictFormat) decodeNode(r *policyFileReader, key string, n ast.Node) {
	if n.Type() == ast.MappingType {
		v.decodeKeys(r, key, n)
		return
	}
	text, ok := scalarText(n)
	switch {
	case !ok || n.Type() != ast.StringType:
		r.failWrongType(key, n, "a verdict format", verdictHint)
	case review.FormatOf(text) == 0:
		r.failKey(key, fmt.Sprintf("%s is not a verdict format", quoteText(text)),
			suggestWord(text, review.FormatWords[:], verdictHint))
	default:
		v.Kind = review.FormatOf(text)
	}
}

func (v *VerdictFormat) decodeKeys(r *policyFileReader, key string, n ast.Node) {
	var k VerdictKeys
	r.decodeStruct(key, n, reflect.ValueOf(&k).Elem())
	has := func(name string) bool { return r.hasKey(key + "." + name) }
	hasWords := has("field") || has("approve") || has("object") || has("none")
	switch {
	case has("artifact") && (hasWords || has("conclusion")), has("conclusion") && hasWords:
		r.failKey(key, "it names more than one format", verdictHint)
	case k.Artifact != "":
		v.Kind, v.Artifact = quorum.Artifact, k.Artifact
	case has("conclusion"):
		v.Kind, v.Neutral, v.failure = quorum.Conclusion, meanings[k.Conclusion.Neutral], meanings[k.Conclusion.Failure]
	case hasWords && !(has("approve") && has("object")):
		r.failKey(key, "some words must approve, and some object", "add approve: [WORD] and object: [WORD]")
	case hasWords:
		v.Kind, v.Field, v.Approve, v.Object, v.None = quorum.Words, k.Field, k.Approve, k.Object, k.None
		v.checkWords(r, key)
	case !r.anyBroken(key, "", ".artifact"):
		r.failKey(key, "a verdict format is missing", verdictHint)
	}
}

// checkWords refuses words that cannot be read, and one that says two things.
func (v *VerdictFormat) checkWords(r *policyFileReader, key string) {
	seen := map[string]bool{}
	for _, list := range review.WordLists(v.Format) {
		for i, word := range list.Words {
			at := fmt.Sprintf("%s.%s[%d]", key, list.Key, i)
			err := review.CheckWord(v.Format, word)
			r.failIf(err != nil && word != "", at, quoteText(word)+" "+cleanText(fmt.Sprint(err), 200), verdictWordHint)
			small := strings.ToLower(word)
			r.failIf(seen[small] && word != "", at, quoteText(word)+" is named twice", "remove one of them")
			seen[small] = true
		}
	}
}

var meanings = map[string]quorum.FailureMeans{"object": quorum.MeansFindings, "unavailable": quorum.MeansUnavailable}

// A ShapeText is a line in small letters, with holes and choices, as package review defines it.
type ShapeText string

func (s *ShapeText) decodeNode(r *policyFileReader, key string, n ast.Node) {
	if n.Type() == ast.MappingType {
		r.failWrongType(key, n, "a line", "put it in quotes: it begins with {")
		return
	}
	text, _ := r.readText(key, n, "a line", false)
	*s = ShapeText(text)
}
