package quorum

import (
	"slices"
	"time"
)

// A seat is the one vote of a reviewer and its reserve. The reserve has it once the reviewer is Unavailable, until that one approves or
// objects. What either objects stands until it answers itself, and who must judge again answers itself.

// fillSeats gives each seat to one of its two, as of now. To a reserve without one the clock does nothing: was knows no clock.
func fillSeats(ballots, was []Ballot, now time.Time) {
	for i := range ballots {
		reserve := &ballots[i]
		if reserve.InsteadOf == "" {
			continue
		}
		of := reserve.seatHolder(ballots)
		began, hasBegun := reserve.turnBegan(of)
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
		of.Excused = ReasonReserve
	}
}

// seatHolder is the ballot of the reviewer whose reserve b is; nil if there is none.
func (b *Ballot) seatHolder(ballots []Ballot) *Ballot {
	i := slices.IndexFunc(ballots, func(o Ballot) bool { return o.Reviewer == b.InsteadOf && o.InsteadOf == "" })
	if i < 0 {
		return nil
	}
	return &ballots[i]
}

// turnBegan is from when on the reserve b has the seat of another one.
func (b *Ballot) turnBegan(of *Ballot) (began time.Time, hasBegun bool) {
	switch {
	case of == nil, b.Excused != "", !b.MayVote(), of.Excused != "", !of.MayVote(), of.Again:
	case of.Vote == Unavailable && (b.Turn.IsZero() || of.Since.Before(b.Turn)):
		return of.Since, true
	case of.Vote == Unavailable, of.Vote == Pending && !b.Turn.IsZero(): // that one was asked again since
		return b.Turn, true
	}
	return began, false
}

// asReserve is the ballot of a reserve that has no seat: nothing is waited for or done.
func (b Ballot) asReserve() Ballot {
	if b.Excused == "" {
		b.Excused = ReasonReserve
	}
	if b.Vote == Pending && !b.isDoubt() && !b.Voter() {
		b = b.asUnavailable()
		b.Outcome, b.Reason, b.Detail = Declined, b.Excused, ""
	}
	return b
}

// lastTurn is when the last reserve got a seat by what GitHub shows: our clock may be behind.
func lastTurn(ballots []Ballot) (last time.Time) {
	for i := range ballots {
		if of := ballots[i].seatHolder(ballots); of != nil && ballots[i].InsteadOf != "" && of.Vote == Unavailable {
			last = laterOf(last, of.Since)
		}
	}
	return last
}
