//go:build !action

package main

// A storm in one installation, told to the whole daemon in virtual time: the others must not notice.

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// T33: somebody reviews and pushes as fast as a machine can. 333 times a second is more than can be looked at one by
// one.
func TestAStormIsTheMatterOfItsInstallation(t *testing.T) {
	t.Parallel()
	testKey()
	size := 750 // comments, and as many pushes
	if *loadOf >= 1000 {
		size = 10_000
	}
	calm, storm := delays(t, 2*size, false), delays(t, 2*size, true)
	t.Logf(
		"from webhook to check of %d pull requests, with %d comments and as many pushes elsewhere: p50 %s, p99 %s, most %s; without: p50 %s, p99 %s, most %s",
		len(storm),
		size,
		share(storm, 50),
		share(storm, 99),
		share(storm, 100),
		share(calm, 50),
		share(calm, 99),
		share(calm, 100),
	)
	if got, most := share(storm, 99), 2*share(calm, 99); got > most {
		t.Errorf("p99 is %s in a storm; twice that without is %s", got, most)
	}
}

// share is what so many in a hundred do not exceed.
func share(all []time.Duration, percent int) time.Duration {
	return slices.Sorted(slices.Values(all))[(len(all)*percent+99)/100-1]
}

// delays are how long it takes from a webhook to its check in a dozen installations, while in another one so much
// happens, or could have happened.
func delays(t *testing.T, events int, storm bool) (all []time.Duration) {
	t.Helper()
	const (
		others = 12
		pulls  = 20 // that the storm is about
		pace   = 3 * time.Millisecond
	)
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1+others, 1)
		defer l.stop()
		for n := range pulls {
			l.repos[0].OpenPull(sandbox.PullSpec{Number: n + 1, Head: fmt.Sprintf("of %d", n)})
		}
		l.after(2*time.Minute + 30*time.Second) // the start is over, and no resync is near
		type opened struct {
			loadPull
			at time.Time
		}
		var victims []opened
		for n := range events {
			if storm {
				var err error
				switch number := 1 + n/2%pulls; n % 2 {
				case 0:
					_, err = l.repos[0].Comment(number, "github-actions[bot]", fmt.Sprintf("## openai\n\nRead %d times.\n\n**Ready to merge?** Yes", n))
				default:
					err = l.repos[0].Push(number, fmt.Sprintf("storm %d", n), sandbox.PushSpec{})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if n%60 == 7 {
				r := loadPull{g: l.repos[1+len(victims)%others], number: 100 + len(victims)}
				victims = append(victims, opened{r, time.Now()})
				if err := r.step(0); err != nil {
					t.Fatal(err)
				}
			}
			l.after(pace)
		}
		l.after(time.Minute)
		for _, v := range victims {
			own := v.g.OwnCheckRuns(v.g.Head(v.number))
			if len(own) != 1 {
				t.Fatalf("#%d has %d checks", v.number, len(own))
			}
			all = append(all, own[0].History[0].At.Sub(v.at))
		}
		if u := l.hub.Usage(77, time.Time{}, time.Time{}); storm && u.Writes < pulls {
			t.Errorf("the storm led to %d writes only", u.Writes)
		}
	})
	return all
}
