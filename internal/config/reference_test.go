package config

// The policy reference, docs/policy.md. It is made from the same tags as the schema, so that it cannot say what the
// decoder does not do.

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// examplePolicy is a policy that uses most keys. It is part of the reference, and a test holds that it is valid.
const examplePolicy = `version: 1
quorum: 2                     # of the three voters below
grace: 3m
reviewers:
  - name: claude
    workflow: .github/workflows/claude-review.yml
    heading: "## Claude review"
    required: true
  - name: gemini
    workflow: .github/workflows/gemini-review.yml
    heading: "## Gemini review"
    verdict: ready-to-merge
    timeout: 6m
  - preset: copilot
  - name: house-rules
    workflow: .github/workflows/house-rules.yml
    heading: "## House rules"
    verdict: {field: House rules, approve: [kept], object: [broken], none: [not checked]}
    shadow: true              # tried out: shown, never counted
`

const introduction = `# The policy file

<!-- Made by "go generate ./internal/config". Do not edit. -->

` + "`.github/review-coordinator.yml`" + ` (or ` + "`.yaml`" + `) says who reviews and how many approvals are enough. It is read from the
**default branch** only, never from a pull request. Check a file before you push it:

    coordinator config check .github/review-coordinator.yml

Every key is optional but ` + "`reviewers`" + `, and that one, too, where [an organisation's policy](organisation.md) names some. A
key that is not listed here, a wrong type or a value that makes no sense is an error with its line, and the check then asks
for action: nothing is guessed. The file is plain YAML of at most 64 KiB without anchors, aliases, tags or merge keys.

- **Durations** are written with their unit: ` + "`90s`, `3m`, `1h30m`" + `.
- **Patterns** are those of GitHub's own path filters: ` + "`*`" + ` within a folder, ` + "`**`" + ` anything, ` +
	"`?`" + ` makes the character before it
  optional, ` + "`+`" + ` repeats it, ` + "`[a-z]`" + ` is one of a set, ` +
	"`!`" + ` at the beginning takes away from the patterns before it. Put them in quotes.
- **Headings and other texts** that begin with ` + "`#`, `*`, `!`, `@` or `[`" + ` must stand in quotes.

For completion in your editor, begin the file with

    # yaml-language-server: $schema=https://raw.githubusercontent.com/review-coordinator/coordinator/main/docs/policy.schema.json

An example:

`

// policyReference returns the policy reference in Markdown.
func policyReference() []byte {
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString("```yaml\n" + examplePolicy + "```\n")
	file := reflect.ValueOf(Default())
	writeSection(&b, "The top level", "", file)
	for field := range file.Type().Fields() {
		if value := file.FieldByIndex(field.Index); value.Kind() == reflect.Struct && len(keysOf(value.Type())) > 0 {
			writeSection(&b, "`"+field.Tag.Get("yaml")+"`", field.Tag.Get("jsonschema_description"), value)
		}
	}
	writeSection(&b, "`sweep.backoff`", "", reflect.ValueOf(Default().Sweep.Backoff))
	writeSection(&b, "An entry of `reviewers`", reviewersNote, reflect.ValueOf(ReviewerKeys{}))
	writeSection(&b, "`verdict` in a reviewer's own words", verdictNote, reflect.ValueOf(VerdictKeys{}))
	writeSection(&b, "`conclusion` of a verdict", "", reflect.ValueOf(ConclusionKeys{}))
	writeSection(&b, "`request` of a reviewer", "", reflect.ValueOf(RequestKeys{}))
	writeSection(&b, "`shapes` of a reviewer", shapesNote, reflect.ValueOf(ShapesKeys{}))
	writeSection(&b, "An entry of `notices`", "", reflect.ValueOf(NoticeKeys{}))
	writeSection(&b, "`when` of a reviewer", whenNote, reflect.ValueOf(ConditionKeys{}))
	writeSection(&b, "An entry of `lanes`", lanesNote, reflect.ValueOf(LaneKeys{}))
	writeSection(&b, "`if` of a lane", laneIfNote, reflect.ValueOf(ConditionKeys{}))
	var agents []string
	for _, name := range review.Presets() {
		preset, _ := review.Preset(name)
		agents = append(agents, preset.Agents...)
	}
	fmt.Fprintf(&b, peopleNote, "`"+strings.Join(agents, "`, `")+"`")
	writePresets(&b)
	return []byte(b.String())
}

