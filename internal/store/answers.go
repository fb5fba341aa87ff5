package store

// What GitHub has answered, on disk: with 100,000 pull requests it is far more than fits into memory, and asking again
// costs the hour's budget. Losing it costs nothing else, so nothing here waits for the disk and nothing is an error.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"
)

// AnswersOptions are options of OpenAnswers.
type AnswersOptions struct {
	Log      *slog.Logger // nil: nothing is logged
	MaxBytes int64        // of keys and compressed values; 0: 1 GiB. Beyond it, what was not read for longest is forgotten
}

// Answers is a cache in a file. It may be used by several goroutines. What is put can be got at once. A fault of the file is
// a miss, and the file is begun anew.
type Answers struct {
	path string
	log  *slog.Logger
	max  int64

	mu      sync.Mutex
	fresh   map[string][]byte // put since the writer last looked, compressed; nil: forgotten
	writing map[string][]byte // what the writer is writing
	waiting int64             // bytes of both
	marked  map[int64]bool    // ids that were got of an era before
	era     int64             // of the file: what is read or written now belongs to it
	broken  bool              // the file is to be begun anew
	told    time.Time         // when a fault was last logged
	closed  bool

	files sync.RWMutex // held to read the file; locked while it is replaced
	db    *sql.DB
	get   *sql.Stmt

	buffers sync.Pool // of *[]byte, to compress into
	wanted  chan wanted
	readers sync.WaitGroup
	wake    chan struct{}
	quit    chan struct{}
	gone    chan struct{}

	bytes int64 // in the file; of the writer alone
	turn  int64 // bytes written in this era; of the writer alone
}

const (
	maxWaiting    = 8 << 20                // bytes that wait to be written: beyond it a Put only forgets
	maxValue      = 64 << 20               // bytes of an answer: longer ones are never put
	readAtOnce    = 2                      // answers that are read from the file at a time
	maxRead       = 4096                   // ids that wait to be marked as read
	eras          = 16                     // in so many steps the whole file grows old
	pruned        = 256                    // answers that are forgotten in one step
	gatherAnswers = 400 * time.Millisecond // answers come in waves: one transaction for several
	tellAgain     = time.Minute
)

// The schema's number stands in the file. Another one begins the file anew: a cache is not migrated. Nothing here waits for
// the disk, so that after a loss of power a page may be an older one: sum tells, over the key and the value. Values are
// compressed: they are JSON, and writing it takes longer than shrinking it. Of a key there is its hash alone, id and rest:
// keys are long, and what is looked up would be several times as large with them. Values stand apart, in the order in which
// they came: among hashes, each new one would move its neighbours. After a loss of power two answers may share a body: the
// sum tells that, too, and the cache is begun anew.
const answersSchema = `
CREATE TABLE answers (id INTEGER PRIMARY KEY, rest INTEGER NOT NULL, body INTEGER NOT NULL, era INTEGER NOT NULL, size INTEGER NOT NULL, sum INTEGER NOT NULL);
CREATE INDEX answers_era ON answers (era);
CREATE TABLE bodies (id INTEGER PRIMARY KEY, value BLOB NOT NULL);
PRAGMA user_version = 3`

// A hash stands for a key in the file: so much of SHA-256 that nobody finds two keys with the same.
type hash struct{ id, rest int64 }

func hashOf(key string) hash {
	sum := sha256.Sum256([]byte(key))
	return hash{int64(binary.BigEndian.Uint64(sum[:])), int64(binary.BigEndian.Uint64(sum[8:]))}
}

func byID(a, b hash) int { return cmp.Compare(a.id, b.id) }

// OpenAnswers opens the cache in a file, which it creates if it is not there or cannot be read.
func OpenAnswers(path string, o AnswersOptions) (*Answers, error) {
	a := &Answers{
		path: path, log: o.Log, max: o.MaxBytes,
		fresh: map[string][]byte{}, marked: map[int64]bool{},
		wanted: make(chan wanted), wake: make(chan struct{}, 1), quit: make(chan struct{}), gone: make(chan struct{}),
	}
	a.buffers.New = func() any { return new([]byte) }
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.max <= 0 {
		a.max = 1 << 30
	}
	if err := a.open(); err != nil {
		if errors.Is(err, errOtherSchema) {
			a.log.Info("another version of this program wrote the cache of answers: it is begun anew", "file", path, "err", err)
		} else {
			a.log.Warn("the cache of answers cannot be read and is begun anew", "file", path, "err", err)
		}
		if err := a.anew(); err != nil {
			return nil, fmt.Errorf("open cache %s: %w", path, err)
		}
	}
	go a.write()
	for range readAtOnce {
		a.readers.Go(a.serve)
	}
	return a, nil
}

