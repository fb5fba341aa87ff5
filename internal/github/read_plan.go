package github

import "time"

// A readPlan is what a look knows, or expects, that decides which requests it sends.
type readPlan struct {
	head          string
	headRef       string
	created       time.Time
	commits       int
	base          string
	defaultBranch string // the default branch
	check         string // name of our check
	statuses      bool   // commit statuses are needed
	hasPolicy     bool   // there is a policy file
	judged        bool   // anything will be judged
	conversation  bool   // the conversation is read in parallel with all else
}
