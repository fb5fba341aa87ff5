package main

// All of GitHub's review events on several databases, as arithmetic: nothing here starts a daemon, waits, or looks at a clock.
//
// A shard is one PostgreSQL with the daemons that share it. An installation belongs to exactly one: that whose number makes the
// largest hash with its id (rendezvous hashing, by which replicas share installations, too), so that a new shard takes an equal part
// from each of the others, and nothing moves among those.

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// An installationLoad is an installation and what comes from it.
type installationLoad struct {
	id    int64
	share float64 // of all events
}

// drawInstallations draws installations whose sizes have a Pareto distribution: the smaller tail, above 1, the more the largest have.
// The same seed draws the same ones.
func drawInstallations(n int, tail float64, seed uint64) []installationLoad {
	rng := rand.New(rand.NewPCG(seed, 31))
	all, seen, sum := make([]installationLoad, 0, n), map[int64]bool{}, 0.0
	for len(all) < n {
		id := 1 + rng.Int64N(200_000_000)
		if seen[id] {
			continue
		}
		seen[id] = true
		size := math.Pow(1-rng.Float64(), -1/tail)
		all, sum = append(all, installationLoad{id, size}), sum+size
	}
	for i := range all {
		all[i].share /= sum
	}
	slices.SortFunc(all, func(a, b installationLoad) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.id, b.id))
	})
	return all
}

// scoreOf returns a place's score for an installation: splitmix64's last steps over both.
func scoreOf(place int, installation int64) uint64 {
	return mixBits(mixBits(uint64(place)+1) ^ uint64(installation))
}

func mixBits(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// placeOf returns which of n places, counted from 0, an installation belongs to; without those for which isGone says so. It
// returns -1 if none is left.
func placeOf(installation int64, n int, isGone func(place int) bool) int {
	best, most := -1, uint64(0)
	for place := range n {
		if isGone != nil && isGone(place) {
			continue
		}
		if score := scoreOf(place, installation); best < 0 || score > most {
			best, most = place, score
		}
	}
	return best
}

// loadOfPlaces returns the part of all events that each of n places has.
func loadOfPlaces(all []installationLoad, n int) []float64 {
	loads := make([]float64, n)
	for _, in := range all {
		loads[placeOf(in.id, n, nil)] += in.share
	}
	return loads
}

// mostToMean returns the load of the most loaded place relative to the mean.
func mostToMean(loads []float64) float64 {
	sum := 0.0
	for _, l := range loads {
		sum += l
	}
	return slices.Max(loads) * float64(len(loads)) / sum
}

// A shardMove is what moves when a shard is added.
type shardMove struct {
	installations float64 // part of them
	events        float64 // part of them
	astray        int     // installations that moved to another shard than the new one: none
}

// addedShard returns what moves when n shards become n+1.
func addedShard(all []installationLoad, n int) (m shardMove) {
	for _, in := range all {
		before, after := placeOf(in.id, n, nil), placeOf(in.id, n+1, nil)
		if before == after {
			continue
		}
		if after != n {
			m.astray++
		}
		m.installations += 1 / float64(len(all))
		m.events += in.share
	}
	return m
}

// shardCapacity is what one shard can take.
type shardCapacity struct {
	acks          float64 // durable acknowledgements a second that its database takes
	cpuMillis     float64 // CPU for an event, of daemons and database together
	cores         float64 // of its machines together
	installations int     // on one database
	headroom      float64 // part of all this that stays free

	claimKeys     float64 // that a claim hands out at most
	claimSeconds  float64 // that a claim takes
	searchSeconds float64 // that a claim takes longer for each installation on its database, while very much is due
}

// claimsPerSecond returns how many keys a second are handed out while very much is due, as after an outage: one claim is made at a time.
func (c shardCapacity) claimsPerSecond(installations int) float64 {
	return c.claimKeys / (c.claimSeconds + c.searchSeconds*float64(installations))
}

// holds reports whether one shard is within its capacity: also while it works off what piled up, or it never would.
func (c shardCapacity) holds(events float64, installations int) bool {
	most, _ := c.eventsPerSecond()
	return events <= most && installations <= c.installations && events <= c.claimsPerSecond(installations)*(1-c.headroom)
}

// eventsPerSecond returns how many events a second a shard may be planned for, and what ends first.
func (c shardCapacity) eventsPerSecond() (most float64, limit string) {
	byCPU := c.cores * 1000 / c.cpuMillis
	if byCPU < c.acks {
		return byCPU * (1 - c.headroom), "CPU"
	}
	return c.acks * (1 - c.headroom), "acknowledgements"
}

// leastShards returns the least number of shards of which the most loaded one is within its capacity at a peak; 0 if none of up to
// most is.
func leastShards(all []installationLoad, peak float64, c shardCapacity, most int) int {
	places, scores := make([]int, len(all)), make([]uint64, len(all))
	for n := 1; n <= most; n++ {
		loads, counts := make([]float64, n), make([]int, n)
		for i, in := range all {
			if score := scoreOf(n-1, in.id); n == 1 || score > scores[i] { // only to the new one does anything move
				places[i], scores[i] = n-1, score
			}
			loads[places[i]] += in.share
			counts[places[i]]++
		}
		if c.holdsAll(loads, counts, peak) {
			return n
		}
	}
	return 0
}

// holdsAll reports whether each shard is within its capacity.
func (c shardCapacity) holdsAll(loads []float64, counts []int, peak float64) bool {
	for i, load := range loads {
		if !c.holds(load*peak, counts[i]) {
			return false
		}
	}
	return true
}

// An outage is one of what takes events and works them off: events come at a rate and wait until it is over.
type outage struct {
	rate     float64 // events a second that wait for it
	seconds  float64 // how long it lasts
	capacity float64 // events a second that are worked off afterwards, those that come meanwhile included
}

// pileUp returns how many events wait at its end.
func (o outage) pileUp() float64 { return o.rate * o.seconds }

// catchUp returns how many seconds after its end nothing waits any more; infinity if more comes than is worked off.
func (o outage) catchUp() float64 {
	if o.capacity <= o.rate {
		return math.Inf(1)
	}
	return o.pileUp() / (o.capacity - o.rate)
}
