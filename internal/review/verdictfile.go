package review

// This file reads and makes the structured verdict: the one JSON file that a reviewer's own run leaves as an artifact.
// Nobody has to read prose for it, so nothing in it is read kindly: what its form does not know makes it unreadable. The
// verdict in it is computed from what was found and from how much was looked at, and never asked of a model.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	// VerdictSchema is the only form of a verdict file that there is so far.
	VerdictSchema = 1
	// MaxVerdictFile is the longest verdict file that is read, in bytes.
	MaxVerdictFile = 1 << 20
	// VerdictApprove and VerdictRequestChanges are the two words that a verdict file may hold.
	VerdictApprove        = "approve"
	VerdictRequestChanges = "request_changes"
)

// maxValues bounds the memory for a file of nothing but brackets and commas. Its texts may hold a hundred thousand of them.
const maxValues = 100_000

// A VerdictFile is the structured verdict of a reviewer's own run. Whoever reads it holds what it names against GitHub's
// own facts: the run that it lies in, its attempt, its head and its base.
type VerdictFile struct {
	Schema        int
	Head          string // id of the commit
	Base          string // name of the base branch: its commit moves on while the review stands
	Run           int64
	Attempt       int
	Verdict       string           // VerdictApprove or VerdictRequestChanges
	Findings      []quorum.Finding // of each the path, the line, the severity and the body, which is hostile
	FilesReviewed int
	FilesTotal    int
}

// The keys of a verdict file and of a finding in it, in the order in which they are written.
var (
	verdictFileKeys = [...]string{"schema", "head", "base", "run", "attempt", "verdict", "findings", "files_reviewed", "files_total"}
	findingFileKeys = [...]string{"path", "line", "severity", "body"}
)

// ParseVerdictFile parses a verdict file strictly: one object, no key twice at any depth, no key that is not known, none
// missing, no number below zero. A file that contradicts itself is an error too. The error names the key.
func ParseVerdictFile(data []byte) (VerdictFile, error) {
	switch {
	case len(data) > MaxVerdictFile:
		return VerdictFile{}, fmt.Errorf("the file is longer than %d bytes", MaxVerdictFile)
	case !utf8.Valid(data):
		return VerdictFile{}, errors.New("the file is no UTF-8 text")
	case countValues(string(data)) > maxValues:
		return VerdictFile{}, errors.New("the file holds too many values")
	}
	v, err := parseJSON(string(data))
	switch {
	case err != nil:
		return VerdictFile{}, fmt.Errorf("the file is not one JSON object: %w", err)
	case v.kind != '{':
		return VerdictFile{}, errors.New("the file is not one JSON object")
	}
	r := verdictFileReader{}
	r.refuseOtherKeys("", v, verdictFileKeys[:])
	f := VerdictFile{
		Schema:        int(r.readCount(v, "schema", 1)),
		Head:          r.readCommit(v, "head"),
		Base:          r.readBranch(v, "base"),
		Run:           r.readCount(v, "run", 1),
		Attempt:       int(r.readCount(v, "attempt", 1)),
		Verdict:       r.readText(v, "", "verdict"),
		Findings:      r.readFindings(v),
		FilesReviewed: int(r.readCount(v, "files_reviewed", 0)),
		FilesTotal:    int(r.readCount(v, "files_total", 0)),
	}
	if r.err == nil {
		r.err = f.findContradiction()
	}
	if r.err != nil {
		return VerdictFile{}, r.err
	}
	return f, nil
}

// countValues returns at least as many values as text can hold.
func countValues(text string) int {
	return strings.Count(text, ",") + strings.Count(text, "[") + strings.Count(text, "{")
}

// findContradiction returns what in f cannot be true together, or is no value of its key.
func (f VerdictFile) findContradiction() error {
	switch {
	case f.Schema != VerdictSchema:
		return fmt.Errorf("schema: %d is not known, only %d is", f.Schema, VerdictSchema)
	case f.Verdict != VerdictApprove && f.Verdict != VerdictRequestChanges:
		return fmt.Errorf("verdict: %q is neither %s nor %s", shortQuote(f.Verdict), VerdictApprove, VerdictRequestChanges)
	case f.FilesReviewed > f.FilesTotal:
		return fmt.Errorf("files_reviewed: %d is more than files_total, %d", f.FilesReviewed, f.FilesTotal)
	case f.Verdict == VerdictRequestChanges:
		return nil // an objection counts, however little it says
	}
	for i, found := range f.Findings {
		if found.Severity == 0 || found.Severity == quorum.Critical {
			return fmt.Errorf("verdict: approve, and findings[%d] objects under any policy", i)
		}
	}
	return nil
}

