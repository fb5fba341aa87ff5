package review

// This file reads a verdict that is JSON. encoding/json takes the last of two equal keys and any depth; a verdict must
// have one meaning and a bounded cost, so the object is walked token by token.

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxDepth is deeper than any reviewer's schema.
const maxDepth = 32

// jsonValue is a JSON value.
type jsonValue struct {
	kind   byte // { [ " 0 t n
	text   string
	list   []jsonValue
	fields map[string]jsonValue // by key in small letters
}

// maxValues bounds the memory for a text of nothing but brackets and commas. Those in its words count, too.
const maxValues = 100_000

var (
	errTooMany      = errors.New("too many values")
	errTooDeep      = errors.New("nested too deeply")
	errDuplicateKey = errors.New("key stands twice")
	errTrailingText = errors.New("text after the value")
)

// decodeStrictly decodes text, which [parseObject] has read, into out, and refuses a key that out does not have. The
// error is one short line.
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
func parseObject(text string) (v jsonValue, err error) {
	if len(text) > MaxVerdictFile {
		return v, fmt.Errorf("is longer than %d bytes", MaxVerdictFile)
	}
	if v, err = parseJSON(text); err != nil {
		return v, fmt.Errorf("is not one JSON object: %w", err)
	}
	if v.kind != '{' || !utf8.ValidString(text) {
		return v, errors.New("is JSON, but no object of UTF-8 text")
	}
	return v, nil
}

func parseJSON(text string) (jsonValue, error) {
	if strings.Count(text, ",")+strings.Count(text, "[")+strings.Count(text, "{") > maxValues {
		return jsonValue{}, errTooMany
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v, err := parseValue(dec, 0)
	if err != nil {
		return jsonValue{}, err
	}
	// The token reader forgives commas and colons that the grammar does not, and stops at the end of the value. The depth
	// is bounded by now.
	if !json.Valid([]byte(text)) {
		return jsonValue{}, errTrailingText
	}
	return v, nil
}

func parseValue(dec *json.Decoder, depth int) (jsonValue, error) {
	if depth > maxDepth {
		return jsonValue{}, errTooDeep
	}
	token, err := dec.Token()
	if err != nil {
		return jsonValue{}, err
	}
	switch token := token.(type) {
	case string:
		return jsonValue{kind: '"', text: token}, nil
	case json.Number:
		return jsonValue{kind: '0', text: token.String()}, nil
	case bool:
		return jsonValue{kind: 't', text: strconv.FormatBool(token)}, nil
	case json.Delim:
		return parseNested(dec, token, depth)
	}
	return jsonValue{kind: 'n'}, nil
}

func parseNested(dec *json.Decoder, open json.Delim, depth int) (v jsonValue, err error) {
	v.kind = byte(open)
	if open == '{' {
		v.fields = map[string]jsonValue{}
	}
	for dec.More() {
		key := ""
		if open == '{' {
			token, err := dec.Token()
			if err != nil {
				return jsonValue{}, err
			}
			name, ok := token.(string)
			if !ok {
				return jsonValue{}, errTrailingText
			}
			key = strings.ToLower(strings.ToUpper(name)) // as encoding/json compares keys: ſ is an s
			if _, twice := v.fields[key]; twice {
				return jsonValue{}, fmt.Errorf("%q: %w", shortQuote(name), errDuplicateKey)
			}
		}
		inner, err := parseValue(dec, depth+1)
		if err != nil {
			return jsonValue{}, err
		}
		if open == '{' {
			v.fields[key] = inner
		} else {
			v.list = append(v.list, inner)
		}
	}
	_, err = dec.Token()
	return v, err
}

// verdictKeys are the keys that hold a verdict.
var verdictKeys = [...]string{"verdict", "overall_correctness", "status"}

func (v jsonValue) hasVerdictKey() bool {
	return slices.ContainsFunc(verdictKeys[:], func(k string) bool { return v.fields[k].kind != 0 })
}

// readJSON reads the one object with a verdict that is the whole text, or its last fenced block.
func readJSON(r quorum.Reviewer, body string, p LinedText) Reading {
	text, reason := jsonText(r, body, p)
	if text == "" {
		return Reading{Outcome: quorum.Malformed, Reason: reason}
	}
	v, err := parseJSON(text)
	if err != nil || v.kind != '{' || !v.hasVerdictKey() {
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: shortQuote(text)}
	}
	got := v.toReading(r.MinSeverity)
	if line, found := lineBelowBlock(p); found && got.Outcome == quorum.Approved { // it may take the yes back, in any words
		got.Outcome, got.Reason, got.Detail, got.Line = quorum.Malformed, quorum.ReasonContradicts, shortQuote(p.lines[line].text), line+1
	}
	return got
}

