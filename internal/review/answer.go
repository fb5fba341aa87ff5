package review

// This file reads what a model answered when it was asked for findings: the raw material of a verdict file. A model can be
// held to a schema by its vendor, but not to the truth, and not every script holds it. So what is understood here is kept,
// and what says anything beyond it is an error: it might be the objection.

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// answerSchema is written by hand and held to this reader by a test. It uses only what both vendors' schemas know: no
// bounds, no patterns, every key required, and no apostrophe, so that it fits between two of them in a shell.
//
//go:embed answer.schema.json
var answerSchema string

// AnswerSchema returns the JSON Schema to give to a model. Every answer that it accepts is read by [ParseModelAnswer].
func AnswerSchema() string { return answerSchema }

// AnswerForm says what may stand around the object in an answer.
type AnswerForm uint8

const (
	PlainAnswer  AnswerForm = 1 + iota // nothing
	CodexAnswer                        // a fence
	ClaudeAnswer                       // a fence, or what claude --output-format json prints around it
)

// A ModelAnswer is what a model found and what it looked at.
type ModelAnswer struct {
	Findings []quorum.Finding
	Reviewed int // how many files it looked at: distinct ones, if it named them
}

// An AnswerError says where an answer cannot be understood, and what helps. It quotes the answer in one short line.
type AnswerError struct {
	Place, Problem, Hint string
}

func (e *AnswerError) Error() string {
	if e.Place == "" {
		return "the answer " + e.Problem
	}
	return fmt.Sprintf("the answer's %s %s", e.Place, e.Problem)
}

const (
	schemaHint  = "give the model the schema: coordinator verdict schema"
	verdictHint = "a verdict is computed from findings and files_reviewed: do not ask the model for it"
	countHint   = "ask for the changed files that the model has read, by their paths"
)

// ParseModelAnswer parses a model's answer. Paths that begin with root, the folder of the repository on that machine, are
// made relative to it. An error is an [AnswerError].
func ParseModelAnswer(text string, form AnswerForm, root string) (ModelAnswer, error) {
	v, err := answerObject(text, form)
	if err != nil {
		return ModelAnswer{}, err
	}
	known := []string{"findings", "files_reviewed"}
	if err := refuseSayingKeys("", v, known); err != nil {
		return ModelAnswer{}, err
	}
	list, found := v.fields["findings"]
	switch {
	case !found:
		return ModelAnswer{}, &AnswerError{"findings", "are missing", "an answer without findings says so with []; " + schemaHint}
	case list.kind != '[':
		return ModelAnswer{}, &AnswerError{"findings", "are no list", schemaHint}
	}
	var answer ModelAnswer
	for i, item := range list.list {
		f, err := answeredFinding(fmt.Sprintf("findings[%d]", i), item, root)
		if err != nil {
			return ModelAnswer{}, err
		}
		answer.Findings = append(answer.Findings, f)
	}
	answer.Reviewed, err = reviewedFiles(v, root)
	if err != nil {
		return ModelAnswer{}, err
	}
	return answer, nil
}

// answerObject returns the one object of an answer.
func answerObject(text string, form AnswerForm) (jsonValue, error) {
	switch {
	case len(text) > MaxVerdictFile:
		return jsonValue{}, &AnswerError{Problem: fmt.Sprintf("is longer than %d bytes", MaxVerdictFile), Hint: "ask for shorter findings"}
	case !utf8.ValidString(text):
		return jsonValue{}, &AnswerError{Problem: "is no UTF-8 text"}
	case countValues(text) > maxValues:
		return jsonValue{}, &AnswerError{Problem: "holds too many values", Hint: schemaHint}
	}
	text = strings.TrimSpace(text)
	if form != PlainAnswer {
		text = unfenced(text)
	}
	v, err := parseJSON(text)
	switch {
	case text == "":
		return jsonValue{}, &AnswerError{Problem: "is empty", Hint: "see the step before: the model said nothing"}
	case err != nil && !strings.HasPrefix(text, "{"):
		return jsonValue{}, &AnswerError{Problem: fmt.Sprintf("is no JSON object: it begins %q", shortQuote(text)), Hint: schemaHint}
	case err != nil:
		return jsonValue{}, &AnswerError{Problem: "is not one JSON object: " + shortQuote(err.Error()), Hint: schemaHint}
	case v.kind != '{':
		return jsonValue{}, &AnswerError{Problem: "is JSON, but no object", Hint: schemaHint}
	}
	if form == ClaudeAnswer && v.fields["type"].text == "result" {
		return resultObject(v)
	}
	return v, nil
}

