package main

// The laws of sharding, and its arithmetic against a simulation of each single event.

import (
	"bytes"
	"math"
	"testing"
)

func TestOneMoreShardTakesItsPartFromAllAndMovesNothingElse(t *testing.T) {
	all := drawInstallations(20_000, 1.1, 7)
	for _, n := range []int{1, 2, 3, 5, 8, 16, 40} {
		m := addedShard(all, n)
		if m.astray != 0 {
			t.Errorf("%d shards and one more: %d installations moved between the old ones", n, m.astray)
		}
		want := 1 / float64(n+1)
		// The part of so many that belongs to the new one spreads by sqrt(p(1-p)/N): five of these are a law.
		if spread := 5 * math.Sqrt(want*(1-want)/float64(len(all))); math.Abs(m.installations-want) > spread {
			t.Errorf("%d shards and one more: %.4f of the installations moved, want %.4f ± %.4f", n, m.installations, want, spread)
		}
		taken := make([]int, n)
		for _, in := range all {
			if placeOf(in.id, n+1, nil) == n {
				taken[placeOf(in.id, n, nil)]++
			}
		}
		for place, count := range taken {
			each := float64(len(all)) / float64(n*(n+1))
			if math.Abs(float64(count)-each) > 6*math.Sqrt(each) {
				t.Errorf("%d shards and one more: %d came from shard %d, want about %.0f", n, count, place, each)
			}
		}
	}
}

func TestALostShardsInstallationsSpreadAndNoOthersMove(t *testing.T) {
	all := drawInstallations(5_000, 1.1, 3)
	const n, lost = 6, 2
	got := make([]int, n)
	for _, in := range all {
		before := placeOf(in.id, n, nil)
		after := placeOf(in.id, n, func(place int) bool { return place == lost })
		switch {
		case after == lost:
			t.Fatalf("installation %d belongs to the shard that is lost", in.id)
		case before != lost && after != before:
			t.Fatalf("installation %d moved from %d to %d, and %d was lost", in.id, before, after, lost)
		case before == lost:
			got[after]++
		}
	}
	for place, count := range got {
		if each := float64(len(all)) / n / (n - 1); place != lost && math.Abs(float64(count)-each) > 6*math.Sqrt(each) {
			t.Errorf("shard %d got %d of the lost one's, want about %.0f", place, count, each)
		}
	}
	if at := placeOf(all[0].id, 3, func(int) bool { return true }); at != -1 {
		t.Errorf("with no shard left an installation belongs to %d", at)
	}
}

func TestAnEventIsWorkedByExactlyOneShard(t *testing.T) {
	for _, in := range drawInstallations(2_000, 1.1, 11) {
		for _, n := range []int{1, 2, 3, 7, 20} {
			workers := 0
			for place := range n { // as each shard would judge for itself
				isBest := true
				for other := range n {
					isBest = isBest && (other == place || scoreOf(other, in.id) < scoreOf(place, in.id))
				}
				if isBest {
					workers++
					if at := placeOf(in.id, n, nil); at != place {
						t.Fatalf("of %d shards %d works for installation %d, and %d is said to", n, place, in.id, at)
					}
				}
			}
			if workers != 1 {
				t.Fatalf("of %d shards %d work for installation %d", n, workers, in.id)
			}
		}
	}
}

