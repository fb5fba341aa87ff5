package daemon

// What the daemon keeps for people to see: the history of a pull request, its repository's policy, and until when its
// installation waits.

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// setFile gives the land's repositories another policy file.
func (l *land) setFile(f quorum.PolicyFile) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file = f
}

// keptIn reads what the table keeps in a row.
func keptIn[T any](t *testing.T, h *house, key string) (kept T) {
	t.Helper()
	row, err := h.Store.Get(t.Context(), key)
	if err == nil {
		err = json.Unmarshal(row.Sight, &kept)
	}
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return kept
}

func TestARestartKeepsTheHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, dir := newLand(), t.TempDir()
		valid := l.file
		l.open(1, pull(7))
		h := build(t, l, dir)
		settle(time.Minute)
		l.setFile(quorum.PolicyFile{State: quorum.FileBroken, SHA: "p2", Path: valid.Path, Problem: "no reviewers"})
		h.deliver(about(1, pull(7)))
		settle(time.Minute)
		h.stop()
		l.setFile(valid)
		h = build(t, l, dir)
		settle(time.Minute)
		h.deliver(about(1, pull(7)))
		settle(time.Minute)
		s := keptIn[dashboard.Sight](t, h, "1/acme/shop#7")
		var told []string
		for _, head := range s.Heads {
			for _, d := range head.Decided {
				told = append(told, fmt.Sprintf("%.4s %s", head.Head, d.Verdict))
			}
		}
		if got := strings.Join(told, ", "); got != "a1a1 waiting, a1a1 unverified, a1a1 waiting" {
			t.Errorf("it remembers %s", got)
		}
		h.stop()
	})
}

// The row of a repository keeps what is wrong with its policy, as long as that is so.
func TestARepositoryKeepsItsMistakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		valid := l.file
		problem := ".github/review-coordinator.yml:2:8: grace: \"soon\" is not a duration\n"
		l.file = valid
		l.file.State, l.file.SHA, l.file.Problem = quorum.FileBroken, "p0", strings.Repeat(problem, 100)
		l.open(1, pull(7))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		s := keptIn[dashboard.RepoSight](t, h, "1/acme/shop")
		if s.State != quorum.FileBroken || s.Path != valid.Path || !strings.HasPrefix(s.Mistakes, problem) ||
			len(s.Mistakes) > 2048 {
			t.Errorf("of a broken policy it keeps %+v", s)
		}
		l.setFile(valid)
		settle(6 * time.Minute)
		s = keptIn[dashboard.RepoSight](t, h, "1/acme/shop")
		if s.State != quorum.FileValid || s.Mistakes != "" || s.Policy != "p1" {
			t.Errorf("of a valid one it keeps %+v", s)
		}
		h.stop()
	})
}

// People see how long an installation waits for GitHub's limit, and of another one nothing.
func TestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		until := time.Now().Add(20 * time.Minute)
		l.fails = func(tenant int64) error {
			switch {
			case tenant == 1 && time.Now().Before(until):
				return limitError{until}
			case tenant == 2:
				return errUnauthorized
			}
			return nil
		}
		for tenant := range int64(4) {
			l.open(tenant, pull(int(tenant)+1))
		}
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		l.mu.Lock()
		l.ready[3] = time.Now().Add(10 * time.Minute) // little is left of its hour
		ready := l.ready[3]
		l.mu.Unlock()
		h.deliver(about(3, pull(4)))
		settle(time.Second)
		for tenant, want := range map[int64]time.Time{0: {}, 1: until, 2: {}, 3: ready, 99: {}} {
			if got := h.Waits(tenant); !got.Equal(want) {
				t.Errorf("%d waits until %v, want %v", tenant, got, want)
			}
		}
		settle(20 * time.Minute)
		for tenant := range int64(4) {
			if got := h.Waits(tenant); !got.IsZero() {
				t.Errorf("after its limit %d waits until %v", tenant, got)
			}
		}
		h.stop()
	})
}
