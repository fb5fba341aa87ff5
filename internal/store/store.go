// Package store keeps what the daemon must not lose: which deliveries were accepted, and which keys are to be
// looked at and when; and, for a while, which answers of reviewers were understood, and how their services fared.
// It promises that what a method returned without an error survives any end of the process and a loss of power,
// that a key is leased to one worker at a time, and that no poke is lost, whenever it comes.
//
// It holds no truth about a pull request: losing all of it costs time, never a decision. Keys are opaque here.
package store

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

// A Store is the durable keyed work table. It may be used by several goroutines. All its times are the caller's: it
// has no clock. They are kept to the microsecond, and no look comes early for it. On both databases it passes
// the suite in storetest.
//
//	Accept, Poke   touched, due = the earlier of due and the poke's; while the key is leased: touched, and due when it is completed
//	Claim          due → leased until a time, with a new token
//	Complete       only with the newest token: due = what the worker says, or at once if it was touched meanwhile
//
// A lease that has run out is due again, as its worker seems lost. Its token is void as soon as the key is claimed
// anew: a worker that was only slow may still complete before that. No token is ever used twice.
//
// A caller whose context ends gets its error at once, and what it asked for may still happen.
type Store interface {
	// Accept keeps a delivery and the pokes that it causes, all or nothing. A delivery whose ID is known
	// changes nothing and is not fresh.
	Accept(ctx context.Context, d AcceptedDelivery, pokes ...Poke) (fresh bool, err error)
	// Poke asks for looks, all or none.
	Poke(ctx context.Context, pokes ...Poke) error
	// Claim leases what is due. No tenant gets a second key before each other tenant that has something due got its
	// first, and of a tenant's keys the one that has been due longest comes first. That holds from one Claim to the
	// next, too: the tenant that was served last waits for the others. Keys of the backlog come after all others, by the
	// same rules.
	Claim(ctx context.Context, c Claim) ([]Work, error)
	// Next returns the earliest moment at which Claim would have something of the backlog, or else something that is not;
	// zero if there is none. The end of a lease is one.
	Next(ctx context.Context, backlog bool, except []int64) (time.Time, error)
	// Renew makes leases run out at until, and returns those that are lost.
	Renew(ctx context.Context, until time.Time, leases ...Lease) (lost []Lease, err error)
	// Complete ends a lease. It reports false, and changes nothing, if the lease was lost.
	Complete(ctx context.Context, l Lease, o Completion) (ours bool, err error)
	// Retire says that this process claims nothing any more: what it had is others', at once. It may still complete.
	Retire(ctx context.Context) error
	// Drop forgets all keys of a tenant, leased ones included, and the notes that were kept for it.
	Drop(ctx context.Context, tenant int64) error

	// Known returns those of the deliveries that were accepted.
	Known(ctx context.Context, ids []string) (map[string]bool, error)
	// Prune forgets deliveries that were received before a time, at most limit of them, and returns how many it forgot.
	Prune(ctx context.Context, before time.Time, limit int) (int, error)

	// Get returns a row; ErrNoRow if there is none.
	Get(ctx context.Context, key string) (Row, error)
	// List returns rows, the most recently completed first, and last those that never were, which Before leaves out.
	List(ctx context.Context, q Query) ([]Row, error)
	// Health counts keys, leases and deliveries.
	Health(ctx context.Context, now time.Time) (Health, error)

	// AddNotes keeps notes in a group of a tenant's, of each reviewer no more than so many answers, and so many others:
	// the newest. Of answers of one moment one that was understood is the newer. Of answers of one name the last that was
	// added is kept, and of others of one kind and name the first. It returns how many of these are kept so.
	AddNotes(ctx context.Context, tenant int64, group string, keep int, notes ...Note) (added int, err error)
	// Notes returns the answers that are kept of a group, or else the other notes, oldest first.
	Notes(ctx context.Context, group string, answers bool) ([]Note, error)
	// CountHeard counts the answers since a time that are kept, by label.
	CountHeard(ctx context.Context, since time.Time) (map[string]HeardCount, error)

	Close() error
}

