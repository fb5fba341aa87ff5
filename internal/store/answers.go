package store

// GitHub's answers, cached on disk: with 100,000 pull requests they are far more than fits into memory, and asking
// again costs the hour's budget. Losing them costs nothing else, so nothing here waits for the disk and nothing is an
// error.

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

// AnswerCacheOptions are options of OpenAnswerCache.
type AnswerCacheOptions struct {
	Log      *slog.Logger // nil: nothing is logged
	MaxBytes int64        // of keys and compressed values; 0: 1 GiB. Beyond it, the answers not read for longest go
}

// AnswerCache is a cache in a file. It may be used by several goroutines. An answer can be read as soon as Put returns.
// A fault of the file is a miss, and the file is recreated.
type AnswerCache struct {
	path     string
	log      *slog.Logger
	maxBytes int64

	mu            sync.Mutex
	pending       map[string][]byte // put since the last flush, compressed; nil: to be removed
	writing       map[string][]byte // taken by the writer, which is writing them
	waitingBytes  int64             // bytes of both
	readIDs       map[int64]bool    // ids of an earlier era that were read: to be marked
	era           int64             // of the file: an answer read or written now belongs to it
	broken        bool              // the file is to be recreated
	faultLoggedAt time.Time         // when a fault was last logged
	closed        bool

	fileMu       sync.RWMutex // held to read the file; locked while it is replaced
	db           *sql.DB
	selectAnswer *sql.Stmt

	buffers    sync.Pool // of *[]byte, to compress into
	requests   chan answerRequest
	readers    sync.WaitGroup
	wake       chan struct{}
	quit       chan struct{}
	writerDone chan struct{}

	fileBytes int64 // in the file; of the writer alone
	eraBytes  int64 // bytes written in this era; of the writer alone
}

const (
	maxWaitingBytes   = 8 << 20                // bytes that wait to be written: beyond it a Put only forgets
	maxValueBytes     = 64 << 20               // bytes of an answer: longer ones are never put
	concurrentReads   = 2                      // answers that are read from the file at a time
	maxReadIDs        = 4096                   // ids that wait to be marked as read
	eraCount          = 16                     // in a full file: the oldest one is forgotten first
	pruneBatch        = 256                    // answers that are forgotten in one step
	answersFlushDelay = 400 * time.Millisecond // answers come in waves: one transaction serves several
	answersFaultPause = time.Minute
)

// answersSchema has a number, which stands in the file. A file with another one is recreated: a cache is not migrated.
// Nothing here waits for the disk, so that after a loss of power a page may be an older one: sum, over the key and the
// value, detects that. Values are compressed: they are JSON, and writing them takes longer than compressing them. Of a
// key only its hash is stored, as id and rest: keys are long, and the table that is searched would be several times as
// large with them. Values stand in a table of their own, in the order in which they came: among hashes, each new one
// would move its neighbours. After a loss of power two answers may share a body: sum detects that, too, and the cache
// is recreated.
const answersSchema = `
CREATE TABLE answers (id INTEGER PRIMARY KEY, rest INTEGER NOT NULL, body INTEGER NOT NULL, era INTEGER NOT NULL, size INTEGER NOT NULL, sum INTEGER NOT NULL);
CREATE INDEX answers_era ON answers (era);
CREATE TABLE bodies (id INTEGER PRIMARY KEY, value BLOB NOT NULL);
PRAGMA user_version = 3`

// A keyHash stands for a key in the file: 16 bytes of its SHA-256, too many for two keys with the same hash to be
// found.
type keyHash struct{ id, rest int64 }

func hashKey(key string) keyHash {
	sum := sha256.Sum256([]byte(key))
	return keyHash{int64(binary.BigEndian.Uint64(sum[:])), int64(binary.BigEndian.Uint64(sum[8:]))}
}

func compareByID(a, b keyHash) int { return cmp.Compare(a.id, b.id) }

// OpenAnswerCache opens the cache in a file, which it creates if it is not there or cannot be read.
func OpenAnswerCache(path string, o AnswerCacheOptions) (*AnswerCache, error) {
	a := &AnswerCache{
		path: path, log: o.Log, maxBytes: o.MaxBytes,
		pending: map[string][]byte{}, readIDs: map[int64]bool{},
		requests: make(chan answerRequest), wake: make(chan struct{}, 1), quit: make(chan struct{}), writerDone: make(chan struct{}),
	}
	a.buffers.New = func() any { return new([]byte) }
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.maxBytes <= 0 {
		a.maxBytes = 1 << 30
	}
	if err := a.openDatabase(); err != nil {
		if errors.Is(err, errOtherSchema) {
			a.log.Info("another version of this program wrote the cache of answers: it is begun anew", "file", path, "err", err)
		} else {
			a.log.Warn("the cache of answers cannot be read and is begun anew", "file", path, "err", err)
		}
		if err := a.recreateFile(); err != nil {
			return nil, fmt.Errorf("open cache %s: %w", path, err)
		}
	}
	go a.runWriter()
	for range concurrentReads {
		a.readers.Go(a.serveReads)
	}
	return a, nil
}

