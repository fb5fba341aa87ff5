package webhook

import "github.com/review-coordinator/coordinator/internal/quorum"

// ForApp returns the notice as a server that is an App takes it. News of the App's own checks concern nobody, but
// whoever presses a button of one is heard. Before the App's slug is known, "", any check may be another's.
func (e Notice) ForApp(slug string) Notice {
	switch own := e.App != "" && e.App == slug; {
	case e.Installation <= 0 && e.Concern != ConcernNothing:
		e.Concern, e.Idle = ConcernNothing, "the event is of no installation of the App"
	case own && e.Touch != (quorum.Touch{}) && !e.IsPress():
		e.Concern, e.Idle = ConcernNothing, "the check is our own"
	}
	return e
}

// ForToken returns the notice as a server with a personal token takes it: such a one has no installations, and writes
// no checks.
func (e Notice) ForToken() Notice {
	e.Installation = 0
	switch e.Concern {
	case ConcernInstallation, ConcernGone, ConcernSuspended:
		e.Concern, e.Idle = ConcernNothing, "a personal token has no installations"
	case ConcernNothing, ConcernPulls, ConcernHead, ConcernRepo, ConcernGroup, ConcernGroupGone:
	}
	return e
}
