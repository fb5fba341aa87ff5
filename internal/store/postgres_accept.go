package store

// Accepting in PostgreSQL: what came in while the database was busy is one call of a function, however many deliveries it is.

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// An acceptance is a delivery that is accepted with its pokes, or pokes alone if it has no ID.
type acceptance struct {
	delivery AcceptedDelivery
	pokes    []Poke
	fresh    bool // once it is committed: it was not known before
}

// Accept makes a delivery and the pokes that it causes durable. An error may come after it happened: GitHub's delivery, sent
// again, is then no fresh one, and its pokes are there.
func (s *Postgres) Accept(ctx context.Context, d AcceptedDelivery, pokes ...Poke) (bool, error) {
	if d.ID == "" {
		return false, errors.New("accept delivery: it has no ID")
	}
	if err := checkPokes(pokes); err != nil {
		return false, fmt.Errorf("accept delivery: %w", err)
	}
	return s.acceptPokes(ctx, "accept delivery", &acceptance{delivery: d, pokes: slices.Clone(pokes)})
}

// Poke asks for looks.
func (s *Postgres) Poke(ctx context.Context, pokes ...Poke) error {
	if err := checkPokes(pokes); err != nil {
		return fmt.Errorf("poke: %w", err)
	}
	_, err := s.acceptPokes(ctx, "poke", &acceptance{pokes: slices.Clone(pokes)})
	return err
}

func (s *Postgres) acceptPokes(ctx context.Context, what string, a *acceptance) (bool, error) {
	names := make([]string, 0, len(a.pokes)+1)
	for _, p := range a.pokes {
		names = append(names, p.Key)
	}
	if a.delivery.ID != "" {
		names = append(names, "delivery "+a.delivery.ID)
	}
	if err := s.submitOp(s.durable, what, &pgOp{ctx: ctx, names: names, taken: a, done: make(chan error, 1)}); err != nil {
		return false, err
	}
	return a.fresh, nil
}

// queueAcceptances adds what operations accept: one statement for all, unless a delivery is among them twice.
func queueAcceptances(b *pgx.Batch, batch []*pgOp) {
	var c acceptCall
	ids := map[string]bool{}
	for _, o := range batch {
		if o.taken == nil {
			continue
		}
		id := asText(o.taken.delivery.ID)
		if ids[id] {
			c.queue(b)
			c = acceptCall{}
			clear(ids)
		}
		ids[id] = id != ""
		c.add(id, o.taken)
	}
	c.queue(b)
}

// An acceptCall is a call of accept_all: its arguments, and to whom it answers.
type acceptCall struct {
	taken []*acceptance

	ids, events, actions []string // of deliveries
	received             []int64

	of                           []int32 // of pokes: of which delivery, counted from 1
	keys, kinds, groups, touches []string
	tenants, dues, backlogs      []int64
	ifKnown                      []bool
}

func (c *acceptCall) add(id string, a *acceptance) {
	received := int64(0)
	if id != "" {
		received = floorMicros(a.delivery.At)
	}
	c.taken = append(c.taken, a)
	c.ids, c.received = append(c.ids, id), append(c.received, received)
	c.events, c.actions = append(c.events, asText(a.delivery.Event)), append(c.actions, asText(a.delivery.Action))
	for _, p := range a.pokes {
		due, backlog := ceilMicros(p.Due), int64(neverDue)
		if p.Backlog {
			due, backlog = backlog, due
		}
		c.of = append(c.of, int32(len(c.ids)))
		c.keys, c.kinds, c.groups = append(c.keys, asText(p.Key)), append(c.kinds, asText(p.Kind)), append(c.groups, asText(p.Group))
		c.tenants, c.dues, c.backlogs = append(c.tenants, p.Tenant), append(c.dues, due), append(c.backlogs, backlog)
		c.touches, c.ifKnown = append(c.touches, addTouch("", p.Touch)), append(c.ifKnown, p.IfKnown)
	}
}

// queue adds the call, unless there is nothing to accept.
func (c *acceptCall) queue(b *pgx.Batch) {
	if len(c.taken) == 0 {
		return
	}
	taken := c.taken
	b.Queue(`SELECT accept_all($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		c.ids, c.events, c.actions, c.received,
		notNil(c.of), notNil(c.keys), notNil(c.tenants), notNil(c.kinds), notNil(c.groups), notNil(c.dues), notNil(c.backlogs),
		notNil(c.touches), notNil(c.ifKnown),
	).QueryRow(func(row pgx.Row) error {
		var fresh []bool
		if err := row.Scan(&fresh); err != nil {
			return err
		}
		if len(fresh) != len(taken) {
			return fmt.Errorf("accept_all answered for %d of %d deliveries", len(fresh), len(taken)) // unreachable unless it is wrong
		}
		for i, a := range taken {
			a.fresh = fresh[i]
		}
		return nil
	})
}