// ErrClosed says that the store was closed before it could do what was asked.
var ErrClosed = errors.New("the store is closed")

// ErrNoRow says that there is no such key.
var ErrNoRow = errors.New("no such key")

// Errors of [OpenSQLite] and [OpenPostgres] that say what the caller does next are in the chain of what it returns.
var (
	ErrInUse           = errors.New("another coordinator uses it")
	ErrNewer           = errors.New("a newer coordinator wrote it")
	ErrReplaced        = errors.New("was deleted or replaced while it was in use: what is accepted now would be lost")
	ErrNoDatabase      = errors.New("it is no SQLite database, or a damaged one")
	ErrForeignDatabase = errors.New("another program's tables are in it")
	ErrTablesGone      = errors.New("some of the coordinator's tables")
	ErrUnfitServer     = errors.New("the server does not do")
)

// An AcceptedDelivery is a webhook delivery as it was accepted; its body is not kept.
type AcceptedDelivery struct {
	ID string    // X-GitHub-Delivery
	At time.Time // when it was received
}

// A Poke asks for a look at a key.
type Poke struct {
	Key    string
	Tenant int64     // an installation: tenants share the workers' time fairly; kept from the first poke on
	Kind   string    // kind of thing that the key names, for List; kept from the first poke on
	Group  string    // a repository, for List; kept from the first poke on
	Due    time.Time // when to look, at the latest; never zero
	Touch  string    // the event, in one line; "", or anything but a line of UTF-8: look, whatever happened
	// Backlog says that the look waits for nobody: it comes after all that are not so, of its own tenant and of
	// others. A key can wait in both ways at once; one claim serves both.
	Backlog bool
	// IfKnown leaves a key alone that is not in the table: for who read it there, and somebody may forget it meanwhile.
	IfKnown bool
}

// Any is the touch of a poke without one, and of a key with too many touches: look, whatever happened.
const Any = "*"

// Kept begins a touch that tells what nothing else will tell again: beside [Any] it is handed out, too.
const Kept = "!"

// MaxTouches bounds the touches of one key, in bytes with one between each two: beyond it they become [Any], with
// those of the [Kept] ones that there is room for, the oldest first.
const MaxTouches = 4 << 10

// A Claim asks for work.
type Claim struct {
	Now     time.Time
	Lease   time.Duration // how long the leases hold
	Limit   int           // keys at most
	Bounds                // of all keys
	Backlog Bounds        // of the keys among them that are of the backlog
}

// Bounds are how many keys of each tenant a [Claim] gets.
type Bounds struct {
	Except []int64       // tenants that get none: they are limited, or have enough at once
	Most   map[int64]int // of a tenant at most so many keys
	Each   int           // of a tenant that is not in Most at most so many; 0: any number
}

// most is how many of the limit may be a tenant's.
func (b Bounds) most(tenant int64, limit int) int {
	if slices.Contains(b.Except, tenant) {
		return 0
	}
	if most, ok := b.Most[tenant]; ok {
		return most
	}
	return cmp.Or(b.Each, limit)
}

func (b Bounds) copyAll() Bounds {
	return Bounds{slices.Clone(b.Except), maps.Clone(b.Most), b.Each}
}

// A Lease is the right to complete a key.
type Lease struct {
	Key   string
	Token int64
}

// Work is a leased key.
type Work struct {
	Lease
	Tenant   int64
	Kind     string
	Backlog  bool      // it was claimed from the backlog
	LiveDue  time.Time // of one that was: when it would have been due otherwise; zero: never
	Due      time.Time // since when it has been due; after a lost lease: since that ran out
	Wake     time.Time // as the last Completion said; zero: never by itself
	Attempts int       // failures in a row
	Touches  []string  // each once, oldest first; [Any] and then the [Kept] ones if one of them was [Any]
	Sight    []byte    // as the last Completion left it
	Seen     time.Time // when that was, even of a failed look; zero: there was none
	// Moved says that another process has worked for the tenant since this one did: what this one knows of it is not
	// the newest.
	Moved bool
}

