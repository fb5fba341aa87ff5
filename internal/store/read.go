package store

// Reading, beside those who write.

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
)

// Known says which of these deliveries were accepted.
func (s *Database) Known(ctx context.Context, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	var all []statement
	for _, id := range ids {
		all = append(all, statement{
			query: `SELECT 1 FROM deliveries WHERE id = $1`, args: []any{asText(id)},
			row: func(scanner) error { known[id] = true; return nil },
		})
	}
	return known, s.readRows(ctx, "find deliveries", all...)
}

// rowColumns are the columns that scanRow scans, of work as w, with a sight after them.
const rowColumns = `w.key, w.kind, w.grp, w.tenant, w.due_at, w.backlog_at, w.wake_at, w.leased > 0, w.attempts, w.failed, w.open > 0,
	w.seen_at`

func scanRow(scan scanner) (r Row, err error) {
	var due, backlog int64
	err = scan(&r.Key, &r.Kind, &r.Group, &r.Tenant, &due, &backlog, microsInto{&r.Wake}, &r.Leased, &r.Attempts, &r.Failed, &r.Open,
		microsInto{&r.Seen}, &r.Sight)
	r.Backlog, r.Due = backlog < due, timeOfMicros(min(due, backlog))
	return r, err
}

// Get returns a row.
func (s *Database) Get(ctx context.Context, key string) (Row, error) {
	var found []Row
	err := s.readRows(ctx, "read key", statement{
		query: `SELECT ` + rowColumns + `, s.sight FROM work w LEFT JOIN sights s ON s.id = w.id WHERE w.key = $1`,
		args:  []any{asText(key)},
		row:   collectInto(&found, scanRow),
	})
	if err != nil || len(found) == 0 {
		return Row{}, cmp.Or(err, ErrNoRow)
	}
	return found[0], nil
}

// List returns rows.
func (s *Database) List(ctx context.Context, q Query) (list []Row, err error) {
	query, args := listQuery(q, s.isShared)
	err = s.readRows(ctx, "list keys", statement{query: query, args: args, row: collectInto(&list, scanRow)})
	return list, err
}

// listQuery returns the SQL of a query. All of its text stands here: the caller's values go into parameters.
func listQuery(q Query, isShared bool) (query string, args []any) {
	sight, from, holds := "s.sight", "work w", "position($%d IN s.sight) > 0"
	if !isShared {
		from, holds = from+listIndex(q), "instr(s.sight, $%d) > 0"
	}
	if q.Thin { // then no database reads what it joins, unless Holds asks for it
		sight = "NULL"
	}
	var where strings.Builder
	bind := func(condition string, value any) string {
		args = append(args, value)
		return fmt.Sprintf(condition, len(args))
	}
	add := func(condition string, value any) { where.WriteString(" AND " + bind(condition, value)) }
	if q.Tenant != nil {
		add("w.tenant = $%d", *q.Tenant)
	}
	if q.Kind != "" {
		add("w.kind = $%d", asText(q.Kind))
	}
	if q.Group != "" {
		add("w.grp = $%d", asText(q.Group))
	}
	switch {
	case q.Open == nil:
	case *q.Open:
		where.WriteString(" AND w.open = 1") // as it stands in the index of open keys
	default:
		where.WriteString(" AND w.open = 0")
	}
	var either []string
	for _, text := range q.Holds {
		either = append(either, bind(holds, []byte(text)))
	}
	for _, key := range q.Keys {
		either = append(either, bind("w.key = $%d", asText(key)))
	}
	if either != nil {
		where.WriteString(" AND (" + strings.Join(either, " OR ") + ")")
	}
	if !q.Before.IsZero() {
		add("w.seen_at < $%d AND w.seen_at > 0", floorMicros(q.Before))
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	args = append(args, q.Limit)
	return fmt.Sprintf("SELECT %s, %s FROM %s LEFT JOIN sights s ON s.id = w.id WHERE 1 = 1%s ORDER BY w.seen_at DESC, w.id LIMIT $%d",
		rowColumns, sight, from, where.String(), len(args)), args
}

// listIndex names the index of SQLite by which a query reads the fewest rows. It would have to guess: it does not
// know that one kind may have a million keys, and a group has some.
func listIndex(q Query) string {
	switch {
	case q.Group != "":
		return " INDEXED BY work_grp"
	case q.Open != nil && *q.Open:
		return " INDEXED BY work_open"
	case q.Tenant != nil && q.Kind != "": // one tenant's, however many others have keys of the kind
		return " INDEXED BY work_due"
	case q.Kind != "":
		return " INDEXED BY work_kind"
	default:
		return ""
	}
}

// Health counts keys, leases and deliveries. It reads an index of all of them.
func (s *Database) Health(ctx context.Context, at time.Time) (h Health, err error) {
	now := floorMicros(at)
	var oldest int64
	err = s.readRows(ctx, "count keys", statement{
		query: `SELECT (SELECT count(*) FROM work), (SELECT count(*) FROM work WHERE open = 1),
			(SELECT count(*) FROM work WHERE attempts > 0),
			(SELECT count(*) FROM tenants t WHERE EXISTS (SELECT 1 FROM work w WHERE w.tenant = t.tenant)),
			(SELECT count(*) FROM work WHERE due_at <= $1 AND due_at < 9223372036854775807),
			coalesce((SELECT min(due_at) FROM work WHERE due_at < 9223372036854775807), 0),
			(SELECT count(*) FROM work WHERE leased = 1 AND due_at > $1), (SELECT count(*) FROM deliveries)`,
		args: []any{now},
		row:  scanInto(&h.Keys, &h.Open, &h.Failing, &h.Tenants, &h.Due, &oldest, &h.Leased, &h.Accepted),
	}, statement{
		query: `SELECT tenant, count(*) FROM work WHERE backlog_at <= $1 AND backlog_at < 9223372036854775807 GROUP BY tenant`,
		args:  []any{now},
		row: func(scan scanner) error {
			var tenant int64
			var n int
			err := scan(&tenant, &n)
			if h.Backlog == nil {
				h.Backlog = map[int64]int{}
			}
			h.Backlog[tenant] = n
			return err
		},
	})
	if h.Due > 0 {
		h.Oldest = time.Duration(now-oldest) * time.Microsecond
	}
	return h, err
}