var errOtherSchema = errors.New("it has another schema")

// open opens the file and reads what there is to know about it.
func (a *Answers) open() (err error) {
	if err := createFile(a.path); err != nil {
		return err
	}
	db, err := openDB(a.path, readAtOnce+1, "cache_size(-300)", "synchronous(OFF)", "journal_size_limit(16777216)")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	ctx := context.Background()
	var schema int
	if err := db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&schema); err != nil {
		return err
	}
	switch schema {
	case 0:
		if _, err := db.ExecContext(ctx, answersSchema); err != nil {
			return err
		}
	case 3:
	default:
		return fmt.Errorf("%w: %d, want 3", errOtherSchema, schema)
	}
	var era int64
	if err := db.QueryRowContext(ctx, `SELECT coalesce(sum(size), 0), coalesce(max(era), 0) + 1 FROM answers`).Scan(&a.bytes, &era); err != nil {
		return err
	}
	if a.get, err = db.PrepareContext(ctx, `SELECT a.era, a.sum, b.value FROM answers a JOIN bodies b ON b.id = a.body WHERE a.id = ? AND a.rest = ?`); err != nil {
		return err
	}
	a.mu.Lock()
	a.era = era
	a.mu.Unlock()
	a.db, a.turn = db, 0
	return nil
}

// anew begins the file anew.
func (a *Answers) anew() error {
	var errs []error
	if a.db != nil {
		_ = errors.Join(a.get.Close(), a.db.Close()) // whatever they say: the file goes
		a.db, a.get = nil, nil
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(a.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return a.open()
}

// wanted is an answer that somebody waits for.
type wanted struct {
	key   string
	found chan<- []byte // nil: there is none
}

// Get returns an answer; false if there is none.
func (a *Answers) Get(key string) ([]byte, bool) {
	a.mu.Lock()
	packed, ok := a.fresh[key]
	if !ok {
		packed, ok = a.writing[key]
	}
	broken := a.broken
	a.mu.Unlock()
	var value []byte
	switch {
	case ok && packed != nil:
		var err error
		if value, err = unpack(packed); err != nil {
			return nil, false // unreachable: it was compressed here
		}
	case ok, broken:
	default:
		found := make(chan []byte, 1)
		select {
		case a.wanted <- wanted{key, found}:
			value = <-found
		case <-a.quit:
		}
	}
	return value, value != nil
}

// serve reads answers for others: whoever has a small stack would grow it for SQLite each time.
func (a *Answers) serve() {
	for {
		select {
		case w := <-a.wanted:
			w.found <- a.read(w.key)
		case <-a.quit:
			return
		}
	}
}

// read returns an answer from the file; nil if there is none.
func (a *Answers) read(key string) []byte {
	h := hashOf(key)
	era, value, err := a.find(key, h)
	switch {
	case errors.Is(err, sql.ErrNoRows), errors.Is(err, errNoFile):
		return nil
	case err != nil:
		a.fault("read", err)
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if era < a.era && len(a.marked) < maxRead {
		a.marked[h.id] = true
		if len(a.marked) == maxRead {
			a.nudge()
		}
	}
	return value
}

// errNoFile says that there is no file: it is being replaced, cannot be, or was closed.
var errNoFile = errors.New("no file")

func (a *Answers) find(key string, h hash) (era int64, value []byte, err error) {
	a.files.RLock()
	defer a.files.RUnlock()
	if a.db == nil {
		return 0, nil, errNoFile
	}
	var sum uint32
	var packed sql.RawBytes
	rows, err := a.get.QueryContext(context.Background(), h.id, h.rest)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return 0, nil, cmp.Or(rows.Err(), sql.ErrNoRows)
	}
	if err := rows.Scan(&era, &sum, &packed); err != nil {
		return 0, nil, err
	}
	if sum != sumOf(key, packed) {
		return 0, nil, errors.New("an answer is not what was written")
	}
	value, err = unpack(packed)
	return era, value, err
}

var errTooLong = errors.New("longer than any that was put")

// pack compresses a value.
func (a *Answers) pack(value []byte) []byte {
	buffer := a.buffers.Get().(*[]byte)
	defer a.buffers.Put(buffer)
	*buffer = s2.Encode((*buffer)[:cap(*buffer)], value)
	return bytes.Clone(*buffer)
}

// unpack returns the value of what pack returned; never nil without an error.
func unpack(packed []byte) ([]byte, error) {
	if n, err := s2.DecodedLen(packed); err != nil || n > maxValue {
		return nil, fmt.Errorf("read answer: %d bytes: %w", n, cmp.Or(err, errTooLong))
	}
	value, err := s2.Decode([]byte{}, packed)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return value, nil
}

func sumOf(key string, value []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum([]byte(key), table), table, value)
}

// Put keeps an answer. value is not needed after it.
func (a *Answers) Put(key string, value []byte) {
	if len(value) > maxValue {
		a.Forget(key)
		return
	}
	a.later(key, a.pack(value))
}

// Forget removes an answer.
func (a *Answers) Forget(key string) { a.later(key, nil) }

// later leaves a value to the writer. What is too much for it is forgotten, not kept as it was before.
func (a *Answers) later(key string, value []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	if old, ok := a.fresh[key]; ok {
		a.waiting -= sizeOf(key, old)
	}
	if a.waiting+sizeOf(key, value) > maxWaiting || sizeOf(key, value) > a.max/eras {
		value = nil
	}
	a.fresh[key] = value
	a.waiting += sizeOf(key, value)
	a.nudge()
}

func sizeOf(key string, value []byte) int64 { return int64(len(key)) + int64(len(value)) }

// nudge tells the writer that there is something to do.
func (a *Answers) nudge() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// fault notes that the file cannot be used. The writer begins it anew.
func (a *Answers) fault(what string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.broken = true
	a.nudge()
	if now := time.Now(); now.Sub(a.told) >= tellAgain {
		a.told = now
		a.log.Warn("the cache of answers cannot be used and is begun anew", "to", what, "file", a.path, "err", err)
	}
}

// Close writes what waits, and lets go of the file.
func (a *Answers) Close() error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		<-a.gone
		return nil
	}
	a.closed = true
	a.mu.Unlock()
	close(a.quit)
	<-a.gone
	a.readers.Wait()
	a.files.Lock()
	defer a.files.Unlock()
	if a.db == nil {
		return nil
	}
	err := errors.Join(a.get.Close(), a.db.Close())
	a.db, a.get = nil, nil
	return err
}