// resultObject returns the structured output in what claude --output-format json prints.
func resultObject(v jsonValue) (jsonValue, error) {
	out, found := v.fields["structured_output"]
	switch {
	case v.fields["is_error"].text == "true":
		return jsonValue{}, &AnswerError{Problem: "is that of a run that failed: " + shortQuote(v.stringField("result", "subtype"))}
	case !found || out.kind != '{':
		return jsonValue{}, &AnswerError{"structured_output", "is missing, or no object", "start claude with --json-schema; " + schemaHint}
	}
	return out, nil
}

// unfenced returns what stands in the one fence that text is, and text itself if it is none.
func unfenced(text string) string {
	ticks := len(text) - len(strings.TrimLeft(text, "`"))
	first, rest, found := strings.Cut(text, "\n")
	inner, closed := strings.CutSuffix(rest, strings.Repeat("`", ticks))
	switch language := strings.TrimSpace(first[ticks:]); {
	case ticks < 3 || !found || !closed || strings.HasSuffix(inner, "`"):
		return text
	case language != "" && !strings.EqualFold(language, "json"):
		return text
	}
	return strings.TrimSpace(inner)
}

// judgingKeys are the other keys by which a model might give a verdict of its own.
var judgingKeys = [...]string{"approve", "approved", "conclusion", "decision", "ready_to_merge"}

// refuseSayingKeys returns an error for a key that is not known and says something.
func refuseSayingKeys(at string, v jsonValue, known []string) error {
	for _, name := range v.keys {
		key := strings.ToLower(name)
		if slices.Contains(known, key) || v.fields[key].isEmpty() {
			continue
		}
		hint := "the keys are " + strings.Join(known, ", ") + "; " + schemaHint
		if slices.Contains(verdictKeys[:], key) || slices.Contains(judgingKeys[:], key) {
			hint = verdictHint
		}
		return &AnswerError{at + shortQuote(name), "is a key that nobody knows", hint}
	}
	return nil
}

// answeredFinding reads one finding. A place that is none does not take the finding away: it is said in its words.
func answeredFinding(at string, v jsonValue, root string) (f quorum.Finding, err error) {
	if v.kind != '{' {
		return f, &AnswerError{at, "is no object", schemaHint}
	}
	if err := refuseSayingKeys(at+".", v, []string{"path", "file", "line", "severity", "title", "body", "message"}); err != nil {
		return f, err
	}
	texts := map[string]string{}
	for _, key := range []string{"path", "file", "severity", "title", "body", "message"} {
		switch field, found := v.fields[key]; {
		case found && field.kind != '"' && !field.isEmpty():
			return f, &AnswerError{at + "." + key, "is no text", schemaHint}
		case found:
			texts[key] = strings.TrimSpace(field.text)
		}
	}
	for _, twins := range [][2]string{{"path", "file"}, {"body", "message"}} {
		if one, other := texts[twins[0]], texts[twins[1]]; one != "" && other != "" && one != other {
			return f, &AnswerError{at + "." + twins[1], fmt.Sprintf("is not its %s: both are given", twins[0]), schemaHint}
		}
	}
	if f.Line, err = answeredLine(at+".line", v.fields["line"]); err != nil {
		return f, err
	}
	f.Severity, err = answeredSeverity(at+".severity", texts["severity"])
	f.Path, f.Body = placeAndBody(firstText(texts["path"], texts["file"]), texts["title"], firstText(texts["body"], texts["message"]), root)
	if f.Path == "" {
		f.Line = 0
	}
	return f, err
}

