package evidence

// The most that a record holds of each.
const (
	maxUndone     = 5  // passes that were taken back: the last ones
	maxCommanded  = 20 // approvals at somebody's command: the first ones
	maxAnsweredOn = 3  // bases on which an objection is answered: on one before it stands again
	maxMoved      = 10 // changes of the base that changed nothing: one that is forgotten ends approvals
	maxUnlike     = 50 // heads of other pull requests that have another diff
	maxHeads      = 10 // heads of this diff, and of others
	maxOthers     = 40 // objections to other diffs, unless one is a reviewer's last
)
