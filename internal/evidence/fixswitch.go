package evidence

import "github.com/review-coordinator/coordinator/internal/quorum"

// fixSwitchOf is the last word about fixes, on this head or an earlier one; nil if nobody said any.
func fixSwitchOf(rec *quorum.Record, commands []quorum.Command) *quorum.FixSwitch {
	last := rec.FixSwitch
	for _, c := range commands {
		isOff, isOn := c.Verb == quorum.CommandFixOff, c.Verb == quorum.CommandFixOn
		if c.Refused == "" && (isOff || isOn) && (last == nil || !c.At.Before(last.At)) {
			last = &quorum.FixSwitch{Off: isOff, By: c.By, At: c.At.UTC()}
		}
	}
	return last
}

// whyFixIsOff says why fixes are switched off for the pull request: by a label, or by the last word of a person who may write; "" if
// they are not. A hand in the change does not matter: the word only stops a machine that pushes to that person's own branch, or
// lets it go on.
func whyFixIsOff(h *headView, commands *commandView) (why quorum.Reason, detail string) {
	said := fixSwitchOf(&h.snapshot.Record, commands.all)
	switch {
	case h.snapshot.PR.HasLabel(quorum.NoFixLabel):
		return quorum.ReasonFixLabel, ""
	case said != nil && said.Off:
		return quorum.ReasonFixOff, said.By
	}
	return "", ""
}