// A verdictFileReader reads the values of a verdict file and keeps the first error.
type verdictFileReader struct{ err error }

// keepError keeps the first error: what follows it may only follow from it.
func (r *verdictFileReader) keepError(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// refuseOtherKeys refuses a key of v that is not among the known ones, in their very letters.
func (r *verdictFileReader) refuseOtherKeys(at string, v jsonValue, known []string) {
	for _, key := range v.keys {
		if !slices.Contains(known, key) {
			r.keepError("%s%q: no such key; the keys are %s", at, shortQuote(key), strings.Join(known, ", "))
		}
	}
}

// readText returns the text under a key that must be there.
func (r *verdictFileReader) readText(v jsonValue, at, key string) string {
	field, found := v.fields[key]
	switch {
	case !found:
		r.keepError("%s%s: it is missing", at, key)
	case field.kind != '"':
		r.keepError("%s%s: it is no text", at, key)
	}
	return field.text
}

// readCommit returns the id of a commit, whole and in small letters as GitHub writes it.
func (r *verdictFileReader) readCommit(v jsonValue, key string) string {
	id := r.readText(v, "", key)
	if !IsCommitID(id) {
		r.keepError("%s: %q is no commit's id of 40 or 64 hexadecimal digits, in small letters", key, shortQuote(id))
	}
	return id
}

// maxBranch is the longest name of a branch that GitHub takes, in bytes.
const maxBranch = 255

// readBranch returns the name of a branch.
func (r *verdictFileReader) readBranch(v jsonValue, key string) string {
	name := r.readText(v, "", key)
	if !IsBranchName(name) {
		r.keepError("%s: %q is no name of a branch", key, shortQuote(name))
	}
	return name
}

// IsBranchName reports whether name may be a branch's: it is not empty, not too long, and holds no space and nothing unseen.
func IsBranchName(name string) bool {
	return name != "" && len(name) <= maxBranch && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || isUnseen(r) || r == utf8.RuneError
	})
}

// IsCommitID reports whether id is the whole id of a commit, SHA-1 or SHA-256, as GitHub writes it.
func IsCommitID(id string) bool {
	return (len(id) == 40 || len(id) == 64) && IsHex(id)
}

// readCount returns the whole number under a key that must be there.
func (r *verdictFileReader) readCount(v jsonValue, key string, least int64) int64 {
	field, found := v.fields[key]
	if !found {
		r.keepError("%s: it is missing", key)
		return 0
	}
	return r.countOf(key, field, least)
}

// maxCount is more than any id or count of GitHub's, and a whole number in every language that reads JSON.
const maxCount = 1<<53 - 1

func (r *verdictFileReader) countOf(at string, field jsonValue, least int64) int64 {
	n, err := strconv.ParseInt(field.text, 10, 64)
	switch {
	case field.kind != '0', err != nil, strings.HasPrefix(field.text, "-0"):
		r.keepError("%s: it is no whole number", at)
		return 0
	case n < least:
		r.keepError("%s: %d is below %d", at, n, least)
	case n > maxCount, n > maxInt && at != "run":
		r.keepError("%s: %d is too large", at, n)
	}
	return n
}

// maxInt bounds what is kept in an int, on every machine alike.
const maxInt = 1<<31 - 1

func (r *verdictFileReader) readFindings(v jsonValue) (out []quorum.Finding) {
	list, found := v.fields["findings"]
	switch {
	case !found:
		r.keepError("findings: it is missing; without findings it is []")
	case list.kind != '[':
		r.keepError("findings: it is no list")
	}
	for i, item := range list.list {
		if r.err != nil {
			return nil
		}
		out = append(out, r.readFinding(fmt.Sprintf("findings[%d]", i), item))
	}
	return out
}

func (r *verdictFileReader) readFinding(at string, v jsonValue) (f quorum.Finding) {
	if v.kind != '{' {
		r.keepError("%s: it is no object", at)
		return f
	}
	r.refuseOtherKeys(at+".", v, findingFileKeys[:])
	f.Body = r.readText(v, at+".", "body")
	if isBlank(f.Body) {
		r.keepError("%s.body: it says nothing", at)
	}
	if _, found := v.fields["path"]; found {
		f.Path = r.readText(v, at+".", "path")
		if problem := pathProblem(f.Path); problem != "" {
			r.keepError("%s.path: %q %s", at, shortQuote(f.Path), problem)
		}
	}
	if line, found := v.fields["line"]; found {
		f.Line = int(r.countOf(at+".line", line, 0))
		if f.Line > 0 && f.Path == "" {
			r.keepError("%s.line: there is no path that it is a line of", at)
		}
	}
	if _, found := v.fields["severity"]; found {
		word := r.readText(v, at+".", "severity")
		if err := f.Severity.UnmarshalText([]byte(word)); err != nil || f.Severity == 0 {
			r.keepError("%s.severity: %q is not low, medium, high or critical", at, shortQuote(word))
		}
	}
	return f
}

