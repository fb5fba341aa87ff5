package github

import "time"

// scene is what it depends on what must be read.
type scene struct {
	head     string
	headRef  string
	created  time.Time
	commits  int
	base     string
	main     string // the default branch
	check    string // name of our check
	statuses bool   // commit statuses are needed
	ruled    bool   // there is a policy file
	judged   bool   // anything will be judged
	talk     bool   // the conversation is read beside all else
}
