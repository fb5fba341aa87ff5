package review

// This file reads and makes the structured verdict: the one JSON file that a reviewer's own run leaves as an artifact.
// What its form does not know makes it unreadable. The verdict is computed from the findings, and coverage from the
// names of the files that were read: neither is asked of a model.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	// VerdictSchema is the form of a verdict file.
	VerdictSchema = 2
	// MaxVerdictFile is the longest verdict file that is read, in bytes.
	MaxVerdictFile = 1 << 20
	// VerdictApprove and VerdictRequestChanges are the two words that a verdict file may hold.
	VerdictApprove        = "approve"
	VerdictRequestChanges = "request_changes"

	maxReadFiles = 3000 // GitHub lists no more changed files of a pull request
	maxBranch    = 255  // bytes in the name of a branch, as GitHub takes it
	maxPath      = 4096 // bytes in a path that git can check out
)

// The files that an approval may leave unread, by the last part of their name. The list is closed and short, because a
// pull request chooses its names: nothing that runs stands in it, and so no generated, minified or vendored code.
var (
	lockFiles = strings.Fields(`.terraform.lock.hcl Cargo.lock Gemfile.lock Package.resolved Pipfile.lock Podfile.lock
		bun.lock bun.lockb composer.lock deno.lock flake.lock go.sum gradle.lockfile mix.lock npm-shrinkwrap.json
		package-lock.json packages.lock.json paket.lock pdm.lock pnpm-lock.yaml poetry.lock pubspec.lock uv.lock yarn.lock`)
	sourceMaps = lazyRegexp(`\.(?:js|cjs|mjs|ts|css)\.map$`)
	mediaFiles = lazyRegexp(
		`(?i)\.(?:avif|bmp|gif|ico|jpe?g|png|tiff?|webp|eot|otf|ttf|woff2?|flac|mp3|ogg|wav|mov|mp4|webm)$`)
)

// A VerdictFile is the structured verdict of a reviewer's own run. Its reader compares what it names with GitHub's own
// facts: the run that it lies in, its attempt, its head, its base and the files that the pull request changes.
type VerdictFile struct {
	Schema        int               `json:"schema"`
	Head          string            `json:"head"` // id of the commit
	Base          string            `json:"base"` // name of the base branch, whose commit moves on
	Run           int64             `json:"run"`
	Attempt       int               `json:"attempt"`
	Verdict       string            `json:"verdict"` // VerdictApprove or VerdictRequestChanges
	Findings      []ReportedFinding `json:"findings"`
	FilesReviewed []string          `json:"files_reviewed"` // names of the files that were read
}

// A ReportedFinding is a finding in a verdict file. Its texts are hostile.
type ReportedFinding struct {
	Path     string          `json:"path,omitempty"`
	Line     int             `json:"line,omitempty"`
	Severity quorum.Severity `json:"severity,omitempty"`
	Body     string          `json:"body"`
}

// ParseVerdictFile parses a verdict file strictly: one object, no key twice at any depth, no key that is not known,
// none missing. The error names the key.
func ParseVerdictFile(data []byte) (VerdictFile, error) {
	var f VerdictFile
	v, err := parseObject(string(data))
	if err != nil {
		return VerdictFile{}, fmt.Errorf("the file %w", err)
	}
	switch schema := v.text("schema"); schema {
	case fmt.Sprint(VerdictSchema):
	case "":
		return VerdictFile{}, errors.New("schema: it is missing")
	default:
		const says = "schema %s is not known, only %d is: update the verdict step"
		return VerdictFile{}, fmt.Errorf(says, shortQuote(schema), VerdictSchema)
	}
	if err = decodeStrictly(string(data), &f); err == nil {
		err = f.findFault()
	}
	if err != nil {
		return VerdictFile{}, err
	}
	return f, nil
}

// findFault returns what of f is missing, or is no value of its key.
func (f *VerdictFile) findFault() error {
	switch {
	case !IsCommitID(f.Head):
		return fmt.Errorf("head: %q is no commit's id of 40 or 64 digits, in small letters", shortQuote(f.Head))
	case !IsBranchName(f.Base):
		return fmt.Errorf("base: %q is no name of a branch", shortQuote(f.Base))
	case f.Run < 1:
		return errors.New("run: it is missing, or below 1")
	case f.Attempt < 1:
		return errors.New("attempt: it is missing, or below 1")
	case f.Verdict != VerdictApprove && f.Verdict != VerdictRequestChanges:
		return fmt.Errorf("verdict: %q is no verdict: %s or %s", shortQuote(f.Verdict), VerdictApprove, VerdictRequestChanges)
	case f.Findings == nil:
		return errors.New("findings: it is missing; without findings it is []")
	case f.FilesReviewed == nil:
		return errors.New("files_reviewed: it is missing; it lists the names of the files that were read")
	case len(f.FilesReviewed) > maxReadFiles:
		return fmt.Errorf("files_reviewed: it has more than %d names", maxReadFiles)
	}
	for i, found := range f.Findings {
		at := fmt.Sprintf("findings[%d]", i)
		switch problem := pathProblem(found.Path); {
		case isBlank(found.Body):
			return fmt.Errorf("%s.body: it says nothing", at)
		case found.Path != "" && problem != "":
			return fmt.Errorf("%s.path: %q %s", at, shortQuote(found.Path), problem)
		case found.Line < 0, found.Line > math.MaxInt32, found.Line > 0 && found.Path == "":
			return fmt.Errorf("%s.line: %d is no line of a file", at, found.Line)
		}
	}
	for i, name := range f.FilesReviewed {
		if problem := pathProblem(name); problem != "" {
			return fmt.Errorf("files_reviewed[%d]: %q %s", i, shortQuote(name), problem)
		}
	}
	return nil
}