// write writes what comes in, a wave at a time.
func (a *Answers) write() {
	defer close(a.gone)
	gather := time.NewTimer(0)
	defer gather.Stop()
	for {
		select {
		case <-a.wake:
		case <-a.quit:
			a.flush()
			return
		}
		gather.Reset(gatherAnswers)
		select {
		case <-gather.C:
		case <-a.quit:
		}
		a.flush()
	}
}

// flush writes what has come in.
func (a *Answers) flush() {
	a.mu.Lock()
	broken := a.broken
	a.broken = false
	a.writing, a.fresh = a.fresh, map[string][]byte{}
	read := a.marked
	a.marked = map[int64]bool{}
	a.mu.Unlock()
	if broken || a.db == nil {
		a.files.Lock()
		err := a.anew()
		a.files.Unlock()
		if err != nil {
			a.fault("begin it anew", err)
		}
		read = nil // ids of the former file
	}
	if a.db != nil {
		if err := a.store(a.writing, read); err != nil {
			a.fault("write", err)
		}
	}
	a.mu.Lock()
	for key, value := range a.writing {
		a.waiting -= sizeOf(key, value)
	}
	a.writing = nil
	a.mu.Unlock()
}

// store writes values and what was read, in one transaction, and makes room.
func (a *Answers) store(values map[string][]byte, read map[int64]bool) error {
	ctx := context.Background()
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	w, err := prepareAnswers(tx)
	if err != nil {
		return err
	}
	defer w.close()
	bytes, turn := a.bytes, a.turn
	hashes := make(map[hash]string, len(values))
	for key := range values {
		hashes[hashOf(key)] = key
	}
	for _, h := range slices.SortedFunc(maps.Keys(hashes), byID) { // page by page
		key := hashes[h]
		delta, err := w.put(h, key, values[key], a.era)
		if err != nil {
			return err
		}
		bytes += delta
		turn += sizeOf("", values[key])
	}
	for id := range read {
		if _, err := w.mark.ExecContext(context.Background(), a.era, id); err != nil {
			return err
		}
	}
	for bytes > a.max {
		freed, err := w.prune()
		if err != nil {
			return err
		}
		if freed == 0 {
			break // unreachable unless the count is wrong
		}
		bytes -= freed
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	a.bytes, a.turn = bytes, turn
	if a.turn > a.max/eras {
		a.turn = 0
		a.mu.Lock()
		a.era++
		a.mu.Unlock()
	}
	return nil
}

// An answersWriter holds the statements of one transaction.
type answersWriter struct {
	find, insert, insertBody, replace, replaceBody, mark, oldest, remove, removeBody *sql.Stmt
}

func prepareAnswers(tx *sql.Tx) (w answersWriter, err error) {
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&w.find, `SELECT body, era, size FROM answers WHERE id = ?`},
		{&w.insert, `INSERT INTO answers (id, rest, body, era, size, sum) VALUES (?, ?, ?, ?, ?, ?)`},
		{&w.insertBody, `INSERT INTO bodies (value) VALUES (?)`},
		{&w.replace, `UPDATE answers SET rest = ?, size = ?, sum = ? WHERE id = ?`},
		{&w.replaceBody, `INSERT INTO bodies (id, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`},
		{&w.mark, `UPDATE answers SET era = ? WHERE id = ?`},
		{&w.oldest, `SELECT id, body, size FROM answers ORDER BY era, id LIMIT ?`},
		{&w.remove, `DELETE FROM answers WHERE id = ?`},
		{&w.removeBody, `DELETE FROM bodies WHERE id = ?`},
	} {
		if *p.stmt, err = tx.PrepareContext(context.Background(), p.query); err != nil {
			w.close()
			return w, err
		}
	}
	return w, nil
}

