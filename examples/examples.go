// Package examples holds the workflows that a repository copies. coordinator init writes two of them.
package examples

import _ "embed"

//go:embed bell.yml
var bell string

//go:embed event-driven.yml
var eventDriven string

// Bell is the workflow that rings when something happens to a pull request.
func Bell() []byte { return []byte(bell) }

// EventDriven is the workflow that posts the check, by the bell and by the reviewers' workflows.
func EventDriven() []byte { return []byte(eventDriven) }
