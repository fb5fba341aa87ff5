package loop

// Fixes of blocked pull requests, as far as a look carries them out: one for a head, and none in a look that asks nobody.

// withoutFix has a look start no fix, however often it is judged anew: another pull request of the head has it started,
// or what was due was carried out already. It reports whether one is due.
func (l *Look) withoutFix() (isDue bool) {
	isDue = l.Decision.Effects.Fix != nil
	l.fixless, l.Decision.Effects.Fix = true, nil
	return isDue
}

// leaveFix leaves a fix that is due to a look that may start it: at once.
func (l *Look) leaveFix() {
	if l.Decision.Effects.Fix == nil {
		return
	}
	l.Decision.Effects.Fix = nil
	l.Decision.Wake = earlierOf(l.Decision.Wake, l.Decision.FixDue())
}

// leaveOneFix leaves one of the fixes that are due for the pull requests of a head: they have one branch. The others know
// it by the record of that one.
func (f *headLooks) leaveOneFix() {
	var first *Look
	for _, l := range f.looks {
		if l.Decision.Effects.Fix != nil && (first == nil || l.Snapshot.PR.Number < first.Snapshot.PR.Number) {
			first = l
		}
	}
	for _, l := range f.looks {
		if first != nil && l != first {
			l.withoutFix()
		}
	}
}
