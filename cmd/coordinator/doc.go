// Command coordinator turns several reviewers of a pull request into one honest check.
//
// It promises that its exit code is the truth about itself, never about the pull request: 0 is "evaluated and posted",
// whatever the verdict.
//
// # A tour: from a delivery of GitHub's to the written check
//
// A reviewer posts its verdict as a comment. GitHub sends issue_comment to coordinator serve (serve.go), and this
// happens.
//
// The delivery becomes durable. daemon.Intake.ServeHTTP reads the body, checks its signature, and hands it to
// daemon.Daemon.Receive. webhook.Parse reads the few fields that matter into a webhook.Notice: whom it concerns
// (webhook.Concern) and what it touched (quorum.Touch). daemon.Daemon.pokesOf turns that into pokes of keys of the work
// table (workkey.Pull), and store.Database.Accept keeps them in one transaction. Only then GitHub is answered 202.
// Nothing that the payload says decides anything: it is a name to look at.
//
// The key becomes due. daemon.Daemon.claimDue claims it under a lease, and daemon.Daemon.workOn works on it, one worker
// a key. daemon.task.spareLook ends it without a request if no reviewer of the policy can be concerned
// (evidence.Concerned), and puts it off if all that happened only shows (evidence.TellsProgress, evidence.ApproverIn).
// Otherwise, once daemon.tenantBook.admitLook has found room for it in GitHub's limits, daemon.task.reconcilePull tells the forge what
// it heard (github.Forge.Hear), so that an answer of GitHub's that does not show it yet is not believed, and calls the one seam:
// loop.Reconciler.Reconcile.
//
// The loop observes, decides, and makes it true. loop.Reconciler.reconcileOnce does so in the order of its lines:
//
//   - github.Forge.Observe reads GitHub: github.look.readPullAndPolicy, github.look.readHead, github.look.reconcileSources (REST
//     and GraphQL must agree), github.look.readMissing (what evidence.Missing says is still lacking). Each request goes
//     through client.Client, which knows tokens, limits, retries and what has not changed. What comes back is a
//     quorum.Snapshot, or an error that says when to try again; a half observation decides nothing.
//   - evidence.Judge makes a quorum.Ballot of each reviewer. evidence.attemptView.textsFor lists its texts, each with the
//     reason for which it does not count, if there is one (evidence.textView.newStatement: an edit by somebody else;
//     evidence.textView.bindText: another head or attempt, and from when an author's own edit counts). review.Read says what a
//     text that counts says.
//     evidence.attemptView.combineTexts makes one outcome of the attempt, and evidence.planner.planRetry plans the one rerun.
//   - quorum.Decide applies the policy to the ballots at a moment: a quorum.Decision with its verdict, the moment at which it
//     can next change, and the effects that are due.
//   - report.Render words it: title, summary, text, annotations, and the record, in which stands what GitHub does not keep.
//   - github.Forge.Publish makes the check read so. It writes nothing if it does already, and github.writeFence keeps two
//     pull requests of one head from writing two checks. The outcome of a write that GitHub answers with 502 is unknown:
//     github.publication.createCheck and github.publication.patchCheck read what became of it before they write again, four
//     tries at most; only then daemon.task.outcomeOfError has the key looked at again.
//   - github.Forge.Apply carries out the effects (reruns, cancels, requests), whose intents stand in the record that was just
//     written; each is read again first, and void if GitHub has moved on.
//
// The key rests. daemon.Daemon.workOn keeps what the look showed (dashboard.Sight) and the moment of the next wake with
// store.Database.Complete, the feed nudges open dashboards (dashboard.Feed.Publish), and the next event, wake or resync
// (daemon.task.resyncRepository) starts over at "the key becomes due".
//
// coordinator run (run.go) is the same without the table: the event of a job names the pull request, and
// loop.Reconciler.Stay stays with it as long as that helps. sweep, explain and simulate call the same loop. The words
// are explained in docs/words.md, and CONTRIBUTING.md says where to make which change.
package main
