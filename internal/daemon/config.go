package daemon

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/store"
)

// Config holds the parts and the settings of a daemon. Zero durations and numbers are the defaults.
type Config struct {
	Store   store.Store
	Host    Host
	Metrics *Metrics
	Feed    *dashboard.Feed
	Log     *slog.Logger
	Now     func() time.Time

	// Alarm rings once it is at, by Now; stop ends it. It may be nil, for a clock that goes as fast as the machine's. A
	// clock that goes faster, or stands, needs its own.
	Alarm func(at time.Time) (ring <-chan time.Time, stop func())

	Resync    time.Duration // how often everything is looked over; default 5m
	Workers   int           // looks at once; default 64
	PerTenant int           // of them for one tenant; default 12
	Lease     time.Duration // how long a worker may be silent; default 30s
	Poll      time.Duration // how often at least the table is read to which others write, too; 0: nobody does
	Drain     time.Duration // how long a stop waits for looks under way; default 5s
	Places    report.Places // where checks lead, and where people see GitHub; default: https://github.com

	// Jitter returns a random time below most; nil: by math/rand.
	Jitter func(most time.Duration) time.Duration
	// Looked is called after each look that was kept, those of one pull request in any order; may be nil.
	Looked func(pr quorum.PR, sight dashboard.Sight)
}

// withDefaults returns c with a default in place of each setting that was left out.
func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Log = orDiscard(c.Log)
	c.Resync, c.Lease, c.Drain = cmp.Or(c.Resync, 5*time.Minute), cmp.Or(c.Lease, 30*time.Second), cmp.Or(c.Drain, 5*time.Second)
	c.Workers, c.PerTenant = cmp.Or(c.Workers, 64), cmp.Or(c.PerTenant, 12)
	c.Places.Web = cmp.Or(c.Places.Web, "https://github.com")
	if c.Jitter == nil {
		c.Jitter = func(most time.Duration) time.Duration { return rand.N(max(most, 1)) }
	}
	if c.Alarm == nil {
		c.Alarm = func(at time.Time) (<-chan time.Time, func()) {
			timer := time.NewTimer(at.Sub(c.Now()))
			return timer.C, func() { timer.Stop() }
		}
	}
	return c
}
