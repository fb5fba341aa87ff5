package main

// bench shards: what it takes to serve all of GitHub, and what is lost when something fails, from figures that other commands measured.

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

type shardsCmd struct {
	Installations int     `default:"200000" help:"Installations. Default ${default}."`
	Tail          float64 `default:"1.1"    help:"Of the Pareto distribution of their sizes: the nearer to 1, the more the largest have. Default ${default}."`
	Average       float64 `default:"740"    help:"Review events a second, on average. Default ${default}."`
	Peak          float64 `default:"2200"   help:"Review events a second at the peak. Default ${default}."`
	Seed          uint64  `default:"1"      help:"Of the installations. Default ${default}."`

	Acks        float64       `default:"5000"  help:"Durable acknowledgements a second of one database: bench acks --replicas. Default ${default}."`
	DaemonCPU   float64       `default:"0.61"  help:"Daemon's CPU for an event, in ms: bench burst. Default ${default}."`
	DatabaseCPU float64       `default:"0.15"  help:"PostgreSQL's CPU for an event, in ms: bench acks --replicas. Default ${default}."`
	Cores       float64       `default:"2"     help:"Cores of each machine. Default ${default}."`
	PerDatabase int           `default:"50000" help:"Installations on one database at most. Default ${default}."`
	ClaimKeys   float64       `default:"64"    help:"Keys that a claim hands out at most. Default ${default}."`
	Claim       time.Duration `default:"20ms"  help:"How long such a claim takes. Default ${default}."`
	Search      time.Duration `default:"8us"   help:"And longer for each installation on its database, while more than 5,000 keys are due. Default ${default}."`
	Headroom    float64       `default:"0.5"   help:"Part of all that stays free at the peak. Default ${default}."`
	Replicas    int           `default:"2"     help:"Machines with a daemon on each database. Default ${default}."`
	Standbys    int           `default:"1"     help:"Standbys of each database. Default ${default}."`
	Lease       time.Duration `default:"30s"   help:"After which others take over from a machine that is gone. Default ${default}."`
	Failover    time.Duration `default:"1m"    help:"How long a database is away until its standby serves. Default ${default}."`
	Resync      time.Duration `default:"5m"    help:"How often refused deliveries are asked for. Default ${default}."`

	Hour        float64 `default:"5000"   help:"Requests that GitHub allows an installation in an hour: 5,000 to 12,500. Default ${default}."`
	Requests    float64 `default:"1.5"    help:"Requests for an event: a push with three reviewers takes 18 for about 12. Default ${default}."`
	Pulls       float64 `default:"10"     help:"Tracked pull requests of an installation, in the mean. Default ${default}."`
	PullsCopied float64 `default:"5000"   help:"Pull requests a second that store copy copies. Default ${default}."`
}

// Help is shown by bench shards --help.
func (shardsCmd) Help() string {
	return `Nothing is measured here: the same flags print the same figures on any machine. A shard is one PostgreSQL with its daemons.
Which shard has an installation is said by a hash of both. The program itself knows nothing of shards: docs/scale.md says what is there.`
}

const mostShards = 256

// Run computes and prints.
func (cmd shardsCmd) Run(b *harness) error {
	if cmd.Installations < 1 || cmd.Tail <= 1 || cmd.Headroom < 0 || cmd.Headroom >= 1 || cmd.Replicas < 1 {
		return fmt.Errorf("there must be installations and replicas, a tail above 1, and a headroom from 0 to below 1")
	}
	all := drawInstallations(cmd.Installations, cmd.Tail, cmd.Seed)
	cmd.reportInstallations(&b.report, all)
	capacity := shardCapacity{
		acks: cmd.Acks, cpuMillis: cmd.DaemonCPU + cmd.DatabaseCPU, cores: cmd.Cores * float64(cmd.Replicas+1),
		installations: cmd.PerDatabase, headroom: cmd.Headroom,
		claimKeys: cmd.ClaimKeys, claimSeconds: cmd.Claim.Seconds(), searchSeconds: cmd.Search.Seconds(),
	}
	n := leastShards(all, cmd.Peak, capacity, mostShards)
	if n == 0 {
		return fmt.Errorf("%d shards are not enough: the largest installation alone has %.0f events a second at the peak",
			mostShards, all[0].share*cmd.Peak)
	}
	cmd.reportShards(&b.report, all, capacity, n)
	b.report.addNote("%s", balanceTable(all, cmd.Peak))
	cmd.reportLosses(&b.report, all, capacity, n)
	cmd.reportMoves(&b.report, all, n)
	return nil
}

// reportInstallations reports how unlike the installations are, and what GitHub's hour means for the largest.
func (cmd shardsCmd) reportInstallations(r *report, all []installationLoad) {
	r.addFigure("seed", float64(cmd.Seed), "")
	r.addFigure("installations", float64(len(all)), "")
	r.addFigure("  the largest one's events", 100*all[0].share, "% of all")
	hundredth, beyond, beyondEvents := 0.0, 0, 0.0
	for i, in := range all {
		if i < max(len(all)/100, 1) {
			hundredth += in.share
		}
		if in.share*cmd.Average*3600*cmd.Requests > cmd.Hour {
			beyond++
			beyondEvents += in.share
		}
	}
	r.addFigure("  the largest hundredth's events", 100*hundredth, "% of all")
	r.addFigure("  those that ask for more than GitHub's hour, on average", float64(beyond), "")
	r.addFigure("    their events, which no machine makes faster", 100*beyondEvents, "% of all")
}

