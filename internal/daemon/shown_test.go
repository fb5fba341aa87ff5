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
