package evidence

// An artifact is written by the jobs of its run and by nobody else. It says for which run, attempt, head and base it
// was made, and is bound to them by that and by when it was uploaded.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// maxUploadRuns is how many of a reviewer's runs are asked for their artifacts: the newest, of this stay on the base and of
// earlier ones. What an earlier one said stands in the record, if a look has seen it.
const maxUploadRuns = 5

func (h *headView) unreadUploads(r *quorum.Reviewer, runs []quorum.Run) (out []quorum.UploadName) {
	if r.Verdict.Kind != quorum.Artifact || r.Retired {
		return nil
	}
	for _, run := range runs[max(0, len(runs)-maxUploadRuns):] {
		hasNotBegun := firstJobStart(&run).IsZero() && run.Attempt == 1 && !run.Completed()
		name := quorum.UploadName{Run: run.ID, Name: r.Verdict.Artifact}
		if _, isRead := h.snapshot.Uploads[name]; !hasNotBegun && !isRead {
			out = append(out, name)
		}
	}
	return out
}

func (v *attemptView) artifacts() (out []statement) {
	a := &v.attempt
	if v.Verdict.Kind != quorum.Artifact || a.run == nil {
		return nil
	}
	for _, f := range v.head.snapshot.Uploads[quorum.UploadName{Run: a.run.ID, Name: v.Verdict.Artifact}] {
		s := statement{Reading: v.readArtifact(&f), at: f.Created, url: cmp.Or(f.URL, a.run.URL)}
		s.ref, s.body = quorum.TextRef{Kind: quorum.TextArtifact, ID: f.ID}, string(f.Content)
		s.voidIfOtherPull(v.head.otherPullOfRun(a.run, false))
		switch {
		case f.Expired:
			s.rejected = artifactExpired
		case !a.covers(f.Created):
			s.rejected = outsideAttempt
		}
		out = append(out, s)
	}
	return out
}

// artifactStatements are the verdicts in the attempt's artifacts, oldest first. One that GitHub keeps no more stands
// from the record. Of several in one attempt an objection objects, and none approves.
func (v *attemptView) artifactStatements() (out []statement) {
	a, all := &v.attempt, v.artifacts()
	for _, st := range v.head.record.approvalsOf(v.Name) {
		isShown := slices.ContainsFunc(all, func(s statement) bool { return s.ref.ID == st.ID && s.rejected != artifactExpired })
		isOfRun := a.run != nil && st.Run == a.run.ID && a.covers(st.At)
		isIts := st.Kind == quorum.TextArtifact && st.Base == v.head.record.base && st.Terms == termsOf(v.Reviewer)
		if isOfRun && isIts && !isShown {
			yes := review.Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved}
			out = append(out, statement{Reading: yes, ref: st.TextRef, at: st.At, url: a.run.URL})
		}
	}
	out = append(out, without(all, isOther)...)
	slices.SortStableFunc(out, func(a, b statement) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.ref.ID, b.ref.ID))
	})
	for i := range out {
		if out[i].Outcome == quorum.Approved && len(out) > 1 && !a.isPast {
			out[i].Reading = review.Reading{
				Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts,
				Detail: fmt.Sprintf("%d artifacts called %s in one attempt", len(out), v.Verdict.Artifact),
			}
		}
	}
	return out
}

func (v *attemptView) readArtifact(f *quorum.Upload) review.Reading {
	malformed := func(detail string) review.Reading {
		return review.Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: detail}
	}
	file, err := review.ParseVerdictFile(f.Content)
	a, pr := &v.attempt, &v.head.snapshot.PR
	isOldName := func(m quorum.BaseMove) bool { return m.From == file.Base } // of this base
	switch {
	case f.Problem != "":
		return malformed(f.Problem)
	case err != nil:
		return malformed(err.Error())
	case !strings.EqualFold(file.Head, pr.Head):
		return malformed("it is about another head: " + file.Head)
	case file.Base != pr.BaseRef && !slices.ContainsFunc(v.head.snapshot.Record.Moved, isOldName):
		return malformed("it is about another base: " + file.Base)
	case file.Run != a.run.ID:
		return malformed(fmt.Sprintf("it names another run: %d", file.Run))
	case file.Attempt != a.number && !(file.Attempt < a.number && (a.isPast || a.keepsJobOf(f.Created))):
		return malformed(fmt.Sprintf("it names attempt %d of its run, and was uploaded during attempt %d", file.Attempt, a.number))
	}
	return file.Reading(v.MinSeverity, pr.Files, !pr.FilesMissing)
}
