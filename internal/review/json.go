package review

// This file reads a verdict that is JSON. encoding/json takes the last of two equal keys and any depth; a verdict must
// have one meaning and a bounded cost, so the object is walked token by token.

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	maxDepth  = 32      // deeper than any reviewer's schema
	maxValues = 100_000 // bounds the memory for a text of nothing but brackets and commas; those in its words count, too
)

// A jsonObject is an object of JSON, by its keys in small letters. It holds objects, []any, string, json.Number, bool and nil.
type jsonObject map[string]any

// decodeStrictly decodes text, which [parseObject] has read, into out, and refuses a key that out does not have.
func decodeStrictly(text string, out any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(out)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%s may be no %s", wrong.Field, shortQuote(wrong.Value))
	}
	if err != nil {
		return errors.New(shortQuote(strings.TrimPrefix(err.Error(), "json: ")))
	}
	return nil
}

// parseObject parses a text from outside that is one JSON object, no longer than a verdict file.
func parseObject(text string) (jsonObject, error) {
	if len(text) > MaxVerdictFile {
		return nil, fmt.Errorf("is longer than %d bytes", MaxVerdictFile)
	}
	v, err := parseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("is not one JSON object: %w", err)
	}
	if v == nil || !utf8.ValidString(text) {
		return nil, errors.New("is JSON, but no object of UTF-8 text")
	}
	return v, nil
}

// parseJSON returns the object that the text is; nil if it is another value of JSON.
func parseJSON(text string) (jsonObject, error) {
	if strings.Count(text, ",")+strings.Count(text, "[")+strings.Count(text, "{") > maxValues {
		return nil, errors.New("too many values")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v, err := parseValue(dec, 0)
	// The token reader forgives commas and colons that the grammar does not, and stops at the end of the value. The depth
	// is bounded by now.
	if err == nil && !json.Valid([]byte(text)) {
		err = errors.New("text after the value")
	}
	object, _ := v.(jsonObject)
	return object, err
}

func parseValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	open, isNested := token.(json.Delim)
	switch {
	case err != nil || !isNested:
		return token, err
	case depth == maxDepth:
		return nil, errors.New("nested too deeply")
	}
	object, list := jsonObject{}, []any{}
	for dec.More() {
		var name string
		if open == '{' {
			if token, err = dec.Token(); err != nil {
				return nil, err
			}
			name, _ = token.(string)
		}
		key := strings.ToLower(strings.ToUpper(name)) // as encoding/json compares keys: ſ is an s
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("%q: key stands twice", shortQuote(name))
		}
		inner, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if open == '{' {
			object[key] = inner
		} else {
			list = append(list, inner)
		}
	}
	if _, err = dec.Token(); open == '{' {
		return object, err
	}
	return list, err
}

// text returns the first of some values that is a word, a number, or true or false, as text.
func (v jsonObject) text(keys ...string) string {
	for _, k := range keys {
		switch f := v[k].(type) {
		case string, json.Number, bool:
			if text := fmt.Sprint(f); text != "" {
				return text
			}
		}
	}
	return ""
}

// number returns a value that is a number above 0; 0 if it is none.
func (v jsonObject) number(key string) int {
	if n, err := strconv.ParseFloat(v.text(key), 64); err == nil && n > 0 && n < 1<<30 {
		return int(math.Ceil(n)) // "12.0" is 12
	}
	return 0
}

var verdictKeys = [...]string{"verdict", "overall_correctness", "status"}

func (v jsonObject) hasVerdictKey() bool {
	return slices.ContainsFunc(verdictKeys[:], func(k string) bool { _, has := v[k]; return has })
}

// readJSON reads the one object with a verdict that is the whole text, or its last fenced block.
func readJSON(r quorum.Reviewer, body string, p LinedText) Reading {
	text, reason := jsonText(r, body, p)
	v, err := parseJSON(text)
	if err != nil || !v.hasVerdictKey() {
		return Reading{Outcome: quorum.Malformed, Reason: cmp.Or(reason, quorum.ReasonMalformed), Detail: shortQuote(text)}
	}
	got := v.toReading(r.MinSeverity)
	if line, found := lineBesideBlock(p); found && got.Outcome == quorum.Approved { // it may take the yes back, in any words
		got.Outcome, got.Reason, got.Detail, got.Line = quorum.Malformed, quorum.ReasonContradicts, shortQuote(p.lines[line].text), line+1
	}
	return got
}

