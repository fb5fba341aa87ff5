package config

// The workflows of a first set-up: the examples, with what a repository's survey says of them.

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The names of the two workflows of a set-up. Neither may be taken for a reviewer: a workflow that listens to itself
// starts itself for ever.
const (
	bellName        = "Review bell"
	coordinatorName = "Review coordinator"
)

// namesToListenTo returns the names of the workflows of reviewers, and what to say of those that cannot be listened to.
func (s Survey) namesToListenTo(found []foundReviewer) (names, notes []string) {
	for _, w := range s.Workflows {
		isReviewer := len(w.PullTriggers()) > 0 && slices.ContainsFunc(found, func(f foundReviewer) bool { return f.workflow == w.Path })
		name := cmp.Or(w.Name, w.Path) // so GitHub calls a workflow without a name
		switch {
		case !isReviewer || slices.Contains(names, name):
		case name == bellName || name == coordinatorName:
			notes = append(notes, fmt.Sprintf("%s is called like a workflow of the coordinator: give it another name, and listen to that.", w.Path))
		case strings.Contains(name, "${{") || len(name) > 200:
			notes = append(notes, fmt.Sprintf("%s has a name that nothing can listen to: give it a plain one.", w.Path))
		default:
			names = append(names, name)
		}
	}
	return names, notes
}

// A WorkflowPlan is what a repository needs of the coordinator's two workflows.
type WorkflowPlan struct {
	Listen  []string // names of the reviewers' workflows
	Copilot bool     // it is one of the reviewers: GitHub holds the runs that it causes
	Server  bool     // it is on a GitHub Enterprise Server
	Hourly  bool     // the schedule starts it once an hour: in a private repository each start costs a minute
	Ref     string   // of the action: a tag or a commit; "": the example's
}

// Bell returns the bell for a repository, made of the example.
func (p WorkflowPlan) Bell(example []byte) []byte {
	var b bytes.Buffer
	isLeftOut := false
	for line := range strings.Lines(nameWrittenFiles(string(example))) {
		isLeftOut = p.Copilot && (strings.HasPrefix(line, "  # Where Copilot is one") || isLeftOut && line[0] == ' ')
		if !isLeftOut {
			b.WriteString(line)
		}
	}
	return b.Bytes()
}

// Coordinator returns the workflow that posts the check, made of the example.
func (p WorkflowPlan) Coordinator(example []byte) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(nameWrittenFiles(string(example))) {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "workflows: ["):
			b.WriteString("    workflows:\n")
			for _, name := range append([]string{bellName}, p.Listen...) {
				b.WriteString("      - " + yamlScalar(name) + "\n")
			}
		case strings.HasPrefix(trimmed, "queue:") && p.Server:
		case strings.HasPrefix(trimmed, "- cron: '7,") && p.Hourly:
			b.WriteString("    - cron: '7 * * * *' # once an hour: each start costs a minute of a private repository\n")
		case p.Ref != "" && strings.HasPrefix(trimmed, "- uses: review-coordinator/coordinator@"):
			before, _, _ := strings.Cut(line, "@")
			b.WriteString(before + "@" + p.Ref + "\n")
		default:
			b.WriteString(line)
		}
	}
	return b.Bytes()
}

// nameWrittenFiles lets a comment of an example that names the other one name the file that a set-up writes.
func nameWrittenFiles(example string) string {
	return strings.NewReplacer(" event-driven.yml", " review-coordinator.yml", " bell.yml", " review-bell.yml").Replace(example)
}
