package quorum

import (
	"fmt"
	"slices"
)

// The words by which values are written in JSON, in the check and in stories.
var (
	voteNames    = []string{"", "pending", "approve", "object", "unavailable"}
	verdictNames = []string{"", "waiting", "passed", "blocked", "unverified", "ended"}
	outcomeNames = []string{
		"", "silent", "running", "approved", "findings", "empty", "malformed", "partial", "overloaded", "hung", "limited", "failed",
		"declined", "cancelled", "awaiting approval", "refused", "withdrawn", "unrelated", "unknown",
	}
	severityNames = []string{"", "low", "medium", "high", "critical"}
	actionNames   = []string{"", "rerun", "cancel", "ask"}
	textNames     = []string{"", "comment", "review", "thread", "check", "status", "run", "artifact"}
)

func nameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%%!%d", i)
}

func parseName[T ~uint8](value *T, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if *value = T(max(i, 0)); i < 0 {
		return fmt.Errorf("unknown word %q", text)
	}
	return nil
}

func (v Vote) String() string       { return nameOf(voteNames, uint8(v)) }
func (v Verdict) String() string    { return nameOf(verdictNames, uint8(v)) }
func (o Outcome) String() string    { return nameOf(outcomeNames, uint8(o)) }
func (s Severity) String() string   { return nameOf(severityNames, uint8(s)) }
func (k ActionKind) String() string { return nameOf(actionNames, uint8(k)) }
func (k TextKind) String() string   { return nameOf(textNames, uint8(k)) }

func (v Vote) MarshalText() ([]byte, error)       { return []byte(v.String()), nil }
func (v Verdict) MarshalText() ([]byte, error)    { return []byte(v.String()), nil }
func (o Outcome) MarshalText() ([]byte, error)    { return []byte(o.String()), nil }
func (s Severity) MarshalText() ([]byte, error)   { return []byte(s.String()), nil }
func (k ActionKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
func (k TextKind) MarshalText() ([]byte, error)   { return []byte(k.String()), nil }

func (v *Vote) UnmarshalText(b []byte) error       { return parseName(v, voteNames, b) }
func (v *Verdict) UnmarshalText(b []byte) error    { return parseName(v, verdictNames, b) }
func (o *Outcome) UnmarshalText(b []byte) error    { return parseName(o, outcomeNames, b) }
func (s *Severity) UnmarshalText(b []byte) error   { return parseName(s, severityNames, b) }
func (k *ActionKind) UnmarshalText(b []byte) error { return parseName(k, actionNames, b) }
func (k *TextKind) UnmarshalText(b []byte) error   { return parseName(k, textNames, b) }