// IsBranchName reports whether name may be a branch's: neither empty nor too long, without space and what is unseen.
func IsBranchName(name string) bool {
	return name != "" && len(name) <= maxBranch && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || isUnseen(r) || r == utf8.RuneError
	})
}

// IsCommitID reports whether id is the whole id of a commit, SHA-1 or SHA-256, as GitHub writes it.
func IsCommitID(id string) bool {
	return (len(id) == 40 || len(id) == 64) && IsHex(id)
}

// isBlank reports whether text shows nothing.
func isBlank(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && !isUnseen(r) }) < 0
}

// pathProblem says why name is no path of a file relative to the repository, as git writes it; "" if it is one.
func pathProblem(name string) string {
	switch {
	case len(name) > maxPath:
		return "is too long"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }):
		return "holds a character that no path has"
	case strings.Contains(name, `:\`), strings.Contains(name, ":/"), name != path.Clean("/" + name)[1:], name == "":
		return "is no path relative to the repository, in its shortest form"
	}
	return ""
}

// Marshal writes f, always in the same way. What it writes [ParseVerdictFile] reads; if it cannot, the error says why.
func (f VerdictFile) Marshal() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return nil, fmt.Errorf("write the verdict: %w", err)
	}
	if _, err := ParseVerdictFile(out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// MakeVerdict computes the verdict from what was found: a finding of at least least, or of an unknown severity, asks
// for changes. The names of what was read stand in it: [VerdictFile.Reading] compares them with what is changed.
func MakeVerdict(a ModelAnswer, least quorum.Severity) VerdictFile {
	f := VerdictFile{
		Schema: VerdictSchema, Verdict: VerdictApprove,
		Findings: append([]ReportedFinding{}, a.Findings...), FilesReviewed: append([]string{}, a.Reviewed...),
	}
	if slices.ContainsFunc(a.Findings, func(found ReportedFinding) bool { return !isBelow(found.Severity, least) }) {
		f.Verdict = VerdictRequestChanges
	}
	return f
}

// Reading reads f for a policy's min_severity and for a pull request that changes these files. An objection, or a finding
// that counts, objects whatever was read. An approval is one only if [Unread] names no file, and all are known.
func (f VerdictFile) Reading(least quorum.Severity, changed []quorum.File, areAllKnown bool) Reading {
	out := Reading{
		Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Rule: "artifact", Detail: "verdict: " + shortQuote(f.Verdict),
	}
	objects := f.Verdict != VerdictApprove
	for _, found := range f.Findings {
		below := isBelow(found.Severity, least)
		objects = objects || !below
		out.Findings = append(out.Findings, quorum.Finding{
			Path: found.Path, Line: found.Line, Severity: found.Severity, Body: found.Body, Below: below,
		})
	}
	switch unread := Unread(f.FilesReviewed, changed); {
	case objects:
		out.Outcome, out.Reason = quorum.Findings, quorum.ReasonFindings
		if f.Verdict == VerdictApprove {
			out.Detail = fmt.Sprintf("verdict: %s, with findings", f.Verdict)
		}
	case !areAllKnown, len(changed) == 0:
		out.Outcome, out.Reason, out.Detail = quorum.Partial, quorum.ReasonPartial, "not all changed files are known"
	case len(unread) > 0:
		says := fmt.Sprintf("%d of %d files not read: %s", len(unread), len(changed), strings.Join(unread, ", "))
		out.Outcome, out.Reason, out.Detail = quorum.Partial, quorum.ReasonPartial, shortQuote(says)
	case len(out.Findings) > 0:
		out.Reason, out.Below = quorum.ReasonAccepted, true
	}
	return out
}

// Unread names the changed files that are not among those read, and need to be. A rename counts by either name, unless
// the old one is another changed file's, too. If none of the changed files was read, Unread names all.
func Unread(read []string, changed []quorum.File) (unread []string) {
	names, bearers := map[string]bool{}, map[string]int{}
	for _, name := range read {
		names[name] = true
	}
	for _, f := range changed {
		bearers[f.Path]++
		bearers[f.Previous]++
	}
	isRead := func(f quorum.File) bool {
		return names[f.Path] || names[f.Previous] && bearers[f.Previous] == 1
	}
	isAnyRead := slices.ContainsFunc(changed, isRead)
	for _, f := range changed {
		if !isRead(f) && !(isAnyRead && mayGoUnread(f)) {
			unread = append(unread, f.Path)
		}
	}
	return unread
}

// mayGoUnread reports whether an approval may leave f unread. A picture, font, sound or film may only if no line of it
// is shown: what has lines is text, whatever its name.
func mayGoUnread(f quorum.File) bool {
	name := path.Base(f.Path)
	isData := slices.Contains(lockFiles, name) || sourceMaps().MatchString(name)
	return f.Deleted || isData || f.NoText && mediaFiles().MatchString(name)
}
