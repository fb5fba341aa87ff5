package store

// How reviewers' services fared: history, by which one that is down is asked later. Losing it costs a few requests, and a
// warning that is given twice.

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A ServiceSign shows how a reviewer's service fared, or what was done about that.
type ServiceSign struct {
	Reviewer string
	Kind     int    // opaque
	Of       string // names what shows it
	Pull     int
	Stranger string // who opened the pull request, if that was one: in the column author, which named whoever it was
	At       time.Time
	Until    time.Time // zero: no time
}

// AddSigns keeps signs.
func (s *SQLite) AddSigns(ctx context.Context, tenant int64, group string, keep int, signs ...ServiceSign) (added int, err error) {
	signs = slices.Clone(signs)
	return answer(ctx, s.runLazily, "keep signs", func(t *workTable) (int, error) { return t.addSigns(tenant, group, keep, signs) })
}

func (t *workTable) addSigns(tenant int64, group string, keep int, signs []ServiceSign) (added int, err error) {
	for _, a := range signs {
		until := int64(0)
		if !a.Until.IsZero() {
			until = floorMicros(a.Until)
		}
		r, err := t.conn.ExecContext(context.Background(),
			`INSERT INTO signs (grp, reviewer, kind, shown_by, tenant, pull, author, shown_at, until_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			group, a.Reviewer, a.Kind, a.Of, tenant, a.Pull, a.Stranger, floorMicros(a.At), until,
		)
		if err != nil {
			return 0, err
		}
		n, err := r.RowsAffected()
		if err != nil {
			return 0, err
		}
		added += int(n)
		if n == 0 {
			continue
		}
		if err := t.exec(
			`DELETE FROM signs WHERE grp = ?1 AND reviewer = ?2 AND (kind, shown_by) NOT IN
			(SELECT kind, shown_by FROM signs WHERE grp = ?1 AND reviewer = ?2
				ORDER BY shown_at DESC, kind DESC, pull DESC, shown_by DESC LIMIT ?3)`,
			group, a.Reviewer, keep,
		); err != nil {
			return 0, err
		}
	}
	return added, nil
}

// Signs returns the signs that are kept of a group.
func (s *SQLite) Signs(ctx context.Context, group string) (all []ServiceSign, err error) {
	rows, err := s.reads.selectSigns.QueryContext(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("read signs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var a ServiceSign
		var at, until int64
		if err := rows.Scan(&a.Reviewer, &a.Kind, &a.Of, &a.Pull, &a.Stranger, &at, &until); err != nil {
			return nil, fmt.Errorf("read signs: %w", err)
		}
		if a.At = timeOfMicros(at); until != 0 {
			a.Until = timeOfMicros(until)
		}
		all = append(all, a)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read signs: %w", err)
	}
	return all, nil
}