func (w answersWriter) close() {
	for _, s := range []*sql.Stmt{w.find, w.insert, w.insertBody, w.replace, w.replaceBody, w.mark, w.oldest, w.remove, w.removeBody} {
		if s != nil {
			_ = s.Close() // it ends with its transaction anyway
		}
	}
}

// put writes a value, or removes it if it is nil, and says by how much the file's content grew.
func (w answersWriter) put(h hash, key string, value []byte, era int64) (grown int64, err error) {
	ctx := context.Background()
	var body, eraBefore, before int64
	err = w.find.QueryRowContext(ctx, h.id).Scan(&body, &eraBefore, &before)
	size := sizeOf(key, value)
	switch {
	case errors.Is(err, sql.ErrNoRows) && value == nil:
		return 0, nil
	case errors.Is(err, sql.ErrNoRows):
		return size, w.add(h, value, era, size, sumOf(key, value))
	case err != nil:
		return 0, err
	case value == nil:
		return -before, w.forget(h.id, body)
	}
	if _, err := w.replace.ExecContext(ctx, h.rest, size, sumOf(key, value), h.id); err != nil {
		return 0, err
	}
	if era != eraBefore { // or an index would be written for nothing
		if _, err := w.mark.ExecContext(ctx, era, h.id); err != nil {
			return 0, err
		}
	}
	_, err = w.replaceBody.ExecContext(ctx, body, value)
	return size - before, err
}

func (w answersWriter) add(h hash, value []byte, era, size int64, sum uint32) error {
	r, err := w.insertBody.ExecContext(context.Background(), value)
	if err != nil {
		return err
	}
	body, err := r.LastInsertId()
	if err != nil {
		return err
	}
	_, err = w.insert.ExecContext(context.Background(), h.id, h.rest, body, era, size, sum)
	return err
}

func (w answersWriter) forget(id, body int64) error {
	if _, err := w.remove.ExecContext(context.Background(), id); err != nil {
		return err
	}
	_, err := w.removeBody.ExecContext(context.Background(), body)
	return err
}

// prune forgets some of what was not read for longest, and says how many bytes that were.
func (w answersWriter) prune() (freed int64, err error) {
	rows, err := w.oldest.QueryContext(context.Background(), pruned)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var old [][2]int64 // ids of answers and of their bodies
	for rows.Next() {
		var id, body, size int64
		if err := rows.Scan(&id, &body, &size); err != nil {
			return 0, err
		}
		old = append(old, [2]int64{id, body})
		freed += size
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	for _, o := range old {
		if err := w.forget(o[0], o[1]); err != nil {
			return 0, err
		}
	}
	return freed, nil
}
