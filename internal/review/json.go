package review

// This file reads a verdict that is JSON. encoding/json takes the last of two equal keys and any depth; a verdict must
// have one meaning and a bounded cost, so the object is walked token by token.

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxDepth is deeper than any reviewer's schema.
const maxDepth = 32

// value is a JSON value.
type value struct {
	kind   byte // { [ " 0 t n
	text   string
	list   []value
	fields map[string]value // by key in small letters
}

var (
	errDeep  = errors.New("nested too deeply")
	errTwice = errors.New("key stands twice")
	errMore  = errors.New("text after the value")
)

func parseJSON(text string) (value, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v, err := parseValue(dec, 0)
	if err != nil {
		return value{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return value{}, errMore
	}
	// The token reader forgives commas and colons that the grammar does not. The depth is bounded by now.
	if !json.Valid([]byte(text)) {
		return value{}, errMore
	}
	return v, nil
}

func parseValue(dec *json.Decoder, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, errDeep
	}
	token, err := dec.Token()
	if err != nil {
		return value{}, err
	}
	switch token := token.(type) {
	case string:
		return value{kind: '"', text: token}, nil
	case json.Number:
		return value{kind: '0', text: token.String()}, nil
	case bool:
		return value{kind: 't', text: strconv.FormatBool(token)}, nil
	case json.Delim:
		return parseNested(dec, token, depth)
	}
	return value{kind: 'n'}, nil
}