// lineBelowBlock finds what stands below the last fenced block, footers aside.
func lineBelowBlock(p LinedText) (line int, found bool) {
	if len(p.blocks) == 0 {
		return 0, false
	}
	for i := p.blocks[len(p.blocks)-1].end + 1; i < len(p.lines); i++ {
		if l := p.lines[i]; l.visibility != hidden && !isFooter(l.text) {
			return i, true
		}
	}
	return 0, false
}

// jsonText returns the text to parse, "" with a reason if there is none. A heading and the line that names the commit may
// stand before it.
func jsonText(r quorum.Reviewer, body string, p LinedText) (text string, reason quorum.Reason) {
	bare := strings.TrimSpace(body)
	if strings.HasPrefix(bare, "{") || strings.HasPrefix(bare, "[") {
		return bare, ""
	}
	shaped := 0
	for i, b := range p.blocks {
		v, err := parseJSON(b.text)
		looks := err == nil && v.hasVerdictKey() || err != nil && mentionsVerdict(b.text)
		if !looks {
			continue
		}
		shaped++
		if err == nil && i == len(p.blocks)-1 && b.closed {
			text = b.text
		}
	}
	if shaped > 1 {
		return "", quorum.ReasonContradicts
	}
	if shaped == 1 {
		return text, quorum.ReasonMalformed
	}
	rest := p.lines[contentStart(r, p):]
	if len(rest) > 0 && strings.HasPrefix(strings.TrimSpace(rest[0].text), "{") {
		var b strings.Builder
		for _, l := range rest {
			if l.visibility == quoted || l.visibility == hidden {
				return "", quorum.ReasonMalformed
			}
			b.WriteString(l.text)
			b.WriteByte('\n')
		}
		return b.String(), ""
	}
	return "", quorum.ReasonMalformed
}

// mentionsVerdict reports whether a block holds a verdict's key, though it is no JSON.
func mentionsVerdict(text string) bool {
	return slices.ContainsFunc(verdictKeys[:], func(k string) bool { return strings.Contains(text, `"`+k+`"`) })
}

// toReading returns the reading of an object with a verdict.
func (v jsonValue) toReading(least quorum.Severity) Reading {
	var yes, no, bad int
	var detail string
	state := unclear
	for _, k := range verdictKeys {
		f, ok := v.fields[k]
		if !ok {
			continue
		}
		detail = shortQuote(k + ": " + f.text)
		switch got := jsonVote(f); got {
		case approves:
			yes++
		case objects:
			no++
		case silent, unfilledTemplate, conditionalYes, yesAndNo, unclear, refuses:
			bad++
			state = got
		}
	}
	findings, ok := v.listFindings()
	blocks, minor := false, false
	for i := range findings {
		s := findings[i].Severity
		findings[i].Below = isBelow(s, least)
		switch {
		case findings[i].Below, s == quorum.Low:
			minor = true
		default:
			blocks = true
		}
	}
	out := Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: detail, Findings: findings, Rule: "json"}
	key, unknown := v.unknownKey()
	doubt, outcome, doubted := v.neutralDoubt()
	switch {
	case !ok:
	case yes > 0 && (no > 0 || blocks):
		out.Reason = quorum.ReasonContradicts
	case bad > 0:
		out.Reason = ruling{vote: state}.toReading().Reason
	case no > 0:
		out.Outcome, out.Reason = quorum.Findings, quorum.ReasonFindings
	case yes > 0 && unknown:
		out.Detail = shortQuote("unknown key " + key)
	case yes > 0 && doubted:
		out.Outcome, out.Reason, out.Detail = outcome, quorum.ReasonContradicts, shortQuote(doubt)
		if outcome == quorum.Partial {
			out.Reason = quorum.ReasonPartial
		}
	case yes > 0 && minor:
		out.Outcome, out.Reason, out.Below = quorum.Approved, quorum.ReasonAccepted, true
		for i := range out.Findings {
			out.Findings[i].Below = true
		}
	case yes > 0:
		out.Outcome, out.Reason = quorum.Approved, quorum.ReasonApproved
	}
	return out
}

// jsonField is the field of a verdict in JSON: a word, not a sentence.
var jsonField = verdictField{approve: append([]string{"patch is correct", "correct", "yes"}, approvedWords...)}

func jsonVote(f jsonValue) vote {
	if f.kind != '"' || isDeceptive(f.text) {
		return unclear
	}
	return jsonField.voteOf(lowerASCII(strings.TrimSpace(f.text)))
}

// neutralKeys are keys beside a verdict that may say something without changing it: what was looked at, and why. Their
// words can take an approval away.
var neutralKeys = [...]string{
	"overall_explanation", "overall_confidence_score", "confidence_score", "confidence", "explanation", "summary", "reason", "reasoning",
	"rationale", "title", "schema", "version", "model", "reviewer", "agent", "head", "base", "sha", "commit", "commit_id", "run", "attempt",
	"files_reviewed", "files_total", "praise", "strengths", "positives",
}

