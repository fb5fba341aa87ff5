package store

// Which of reviewers' newest answers were understood, and how their services fared: history, which spares requests.
// Losing it costs a few of them, and a warning that is given twice.

import (
	"context"
	"time"
)

// AddNotes keeps notes.
func (s *Database) AddNotes(ctx context.Context, tenant int64, group string, keep int, notes ...Note) (int, error) {
	group = asText(group)
	var all []statement
	o := &op{names: []string{"group " + group}}
	for _, n := range notes {
		reviewer, until := asText(n.Reviewer), int64(0)
		if !n.Until.IsZero() {
			until = floorMicros(n.Until)
		}
		all = append(all, statement{
			query: `INSERT INTO notes (grp, reviewer, kind, name, tenant, label, pull, stranger, noted_at, until_at, unread)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, CASE WHEN $11 THEN 1 ELSE 0 END)
				ON CONFLICT (grp, reviewer, kind, name) DO UPDATE SET tenant = excluded.tenant, label = excluded.label,
					pull = excluded.pull, stranger = excluded.stranger, noted_at = excluded.noted_at, unread = excluded.unread
				WHERE excluded.kind = 0`,
			args: []any{
				group, reviewer, n.Kind, asText(n.Of), tenant, asText(n.Label), n.Pull, asText(n.Stranger), floorMicros(n.At), until,
				n.Unread,
			},
			wrote: &o.wrote,
		}, newStatement(
			`DELETE FROM notes WHERE grp = $1 AND reviewer = $2 AND (kind = 0) = $3 AND (kind, name) NOT IN
				(SELECT kind, name FROM notes WHERE grp = $1 AND reviewer = $2 AND (kind = 0) = $3
					ORDER BY noted_at DESC, unread, kind DESC, pull DESC, name DESC LIMIT $4)`, group, reviewer, n.Kind == Answer, keep))
	}
	o.statements = all
	return s.submitOp(ctx, "keep notes", o)
}

// Notes returns the notes that are kept of a group.
func (s *Database) Notes(ctx context.Context, group string, answers bool) (all []Note, err error) {
	err = s.readRows(ctx, "read notes", statement{
		query: `SELECT reviewer, kind, name, label, pull, stranger, noted_at, until_at, unread > 0 FROM notes
			WHERE grp = $1 AND (kind = 0) = $2 ORDER BY noted_at, unread DESC, kind, pull, name, reviewer`,
		args: []any{asText(group), answers},
		row: collectInto(&all, func(scan scanner) (n Note, err error) {
			return n, scan(&n.Reviewer, &n.Kind, &n.Of, &n.Label, &n.Pull, &n.Stranger, microsInto{&n.At}, microsInto{&n.Until}, &n.Unread)
		}),
	})
	return all, err
}

// CountHeard counts answers by label.
func (s *Database) CountHeard(ctx context.Context, since time.Time) (map[string]HeardCount, error) {
	counts := map[string]HeardCount{}
	return counts, s.readRows(ctx, "count answers", statement{
		query: `SELECT label, count(*), sum(unread) FROM notes WHERE kind = 0 AND noted_at >= $1 GROUP BY label`,
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
