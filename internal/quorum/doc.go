// Package quorum decides what the aggregate check of a pull request must say.
//
// The package is pure. [Decide] reads no clock, makes no request and remembers nothing: all it knows is a [Policy], the
// [Ballot] of each reviewer, the [Facts] of the pull request, and the time. Equal inputs give equal decisions.
//
// These hold for every policy and every input, and the tests try to break them:
//
//   - A pass is earned: Need voting reviewers approve this head and none objects, or a named person stands in.
//     Silence, a green run, an empty answer, a limit or an outage is never an approval.
//   - It always ends: a Waiting decision names its Wake, before which only a change on GitHub can change it.
//   - The clock alone never takes a pass back.
package quorum
