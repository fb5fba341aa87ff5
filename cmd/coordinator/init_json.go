//go:build !action

package main

// What init --json prints.

// An initJSON is what coordinator init found in a repository and did for it.
type initJSON struct {
	Repository  string         `json:"repository"`
	Branch      string         `json:"default_branch,omitempty"`
	Did         string         `json:"did"`              // wrote, proposed, or nothing
	Folder      string         `json:"folder,omitempty"` // below which the files were written
	PullRequest *proposedJSON  `json:"pull_request,omitempty"`
	Files       []initFileJSON `json:"files"`
	Listen      []string       `json:"listens_to,omitempty"` // names of workflows
	draftJSON
	Next []initStep `json:"next,omitempty"`
}

type proposedJSON struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
}

type initFileJSON struct {
	Path    string `json:"path"`
	Does    string `json:"does"`
	Content string `json:"content,omitempty"` // with --dry-run
}

// An initStep is what a person does next.
type initStep struct {
	Text    string   `json:"text"`
	Details []string `json:"details,omitempty"`
}

// result describes a set-up and what was done with it.
func (s setup) result(did string) initJSON {
	out := initJSON{
		Repository: s.owner + "/" + s.name, Branch: s.branch, Did: did, Files: []initFileJSON{}, Listen: s.listen,
		draftJSON: draftAsJSON(s.draft),
	}
	for _, f := range s.files {
		out.Files = append(out.Files, initFileJSON{Path: f.path, Does: f.does})
	}
	return out
}