const reviewersNote = `A reviewer has one source: ` + "`workflow`" + `, ` + "`check`" + ` (with ` + "`app`" + `), ` +
	"`status`" + ` (with ` + "`author`" + `), or only an ` +
	"`author`" + ` whose texts are its
evidence. A reviewer votes unless it is a shadow, a condition (` + "`vote: false`" + `) or retired; [a reserve](reserves-and-stages.md) votes in a seat of another one.

All workflows that write with GITHUB_TOKEN write as ` + "`github-actions[bot]`" + `: a workflow reviewer needs a ` +
	"`heading`" + ` that tells its
texts from the others', unless its verdict is its run's conclusion.`

const verdictNote = `What the policy names here is **final**. Four things alone stand against an approving word: another of these words, a line that says that nothing
or only a part was read, a heading that is a notice of an outage, and what is no text (a review that requests changes, comments on the diff).
Whatever else the text says is description, a list of findings too. An objecting word wins over the others; an approving one beside one of
` + "`none`" + ` is a contradiction. So name every word that may stand there.

With ` + "`field: Verdict`" + ` the words are read in a line ` + "`**Verdict:** APPROVE — and why`" + `, in a heading ` + "`## Verdict: APPROVE`" + `, in the line below
a heading ` + "`## Verdict`" + ` and in a row ` + "`| Verdict | APPROVE |`" + `, whatever their case. What follows an approving word is set off by a dash, a
bracket or a full stop: "APPROVE once it is fixed" is another word. Without ` + "`field`" + ` each word is a whole line, with the holes of
[shapes](#shapes-of-a-reviewer). None of them is an expression.

` + "```yaml\nreviewers:\n" + verdictExample + "```" + `

` + "`coordinator classify`" + ` prints the line for a text with one such field, and ` + "`coordinator init`" + ` proposes it.`

// verdictExample is an entry with words of its own. A test holds that it is valid.
const verdictExample = `  - name: house-review
    workflow: .github/workflows/house-review.yml
    heading: "## House review"
    verdict: {field: Verdict, approve: [APPROVE], object: [MAJOR, REQUEST_CHANGES], none: [UNAVAILABLE]}
    coverage: required
  - name: seer
    check: Seer Code Review
    app: sentry
    verdict: {conclusion: {neutral: object}}   # it concludes neutral when it commented
`

const shapesNote = `A shape is a line as its reviewer writes it, in small letters and without Markdown. It stands for the whole line, points and
emoji at its ends aside; one that begins with ` + "`# `" + ` stands for a heading only. Its holes are ` + "`{n}`" + ` (a number), ` + "`{some}`" + ` (one
that is not 0), ` + "`{count}`" + ` (how many findings there are: a number, "no" or "zero"), ` + "`{login}`, `{sha}`, `{word}`, `{duration}`" + ` and
` + "`{any}`" + ` (anything, or nothing); ` + "`(a|b|)`" + ` is a, b or nothing. What approves is known to its last word: it holds neither ` + "`{any}`" + `
nor ` + "`{word}`" + ` nor ` + "`{n}`" + ` (of 0 files nobody approves), and leaves open no number of findings.

Shapes stand beside those of a preset and take none of them away: what a preset reads as an objection objects. They need
` + "`verdict`" + ` to be ` + "`auto`, `findings` or `review-state`" + `. What they say is final, as [a verdict's own words](#verdict-in-a-reviewers-own-words)
are. In a comment of a preset that knows its reviews by their marks, a
text without one of them is no review, whatever shapes say.

` + "```yaml\nreviewers:\n" + shapesExample + "```" + `

` + "`coordinator classify`" + ` prints the row for a text that nobody understands; with ` + "`--policy FILE --reviewer NAME`" + ` it reads a text as the
reviewer of a policy file.`

