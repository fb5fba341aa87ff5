package store

// How a lease goes on and ends, and forgetting.

import (
	"context"
	"slices"
	"time"
)

// Renew prolongs leases.
func (s *Database) Renew(ctx context.Context, until time.Time, leases ...Lease) (lost []Lease, err error) {
	name, err := s.replica.holderName()
	if err != nil {
		return nil, s.explainError("renew leases", err)
	}
	leases = slices.Clone(leases)
	o, held := &op{}, make([]int, len(leases))
	if name != "" { // it lives, though all its workers may be busy
		o.statements = append(o.statements, newStatement(
			`UPDATE replicas SET until_at = $2 WHERE name = $1 AND until_at > 0 AND until_at < $2`, name, ceilMicros(until)))
	}
	for i, l := range leases {
		o.names = append(o.names, asText(l.Key))
		o.statements = append(o.statements, statement{
			query: `UPDATE work SET due_at = $4 WHERE ` + ofLease + ` AND holder = $3`,
			args:  []any{asText(l.Key), l.Token, name, ceilMicros(until)},
			wrote: &held[i],
		})
	}
	if _, err := s.submitOp(ctx, "renew leases", o); err != nil {
		return nil, err
	}
	for i, l := range leases {
		if held[i] == 0 {
			lost = append(lost, l)
		}
	}
	return lost, nil
}

// Complete ends a lease.
func (s *Database) Complete(ctx context.Context, l Lease, o Completion) (bool, error) {
	l.Key = asText(l.Key)
	end := &op{names: []string{l.Key}}
	end.statements = completionStatements(l, o, &end.wrote)
	ended, err := s.submitOp(ctx, "complete", end)
	return ended > 0, err
}

// ofLease selects the row of a lease that was not lost.
const ofLease = `key = $1 AND token = $2 AND leased = 1`

// completionStatements are the statements that complete a lease; those that end it count their rows.
func completionStatements(l Lease, o Completion, ended *int) (all []statement) {
	if o.Gone {
		all = append(all, statement{
			query: `DELETE FROM work WHERE ` + ofLease + ` AND touches = ''`, args: []any{l.Key, l.Token}, wrote: ended,
		})
	}
	seen := floorMicros(o.Now)
	all = append(all, newStatement(`UPDATE counters SET n = CASE WHEN n >= $1 AND n < $1 + 1000000 THEN n + 1 ELSE $1 END
		WHERE name = 'seen'`, seen)) // so that a page of a list ends between two keys
	if o.Sight != nil {
		all = append(all, newStatement(`INSERT INTO sights (id, sight) SELECT id, $3 FROM work WHERE `+ofLease+`
			ON CONFLICT (id) DO UPDATE SET sight = excluded.sight`, l.Key, l.Token, o.Sight))
	}
	due, backlog := ceilMicros(o.Wake), int64(neverDue)
	if o.Backlog {
		due, backlog = ceilMicros(o.LiveDue), due
	}
	end := statement{args: []any{l.Key, l.Token, ceilMicros(o.Now), due, backlog}, wrote: ended}
	end.query = `UPDATE work SET leased = 0, due_at = CASE WHEN touches <> '' THEN CAST($3 AS bigint) ELSE CAST($4 AS bigint) END,
		backlog_at = CASE WHEN touches <> '' THEN 9223372036854775807 ELSE CAST($5 AS bigint) END,
		seen_at = (SELECT n FROM counters WHERE name = 'seen')`
	switch {
	case o.Open:
		end.query += `, open = 1`
	case o.Sight != nil:
		end.query += `, open = 0`
	}
	switch {
	case o.Failed != "":
		end.query += `, attempts = attempts + 1, failed = $6`
		end.args = append(end.args, asText(o.Failed))
	case !o.Keep:
		end.query += `, attempts = 0, failed = '', taken = '', wake_at = $6`
		end.args = append(end.args, ceilMicros(o.Wake))
	}
	end.query += ` WHERE ` + ofLease
	return append(all, end)
}

// Drop forgets all keys of a tenant. GitHub's answers to it stay until they are old.
func (s *Database) Drop(ctx context.Context, tenant int64) error {
	_, err := s.submitOp(ctx, "drop tenant", &op{statements: []statement{
		newStatement(`DELETE FROM notes WHERE tenant = $1`, tenant),
		newStatement(`DELETE FROM work WHERE tenant = $1`, tenant),
	}})
	return err
}

// Prune forgets deliveries.
func (s *Database) Prune(ctx context.Context, before time.Time, limit int) (int, error) {
	o := &op{}
	o.statements = []statement{{
		query: `DELETE FROM deliveries WHERE id IN
			(SELECT id FROM deliveries WHERE received_at < $1 ORDER BY received_at LIMIT $2` + skipLocked(s.isShared) + `)`,
		args:  []any{floorMicros(before), limit},
		wrote: &o.wrote,
	}}
	return s.submitOp(ctx, "prune deliveries", o)
}
