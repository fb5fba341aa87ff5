package sandbox

import (
	"fmt"
	"slices"
)

// Presses of the buttons of a check run.

// PressButton presses the button with that label of the newest own check run on a commit that has one. GitHub tells the
// App that owns the check, and nobody else.
func PressButton(g *GitHub, head, login, label string) error {
	defer g.mu.held()()
	g.carryOutDue()
	for _, s := range slices.Backward(g.index.suitesByHead[SHA(head)]) {
		for _, c := range slices.Backward(s.checks) {
			at := slices.IndexFunc(c.Actions, func(a CheckAction) bool { return a.Label == label })
			if !c.Own || at < 0 {
				continue
			}
			pressed := c.Actions[at].Identifier
			g.emitCheckRunEvent(checkView{StoredCheckRun: c}, "requested_action", login, object{
				"requested_action": object{"identifier": pressed},
			})
			return nil
		}
	}
	return fmt.Errorf("press %q: no check of ours on %.7s has such a button", label, SHA(head))
}
