// Package story is the language of scenarios and the players that tell them. A scenario is a policy, what happens on
// GitHub, and what the coordinator made of it, in sentences that a user can read.
//
// It promises that one story is the same for every player: stepped from one moment at which anything can change to the
// next, lived through by jobs that stay, told to a coordinator that hears of nothing, or performed for one that gets
// webhooks; and that a mistake in a scenario is shown with its line and a caret.
package story
