package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A job goes on for a minute without an answer, and then ends with one annotation. An answer gives it another minute.
func TestAJobGivesUpWithoutGitHub(t *testing.T) {
	for _, test := range []struct {
		name     string
		statuses []int // of a request each ten seconds, begun five seconds before
		ends     time.Duration
	}{
		{"silence", []int{0, 0, 0, 0, 0, 0, 0, 0}, 60 * time.Second},
		{"failures", []int{500, 502, 0, 503, 500, 500, 500, 500}, 60 * time.Second},
		{"an answer", []int{0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0, 0}, 100 * time.Second},
		{"a refusal is an answer", []int{0, 0, 0, 404, 0, 0, 0, 429, 0, 200}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, said bytes.Buffer
				guard := &outputGuard{w: &out}
				c := &command{Stdout: guard, Stderr: &said, jobOutput: guard}
				began := time.Now()
				err := c.untilOutage(t.Context(), func(ctx context.Context) error {
					for _, status := range test.statuses {
						c.Observed("pull", status, 5*time.Second)
						select {
						case <-ctx.Done():
							return errors.New("cut off")
						case <-time.After(10 * time.Second):
						}
					}
					return nil
				})
				took, code := time.Since(began), c.reportError(t.Context(), err)
				annotations := strings.Count(out.String(), "::error::GitHub has not answered for a minute")
				if test.ends == 0 {
					if err != nil || annotations != 0 {
						t.Errorf("it gives up after %s: %v", took, err)
					}
				} else if took != test.ends || code != exitOutage || annotations != 1 {
					t.Errorf("after %s exit %d, says %q %q; want %s, %d and one annotation",
						took, code, out.String(), said.String(), test.ends, exitOutage)
				}
			})
		})
	}
}
