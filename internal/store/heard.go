package store

// Which of reviewers' newest answers were understood: history, which spares requests. Losing it costs a few of them.

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A Heard is an answer of a reviewer.
type Heard struct {
	Reviewer string
	Text     string // names the text; a text that was heard before is replaced
	Label    string // by which CountHeard counts
	Pull     int
	Stranger string // who opened the pull request, if that was one
	At       time.Time
	Unread   bool // it was not understood
}

// A HeardCount counts answers.
type HeardCount struct{ Answers, Unread int }

// Hear keeps answers.
func (s *SQLite) Hear(ctx context.Context, tenant int64, group string, keep int, answers ...Heard) error {
	answers = slices.Clone(answers)
	return s.runLazily(ctx, "keep answers", func(t *workTable) error { return t.hear(tenant, group, keep, answers) })
}

func (t *workTable) hear(tenant int64, group string, keep int, answers []Heard) error {
	for _, a := range answers {
		if err := t.exec(
			`INSERT INTO heard (grp, reviewer, text, tenant, label, pull, stranger, said_at, unread) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET tenant = excluded.tenant, label = excluded.label, pull = excluded.pull,
				stranger = excluded.stranger, said_at = excluded.said_at, unread = excluded.unread`,
			group, a.Reviewer, a.Text, tenant, a.Label, a.Pull, a.Stranger, floorMicros(a.At), a.Unread,
		); err != nil {
			return err
		}
		if err := t.exec(
			`DELETE FROM heard WHERE grp = ?1 AND reviewer = ?2 AND text NOT IN
			(SELECT text FROM heard WHERE grp = ?1 AND reviewer = ?2 ORDER BY said_at DESC, unread, text LIMIT ?3)`,
			group, a.Reviewer, keep,
		); err != nil {
			return err
		}
	}
	return nil
}

// Heard returns the answers that are kept of a group.
func (s *SQLite) Heard(ctx context.Context, group string) (all []Heard, err error) {
	rows, err := s.reads.selectHeard.QueryContext(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var a Heard
		var at int64
		if err := rows.Scan(&a.Reviewer, &a.Text, &a.Label, &a.Pull, &a.Stranger, &at, &a.Unread); err != nil {
			return nil, fmt.Errorf("read answers: %w", err)
		}
		a.At = timeOfMicros(at)
		all = append(all, a)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	return all, nil
}

// CountHeard counts answers by label: one by one those of the hour in which since is, and by the hour those after it.
func (s *SQLite) CountHeard(ctx context.Context, since time.Time) (map[string]HeardCount, error) {
	rows, err := s.readDB.QueryContext(ctx, `SELECT label, sum(n), sum(u) FROM (
			SELECT label, answers AS n, unread AS u FROM heard_hours WHERE hour > ?1 / 3600000000
			UNION ALL SELECT label, 1, unread FROM heard WHERE said_at >= ?1 AND said_at < (?1 / 3600000000 + 1) * 3600000000)
		GROUP BY label`, floorMicros(since))
	if err != nil {
		return nil, fmt.Errorf("count answers: %w", err)
	}
	defer rows.Close()
	counts := map[string]HeardCount{}
	for rows.Next() {
		var label string
		var n HeardCount
		if err := rows.Scan(&label, &n.Answers, &n.Unread); err != nil {
			return nil, fmt.Errorf("count answers: %w", err)
		}
		counts[label] = n
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count answers: %w", err)
	}
	return counts, nil
}
