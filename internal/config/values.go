package config

// The values of the file that are more than a YAML scalar: each knows how it is read.

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
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
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

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
	case windowsPath.MatchString(body):
		return "folders are parted by /", write(strings.ReplaceAll(body, `\`, "/"))
	case alternatives.MatchString(body):
		return "braces are no alternatives here", "write a pattern for each of them"
	}
	return "", ""
}

// What other tools take for a path below a folder, and for alternatives.
var (
	windowsPath  = regexp.MustCompile(`\\[\pL\pN_.]`)
	alternatives = regexp.MustCompile(`\{[^{}]*,[^{}]*\}`)
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

var inviteePattern = regexp.MustCompile(`^@?[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$`)

// readInvitees returns names of people and teams without their @. It refuses what nobody is called, and who is named twice.
func (r *policyFileReader) readInvitees(key string, names []string) (bare []string) {
	for i, name := range names {
		at, one := fmt.Sprintf("%s[%d]", key, i), strings.TrimPrefix(name, "@")
		switch {
		case name == "": // it was reported
		case strings.HasSuffix(name, "[bot]"):
			r.failKey(at, quoteText(name)+" is no person", "name people or teams; whom a bot helps to review is a reviewer")
		case !inviteePattern.MatchString(name):
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

// A VerdictFormat is a verdict format: a word, or regular expressions of the user's own, or an artifact.
type VerdictFormat quorum.Format

// verdictPatterns is the mapping form of a verdict.
type verdictPatterns struct {
	Artifact string `yaml:"artifact" jsonschema:"minLength=1,maxLength=200"`
	Approve  Regexp `yaml:"approve"`
	Object   Regexp `yaml:"object"`
}

var verdictWords = []string{"auto", "ready-to-merge", "review-state", "findings", "json", "conclusion"}

var verdictHint = "write one of " + strings.Join(verdictWords, ", ") + ", {artifact: NAME}, or {approve: REGEX, object: REGEX}"

func (v *VerdictFormat) decodeNode(r *policyFileReader, key string, n ast.Node) {
	if n.Type() == ast.MappingType {
		v.decodePatterns(r, key, n)
		return
	}
	text, ok := scalarText(n)
	switch {
	case !ok || n.Type() != ast.StringType:
		r.failWrongType(key, n, "a verdict format", verdictHint)
	case !slices.Contains(verdictWords, text):
		r.failKey(key, fmt.Sprintf("%s is not a verdict format", quoteText(text)),
			suggestWord(text, verdictWords, verdictHint))
	default:
		*v = VerdictFormat{Kind: verdictKinds[text]}
	}
}

func (v *VerdictFormat) decodePatterns(r *policyFileReader, key string, n ast.Node) {
	var p verdictPatterns
	r.decodeStruct(key, n, reflect.ValueOf(&p).Elem())
	approve, object, artifact := r.hasKey(key+".approve"), r.hasKey(key+".object"), r.hasKey(key+".artifact")
	switch {
	case artifact && (approve || object):
		r.failKey(key, "artifact stands beside approve and object",
			"write {artifact: NAME} or {approve: REGEX, object: REGEX}")
	case artifact && p.Artifact == "", approve && object && p.Approve+p.Object == "": // it was reported
	case artifact:
		*v = VerdictFormat{Kind: quorum.Artifact, Artifact: p.Artifact}
	case approve && object:
		*v = VerdictFormat{Kind: quorum.Pattern, Approve: string(p.Approve), Object: string(p.Object)}
	case approve:
		r.failKey(key, "approve stands without object: this reviewer could never object", "add object: REGEX")
	case object:
		r.failKey(key, "object stands without approve: this reviewer could never approve", "add approve: REGEX")
	case !r.brokenKeys[key]:
		r.failKey(key, "a verdict format is missing", verdictHint)
	}
}

// verdictKinds are the formats that the words of verdict mean.
var verdictKinds = map[string]quorum.FormatKind{
	"auto": quorum.Auto, "ready-to-merge": quorum.ReadyToMerge, "review-state": quorum.ReviewState,
	"findings": quorum.FindingList, "json": quorum.JSON, "conclusion": quorum.Conclusion,
}

// A Regexp is a regular expression in RE2 syntax.
type Regexp string

func (x *Regexp) decodeNode(r *policyFileReader, key string, n ast.Node) {
	text, ok := r.readText(key, n, "a regular expression", false)
	re, err := regexp.Compile(text)
	switch {
	case !ok:
	case len(text) > 1000:
		r.failKey(key, "the regular expression is longer than 1000 bytes", "shorten it")
	case err != nil:
		r.failKey(key,
			fmt.Sprintf("not a regular expression: %s", cleanText(strings.TrimPrefix(err.Error(), "error parsing regexp: "), 120)),
			"the syntax is RE2's: no look-ahead, no back-references")
	case re.MatchString(""):
		r.failKey(key, fmt.Sprintf("%s matches an empty line, so any text would be a verdict", quoteText(text)),
			"anchor it to the line that holds the verdict, as in ^Verdict: ship it$")
	default:
		*x = Regexp(text)
	}
}

// A ShapeText is a line in small letters, with holes and choices, as package review defines it.
type ShapeText string

const maxShapeText = 1500 // bytes, as package review allows

func (s *ShapeText) decodeNode(r *policyFileReader, key string, n ast.Node) {
	if n.Type() == ast.MappingType {
		r.failWrongType(key, n, "a line", "put it in quotes: it begins with {")
		return
	}
	text, ok := r.readText(key, n, "a line", false)
	switch {
	case !ok:
	case len(text) > maxShapeText:
		r.failKey(key, fmt.Sprintf("it is longer than %d bytes", maxShapeText), "shorten it")
	default:
		*s = ShapeText(text)
	}
}
