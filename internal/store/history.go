package store

// Which of reviewers' newest answers were understood, and how their services fared: history, which spares requests.
// Losing it costs a few of them, and a warning that is given twice.

import (
	"context"
	"slices"
	"time"
)

// Hear keeps answers.
func (s *Database) Hear(ctx context.Context, tenant int64, group string, keep int, answers ...Heard) error {
	answers, group = slices.Clone(answers), asText(group)
	_, err := s.submitOp(ctx, s.lazy, "keep answers", &op{names: []string{"group " + group}, statements: func(func(int)) (all []statement) {
		for _, a := range answers {
			reviewer := asText(a.Reviewer)
			all = append(all, newStatement(
				`INSERT INTO heard (grp, reviewer, text, tenant, label, pull, stranger, said_at, unread)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN $9 THEN 1 ELSE 0 END)
				ON CONFLICT (grp, reviewer, text) DO UPDATE SET tenant = excluded.tenant, label = excluded.label, pull = excluded.pull,
					stranger = excluded.stranger, said_at = excluded.said_at, unread = excluded.unread`,
				group, reviewer, asText(a.Text), tenant, asText(a.Label), a.Pull, asText(a.Stranger), floorMicros(a.At), a.Unread,
			), newStatement(
				`DELETE FROM heard WHERE grp = $1 AND reviewer = $2 AND text NOT IN
					(SELECT text FROM heard WHERE grp = $1 AND reviewer = $2 ORDER BY said_at DESC, unread, text LIMIT $3)`,
				group, reviewer, keep))
		}
		return all
	}})
	return err
}

// Heard returns the answers that are kept of a group.
func (s *Database) Heard(ctx context.Context, group string) (all []Heard, err error) {
	err = s.readRows(ctx, "read answers", statement{
		query: `SELECT reviewer, text, label, pull, stranger, said_at, unread > 0 FROM heard
			WHERE grp = $1 ORDER BY said_at DESC, unread, reviewer, text`,
		args: []any{asText(group)},
		row: collectInto(&all, func(scan scanner) (a Heard, err error) {
			return a, scan(&a.Reviewer, &a.Text, &a.Label, &a.Pull, &a.Stranger, microsInto{&a.At}, &a.Unread)
		}),
	})
	return all, err
}

// CountHeard counts answers by label.
func (s *Database) CountHeard(ctx context.Context, since time.Time) (map[string]HeardCount, error) {
	counts := map[string]HeardCount{}
	return counts, s.readRows(ctx, "count answers", statement{
		query: `SELECT label, count(*), sum(unread) FROM heard WHERE said_at >= $1 GROUP BY label`,
		args:  []any{floorMicros(since)},
		row: func(scan scanner) error {
			var label string
			var n HeardCount
			err := scan(&label, &n.Answers, &n.Unread)
			counts[label] = n
			return err
		},
	})
}

// AddSigns keeps signs.
func (s *Database) AddSigns(ctx context.Context, tenant int64, group string, keep int, signs ...ServiceSign) (int, error) {
	signs, group = slices.Clone(signs), asText(group)
	o := &op{names: []string{"group " + group}, statements: func(count func(int)) (all []statement) {
		for _, a := range signs {
			reviewer, until := asText(a.Reviewer), int64(0)
			if !a.Until.IsZero() {
				until = floorMicros(a.Until)
			}
			all = append(all, statement{
				query: `INSERT INTO signs (grp, reviewer, kind, shown_by, tenant, pull, stranger, shown_at, until_at)
					VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
				args:  []any{group, reviewer, a.Kind, asText(a.Of), tenant, a.Pull, asText(a.Stranger), floorMicros(a.At), until},
				count: count,
			}, newStatement(
				`DELETE FROM signs WHERE grp = $1 AND reviewer = $2 AND (kind, shown_by) NOT IN
					(SELECT kind, shown_by FROM signs WHERE grp = $1 AND reviewer = $2
						ORDER BY shown_at DESC, kind DESC, pull DESC, shown_by DESC LIMIT $3)`, group, reviewer, keep))
		}
		return all
	}}
	return s.submitOp(ctx, s.lazy, "keep signs", o)
}

// Signs returns the signs that are kept of a group.
func (s *Database) Signs(ctx context.Context, group string) (all []ServiceSign, err error) {
	err = s.readRows(ctx, "read signs", statement{
		query: `SELECT reviewer, kind, shown_by, pull, stranger, shown_at, until_at FROM signs
			WHERE grp = $1 ORDER BY shown_at, kind, pull, shown_by, reviewer`,
		args: []any{asText(group)},
		row: collectInto(&all, func(scan scanner) (a ServiceSign, err error) {
			return a, scan(&a.Reviewer, &a.Kind, &a.Of, &a.Pull, &a.Stranger, microsInto{&a.At}, microsInto{&a.Until})
		}),
	})
	return all, err
}
