package store

// What a copy reads and writes: the columns that both kinds of store have, as numbers and texts. A statement names its
// parameters ?1, ?2, …, and PostgreSQL gets them as $1, $2, ….

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// A copyTable is a table that is copied.
type copyTable struct {
	name, noun string
	keys       int // how many columns name a row: the first ones
	hasSights  bool
	columns    []copyColumn
}

// A copyColumn is a column of a table; one that is neither a text nor a yes or no is a number.
type copyColumn struct {
	name           string
	isText, isBool bool
}

// copyTables are the tables that are copied. Of work a lease is not, nor are a tenant's turns: as after a start.
func copyTables() []copyTable {
	number := func(name string) copyColumn { return copyColumn{name: name} }
	text := func(name string) copyColumn { return copyColumn{name: name, isText: true} }
	return []copyTable{
		{name: "deliveries", noun: "delivery", keys: 1, columns: []copyColumn{
			text("id"), text("event"), text("action"), number("received_at"),
		}},
		{name: "work", noun: "key", keys: 1, hasSights: true, columns: []copyColumn{
			number("id"), text("key"), number("tenant"), text("kind"), text("grp"), number("gen"), number("due_at"),
			number("backlog_at"), text("touches"), text("taken"), number("attempts"), text("failed"), number("wake_at"),
			number("seen_at"),
			{name: "open", isBool: true},
		}},
		{name: "heard", noun: "answer", keys: 3, columns: []copyColumn{
			text("grp"), text("reviewer"), text("text"), number("tenant"), text("label"), number("pull"), text("stranger"),
			number("said_at"), number("unread"),
		}},
		{name: "signs", noun: "sign", keys: 4, columns: []copyColumn{
			text("grp"), text("reviewer"), number("kind"), text("shown_by"), number("tenant"), number("pull"), text("author"),
			number("shown_at"), number("until_at"),
		}},
	}
}

// A copyRow is a row, a cell for each column.
type copyRow []copyCell

// A copyCell is a number or a text.
type copyCell struct {
	number int64
	text   string
}

