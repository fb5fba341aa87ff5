// Package evidence binds what reviewers left on GitHub to a head and an attempt, and makes ballots of it.
//
// It promises that an approval counts for this head and its diff only, by its reviewer's own account, once its attempt
// has ended; that an objection counts on every head with the same diff, whichever run or attempt said it; and that
// silence, a green run, or a text of somebody else is never an approval.
//
// The package is pure. [Judge] puts the texts and runs of one head together; what a single text says is read by package
// review. Whatever a reviewer said, on whichever channel, is a statement, and so is what an attempt came to and what
// stands from before. Its layers, each built on those above: a headView (a head, its moments and its record), a
// reviewerView (one reviewer with its runs and texts), an attemptView (one attempt and its result), a planner (the
// ballot under the policy), a turnView (in which order ballots are made), and what all of a head have in common:
// [Judge], [Remember] and [Missing]. Beside them stands [Inherit] (what a head has from the one before).
package evidence