// shapesExample is an entry with shapes. A test holds that it is valid.
const shapesExample = `  - name: sage
    author: sage[bot]
    shapes:
      approves: ["sage has nothing to add", "all {some} files look right to sage"]
      counts: ["sage left {count} remark(s|)"]
      notices:
        - {line: "sage is out of credit{any}", outcome: failed, reason: billing}
`

const whenNote = `The conditions are those of a lane, and it is enough that they may hold. On other pull requests the reviewer has no vote and is
not waited for; what it says is shown. Once it has objected to a head it votes on that head, whatever ` + "`when`" + ` says. If the list of
changed files is empty or not complete (GitHub lists 3,000), every path condition may hold. A number in ` + "`quorum`" + ` stays what it is
when fewer vote: then people must fill the places.`

// lanesNote explains lanes. A test holds that its example is valid.
const lanesNote = `Lanes are read from the top. What a lane asks as much or more than the top level is **added** wherever the lane may hold. What it asks
**less** counts where the lane surely holds, but not in a key that a lane above has added; the first such lane is the last that is read
(one that only waits less ends nothing). The check names each lane that counts. [A policy with lanes](lanes.md) shows what they are good
for.

` + "```yaml\nlanes:\n" + lanesExample + "```" + `

A lane asks less in a key that is laxer than the top level's: a voter left out, fewer approvals or people, a shorter
` + "`grace`, `timeout` or `deadline`, `early_start`" + `, a wider ` + "`stand_in`, `override` or `threads`" + `. A contributor must not be able to choose such
a lane. It holds only against the default branch and the bases that it names without a pattern, and for no pull request that changes
a guarded file, a file that instructs any preset's reviewer, the policy, or what the name of such a file links to. With
` + "`quorum: none`" + ` it covers neither ` + "`.github`" + ` nor a hidden folder that it does not spell out. Then the next lane is
read, and the check says why.

What a lane with ` + "`any_path` or `labels`" + ` asks less counts for nothing, and is warned of. A lane that asks less than another one above it that
asks less is a mistake, unless their bases differ.

An objection is never out of reach: a voter that has objected to the head votes on it in any lane, ` + "`quorum: none`" + ` included.`

// lanesExample are lanes for the example of lanesNote.
const lanesExample = `  - name: database
    if: {any_path: ["migrations/**"]}    # this is changed, too
    quorum: all
    people: 1
  - name: docs
    if: {all_paths: ["docs/**.md", "*.md"]}  # nothing else is changed
    quorum: none
    why: docs only
`

const laneIfNote = `All conditions that are named must hold, and one must be named. What asks less needs each to hold surely; for what asks more it is
enough that it may. Patterns are those of GitHub's path filters; one that begins with ` + "`!`" + ` takes away from those before it.

| Condition | surely | possibly |
| --- | --- | --- |
| ` + "`all_paths`" + ` | every changed path matches, both names of a rename, and the list is complete | one path matches, or the list is not complete |
| ` + "`any_path`" + ` | never: one more file would reach it | one path matches, or the list is not complete |
| ` + "`authors`" + ` | nobody else had a hand in the change | one had a hand in it, or nobody knows who had |
| ` + "`labels`" + ` | never: anybody with triage permission may set one | one of them is set |
| ` + "`base`" + ` | the base has this name | the same; of a layer of a stack its own base, too |`

