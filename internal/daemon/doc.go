// Package daemon is the coordinator as a server: webhooks in, checks out. It promises that a delivery which it answered
// with 202 leads to a look, whatever happens to the process; that one pull request is looked at by one worker at a
// time; and that it always says why it waits.
//
// It is a shell around [loop.Reconciler]: nothing in it decides. What it is told by a webhook is a name to look at;
// what it keeps is when to look, in a [store.Store].
package daemon