var errOtherSchema = errors.New("it has another schema")

// openDatabase opens the file, creates its tables if it is new, and reads its size and era.
func (a *AnswerCache) openDatabase() (err error) {
	if err := createFile(a.path); err != nil {
		return err
	}
	db, err := openDB(a.path, concurrentReads+1, "cache_size(-300)", "synchronous(OFF)", "journal_size_limit(16777216)")
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
	if err := db.QueryRowContext(ctx, `SELECT coalesce(sum(size), 0), coalesce(max(era), 0) + 1 FROM answers`).Scan(&a.fileBytes, &era); err != nil {
		return err
	}
	if a.selectAnswer, err = db.PrepareContext(ctx, `SELECT a.era, a.sum, b.value FROM answers a JOIN bodies b ON b.id = a.body WHERE a.id = ? AND a.rest = ?`); err != nil {
		return err
	}
	a.mu.Lock()
	a.era = era
	a.mu.Unlock()
	a.db, a.eraBytes = db, 0
	return nil
}

// recreateFile removes the file and opens an empty one.
func (a *AnswerCache) recreateFile() error {
	var errs []error
	if a.db != nil {
		_ = errors.Join(a.selectAnswer.Close(), a.db.Close()) // their errors do not matter: the file goes
		a.db, a.selectAnswer = nil, nil
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(a.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return a.openDatabase()
}

// answerRequest asks a goroutine of serveReads for an answer.
type answerRequest struct {
	key   string
	reply chan<- []byte // receives nil if there is none
}

// Get returns an answer; false if there is none.
func (a *AnswerCache) Get(key string) ([]byte, bool) {
	a.mu.Lock()
	packed, ok := a.pending[key]
	if !ok {
		packed, ok = a.writing[key]
	}
	broken := a.broken
	a.mu.Unlock()
	var value []byte
	switch {
	case ok && packed != nil:
		var err error
		if value, err = decompressValue(packed); err != nil {
			return nil, false // unreachable: it was compressed here
		}
	case ok, broken:
	default:
		found := make(chan []byte, 1)
		select {
		case a.requests <- answerRequest{key, found}:
			value = <-found
		case <-a.quit:
		}
	}
	return value, value != nil
}

// serveReads reads answers for other goroutines: one with a small stack would grow it for SQLite each time.
func (a *AnswerCache) serveReads() {
	for {
		select {
		case w := <-a.requests:
			w.reply <- a.readFromFile(w.key)
		case <-a.quit:
			return
		}
	}
}

// readFromFile returns an answer from the file; nil if there is none.
func (a *AnswerCache) readFromFile(key string) []byte {
	h := hashKey(key)
	era, value, err := a.queryAnswer(key, h)
	switch {
	case errors.Is(err, sql.ErrNoRows), errors.Is(err, errNoFile):
		return nil
	case err != nil:
		a.reportFault("read", err)
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if era < a.era && len(a.readIDs) < maxReadIDs {
		a.readIDs[h.id] = true
		if len(a.readIDs) == maxReadIDs {
			a.wakeWriter()
		}
	}
	return value
}

// errNoFile says that there is no file: it is being replaced, cannot be, or was closed.
var errNoFile = errors.New("no file")

func (a *AnswerCache) queryAnswer(key string, h keyHash) (era int64, value []byte, err error) {
	a.fileMu.RLock()
	defer a.fileMu.RUnlock()
	if a.db == nil {
		return 0, nil, errNoFile
	}
	var sum uint32
	var packed sql.RawBytes
	rows, err := a.selectAnswer.QueryContext(context.Background(), h.id, h.rest)
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
	if sum != answerChecksum(key, packed) {
		return 0, nil, errors.New("an answer is not what was written")
	}
	value, err = decompressValue(packed)
	return era, value, err
}

var errTooLong = errors.New("longer than any that was put")

// compressValue compresses a value.
func (a *AnswerCache) compressValue(value []byte) []byte {
	buffer := a.buffers.Get().(*[]byte)
	defer a.buffers.Put(buffer)
	*buffer = s2.Encode((*buffer)[:cap(*buffer)], value)
	return bytes.Clone(*buffer)
}

// decompressValue returns the value that compressValue compressed; never nil without an error.
func decompressValue(packed []byte) ([]byte, error) {
	if n, err := s2.DecodedLen(packed); err != nil || n > maxValueBytes {
		return nil, fmt.Errorf("read answer: %d bytes: %w", n, cmp.Or(err, errTooLong))
	}
	value, err := s2.Decode([]byte{}, packed)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return value, nil
}

func answerChecksum(key string, value []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum([]byte(key), table), table, value)
}

// Put keeps an answer. The caller may change value after it.
func (a *AnswerCache) Put(key string, value []byte) {
	if len(value) > maxValueBytes {
		a.Forget(key)
		return
	}
	a.enqueue(key, a.compressValue(value))
}

// Forget removes an answer.
func (a *AnswerCache) Forget(key string) { a.enqueue(key, nil) }

// enqueue hands a value to the writer; nil removes the answer. A value that is too large, or finds the queue full,
// removes it too: an older one must not stay.
func (a *AnswerCache) enqueue(key string, value []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	if old, ok := a.pending[key]; ok {
		a.waitingBytes -= answerSize(key, old)
	}
	if a.waitingBytes+answerSize(key, value) > maxWaitingBytes || answerSize(key, value) > a.maxBytes/eraCount {
		value = nil
	}
	a.pending[key] = value
	a.waitingBytes += answerSize(key, value)
	a.wakeWriter()
}

func answerSize(key string, value []byte) int64 { return int64(len(key)) + int64(len(value)) }

// wakeWriter tells the writer that there is something to write.
func (a *AnswerCache) wakeWriter() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// reportFault notes that the file cannot be used. The writer recreates it.
func (a *AnswerCache) reportFault(what string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.broken = true
	a.wakeWriter()
	if now := time.Now(); now.Sub(a.faultLoggedAt) >= answersFaultPause {
		a.faultLoggedAt = now
		a.log.Warn("the cache of answers cannot be used and is begun anew", "to", what, "file", a.path, "err", err)
	}
}

// Close writes the pending values and closes the file.
func (a *AnswerCache) Close() error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		<-a.writerDone
		return nil
	}
	a.closed = true
	a.mu.Unlock()
	close(a.quit)
	<-a.writerDone
	a.readers.Wait()
	a.fileMu.Lock()
	defer a.fileMu.Unlock()
	if a.db == nil {
		return nil
	}
	err := errors.Join(a.selectAnswer.Close(), a.db.Close())
	a.db, a.selectAnswer = nil, nil
	return err
}

