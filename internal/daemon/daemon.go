package daemon

// The daemon's parts, and how it is stopped.

import (
	"sync/atomic"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// A Daemon turns deliveries into looks. Make it with [New], let [Daemon.Run] work, and hand it deliveries with
// [Daemon.Receive].
type Daemon struct {
	Config
	mayBeDue chan struct{} // holds a value if something may have become due
	draining atomic.Bool

	tenants *tenantBook
	work    *workTable
	ignored ignoredDeliveries

	lastClock                time.Time // when the dispatcher read the clock last
	backlogSeen, backlogTold time.Time // see watchBacklog
}

// New returns a daemon that does nothing yet.
func New(c Config) *Daemon {
	c = c.withDefaults()
	d := &Daemon{
		Config: c, mayBeDue: make(chan struct{}, 1), work: &workTable{held: map[store.Lease]*leasedWork{}},
		ignored: ignoredDeliveries{ids: map[string]bool{}},
	}
	d.tenants = newTenantBook(&d.Config)
	return d
}

// wakeDispatcher has the dispatcher read the table now.
func (d *Daemon) wakeDispatcher() {
	select {
	case d.mayBeDue <- struct{}{}:
	default:
	}
}

// Draining reports whether the daemon is stopping.
func (d *Daemon) Draining() bool { return d.draining.Load() }

// Stop makes [Daemon.Receive] refuse. What was accepted stays in the table.
func (d *Daemon) Stop() { d.draining.Store(true) }