func (cmd shardsCmd) reportShards(r *report, all []installationLoad, c shardCapacity, n int) {
	most, limit := c.eventsPerSecond()
	r.addFigure("events a second that a shard is planned for", most, "/s, by its "+limit)
	byEvents := c
	byEvents.installations, byEvents.searchSeconds = len(all), 0
	r.addFigure("shards that the events alone ask for", float64(leastShards(all, cmd.Peak, byEvents, mostShards)), "")
	r.addFigure("shards, with so many installations", float64(n), "")
	r.addFigure("  machines for daemons", float64(n*cmd.Replicas), "")
	r.addFigure("  machines for databases, standbys included", float64(n*(1+cmd.Standbys)), "")
	loads := loadOfPlaces(all, n)
	r.addFigure("  keys a second that a shard hands out while very much is due", c.claimsPerSecond(len(all)/n), "/s")
	r.addFigure("  the most loaded shard at the peak", mostToMean(loads)*cmd.Peak/float64(n), "events/s")
}

// balanceTable tells of several numbers of shards how even they are, and what one more moves.
func balanceTable(all []installationLoad, peak float64) string {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "shards\tmost loaded / mean\tthe same without the largest\tits events/s at the peak\tone more moves: installations\tevents\t1/(n+1)\n")
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
		loads, m := loadOfPlaces(all, n), addedShard(all, n)
		without := loadOfPlaces(all[min(1, len(all)-1):], n)
		fmt.Fprintf(t, "%d\t%.2f\t%.2f\t%.0f\t%.2f %%\t%.2f %%\t%.2f %%\n", n, mostToMean(loads), mostToMean(without),
			mostToMean(loads)*peak/float64(n), 100*m.installations, 100*m.events, 100/float64(n+1))
	}
	_ = t.Flush() // a string takes all it is given
	return strings.TrimSpace(text.String())
}

// reportLosses reports what the loss of a machine and of a database costs, at the peak and on the most loaded shard.
func (cmd shardsCmd) reportLosses(r *report, all []installationLoad, c shardCapacity, n int) {
	shard := mostToMean(loadOfPlaces(all, n)) / float64(n) // part of all events
	perMachine, claimed := cmd.Cores*1000/cmd.DaemonCPU, c.claimsPerSecond(len(all)/n)

	others := float64(cmd.Replicas - 1)
	ofOthers := shard * cmd.Peak * others / float64(cmd.Replicas) // what they have to do besides
	machine := outage{
		rate: shard * cmd.Peak / float64(cmd.Replicas), seconds: cmd.Lease.Seconds(),
		capacity: max(min(perMachine*others, claimed)-ofOthers, 0),
	}
	r.addFigure("a daemon's machine is lost: installations that wait", 100/float64(n*cmd.Replicas), "% of all")
	r.addFigure("  for at most", machine.seconds, "s")
	if cmd.Replicas > 1 {
		r.addFigure("  accepted events that wait then, at the peak", machine.pileUp(), "")
		r.addFigure("  caught up after", machine.catchUp(), "s more")
	} else {
		r.addNote("With one replica of each database nobody takes over: what the lost machine worked for waits until there is another.")
	}

	ends, _ := c.eventsPerSecond()
	database := outage{rate: shard * cmd.Peak, seconds: cmd.Failover.Seconds(), capacity: min(ends/(1-cmd.Headroom), claimed)}
	r.addFigure("a database is lost: installations that wait", 100/float64(n), "% of all")
	r.addFigure("  for at most, the next resync included", (cmd.Failover + cmd.Resync).Seconds(), "s")
	r.addFigure("  deliveries refused until its standby serves, at the peak", database.pileUp(), "")
	r.addFigure("  those of them that are remembered and asked for again", min(database.pileUp(), rememberedDeliveries), "")
	r.addFigure("  worked off, once they are there again, after", database.catchUp(), "s")
}

// rememberedDeliveries is how many failed deliveries a daemon remembers.
const rememberedDeliveries = 10_000

// reportMoves reports what a new shard takes, and how long that takes.
func (cmd shardsCmd) reportMoves(r *report, all []installationLoad, n int) {
	m := addedShard(all, n)
	r.addFigure("one more shard: installations that move", 100*m.installations, "% of all")
	r.addFigure("  of them from one old shard to another", float64(m.astray), "")
	pulls := cmd.Pulls * float64(len(all)) / float64(n)
	r.addFigure("  a whole shard by store copy, before it is stopped", pulls/cmd.PullsCopied, "s")
	r.addFigure("  and while it is stopped, about", pulls/cmd.PullsCopied/20, "s")
	const firstLook = 12 // requests, as a push's are at least 8
	r.addFigure("an installation without a copy: all looked over anew, in the mean", cmd.Pulls*firstLook/cmd.Hour*3600, "s of GitHub's hour")
	largest := cmd.Pulls * all[0].share * float64(len(all)) // as many pull requests for an event as the mean
	r.addFigure("  the largest one", largest*firstLook/cmd.Hour, "hours")
}