// runWriter flushes what was put, a wave at a time.
func (a *AnswerCache) runWriter() {
	defer close(a.writerDone)
	gather := time.NewTimer(0)
	defer gather.Stop()
	for {
		select {
		case <-a.wake:
		case <-a.quit:
			a.flushPending()
			return
		}
		gather.Reset(answersFlushDelay)
		select {
		case <-gather.C:
		case <-a.quit:
		}
		a.flushPending()
	}
}

// flushPending writes the pending values and marks the answers that were read; a broken file is recreated first.
func (a *AnswerCache) flushPending() {
	a.mu.Lock()
	broken := a.broken
	a.broken = false
	a.writing, a.pending = a.pending, map[string][]byte{}
	read := a.readIDs
	a.readIDs = map[int64]bool{}
	a.mu.Unlock()
	if broken || a.db == nil {
		a.fileMu.Lock()
		err := a.recreateFile()
		a.fileMu.Unlock()
		if err != nil {
			a.reportFault("begin it anew", err)
		}
		read = nil // ids of the former file
	}
	if a.db != nil {
		if err := a.writeBatch(a.writing, read); err != nil {
			a.reportFault("write", err)
		}
	}
	a.mu.Lock()
	for key, value := range a.writing {
		a.waitingBytes -= answerSize(key, value)
	}
	a.writing = nil
	a.mu.Unlock()
}