// compareKeys compares what names two rows, as both kinds of store order them. Nil comes after all.
func (t copyTable) compareKeys(a, b copyRow) int {
	switch {
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	for i := range t.keys {
		if order := cmp.Or(cmp.Compare(a[i].number, b[i].number), cmp.Compare(a[i].text, b[i].text)); order != 0 {
			return order
		}
	}
	return 0
}

// keyNames are the columns that name a row, for a statement.
func (t copyTable) keyNames() string {
	var names []string
	for _, c := range t.columns[:t.keys] {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// appendArgs appends the values of a row's first columns to those of a statement.
func (t copyTable) appendArgs(args []any, row copyRow, columns int) []any {
	for i, c := range t.columns[:columns] {
		if c.isText {
			args = append(args, row[i].text)
			continue
		}
		args = append(args, row[i].number)
	}
	return args
}

// scanRow scans a row of a query for all columns, and beside them more.
func (t copyTable) scanRow(rows *sql.Rows, more ...any) (copyRow, error) {
	row := make(copyRow, len(t.columns))
	var into []any
	for i, c := range t.columns {
		if c.isText {
			into = append(into, &row[i].text)
			continue
		}
		into = append(into, &row[i].number)
	}
	return row, rows.Scan(append(into, more...)...)
}

// forPostgres makes the texts of a row such that PostgreSQL takes them. It reports false if the row would have another name.
func (t copyTable) forPostgres(row copyRow) bool {
	for i, c := range t.columns {
		text := asText(row[i].text)
		if c.isText && i < t.keys && text != row[i].text {
			return false
		}
		row[i].text = text
	}
	return true
}

// selectColumns is what a statement selects to read all columns. A lease is read as if it had ended.
func (e *copyEnd) selectColumns(t copyTable) string {
	var all []string
	for _, c := range t.columns {
		switch {
		case c.isBool:
			all = append(all, "CASE WHEN "+c.name+" THEN 1 ELSE 0 END")
		case c.name == "due_at" && e.isPostgres: // which does not keep since when a leased key was due
			all = append(all, fmt.Sprintf("CASE WHEN leased THEN least(due_at, %d) ELSE due_at END", e.now))
		case c.name == "due_at":
			all = append(all, "CASE WHEN leased THEN since ELSE due_at END")
		default:
			all = append(all, c.name)
		}
	}
	return strings.Join(all, ", ")
}

// A copyReader reads the rows of a table in the order of their names, a page at a time.
type copyReader struct {
	end           *copyEnd
	table         copyTable
	pageRows      int
	isForPostgres bool

	page    []copyRow
	last    copyRow // that was read, its name as it stands there; nil: none yet
	isDone  bool
	leftOut int64
}

// peekRow returns the next row; nil after the last.
func (r *copyReader) peekRow(ctx context.Context) (copyRow, error) {
	for len(r.page) == 0 && !r.isDone {
		if err := r.readPage(ctx); err != nil {
			return nil, err
		}
	}
	if len(r.page) == 0 {
		return nil, nil
	}
	return r.page[0], nil
}

// dropRow goes on to the row after the one that peekRow returned.
func (r *copyReader) dropRow() { r.page = r.page[1:] }

func (r *copyReader) readPage(ctx context.Context) error {
	t := r.table
	var args []any
	where := ""
	if r.last != nil {
		args = t.appendArgs(args, r.last, t.keys)
		where = fmt.Sprintf(" WHERE (%s) > (%s)", t.keyNames(), listParameters(t.keys))
	}
	rows, err := r.end.query(ctx, fmt.Sprintf(
		"SELECT %s FROM %s%s ORDER BY %s LIMIT %d", r.end.selectColumns(t), t.name, where, t.keyNames(), r.pageRows,
	), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		row, err := t.scanRow(rows)
		if err != nil {
			return err
		}
		r.last = append(copyRow{}, row...)
		if r.isForPostgres && !t.forPostgres(row) {
			r.leftOut++
			continue
		}
		r.page = append(r.page, row)
	}
	r.isDone = n < r.pageRows
	return rows.Err()
}

// readWithSights reads rows of work anew, each with its sight. Those that are gone by now are not returned.
func (e *copyEnd) readWithSights(
	ctx context.Context, t copyTable, of []copyRow, isForPostgres bool,
) (now []copyRow, sights map[int64][]byte, err error) {
	if len(of) == 0 {
		return nil, nil, nil
	}
	var ids []any
	for _, row := range of {
		ids = append(ids, row[0].number)
	}
	rows, err := e.query(ctx, fmt.Sprintf("SELECT %s, (SELECT sight FROM sights WHERE sights.id = work.id) FROM work WHERE id IN (%s)",
		e.selectColumns(t), listParameters(len(ids))), ids...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	sights = map[int64][]byte{}
	for rows.Next() {
		var sight []byte
		row, err := t.scanRow(rows, &sight)
		if err != nil {
			return nil, nil, err
		}
		if isForPostgres {
			t.forPostgres(row) // its name is a number
		}
		if now = append(now, row); sight != nil {
			sights[row[0].number] = sight
		}
	}
	return now, sights, rows.Err()
}

// listParameters lists a statement's first parameters.
func listParameters(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("?%d", i+1)
	}
	return strings.Join(all, ", ")
}

// A copyWriter writes rows of a table in a transaction.
type copyWriter struct {
	end   *copyEnd
	tx    *sql.Tx
	table copyTable
}

func (w copyWriter) exec(ctx context.Context, query string, args ...any) error {
	_, err := w.tx.ExecContext(ctx, w.end.dialect(query), args...)
	return err
}

// replaceRows deletes old rows and inserts others, with their sights.
func (w copyWriter) replaceRows(ctx context.Context, old, rows []copyRow, sights map[int64][]byte) error {
	if err := w.deleteRows(ctx, old); err != nil {
		return err
	}
	if w.table.hasSights {
		if err := w.deleteSameKeys(ctx, rows); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(rows, maxInserted) {
		if err := w.insertRows(ctx, some); err != nil {
			return err
		}
	}
	for id, sight := range sights {
		if err := w.exec(ctx, "INSERT INTO sights (id, sight) VALUES (?1, ?2)", id, sight); err != nil {
			return err
		}
	}
	return nil
}

func (w copyWriter) deleteRows(ctx context.Context, rows []copyRow) error {
	t := w.table
	if t.keys > 1 {
		query := fmt.Sprintf("DELETE FROM %s WHERE (%s) = (%s)", t.name, t.keyNames(), listParameters(t.keys))
		for _, row := range rows {
			if err := w.exec(ctx, query, t.appendArgs(nil, row, t.keys)...); err != nil {
				return err
			}
		}
		return nil
	}
	var names []any
	for _, row := range rows {
		names = t.appendArgs(names, row, 1)
	}
	list := listParameters(len(names))
	if t.hasSights {
		if err := w.exec(ctx, "DELETE FROM sights WHERE id IN ("+list+")", names...); err != nil {
			return err
		}
	}
	return w.exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s IN (%s)", t.name, t.keyNames(), list), names...)
}

// deleteSameKeys deletes what stands under the keys of rows: one that was forgotten and came back has another number.
func (w copyWriter) deleteSameKeys(ctx context.Context, rows []copyRow) error {
	if len(rows) == 0 {
		return nil
	}
	var keys []any
	for _, row := range rows {
		keys = append(keys, row[1].text)
	}
	list := listParameters(len(keys))
	if err := w.exec(ctx, "DELETE FROM sights WHERE id IN (SELECT id FROM work WHERE key IN ("+list+"))", keys...); err != nil {
		return err
	}
	return w.exec(ctx, "DELETE FROM work WHERE key IN ("+list+")", keys...)
}

// maxInserted bounds the rows of one statement: SQLite searches the list of its parameters for each of them.
const maxInserted = 40

func (w copyWriter) insertRows(ctx context.Context, rows []copyRow) error {
	t := w.table
	var names, values []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	var args []any
	for _, row := range rows {
		var cells []string
		for i, c := range t.columns {
			cell := fmt.Sprintf("?%d", len(args)+i+1)
			if c.isBool {
				cell = "(" + cell + " <> 0)"
			}
			cells = append(cells, cell)
		}
		args = t.appendArgs(args, row, len(t.columns))
		values = append(values, "("+strings.Join(cells, ", ")+")")
	}
	given := ""
	if w.end.isPostgres && t.hasSights {
		given = " OVERRIDING SYSTEM VALUE" // the numbers of keys are kept: among keys that are due as long, they are the order
	}
	return w.exec(ctx, fmt.Sprintf(
		"INSERT INTO %s (%s)%s VALUES %s", t.name, strings.Join(names, ", "), given, strings.Join(values, ", "),
	), args...)
}
