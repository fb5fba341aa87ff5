package quorum

import "fmt"

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
	loopNames     = []string{"", "idle", "waiting", "due", "running", "none", "over"}
	textNames     = []string{"", "comment", "review", "thread", "check", "status", "run", "artifact"}
)

func nameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%%!%d", i)
}

func parseName(names []string, text []byte) (uint8, error) {
	for i, n := range names {
		if n == string(text) {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("unknown word %q", text)
}

func (v Vote) String() string       { return nameOf(voteNames, uint8(v)) }
func (v Verdict) String() string    { return nameOf(verdictNames, uint8(v)) }
func (o Outcome) String() string    { return nameOf(outcomeNames, uint8(o)) }
func (s Severity) String() string   { return nameOf(severityNames, uint8(s)) }
func (k ActionKind) String() string { return nameOf(actionNames, uint8(k)) }
func (s LoopState) String() string  { return nameOf(loopNames, uint8(s)) }
func (k TextKind) String() string   { return nameOf(textNames, uint8(k)) }

func (v Vote) MarshalText() ([]byte, error)       { return []byte(v.String()), nil }
func (v Verdict) MarshalText() ([]byte, error)    { return []byte(v.String()), nil }
func (o Outcome) MarshalText() ([]byte, error)    { return []byte(o.String()), nil }
func (s Severity) MarshalText() ([]byte, error)   { return []byte(s.String()), nil }
func (k ActionKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
func (s LoopState) MarshalText() ([]byte, error)  { return []byte(s.String()), nil }
func (k TextKind) MarshalText() ([]byte, error)   { return []byte(k.String()), nil }

func (v *Vote) UnmarshalText(b []byte) (err error) {
	*(*uint8)(v), err = parseName(voteNames, b)
	return err
}

func (v *Verdict) UnmarshalText(b []byte) (err error) {
	*(*uint8)(v), err = parseName(verdictNames, b)
	return err
}

func (o *Outcome) UnmarshalText(b []byte) (err error) {
	*(*uint8)(o), err = parseName(outcomeNames, b)
	return err
}

func (s *Severity) UnmarshalText(b []byte) (err error) {
	*(*uint8)(s), err = parseName(severityNames, b)
	return err
}

func (k *ActionKind) UnmarshalText(b []byte) (err error) {
	*(*uint8)(k), err = parseName(actionNames, b)
	return err
}

func (k *TextKind) UnmarshalText(b []byte) (err error) {
	*(*uint8)(k), err = parseName(textNames, b)
	return err
}

func (s *LoopState) UnmarshalText(b []byte) (err error) {
	*(*uint8)(s), err = parseName(loopNames, b)
	return err
}