const peopleNote = `
## People, families, second answers

- ` + "`" + `people` + "`" + ` counts approvals of the head by people with the permission that ` + "`" + `stand_in` + "`" + ` names, who had no hand in the change. A number
  means whoever could stand in. A list names whose approvals they must be, by login or team:

  ` + "```" + `yaml
  people:
    - {count: 1, of: ["@octo/db-owners", alice]}   # count: 1 is the default
    - {count: 2}                                   # whoever could stand in
  ` + "```" + `

  Each entry needs its own number of different people, and an approval counts for every entry that it fits: here two people are enough if one
  of them is alice or an owner. It does not stand in for a reviewer as well, and whom an entry names is kept for that. Entries of lanes
  that hold add up. Teams are of the repository's owner. Who is in one, an App with ` + "`" + `members: read` + "`" + ` may see, and a job's ` + "`" + `GITHUB_TOKEN` + "`" + ` may
  not: then nobody counts as a member, and the check says so.
- ` + "`" + `own_change: stand_in` + "`" + ` lets who may stand in [vouch](commands-by-comment.md#vouch) for a change of their own where reviewers cannot answer: for a
  maintainer who is alone. In a repository of their own where nobody else may write, a vouch takes the place of ` + "`" + `people` + "`" + `, too. By default nobody speaks for a change of their own.
- ` + "`families: distinct`" + ` counts the makers of models: two reviewers of one family count once, in ` + "`majority` and `all`" + ` as in approvals. A
  preset knows its family where one maker is behind it; name the others' yourself. Who has none is one of its own.
  The author is a family, too: a reviewer of the same family as an agent that opened the pull request, pushed to it or made one of its
  commits, a co-author's line included, is unavailable. It is neither asked nor waited for, and its objection counts. The need stays: a person
  may stand in. An agent is known by the accounts of the policy's reviewers and of the presets (and by %s).
  As ` + "`github-actions[bot]`" + ` all workflows write, so that tells no family.
- ` + "`carry: same_diff`" + ` keeps approvals over a push that leaves the diff as it was: a rebase, a merge of the base, another message.
  People's, too, of those who had no hand in the new head.
`

func writeSection(b *strings.Builder, title, text string, v reflect.Value) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if text != "" {
		fmt.Fprintf(b, "%s\n\n", text)
	}
	b.WriteString("| key | value | default | what it says |\n|---|---|---|---|\n")
	for field := range v.Type().Fields() {
		key := field.Tag.Get("yaml")
		if key == "" {
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", key, fieldKind(field), fieldDefault(field, v.FieldByIndex(field.Index)),
			strings.ReplaceAll(field.Tag.Get("jsonschema_description"), "|", "\\|"))
	}
}

// fieldKind says what may be written for a field.
func fieldKind(field reflect.StructField) string {
	switch t := field.Type; {
	case allowedWords(field.Tag) != nil:
		return "`" + strings.Join(allowedWords(field.Tag), "`, `") + "`"
	case t == reflect.TypeFor[Duration]() && leastDuration(field.Tag) > 0:
		return "duration of `" + leastDuration(field.Tag).String() + "` or more"
	case t == reflect.TypeFor[Duration]():
		return "duration"
	case t == reflect.TypeFor[Quorum]():
		return "number, `majority`, `all`"
	case t == reflect.TypeFor[LaneQuorum]():
		return "number, `majority`, `all`, `none`"
	case t == reflect.TypeFor[PeopleKeys]():
		return "0 to 20, or a list of `{count, of}`"
	case t == reflect.TypeFor[VerdictFormat]():
		return "word or mapping"
	case t == reflect.TypeFor[[]Glob]():
		return "list of patterns"
	case t == reflect.TypeFor[[]ShapeText]():
		return "list of lines"
	case t == reflect.TypeFor[ShapeText]():
		return "line"
	case t == reflect.TypeFor[[]string]():
		return "list of texts"
	case t.Kind() == reflect.Slice:
		return "list, see below"
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return "mapping, see below"
	case t.Kind() == reflect.Bool:
		return "`true`, `false`"
	case t.Kind() == reflect.Int:
		return fmt.Sprintf("%d to %d", tagBound(field.Tag, "minimum"), tagBound(field.Tag, "maximum"))
	default:
		return "text"
	}
}