// writeBatch writes values, marks answers as read, and makes room, in one transaction.
func (a *AnswerCache) writeBatch(values map[string][]byte, read map[int64]bool) error {
	ctx := context.Background()
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	w, err := prepareAnswerStatements(tx)
	if err != nil {
		return err
	}
	defer w.closeAll()
	bytes, turn := a.fileBytes, a.eraBytes
	hashes := make(map[keyHash]string, len(values))
	for key := range values {
		hashes[hashKey(key)] = key
	}
	for _, h := range slices.SortedFunc(maps.Keys(hashes), compareByID) { // page by page
		key := hashes[h]
		delta, err := w.putAnswer(h, key, values[key], a.era)
		if err != nil {
			return err
		}
		bytes += delta
		turn += answerSize("", values[key])
	}
	for id := range read {
		if _, err := w.updateEra.ExecContext(context.Background(), a.era, id); err != nil {
			return err
		}
	}
	for bytes > a.maxBytes {
		freed, err := w.pruneOldest()
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
	a.fileBytes, a.eraBytes = bytes, turn
	if a.eraBytes > a.maxBytes/eraCount {
		a.eraBytes = 0
		a.mu.Lock()
		a.era++
		a.mu.Unlock()
	}
	return nil
}

// answerStatements are the prepared statements of one transaction.
type answerStatements struct {
	selectEntry, insertEntry, insertBody, updateEntry, replaceBody, updateEra, selectOldest, deleteEntry, deleteBody *sql.Stmt
}

func prepareAnswerStatements(tx *sql.Tx) (w answerStatements, err error) {
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&w.selectEntry, `SELECT body, era, size FROM answers WHERE id = ?`},
		{&w.insertEntry, `INSERT INTO answers (id, rest, body, era, size, sum) VALUES (?, ?, ?, ?, ?, ?)`},
		{&w.insertBody, `INSERT INTO bodies (value) VALUES (?)`},
		{&w.updateEntry, `UPDATE answers SET rest = ?, size = ?, sum = ? WHERE id = ?`},
		{&w.replaceBody, `INSERT INTO bodies (id, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`},
		{&w.updateEra, `UPDATE answers SET era = ? WHERE id = ?`},
		{&w.selectOldest, `SELECT id, body, size FROM answers ORDER BY era, id LIMIT ?`},
		{&w.deleteEntry, `DELETE FROM answers WHERE id = ?`},
		{&w.deleteBody, `DELETE FROM bodies WHERE id = ?`},
	} {
		if *p.stmt, err = tx.PrepareContext(context.Background(), p.query); err != nil {
			w.closeAll()
			return w, err
		}
	}
	return w, nil
}

func (w answerStatements) closeAll() {
	for _, s := range []*sql.Stmt{
		w.selectEntry, w.insertEntry, w.insertBody, w.updateEntry, w.replaceBody, w.updateEra, w.selectOldest,
		w.deleteEntry, w.deleteBody,
	} {
		if s != nil {
			_ = s.Close() // it ends with its transaction anyway
		}
	}
}

// putAnswer writes a value, or removes it if it is nil, and returns by how much the file's content grew.
func (w answerStatements) putAnswer(h keyHash, key string, value []byte, era int64) (grown int64, err error) {
	ctx := context.Background()
	var body, eraBefore, before int64
	err = w.selectEntry.QueryRowContext(ctx, h.id).Scan(&body, &eraBefore, &before)
	size := answerSize(key, value)
	switch {
	case errors.Is(err, sql.ErrNoRows) && value == nil:
		return 0, nil
	case errors.Is(err, sql.ErrNoRows):
		return size, w.insertAnswer(h, value, era, size, answerChecksum(key, value))
	case err != nil:
		return 0, err
	case value == nil:
		return -before, w.deleteAnswer(h.id, body)
	}
	if _, err := w.updateEntry.ExecContext(ctx, h.rest, size, answerChecksum(key, value), h.id); err != nil {
		return 0, err
	}
	if era != eraBefore { // or an index would be written for nothing
		if _, err := w.updateEra.ExecContext(ctx, era, h.id); err != nil {
			return 0, err
		}
	}
	_, err = w.replaceBody.ExecContext(ctx, body, value)
	return size - before, err
}

func (w answerStatements) insertAnswer(h keyHash, value []byte, era, size int64, sum uint32) error {
	r, err := w.insertBody.ExecContext(context.Background(), value)
	if err != nil {
		return err
	}
	body, err := r.LastInsertId()
	if err != nil {
		return err
	}
	_, err = w.insertEntry.ExecContext(context.Background(), h.id, h.rest, body, era, size, sum)
	return err
}

func (w answerStatements) deleteAnswer(id, body int64) error {
	if _, err := w.deleteEntry.ExecContext(context.Background(), id); err != nil {
		return err
	}
	_, err := w.deleteBody.ExecContext(context.Background(), body)
	return err
}

// pruneOldest removes some of the answers that were not read for longest, and returns how many bytes they held.
func (w answerStatements) pruneOldest() (freed int64, err error) {
	rows, err := w.selectOldest.QueryContext(context.Background(), pruneBatch)
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
		if err := w.deleteAnswer(o[0], o[1]); err != nil {
			return 0, err
		}
	}
	return freed, nil
}