func TestInstallationsOfOneSizeAreEvenAndUnlikeOnesAreUnevenByTheLargest(t *testing.T) {
	alike := drawInstallations(20_000, 1.1, 5)
	for i := range alike {
		alike[i].share = 1 / float64(len(alike))
	}
	for _, n := range []int{2, 4, 8, 16, 32} {
		if got, most := mostToMean(loadOfPlaces(alike, n)), 1+4*math.Sqrt(float64(n)/float64(len(alike))); got > most {
			t.Errorf("%d shards with installations of one size: the most loaded has %.3f of the mean, want at most %.3f", n, got, most)
		}
	}
	unlike := drawInstallations(20_000, 1.1, 5)
	sum := 0.0
	for i, in := range unlike {
		sum += in.share
		if i > 0 && in.share > unlike[i-1].share {
			t.Fatalf("installation %d is larger than the one before it", i)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("all installations have %v of the events", sum)
	}
	for _, n := range []int{2, 8, 32} { // no hash can part one installation
		if got, least := mostToMean(loadOfPlaces(unlike, n)), unlike[0].share*float64(n); got < least {
			t.Errorf("%d shards: the most loaded has %.3f of the mean, and the largest installation alone %.3f", n, got, least)
		}
	}
}

func TestTheLeastNumberOfShardsIsEnoughAndOneLessIsNot(t *testing.T) {
	all := drawInstallations(10_000, 1.3, 2)
	for name, c := range map[string]shardCapacity{
		"events":        {acks: 500, cpuMillis: 0.1, cores: 2, installations: 10_000, headroom: 0.5},
		"CPU":           {acks: 1e9, cpuMillis: 5, cores: 2, installations: 10_000, headroom: 0.2},
		"installations": {acks: 1e9, cpuMillis: 0.1, cores: 2, installations: 900, headroom: 0.2},
		"claims":        {acks: 1e9, cpuMillis: 0.1, cores: 2, installations: 10_000, headroom: 0.5, searchSeconds: 1e-4},
	} {
		const peak = 2200
		c.claimKeys, c.claimSeconds = 64, 0.02
		fits := func(n int) bool {
			events, _ := c.eventsPerSecond()
			counts := make([]int, n)
			for _, in := range all {
				counts[placeOf(in.id, n, nil)]++
			}
			for place, load := range loadOfPlaces(all, n) {
				claims := 64 / (0.02 + c.searchSeconds*float64(counts[place]))
				if load*peak > events || load*peak > claims*(1-c.headroom) || counts[place] > c.installations {
					return false
				}
			}
			return true
		}
		n := leastShards(all, peak, c, 100)
		if n < 2 || !fits(n) {
			t.Errorf("%s: %d shards are said to be enough", name, n)
		}
		for less := 1; less < n; less++ {
			if fits(less) {
				t.Errorf("%s: %d shards are enough, and %d are said to be needed", name, less, n)
			}
		}
	}
	if n := leastShards(all, 1e9, shardCapacity{acks: 1, cpuMillis: 1, cores: 1, installations: 10_000}, 20); n != 0 {
		t.Errorf("%d shards are said to be enough for what no number is", n)
	}
}

// simulateOutage lets events come one by one, of which none is worked off before the outage ends, and then one after another. It returns how
// many waited at its end, and how long after it one first found nobody before it.
func simulateOutage(o outage, rounds int) (waited int, caughtUp float64) {
	free := o.seconds // when the worker is free again
	for i := range rounds {
		came := float64(i) / o.rate
		if came < o.seconds {
			waited++
		} else if free <= came {
			return waited, came - o.seconds
		}
		free = max(free, came) + 1/o.capacity
	}
	return waited, math.Inf(1)
}

func TestLossesAreThoseOfASimulationOfEachEvent(t *testing.T) {
	for _, o := range []outage{
		{rate: 10, seconds: 30, capacity: 40},
		{rate: 115, seconds: 60, capacity: 900},
		{rate: 7, seconds: 300, capacity: 8},
		{rate: 50, seconds: 30, capacity: 50},
	} {
		waited, caughtUp := simulateOutage(o, 200_000)
		if math.Abs(float64(waited)-o.pileUp()) > 1 {
			t.Errorf("%+v: %.1f events are said to wait, and %d did", o, o.pileUp(), waited)
		}
		if got := o.catchUp(); math.IsInf(got, 1) != math.IsInf(caughtUp, 1) || math.Abs(got-caughtUp) > 2/o.rate+1/(o.capacity-o.rate) {
			t.Errorf("%+v: caught up after %.2f s, and in the simulation after %.2f s", o, got, caughtUp)
		}
	}
}

func TestALostMachinesEventsWaitAndNoOthers(t *testing.T) {
	// Four shards with three replicas each, and an event a second of each of 3,000 installations: one replica is gone for 30 seconds.
	const shards, replicas, installations, lease = 4, 3, 3_000, 30
	all := drawInstallations(installations, 1.1, 9)
	machineOf := func(id int64) int {
		return placeOf(id, shards, nil)*replicas + placeOf(id^1<<40, replicas, nil)
	}
	waiting, worked := 0, make([]int, shards*replicas)
	for range lease {
		for _, in := range all {
			if at := machineOf(in.id); at == 0 {
				waiting++
			} else {
				worked[at]++
			}
		}
	}
	want := outage{rate: installations / float64(shards*replicas), seconds: lease}.pileUp()
	if math.Abs(float64(waiting)-want) > 0.3*want {
		t.Errorf("%d events waited for the machine that is gone, want about %.0f", waiting, want)
	}
	total := waiting
	for at, n := range worked {
		if at > 0 && n == 0 {
			t.Errorf("machine %d worked for nobody", at)
		}
		total += n
	}
	if total != installations*lease {
		t.Errorf("%d events came, and %d waited or were worked", installations*lease, total)
	}
}

func TestTheSameSeedPrintsTheSame(t *testing.T) {
	printed := func(args ...string) string {
		var out, errs bytes.Buffer
		if code := runBench(append([]string{"shards", "--installations", "3000"}, args...), &out, &errs); code != 0 {
			t.Fatalf("it ended with %d: %s", code, errs.String())
		}
		return out.String()
	}
	first := printed("--seed", "4")
	if again := printed("--seed", "4"); again != first {
		t.Errorf("the same seed printed\n%s\nand then\n%s", first, again)
	}
	if other := printed("--seed", "5"); other == first {
		t.Error("two seeds printed the same")
	}
}
