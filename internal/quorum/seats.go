package quorum

import (
	"cmp"
	"slices"
	"time"
)

// A seat is the one vote of a reviewer and its reserve. What either objects stands until it answers that itself.

// fillSeats gives each seat to one of its two, as of now. A reserve without one is never late: was knows no clock.
func fillSeats(ballots, was []Ballot, now time.Time) {
	for i := range ballots {
		reserve := &ballots[i]
		if reserve.InsteadOf == "" {
			continue
		}
		of := reserve.seatOwner(ballots)
		began, hasBegun := reserve.turnBegan(of, now)
		if !hasBegun || began.After(now) {
			*reserve = reserve.asReserve()
			if idle := was[i].asReserve(); idle.Vote != was[i].Vote {
				*reserve = idle
			}
			continue
		}
		mayGiveBack := reserve.Vote == Unavailable && of.Open && !reserve.Again
		reserve.Required, reserve.Open = reserve.Required || of.Required, reserve.Open || mayGiveBack
		reserve.Since = laterOf(reserve.Since, began)
		if reserve.isApproval() {
			reserve.At = laterOf(reserve.At, began)
		}
		if before := reserve.seatOwner(was); of.Planned || before.Planned && began.Before(before.Deadline) {
			*of = before.asUnavailable() // it is not run again, and so never late: its reserve votes
		}
		of.Excused = ReasonReserve
	}
}

// seatOwner is the ballot of the reviewer whose reserve b is; nil if there is none.
func (b *Ballot) seatOwner(ballots []Ballot) *Ballot {
	i := slices.IndexFunc(ballots, func(o Ballot) bool { return o.Reviewer == b.InsteadOf && o.InsteadOf == "" })
	if i < 0 || b.InsteadOf == "" {
		return nil
	}
	return &ballots[i]
}

// turnBegan is from when on the reserve b has the seat of another one.
func (b *Ballot) turnBegan(of *Ballot, now time.Time) (began time.Time, hasBegun bool) {
	switch {
	case of == nil, b.Excused != "", !b.MayVote(), of.Excused != "", !of.MayVote(), of.Again:
	case of.Vote == Unavailable && (b.Turn.IsZero() || of.Since.Before(b.Turn)):
		return of.Since, true
	case b.Turn.IsZero():
	case of.Vote == Unavailable, of.Vote == Pending, of.Vote == Approve && of.At.After(now): // that one was asked again since
		return b.Turn, true
	}
	return began, false
}

// asReserve is the ballot of a reserve that has no seat: nothing is waited for or done.
func (b Ballot) asReserve() Ballot {
	b.Excused = cmp.Or(b.Excused, ReasonReserve)
	if b.Vote == Pending && !b.isDoubt() && !b.Voter() {
		b = b.asUnavailable()
		b.Outcome, b.Reason, b.Detail = Declined, b.Excused, ""
	}
	return b
}

// lastTurn is when the last reserve got a seat by what GitHub shows, at most until then: our clock may be a little behind.
func lastTurn(ballots []Ballot, most time.Time) (last time.Time) {
	for i := range ballots {
		if of := ballots[i].seatOwner(ballots); of != nil && of.Vote == Unavailable && of.Since.Before(most) {
			last = laterOf(last, of.Since)
		}
	}
	return last
}