// unknownKey finds a key that says something and that nobody knows: an approval beside "blocking_issues" is none.
func (v jsonValue) unknownKey() (key string, found bool) {
	for k, f := range v.fields {
		known := k == "findings" || k == "issues" || slices.Contains(verdictKeys[:], k) ||
			slices.Contains(neutralKeys[:], k) && f.kind != '{'
		if !known && !f.isEmpty() && (!found || k < key) {
			key, found = k, true
		}
	}
	return key, found
}

// isEmpty reports whether a value says nothing.
func (v jsonValue) isEmpty() bool {
	switch v.kind {
	case '"':
		return strings.TrimSpace(v.text) == ""
	case '[':
		return len(v.list) == 0
	case '{':
		return len(v.fields) == 0
	}
	return v.kind == 'n'
}

// neutralDoubt finds words beside the verdict that take an approval away, or a count of files that is not all of them.
func (v jsonValue) neutralDoubt() (detail string, outcome quorum.Outcome, found bool) {
	read, seen := v.fields["files_reviewed"], v.numberField("files_reviewed")
	if read.kind == '[' {
		seen = len(read.list)
	}
	if all := v.numberField("files_total"); read.kind != 0 && seen == 0 || seen < all {
		return fmt.Sprintf("files_reviewed: %d of %d", seen, all), quorum.Partial, true
	}
	for _, k := range neutralKeys {
		for _, f := range append([]jsonValue{v.fields[k]}, v.fields[k].list...) {
			d := &document{LinedText: ReadLines(f.text), preset: noPreset}
			if line, found := d.unreadLine(-1, false); found {
				return d.lines[line].text, quorum.Malformed, true
			}
			if line, _, found := d.vetoLine(-1, false); found {
				return d.lines[line].text, quorum.Malformed, true
			}
		}
	}
	return "", 0, false
}

// listFindings returns the findings; ok is false if they are no list, which makes the answer unreadable.
func (v jsonValue) listFindings() (out []quorum.Finding, ok bool) {
	for _, k := range [...]string{"findings", "issues"} {
		list, found := v.fields[k]
		if !found || list.kind == 'n' {
			continue
		}
		if list.kind != '[' {
			return nil, false
		}
		for _, f := range list.list {
			switch f.kind {
			case '"':
				path, line := findPlace(f.text)
				out = append(out, quorum.Finding{Path: path, Line: line, Body: f.text})
			case '{':
				out = append(out, f.toFinding())
			default:
				return nil, false
			}
		}
	}
	return out, true
}

// toFinding returns one finding, by the keys that schemas use for its parts.
func (v jsonValue) toFinding() (f quorum.Finding) {
	f.Path = v.stringField("path", "file", "filename")
	f.Line = v.numberField("line", "start_line")
	title, body := v.stringField("title"), v.stringField("body", "message", "description")
	switch {
	case body == "":
		f.Body = title
	case title != "" && title != body:
		f.Body = title + "\n\n" + body
	default:
		f.Body = body
	}
	if place, ok := v.fields["code_location"]; ok { // Codex's schema
		f.Path = place.stringField("absolute_file_path", "file_path", "path")
		f.Line = place.fields["line_range"].numberField("start")
	}
	f.Path = repositoryPath(f.Path)
	f.Severity = v.gravestSeverity(title)
	return f
}

// gravestSeverity returns the gravest severity that the parts of a finding state; 0 if none does.
func (v jsonValue) gravestSeverity(title string) (most quorum.Severity) {
	if s, ok := severityOfLabel(lowerASCII(strings.TrimSpace(v.stringField("severity", "level")))); ok {
		most = s
	}
	if p, ok := v.fields["priority"]; ok && (p.kind == '0' || p.kind == '"') {
		if s, ok := severityOfLabel("p" + strings.TrimPrefix(lowerASCII(p.text), "p")); ok {
			most = max(most, s)
		} else if s, ok := severityOfLabel(lowerASCII(p.text)); ok {
			most = max(most, s)
		}
	}
	if s, ok := severityOfItem(title, true, true); ok {
		most = max(most, s)
	}
	if b, ok := v.fields["blocking"]; ok && b.text == "true" {
		most = quorum.Critical
	}
	return most
}

func (v jsonValue) stringField(keys ...string) string {
	for _, k := range keys {
		if f, ok := v.fields[k]; ok && f.kind == '"' && f.text != "" {
			return f.text
		}
	}
	return ""
}

func (v jsonValue) numberField(keys ...string) int {
	for _, k := range keys {
		f, ok := v.fields[k]
		if !ok || f.kind != '0' && f.kind != '"' {
			continue
		}
		if n, err := strconv.Atoi(f.text); err == nil && n > 0 && n < 1<<30 {
			return n
		}
	}
	return 0
}