// isBlank reports whether text shows nothing.
func isBlank(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && !isUnseen(r) }) < 0
}

// maxPath is longer than the path of any file that git can check out.
const maxPath = 4096

// pathProblem says why path is no path of a file relative to the repository, as git writes it; "" if it is one.
func pathProblem(path string) string {
	switch {
	case path == "":
		return "is empty: leave the key out"
	case len(path) > maxPath:
		return "is too long"
	case strings.ContainsFunc(path, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }):
		return "holds a character that no path has"
	case path[0] == '/', strings.Contains(path, `:\`), strings.Contains(path, ":/"):
		return "is not relative to the repository"
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return "is not relative to the repository, in its shortest form"
		}
	}
	return ""
}

// Marshal writes f, always in the same way. What it writes is what [ParseVerdictFile] reads: an error says why there is
// no such file.
func (f VerdictFile) Marshal() ([]byte, error) {
	type finding struct {
		Path     string          `json:"path,omitempty"`
		Line     int             `json:"line,omitempty"`
		Severity quorum.Severity `json:"severity,omitempty"`
		Body     string          `json:"body"`
	}
	file := struct {
		Schema        int       `json:"schema"`
		Head          string    `json:"head"`
		Base          string    `json:"base"`
		Run           int64     `json:"run"`
		Attempt       int       `json:"attempt"`
		Verdict       string    `json:"verdict"`
		Findings      []finding `json:"findings"`
		FilesReviewed int       `json:"files_reviewed"`
		FilesTotal    int       `json:"files_total"`
	}{f.Schema, f.Head, f.Base, f.Run, f.Attempt, f.Verdict, []finding{}, f.FilesReviewed, f.FilesTotal}
	for _, found := range f.Findings {
		file.Findings = append(file.Findings, finding{found.Path, found.Line, found.Severity, found.Body})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(file); err != nil {
		return nil, fmt.Errorf("write the verdict: %w", err)
	}
	if _, err := ParseVerdictFile(out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// MakeVerdict computes the verdict from what was found and from how much was looked at: a finding of at least least, or
// of an unknown severity, asks for changes. Coverage is kept beside it: an approval of less than all is read as partial.
func MakeVerdict(findings []quorum.Finding, reviewed, total int, least quorum.Severity) VerdictFile {
	f := VerdictFile{
		Schema: VerdictSchema, Verdict: VerdictApprove, Findings: findings, FilesReviewed: reviewed, FilesTotal: total,
	}
	if slices.ContainsFunc(findings, func(found quorum.Finding) bool { return !isBelow(found.Severity, least) }) {
		f.Verdict = VerdictRequestChanges
	}
	return f
}

// Reading reads f for a policy's min_severity and for a pull request that changes that many files. An objection objects
// whatever was looked at; an approval is one only if it saw every file, and there was one.
func (f VerdictFile) Reading(least quorum.Severity, changedFiles int) Reading {
	out := Reading{Rule: "artifact", Detail: "verdict: " + shortQuote(f.Verdict), Findings: slices.Clone(f.Findings)}
	objects := f.Verdict != VerdictApprove
	for i, found := range out.Findings {
		out.Findings[i].Below = isBelow(found.Severity, least)
		objects = objects || !out.Findings[i].Below
	}
	switch {
	case objects:
		out.Outcome, out.Reason = quorum.Findings, quorum.ReasonFindings
		if f.Verdict == VerdictApprove {
			out.Detail = fmt.Sprintf("verdict: %s, with findings", f.Verdict)
		}
	case f.FilesReviewed == 0 || f.FilesReviewed < f.FilesTotal:
		out.Outcome, out.Reason = quorum.Partial, quorum.ReasonPartial
		out.Detail = fmt.Sprintf("files_reviewed: %d of %d", f.FilesReviewed, f.FilesTotal)
	case f.FilesTotal < changedFiles:
		out.Outcome, out.Reason = quorum.Partial, quorum.ReasonPartial
		out.Detail = fmt.Sprintf("files_total: %d of %d changed files", f.FilesTotal, changedFiles)
	case len(out.Findings) > 0:
		out.Outcome, out.Reason, out.Below = quorum.Approved, quorum.ReasonAccepted, true
	default:
		out.Outcome, out.Reason = quorum.Approved, quorum.ReasonApproved
	}
	return out
}