// fieldDefault says which value holds where the key is missing.
func fieldDefault(field reflect.StructField, v reflect.Value) string {
	if text := field.Tag.Get("default"); text != "" {
		return text
	}
	if slices.Contains(strings.Split(field.Tag.Get("jsonschema"), ","), "required") {
		return "*(needed)*"
	}
	switch value := v.Interface().(type) {
	case Duration:
		if value == 0 && leastDuration(field.Tag) > 0 {
			return ""
		}
		return "`" + value.String() + "`"
	case LaneQuorum:
		return ""
	case PeopleKeys:
		return "`0`"
	case Quorum:
		if value == (Quorum{}) {
			return ""
		}
		return "`" + needWord(value) + "`"
	case []Glob:
		if len(value) == 0 {
			return ""
		}
		return "`" + strings.Join(textsOf(value), "`, `") + "`"
	case string:
		if value == "" {
			return ""
		}
		return "`" + value + "`"
	case int, bool:
		return fmt.Sprintf("`%v`", value)
	default:
		return ""
	}
}

// needWord is a quorum as it is written.
func needWord(q Quorum) string {
	for word, share := range needShares {
		if q.Share == share {
			return word
		}
	}
	return strconv.Itoa(q.Count)
}

func writePresets(b *strings.Builder) {
	b.WriteString(
		"\n## Presets\n\nA preset knows a reviewer: who it is, what it posts, " +
			"how it refuses and how it is asked. Its name is its default `name`; " +
			"each key of the entry overrides what the preset says.\n\n| preset | needs | family | what it reads |\n|---|---|---|---|\n",
	)
	for _, name := range review.Presets() {
		q, _ := review.Preset(name)
		needs := ""
		switch {
		case q.Retired:
			needs = "(retired)"
		case review.NeedsWorkflow(name) && q.Author == quorum.ActionsBot && readsTexts(q):
			needs = "`workflow`, `heading`"
		case review.NeedsWorkflow(name):
			needs = "`workflow`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, needs, q.Family, strings.ReplaceAll(review.PresetNote(name), "|", "\\|"))
	}
	b.WriteString(strings.NewReplacer("'s", "'s", "'", "`").Replace(guardNote))
	for _, name := range review.Presets() {
		q, _ := review.Preset(name)
		fmt.Fprintf(b, "| `%s` | `%s` |\n", name, strings.Join(q.Guard, "` `"))
	}
}

// In guardNote a ' stands for the ` of Markdown.
const guardNote = `
## What is guarded, and what cannot be

A pull request that changes a guarded file makes the reviewers concerned unavailable: it would instruct its own
reviewer. Each preset guards the files that its vendor reads for instructions, in every folder where the vendor does,
and the names that repositories keep as links to one another ('CLAUDE.md' is commonly a link to 'AGENTS.md'). A file or
a link in the place of a guarded folder counts, too. The policy's 'guard' concerns every workflow, and whatever
'github-actions[bot]' posts; under 'pull_request_target' the workflow files alone are exempt: the base's are used.

No guard sees the following. Run in the repository's folder, 'coordinator config check' warns of what it finds there:

- a guarded name that is a link to a file of another kind: only the target is in a pull request's list of files;
- a script, a prompt or an action that a reviewer's workflow takes from the pull request's files: add it to 'guard'.
  What such a file calls in turn is not followed;
- 'event: [push]': the branch's own workflow file, as old as the branch may be;
- evidence that any workflow can write: texts by 'github-actions[bot]' without a 'workflow', its statuses, and its
  check runs;
- what a guarded file pulls in by its own words (an import such as '@docs/style.md'): nothing finds that.

| preset | guards |
|---|---|
`