// IsAwake reports whether at a moment the key was due by itself.
func (w Work) IsAwake(now time.Time) bool { return !w.Wake.IsZero() && !now.Before(w.Wake) }

// A Completion is the result of a look. After one that Failed, or with Keep, nothing new is known: the key is due at
// Wake, but [Work] goes on telling the Wake of the look before it.
type Completion struct {
	Now  time.Time
	Wake time.Time // when to look again by itself; zero: never
	// Backlog says that Wake is of the backlog.
	Backlog bool
	// LiveDue is when to look again otherwise, beside a Wake of the backlog: a look that came to nothing must not take
	// it away. Zero: never.
	LiveDue time.Time
	Failed  string // why the look failed, for people; "": it did not. The touches of a look that failed are kept
	Keep    bool   // the touches are kept without a failure: nothing was looked at; failures in a row stay as they are
	Gone    bool   // forget the key, unless it was poked meanwhile: then the rest of the Completion counts
	Sight   []byte // the look's result, opaque; nil: as before
	Open    bool   // it is undecided; without Sight, false leaves that as it was
}

// A Row is a key as it stands.
type Row struct {
	Key, Kind, Group string
	Tenant           int64
	Due              time.Time // zero: never by itself; while it is leased: when the lease runs out
	Backlog          bool      // Due is of the backlog
	Wake             time.Time // as the last Completion said
	Leased           bool      // a lease that ran out counts until the key is claimed anew
	Attempts         int
	Failed           string
	Open             bool
	Seen             time.Time // when it was completed last, of no two keys at the same moment (some µs are added); zero: never
	Sight            []byte
}

// A Query selects rows. One of any kind and group, open or not, reads the whole table.
type Query struct {
	Tenant *int64 // nil: of any
	Kind   string // "": of any
	Group  string // "": of any
	Open   *bool  // nil: whether or not
	// Holds are texts, of which the row's sight holds one, and Keys are keys, of which it has one; neither: any row.
	Holds, Keys []string
	// Before asks for rows that were completed before it, for the next page; zero: the first page.
	Before time.Time
	Limit  int  // rows at most; 0: 100
	Thin   bool // without Sight
}

// Health counts the keys of the table at a moment.
type Health struct {
	Keys     int // known keys
	Open     int // undecided
	Due      int // due and not leased; those of the backlog are not among them
	Leased   int
	Failing  int           // with failures in a row
	Oldest   time.Duration // how long the key that has waited longest is due, those of the backlog apart
	Tenants  int
	Accepted int64         // deliveries that are remembered
	Backlog  map[int64]int // how many of the backlog are due, by tenant; nil: none

	// What those who claim know, and a store does not.
	Held         map[int64]time.Time // tenants that get no keys, and until when
	BacklogUntil map[int64]time.Time // when what is due of a tenant's backlog has been looked at, at the earliest
}

// BacklogSize returns how many of all backlogs are due.
func (h Health) BacklogSize() (n int) {
	for _, of := range h.Backlog {
		n += of
	}
	return n
}

// HeldUntil returns when the last tenant is held no more; zero: none is.
func (h Health) HeldUntil() time.Time { return lastOf(h.Held) }

// BacklogEnd returns when the last backlog has been looked at, at the earliest; zero: that is not known.
func (h Health) BacklogEnd() time.Time { return lastOf(h.BacklogUntil) }

// Answer is the kind of a [Note] that is an answer of the reviewer.
const Answer = 0

// A Note is an answer of a reviewer, or shows how its service fared and what was done about that.
type Note struct {
	Reviewer string
	Kind     int    // Answer, or anything else
	Of       string // names the text, or what shows it
	Label    string // by which CountHeard counts
	Pull     int
	Stranger string // who opened the pull request, if that was one
	At       time.Time
	Until    time.Time // zero: no time
	Unread   bool      // it was not understood
}

// A HeardCount counts answers.
type HeardCount struct{ Answers, Unread int }

func lastOf(times map[int64]time.Time) (last time.Time) {
	for _, at := range times {
		if at.After(last) {
			last = at
		}
	}
	return last
}