// placeAndBody returns the path that a finding is of, if it is one, and its words.
func placeAndBody(path, title, body, root string) (clean, words string) {
	switch {
	case title == body || isBlank(title):
		words = body
	case isBlank(body):
		words = title
	default:
		words = title + "\n\n" + body
	}
	if isBlank(words) {
		words = "(no words)" // a model that reports a finding and says nothing still reports one
	}
	clean = relativePath(path, root)
	if path != "" && pathProblem(clean) != "" {
		return "", shortQuote(path) + ": " + words
	}
	return clean, words
}

// relativePath returns path without the folder of the repository, or of any runner, and without the dot that stands
// for it.
func relativePath(path, root string) string {
	if root = strings.TrimRight(root, "/"); root != "" {
		path = strings.TrimPrefix(path, root+"/")
	}
	path, _ = cutRunnerFolder(path)
	for strings.HasPrefix(path, "./") {
		path = path[2:]
	}
	return path
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// answeredLine reads a line's number; what is no place in a file is 0.
func answeredLine(at string, v jsonValue) (int, error) {
	if v.kind != '0' && !(v.kind == '"' && v.text != "") {
		if v.kind != 0 && !v.isEmpty() {
			return 0, &AnswerError{at, "is no number", schemaHint}
		}
		return 0, nil
	}
	n, err := strconv.ParseFloat(v.text, 64)
	if err != nil && v.kind == '"' || n != math.Trunc(n) {
		return 0, &AnswerError{at, fmt.Sprintf("is %q, and no whole number", shortQuote(v.text)), schemaHint}
	}
	if n < 1 || n > maxInt {
		return 0, nil
	}
	return int(n), nil
}

// answeredSeverity reads a severity, also by the words of other schemas.
func answeredSeverity(at, word string) (quorum.Severity, error) {
	if word == "" {
		return 0, nil
	}
	severity, known := severityOfLabel(lowerASCII(word))
	if !known || isDeceptive(word) {
		return 0, &AnswerError{at, fmt.Sprintf("is %q, which nobody knows", shortQuote(word)), "severities: low, medium, high, critical"}
	}
	return severity, nil
}

// reviewedFiles returns how many files the model says it looked at.
func reviewedFiles(v jsonValue, root string) (int, error) {
	const at = "files_reviewed"
	field, found := v.fields[at]
	switch {
	case !found:
		return 0, &AnswerError{at, "is missing", countHint}
	case field.kind == '0':
		n, err := strconv.ParseFloat(field.text, 64)
		if err != nil || n != math.Trunc(n) || n < 0 || n > maxInt {
			return 0, &AnswerError{at, fmt.Sprintf("is %q, and no number of files", shortQuote(field.text)), countHint}
		}
		return int(n), nil
	case field.kind != '[':
		return 0, &AnswerError{at, "is neither a list of paths nor a number", countHint}
	}
	distinct := map[string]bool{}
	for i, item := range field.list {
		if item.kind != '"' {
			return 0, &AnswerError{fmt.Sprintf("%s[%d]", at, i), "is no text", countHint}
		}
		if path := relativePath(strings.TrimSpace(item.text), root); path != "" {
			distinct[path] = true
		}
	}
	return len(distinct), nil
}

// Verdict computes the verdict of an answer about a change of that many files. A model that says it read more files than
// are changed has read others, and nobody knows whether it has read all of these: that is no approval.
func (a ModelAnswer) Verdict(total int, least quorum.Severity) (VerdictFile, error) {
	f := MakeVerdict(a.Findings, min(a.Reviewed, total), total, least)
	if a.Reviewed > total && f.Verdict == VerdictApprove {
		return VerdictFile{}, &AnswerError{"files_reviewed", fmt.Sprintf("is %d, and only %d are changed", a.Reviewed, total), countHint}
	}
	return f, nil
}