func parseNested(dec *json.Decoder, open json.Delim, depth int) (v value, err error) {
	v.kind = byte(open)
	if open == '{' {
		v.fields = map[string]value{}
	}
	for dec.More() {
		key := ""
		if open == '{' {
			token, err := dec.Token()
			if err != nil {
				return value{}, err
			}
			name, ok := token.(string)
			if !ok {
				return value{}, errMore
			}
			key = strings.ToLower(name)
			if _, twice := v.fields[key]; twice {
				return value{}, errTwice
			}
		}
		inner, err := parseValue(dec, depth+1)
		if err != nil {
			return value{}, err
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

// The keys that hold a verdict.
var verdictKeys = [...]string{"verdict", "overall_correctness", "status"}

func (v value) shaped() bool {
	for _, k := range verdictKeys {
		if _, ok := v.fields[k]; ok {
			return true
		}
	}
	return false
}

// readJSON reads the one object with a verdict that p's text is, or has in its last fenced block.
func readJSON(r quorum.Reviewer, body string, p Page) Reading {
	text, reason := jsonText(r, body, p)
	if text == "" {
		return Reading{Outcome: quorum.Malformed, Reason: reason}
	}
	v, err := parseJSON(text)
	if err != nil || v.kind != '{' || !v.shaped() {
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: quote(text)}
	}
	return v.reading(r.MinSeverity)
}

// jsonText finds the text to parse. A heading and the line that names the commit may stand before it.
func jsonText(r quorum.Reviewer, body string, p Page) (text string, reason quorum.Reason) {
	bare := strings.TrimSpace(body)
	if strings.HasPrefix(bare, "{") || strings.HasPrefix(bare, "[") {
		return bare, ""
	}
	shaped := 0
	for i, b := range p.blocks {
		v, err := parseJSON(b.text)
		looks := err == nil && v.shaped() || err != nil && mentionsVerdict(b.text)
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
	rest := content(r, p)
	if len(rest) > 0 && strings.HasPrefix(strings.TrimSpace(rest[0].text), "{") {
		var b strings.Builder
		for _, l := range rest {
			if l.sight == quoted || l.sight == hidden {
				return "", quorum.ReasonMalformed
			}
			b.WriteString(l.text)
			b.WriteByte('\n')
		}
		return b.String(), ""
	}
	return "", quorum.ReasonMalformed
}

// mentionsVerdict reports whether a block that is no JSON has a verdict's key all the same.
func mentionsVerdict(text string) bool {
	for _, k := range verdictKeys {
		if strings.Contains(text, `"`+k+`"`) {
			return true
		}
	}
	return false
}

// reading is what an object says.
func (v value) reading(least quorum.Severity) Reading {
	var yes, no, bad int
	var detail string
	state := unclear
	for _, k := range verdictKeys {
		f, ok := v.fields[k]
		if !ok {
			continue
		}
		detail = quote(k + ": " + f.text)
		switch got := jsonVote(f); got {
		case approves:
			yes++
		case objects:
			no++
		case silent, template, condition, both, unclear:
			bad++
			state = got
		}
	}
	findings, ok := v.findings()
	blocks, minor := false, false
	for i := range findings {
		s := findings[i].Severity
		findings[i].Below = below(s, least)
		switch {
		case findings[i].Below, s == quorum.Low:
			minor = true
		default:
			blocks = true
		}
	}
	out := Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: detail, Findings: findings}
	switch {
	case !ok:
	case yes > 0 && (no > 0 || blocks):
		out.Reason = quorum.ReasonContradicts
	case bad > 0:
		out.Reason = ruling{vote: state}.reading().Reason
	case no > 0:
		out.Outcome, out.Reason = quorum.Findings, quorum.ReasonFindings
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

// jsonVote reads a verdict's value. It is a word, not a sentence.
func jsonVote(f value) vote {
	if f.kind != '"' || tricky(f.text) {
		return unclear
	}
	word := strings.TrimRight(lower(strings.TrimSpace(f.text)), ".!")
	switch word {
	case "patch is correct", "correct", "approve", "approved", "yes":
		return approves
	case "patch is incorrect", "incorrect", "with fixes", "no", "request_changes", "changes_requested", "request changes", "changes requested",
		"requests_changes", "revise", "rethink", "reject", "rejected", "issues found", "issues_found", "needs fixes", "needs_fixes", "needs changes", "needs_changes", "needs work", "needs_work":
		return objects
	}
	if enumerates(word) || strings.ContainsAny(word, "|{<") {
		return template
	}
	if rest, ok := after(word, "yes"); ok && conditional.MatchString(rest) {
		return condition
	}
	if rest, ok := after(word, "approved"); ok && conditional.MatchString(rest) {
		return condition
	}
	return unclear
}

// findings reads the list of findings; one that is no list makes the answer unreadable.
func (v value) findings() (out []quorum.Finding, ok bool) {
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
				path, line := placeOf(f.text)
				out = append(out, quorum.Finding{Path: path, Line: line, Body: f.text})
			case '{':
				out = append(out, f.finding())
			default:
				return nil, false
			}
		}
	}
	return out, true
}

// finding reads one finding, in the keys that schemas use for its parts.
func (v value) finding() (f quorum.Finding) {
	f.Path = v.string("path", "file", "filename")
	f.Line = v.number("line", "start_line")
	title, body := v.string("title"), v.string("body", "message", "description")
	switch {
	case body == "":
		f.Body = title
	case title != "" && title != body:
		f.Body = title + "\n\n" + body
	default:
		f.Body = body
	}
	if place, ok := v.fields["code_location"]; ok { // Codex's schema
		f.Path = place.string("absolute_file_path", "file_path", "path")
		f.Line = place.fields["line_range"].number("start")
	}
	f.Severity = v.severity(title)
	return f
}

// severity is the gravest that the parts of a finding state; 0 if none does.
func (v value) severity(title string) (most quorum.Severity) {
	if s, ok := severityLabel(lower(strings.TrimSpace(v.string("severity", "level")))); ok {
		most = s
	}
	if p, ok := v.fields["priority"]; ok && (p.kind == '0' || p.kind == '"') {
		if s, ok := severityLabel("p" + strings.TrimPrefix(lower(p.text), "p")); ok {
			most = max(most, s)
		} else if s, ok := severityLabel(lower(p.text)); ok {
			most = max(most, s)
		}
	}
	if s, ok := severityTag(title, true); ok {
		most = max(most, s)
	}
	if b, ok := v.fields["blocking"]; ok && b.text == "true" {
		most = quorum.Critical
	}
	return most
}

func (v value) string(keys ...string) string {
	for _, k := range keys {
		if f, ok := v.fields[k]; ok && f.kind == '"' && f.text != "" {
			return f.text
		}
	}
	return ""
}

func (v value) number(keys ...string) int {
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
