package config

import (
	"testing"
	"time"
)

func TestParseSweep(t *testing.T) {
	const reviewers = "reviewers:\n  - {name: sage, author: \"sage[bot]\"}\n"
	quick := Default().Sweep
	quick.MaxConcurrent, quick.BatchDelay, quick.Backoff.Max = 8, 0, Duration(time.Minute)
	for _, test := range []struct {
		title, src string
		want       SweepKeys
		threshold  int
	}{
		{"no file", "", Default().Sweep, 5},
		{"nothing of it", reviewers, Default().Sweep, 5},
		{"some of it", "sweep: {max_concurrent: 8, batch_delay: 0s, backoff: {max: 1m}}\ncircuit_breaker: {failure_threshold: 2}\n" + reviewers, quick, 2},
		{"a mistake elsewhere", "sweep: {limit: 3}\ngrace: soon\n" + reviewers, Default().Sweep, 5},
		{"no YAML", "sweep: {limit: 3\n" + reviewers, Default().Sweep, 5},
	} {
		t.Run(test.title, func(t *testing.T) {
			if got, threshold := ParseSweep("p.yml", []byte(test.src), nil); got != test.want || threshold != test.threshold {
				t.Errorf("%+v, %d; want %+v, %d", got, threshold, test.want, test.threshold)
			}
		})
	}
	o, err := ParseOrganisation("org.yml", []byte(reviewers+"enforce: {reviewers: [sage]}\nsweep: {max_concurrent: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]int{
		"sweep: {max_concurrent: 8}\nquorum: 2\nreviewers: [{name: other, author: 'other[bot]'}]\n": 8, // the second is enforced
		"sweep: {max_concurrent: 8}\nreviewers: [{name: other}]\n":                                  Default().Sweep.MaxConcurrent,
	} {
		if got, _ := ParseSweep("p.yml", []byte(src), o); got.MaxConcurrent != want {
			t.Errorf("%q sweeps %d at a time, want %d", src, got.MaxConcurrent, want)
		}
	}
}
