package sandbox

// A repository's settings, as far as those who set it up ask for them: rulesets, what Actions may do, which workflows
// are switched off.

// Settings are those of a repository. The zero value is a public one as GitHub makes it, whose settings the program
// under test may not read.
type Settings struct {
	Private       bool
	MayRead       bool     // the program has the permission administration: read
	NoActions     bool     // Actions is switched off
	Allowed       string   // which actions may run: all (the default), local_only, selected
	Patterns      []string // with selected
	WriteDefault  bool     // a job's token may write unless its workflow says otherwise
	WorkflowsVote bool     // workflows may approve pull requests
	Rulesets      []RulesetSpec
	MergeQueue    bool              // the default branch is merged by a queue that its classic protection asks for
	States        map[string]string // of workflows by their path, such as disabled_manually; default active
}

// A RulesetSpec is a ruleset of branches.
type RulesetSpec struct {
	ID          int64
	Name        string
	Enforcement string   // active (the default), disabled, evaluate
	Include     []string // ~DEFAULT_BRANCH, ~ALL, refs/heads/…
	Checks      []RequiredCheck
	Creation    bool   // it restricts who creates such a branch
	MergeQueue  bool   // it asks for a merge queue
	By          string // the organisation whose it is; default: the repository's own
}

// A RequiredCheck is a check that a rule of a branch requires.
type RequiredCheck struct {
	Name  string
	AppID int64 // only from this App; 0: from anyone
}