// lineBesideBlock finds what stands below the last fenced block, footers aside, or is another verdict in JSON above it.
func lineBesideBlock(p LinedText) (line int, found bool) {
	for i, l := range p.lines {
		isBelow := len(p.blocks) > 0 && i > p.blocks[len(p.blocks)-1].end && !isFooter(l.text)
		if l.visibility != hidden && len(p.blocks) > 0 && (isBelow || mentionsVerdict(l.text, verdictKeys[:])) {
			return i, true
		}
	}
	return 0, false
}

// jsonText returns the text to parse behind a heading and the line that names the commit; "" with a reason if there is none.
func jsonText(r quorum.Reviewer, body string, p LinedText) (text string, reason quorum.Reason) {
	if bare := strings.TrimSpace(body); opensJSON(bare) {
		return bare, ""
	}
	rest := p.lines[contentStart(r, p):]
	if len(rest) > 0 && opensJSON(strings.TrimSpace(rest[0].text)) {
		var b strings.Builder
		for _, l := range rest {
			if l.visibility == quoted || l.visibility == hidden {
				return "", quorum.ReasonMalformed
			}
			b.WriteString(l.text + "\n")
		}
		return b.String(), ""
	}
	shaped := 0
	for i, b := range p.blocks {
		v, err := parseJSON(b.text)
		nested := verdictKeys[:]
		if v != nil {
			nested = verdictKeys[:2] // any example of an API has a status
		}
		if !v.hasVerdictKey() && !mentionsVerdict(b.text, nested) {
			continue
		}
		if shaped++; shaped > 1 {
			return "", quorum.ReasonContradicts
		}
		if err == nil && i == len(p.blocks)-1 && b.closed {
			text = b.text
		}
	}
	return text, quorum.ReasonMalformed
}

