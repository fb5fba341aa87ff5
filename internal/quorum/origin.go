package quorum

// Where the keys of a policy come from, of which an organisation may have said some.

// An Origin says from where a key of a policy comes.
type Origin struct {
	Key  string    `json:"key"` // of the top level; reviewers one by one, as reviewers.NAME
	From KeySource `json:"from"`
}

// A KeySource is what said a key.
type KeySource string

const (
	FromDefault      KeySource = "default"      // nobody
	FromRepository   KeySource = "repository"   // the repository's file
	FromOrganisation KeySource = "organization" // the organisation's file, as a default
	FromEnforce      KeySource = "enforce"      // the organisation's file, which the repository's may not loosen
)
