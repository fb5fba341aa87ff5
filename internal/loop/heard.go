package loop

// What reviewers' answers came to on other pull requests: a look tells those of its own and is told the others. Who
// looks at one pull request alone knows none, and asks again as the policy says.

import (
	"context"
	"slices"
	"sync"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// An AnswerMemory keeps reviewers' newest answers in one repository as long as a process lives. It may be used by
// several goroutines. The zero value knows none.
type AnswerMemory struct {
	mu    sync.Mutex
	heard []quorum.HeardAnswer
}

// Hear adds answers, and returns the newest of all: it is a [Reconciler]'s.
func (m *AnswerMemory) Hear(_ context.Context, _ quorum.PR, found []quorum.HeardAnswer) []quorum.HeardAnswer {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = quorum.NewestAnswers(append(m.heard, found...))
	return slices.Clone(m.heard)
}

// hear tells what reviewers answered on the look's pull request, learns what they answered on others, and judges anew
// if one of its own was not understood. It is told before anything is decided by it: so of looks side by side each
// knows those that were told before, and no more of them ask again than one after the other would.
func (r *Reconciler) hear(ctx context.Context, l *Look) {
	if r.Hear == nil || l.Snapshot.File.State != quorum.FileValid {
		return
	}
	l.Snapshot.Heard = r.Hear(ctx, l.Snapshot.PR.PR, l.answers)
	if slices.ContainsFunc(l.answers, func(a quorum.HeardAnswer) bool { return a.Unread }) {
		l.judgeAndDecide()
	}
}
