package github

// The limits of one installation, as a server asks for them before it looks.

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

// Ready is the earliest moment at which that many looks would not be held up by a limit, or are due to them, as far as
// is known; zero: at once.
func (f *Forge) Ready(looks int, u client.Urgency) time.Time { return f.client.Ready(looks, u) }

// Hour is how many REST requests GitHub allows in an hour; 0: it has not said that.
func (f *Forge) Hour() int { return f.client.Hour() }

// Budget is what is left of the hour's requests.
func (f *Forge) Budget() client.Budget { return f.client.Budget() }
