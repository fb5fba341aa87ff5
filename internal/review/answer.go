package review

// This file reads what a model answered when it was asked for findings: the raw material of a verdict file. A model
// can be held to a schema by its vendor, but not to the truth, and not every script holds it. What says anything
// beyond the schema is an error: it might be the objection.

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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

// A ModelAnswer is what a model found and what it read.
type ModelAnswer struct {
	Findings []ReportedFinding
	Reviewed []string // names of files, sorted, each once
}

// An AnswerError says why an answer cannot be understood, and what helps. It quotes the answer in one short line.
type AnswerError struct {
	Problem, Hint string
}

func (e *AnswerError) Error() string { return "the answer " + e.Problem }

const (
	schemaHint = "give the model the schema: coordinator verdict schema"
	// formHint answers a verdict, too, that the model gives by itself.
	formHint = "it holds findings, the paths of files_reviewed and nothing else, least of all a verdict; " + schemaHint
)

// ParseModelAnswer parses a model's answer, with paths relative to root, the folder of the repository on that machine.
// An error is an [AnswerError].
func ParseModelAnswer(text string, form AnswerForm, root string) (ModelAnswer, error) {
	text, err := answerObject(text, form)
	if err != nil {
		return ModelAnswer{}, err
	}
	var said struct {
		Findings []answeredFinding `json:"findings"`
		Reviewed []string          `json:"files_reviewed"`
	}
	err = decodeStrictly(text, &said)
	switch {
	case err != nil:
		return ModelAnswer{}, &AnswerError{"has another form: " + err.Error(), formHint}
	case said.Findings == nil:
		return ModelAnswer{}, &AnswerError{"has no findings", "without findings they are []; " + schemaHint}
	case said.Reviewed == nil:
		return ModelAnswer{}, &AnswerError{"has no files_reviewed", "ask for the paths of the changed files that it has read"}
	}
	var answer ModelAnswer
	for i, f := range said.Findings {
		found, known := f.toFinding(root)
		if !known {
			problem := fmt.Sprintf("has a severity that nobody knows, of findings[%d]: %q", i, shortQuote(f.Severity))
			return ModelAnswer{}, &AnswerError{problem, "severities: low, medium, high, critical"}
		}
		answer.Findings = append(answer.Findings, found)
	}
	for _, name := range said.Reviewed {
		if name = relativePath(name, root); pathProblem(name) == "" { // no changed file has another name
			answer.Reviewed = append(answer.Reviewed, name)
		}
	}
	slices.Sort(answer.Reviewed)
	answer.Reviewed = slices.Compact(answer.Reviewed)
	if len(answer.Reviewed) > maxReadFiles {
		problem := fmt.Sprintf("names %d files as read, more than GitHub lists of a change", len(answer.Reviewed))
		return ModelAnswer{}, &AnswerError{problem, "ask for the changed files alone"}
	}
	return answer, nil
}

// answerObject returns the one object of an answer.
func answerObject(text string, form AnswerForm) (string, error) {
	text = strings.TrimSpace(text)
	if form != PlainAnswer {
		text = unfenced(text)
	}
	v, err := parseObject(text)
	switch {
	case text == "":
		return "", &AnswerError{"is empty", "see the step before: the model said nothing"}
	case err != nil && !strings.HasPrefix(text, "{"):
		return "", &AnswerError{fmt.Sprintf("is no JSON object: it begins %q", shortQuote(text)), schemaHint}
	case err != nil:
		return "", &AnswerError{shortQuote(err.Error()), schemaHint}
	case form != ClaudeAnswer || v.text("type") != "result":
		return text, nil
	case v.text("is_error") == "true":
		return "", &AnswerError{"is that of a run that failed: " + shortQuote(v.text("result", "subtype")), ""}
	}
	inner, isObject := v["structured_output"].(jsonObject)
	if !isObject {
		return "", &AnswerError{"has no object as structured_output", "start claude with --json-schema; " + schemaHint}
	}
	printed, err := json.Marshal(inner)
	return string(printed), err
}

// unfenced returns what stands in the one fence that text is, and text itself if it is none.
func unfenced(text string) string {
	p := ReadLines(text)
	if len(p.blocks) == 1 && strings.HasPrefix(text, "```") && p.blocks[0].closed && p.blocks[0].end == len(p.lines)-1 {
		return strings.TrimSpace(p.blocks[0].text)
	}
	return text
}

// answeredFinding is a finding as a model writes it.
type answeredFinding struct {
	Path     string      `json:"path"`
	Line     json.Number `json:"line"`
	Severity string      `json:"severity"`
	Body     string      `json:"body"`
}

// toFinding returns the finding, whose severity may be told by the words of other schemas. A place that is none does
// not take the finding away: it is said in its words.
func (f answeredFinding) toFinding(root string) (found ReportedFinding, known bool) {
	found = ReportedFinding{Path: relativePath(f.Path, root), Body: strings.TrimSpace(f.Body)}
	if isBlank(found.Body) {
		found.Body = "(no words)" // a model that reports a finding and says nothing still reports one
	}
	if found.Path != "" && pathProblem(found.Path) != "" {
		found.Path, found.Body = "", shortQuote(f.Path)+": "+found.Body
	}
	if n, err := strconv.Atoi(f.Line.String()); err == nil && n > 0 && n <= math.MaxInt32 && found.Path != "" {
		found.Line = n
	}
	word := strings.TrimSpace(f.Severity)
	found.Severity = severityOfLabel(lowerASCII(word))
	return found, found.Severity > 0 || word == ""
}

// relativePath returns path without the folder of the repository, or of any runner, and the dot that stands for it.
func relativePath(path, root string) string {
	path = strings.TrimSpace(path)
	if root = strings.TrimRight(root, "/"); root != "" {
		path = strings.TrimPrefix(path, root+"/")
	}
	path, _ = cutRunnerFolder(path)
	for strings.HasPrefix(path, "./") {
		path = path[2:]
	}
	return path
}