// opensJSON reports whether a text begins as an object or a list of them does. A list of links, as of Markdown, is none.
func opensJSON(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{")
}

// mentionsVerdict reports whether a text holds one of a verdict's keys anywhere, though it is no object with one.
func mentionsVerdict(text string, keys []string) bool {
	text = lowerASCII(text)
	return slices.ContainsFunc(keys, func(k string) bool { return strings.Contains(text, `"`+k+`"`) })
}

func (v jsonObject) toReading(least quorum.Severity) Reading {
	said, detail := v.vote()
	got := ruling{vote: said, detail: detail, rule: "json", line: -1}.toReading()
	list, isList := v.listFindings()
	got.Findings = list
	blocks := false
	for i := range list {
		list[i].Below = isBelow(list[i].Severity, least)
		blocks = blocks || !list[i].Below && list[i].Severity != quorum.Low
	}
	key, unknown := v.unknownKey()
	doubt, isPartial, doubted := v.neutralDoubt()
	reason, isYes := quorum.Reason(""), got.Outcome == quorum.Approved
	switch {
	case !isList:
		reason = quorum.ReasonMalformed
	case said == refuses && len(list) > 0, isYes && blocks: // who found something has reviewed
		reason = quorum.ReasonContradicts
	case !isYes:
	case unknown:
		reason, detail = quorum.ReasonMalformed, "unknown key "+key
	case isPartial:
		got.Outcome, got.Reason, got.Detail = quorum.Partial, quorum.ReasonPartial, shortQuote(doubt)
	case doubted:
		reason, detail = quorum.ReasonContradicts, doubt
	case len(list) > 0:
		got.Reason, got.Below = quorum.ReasonAccepted, true
		markBelow(list, true)
	}
	if reason != "" {
		return Reading{Outcome: quorum.Malformed, Reason: reason, Detail: shortQuote(detail), Findings: list, Rule: "json"}
	}
	return got
}

// vote returns what the keys of the verdict say together.
func (v jsonObject) vote() (all vote, detail string) {
	for _, k := range verdictKeys {
		if _, has := v[k]; !has {
			continue
		}
		detail = shortQuote(k + ": " + v.text(k))
		one := unclear
		if text, isText := v[k].(string); isText && !isDeceptive(text) {
			one = jsonField.voteOf(lowerASCII(strings.TrimSpace(text)))
		}
		switch {
		case all == silent, one == unclear, all == refuses && one == objects:
			all = one
		case all != one && all != unclear && (all == approves || one == approves):
			all = yesAndNo
		}
	}
	return all, detail
}

// jsonField is the field of a verdict in JSON: a word, not a sentence.
var jsonField = verdictField{approve: append([]string{"patch is correct", "correct", "yes"}, approvedWords...)}

// neutralKeys are keys beside a verdict that say what was looked at, and why. Their words can take an approval away.
var neutralKeys = [...]string{
	"overall_explanation", "overall_confidence_score", "confidence_score", "confidence", "explanation", "summary", "reason", "reasoning",
	"rationale", "title", "schema", "version", "model", "reviewer", "agent", "head", "base", "sha", "commit", "commit_id", "run", "attempt",
	"files_reviewed", "files_total", "praise", "strengths", "positives",
}

// unknownKey finds a key that says something and that nobody knows: an approval beside "blocking_issues" is none.
func (v jsonObject) unknownKey() (key string, found bool) {
	for _, k := range slices.Sorted(maps.Keys(v)) {
		known := k == "findings" || k == "issues" || slices.Contains(verdictKeys[:], k) ||
			slices.Contains(neutralKeys[:], k) && !isNested(v[k])
		said := strings.TrimSpace(fmt.Sprint(v[k]))
		if !known && !slices.Contains([]string{"", "<nil>", "[]", "map[]"}, said) { // as Go prints what is empty
			return k, true
		}
	}
	return "", false
}

// isNested reports whether a value is more than a word or a list of words.
func isNested(value any) bool {
	list, _ := value.([]any)
	_, isObject := value.(jsonObject)
	isMore := func(inner any) bool { _, isList := inner.([]any); return isList || isNested(inner) }
	return isObject || slices.ContainsFunc(list, isMore)
}

// neutralDoubt finds words beside the verdict that take an approval away, or a count of files that is not all of them.
func (v jsonObject) neutralDoubt() (detail string, isPartial, found bool) {
	seen := v.number("files_reviewed")
	if names, isList := v["files_reviewed"].([]any); isList {
		seen = len(names)
	}
	if _, counts := v["files_reviewed"]; counts && seen == 0 || seen < v.number("files_total") {
		return fmt.Sprintf("files_reviewed: %d of %d", seen, v.number("files_total")), true, true
	}
	for _, k := range neutralKeys {
		list, _ := v[k].([]any)
		for _, f := range append([]any{v[k]}, list...) {
			text, _ := f.(string)
			d := &document{LinedText: ReadLines(text), Reader: &Reader{preset: noPreset}}
			line, found := d.unreadLine(-1, false)
			if !found {
				line, _, found = d.vetoLine(-1, false)
			}
			if found {
				return d.lines[line].text, false, true
			}
		}
	}
	return "", false, false
}

// listFindings returns the findings; ok is false if they are no list, which makes the answer unreadable.
func (v jsonObject) listFindings() (out []quorum.Finding, ok bool) {
	for _, k := range [...]string{"findings", "issues"} {
		list, isList := v[k].([]any)
		if !isList && v[k] != nil {
			return nil, false
		}
		for _, f := range list {
			switch f := f.(type) {
			case string:
				path, line := findPlace(f)
				out = append(out, quorum.Finding{Path: path, Line: line, Body: f})
			case jsonObject:
				out = append(out, f.toFinding())
			default:
				return nil, false
			}
		}
	}
	return out, true
}

// toFinding returns one finding, by the keys that schemas use for its parts.
func (v jsonObject) toFinding() quorum.Finding {
	place, _ := v["code_location"].(jsonObject) // Codex's schema
	span, _ := place["line_range"].(jsonObject)
	title, body := v.text("title"), v.text("body", "message", "description")
	if body == "" {
		body = title
	} else if title != "" && title != body {
		body = title + "\n\n" + body
	}
	return quorum.Finding{
		Path: repositoryPath(cmp.Or(place.text("absolute_file_path", "file_path", "path"), v.text("path", "file", "filename"))),
		Line: cmp.Or(span.number("start"), v.number("line"), v.number("start_line")),
		Body: body, Severity: v.gravestSeverity(title),
	}
}

// gravestSeverity returns the gravest severity that the parts of a finding state; 0 if none does.
func (v jsonObject) gravestSeverity(title string) quorum.Severity {
	if v.text("blocking") == "true" {
		return quorum.Critical
	}
	most := severityOfItem(title, true, true)
	priority := v.text("priority")
	for _, label := range [...]string{v.text("severity", "level"), priority, "p" + priority} {
		most = max(most, severityOfLabel(lowerASCII(strings.TrimSpace(label))))
	}
	return most
}
