package store

// GitHub's answers with their ETags: what did not change since is asked for again without using up the hour's
// budget. Losing them costs requests and nothing else, so nothing here waits for the disk, and no fault is an
// error.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"
)

// Answers is a cache of GitHub's answers in the store's database; replicas share it. It may be used by several
// goroutines. An answer can be read as soon as Put returns, and is written with those that come in the same wave. If
// too many wait for that, neither it nor an older one is kept.
type Answers struct {
	s        *Database
	maxBytes int64 // of keys and compressed values

	mu       sync.Mutex
	isClosed bool
	waiting  map[string][]byte // compressed values that the next flush writes, by hash; nil: forgotten
	writing  map[string][]byte // those that the present one writes
	bytes    int64             // of those that wait
	untidy   int64             // bytes that were put since the table was last tidied
	flushing sync.Mutex        // held by the present flush
}

const (
	maxWaitingBytes    = 8 << 20
	maxValueBytes      = 64 << 20
	answersFlushDelay  = 400 * time.Millisecond
	answersReadTimeout = 5 * time.Second
	maxAnswerAge       = 30 * 24 * time.Hour // after which one is deleted, and asked for anew
)

// Answers returns the cache, which keeps at most so many bytes, about. It is opened once, and closed with the store.
func (s *Database) Answers(maxBytes int64) *Answers {
	s.answers = &Answers{s: s, maxBytes: maxBytes, waiting: map[string][]byte{}, untidy: maxBytes}
	return s.answers
}

// hashKey returns the hash of a key, which stands for it in the table: keys are long.
func hashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// Get returns an answer; false if there is none.
func (a *Answers) Get(key string) ([]byte, bool) {
	hash := hashKey(key)
	a.mu.Lock()
	packed, isKnown := a.waiting[hash]
	if !isKnown {
		packed, isKnown = a.writing[hash]
	}
	a.mu.Unlock()
	if !isKnown {
		ctx, cancel := context.WithTimeout(context.Background(), answersReadTimeout)
		defer cancel()
		query := statement{query: `SELECT value FROM answers WHERE key = $1`, args: []any{hash}, row: scanInto(&packed)}
		if a.s.readRows(ctx, "read answer", query) != nil {
			return nil, false
		}
	}
	if packed == nil {
		return nil, false
	}
	value, err := decompressValue(packed)
	return value, err == nil
}

// decompressValue returns the value of a compressed one; never nil without an error.
func decompressValue(packed []byte) ([]byte, error) {
	n, err := s2.DecodedLen(packed)
	if err == nil && n > maxValueBytes {
		err = fmt.Errorf("%d bytes are more than any that was put", n)
	}
	if err != nil {
		return nil, err
	}
	return s2.Decode([]byte{}, packed)
}

// Put keeps an answer. The caller may change value after it.
func (a *Answers) Put(key string, value []byte) { a.keepValue(key, s2.Encode(nil, value)) }

// Forget removes an answer.
func (a *Answers) Forget(key string) { a.keepValue(key, nil) }

func (a *Answers) keepValue(key string, packed []byte) {
	hash := hashKey(key)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.isClosed {
		return
	}
	if len(a.waiting) == 0 {
		time.AfterFunc(answersFlushDelay, a.flushWaiting)
	}
	size := int64(len(hash) + len(packed))
	if a.bytes+size > maxWaitingBytes || size > a.maxBytes/16 {
		packed, size = nil, int64(len(hash))
	}
	a.bytes += size
	a.untidy += size
	a.waiting[hash] = packed
}

// flushWaiting writes what waits. Now and then, and at first, the oldest make way.
func (a *Answers) flushWaiting() {
	a.flushing.Lock()
	defer a.flushing.Unlock()
	a.mu.Lock()
	values, isUntidy := a.waiting, a.untidy > a.maxBytes/64
	if a.writing, a.waiting, a.bytes = values, map[string][]byte{}, 0; isUntidy {
		a.untidy = 0
	}
	a.mu.Unlock()
	if len(values) == 0 {
		return
	}
	now := time.Now() // old ones may be of installations that have gone
	all := []statement{newStatement(`DELETE FROM answers WHERE put_at < $1`, floorMicros(now.Add(-maxAnswerAge)))}
	for hash, packed := range values {
		if packed == nil {
			all = append(all, newStatement(`DELETE FROM answers WHERE key = $1`, hash))
			continue
		}
		all = append(all, newStatement(`INSERT INTO answers (key, value, size, put_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value, size = excluded.size, put_at = excluded.put_at`,
			hash, packed, len(hash)+len(packed), floorMicros(now)))
	}
	if isUntidy {
		all = append(all, newStatement(`DELETE FROM answers WHERE id IN (SELECT id FROM
			(SELECT id, sum(size) OVER (ORDER BY put_at DESC, id DESC) AS total FROM answers) AS newest WHERE total > $1)`, a.maxBytes))
	}
	// No two replicas write answers at once. A fault is logged there.
	_, _ = a.s.submitOp(context.Background(), "keep answers", &op{names: []string{"answers"}, statements: all})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writing = nil
}

// close writes what waits. Nothing is kept any more.
func (a *Answers) close() {
	a.mu.Lock()
	a.isClosed = true
	a.mu.Unlock()
	a.flushWaiting()
}
