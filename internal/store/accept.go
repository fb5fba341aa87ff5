package store

// Accepting deliveries, and poking keys.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Accept keeps a delivery and the pokes that it causes. An error may come after it happened: GitHub's delivery, sent
// again, is then no fresh one, and its pokes are there.
func (s *Database) Accept(ctx context.Context, d AcceptedDelivery, pokes ...Poke) (bool, error) {
	if d.ID == "" {
		return false, errors.New("accept delivery: it has no ID")
	}
	return s.submitPokes(ctx, "accept delivery", d, pokes)
}

// Poke asks for looks.
func (s *Database) Poke(ctx context.Context, pokes ...Poke) error {
	_, err := s.submitPokes(ctx, "poke", AcceptedDelivery{}, pokes)
	return err
}

// submitPokes submits pokes, and the delivery that they are of if it has an ID. It reports whether that was not known.
func (s *Database) submitPokes(ctx context.Context, what string, d AcceptedDelivery, pokes []Poke) (fresh bool, err error) {
	d.ID = asText(d.ID)
	o := &op{delivery: d, pokes: slices.Clone(pokes)}
	for i := range o.pokes {
		p := &o.pokes[i]
		switch {
		case p.Key == "":
			return false, fmt.Errorf("%s: a poke names no key", what)
		case p.Due.IsZero():
			return false, fmt.Errorf("%s: a poke of %q has no due time", what, p.Key)
		}
		p.Key, p.Kind, p.Group = asText(p.Key), asText(p.Kind), asText(p.Group)
		o.names = append(o.names, p.Key)
	}
	if d.ID != "" {
		o.names = append(o.names, "delivery "+d.ID)
		o.statements = []statement{{
			query: `INSERT INTO deliveries (id, received_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			args:  []any{d.ID, floorMicros(d.At)},
			wrote: &o.wrote,
		}}
	}
	wrote, err := s.submitOp(ctx, what, o)
	return wrote > 0, err
}

// A pokedKey is a key as it stands, and as pokes change it.
type pokedKey struct {
	id, tenant   int64 // id 0: it is not there
	kind, group  string
	due, backlog int64
	leased       int
	touches      string
	isChanged    bool
}

// applyPokes applies the pokes of operations, whose statements have run. Those of a delivery that was known change nothing.
func applyPokes(ctx context.Context, tx session, batch []*op, isShared bool) error {
	query := `SELECT id, due_at, backlog_at, leased, touches FROM work WHERE key = $1`
	if isShared {
		query += ` FOR UPDATE`
	}
	keys := map[string]*pokedKey{}
	var reads []statement
	var fresh []Poke
	for _, o := range batch {
		if o.delivery.ID != "" && o.wrote == 0 {
			continue
		}
		fresh = append(fresh, o.pokes...)
		for _, p := range o.pokes {
			if keys[p.Key] == nil {
				k := &pokedKey{}
				keys[p.Key] = k
				reads = append(reads, statement{
					query: query, args: []any{p.Key}, row: scanInto(&k.id, &k.due, &k.backlog, &k.leased, &k.touches),
				})
			}
		}
	}
	if err := tx.runStatements(ctx, reads...); err != nil {
		return err
	}
	for _, p := range fresh {
		keys[p.Key].applyPoke(p)
	}
	return tx.runStatements(ctx, writePoked(keys)...)
}

// applyPoke applies a poke.
func (k *pokedKey) applyPoke(p Poke) {
	due, backlog := ceilMicros(p.Due), int64(neverDue)
	if p.Backlog {
		due, backlog = backlog, due
	}
	if k.id == 0 && !k.isChanged {
		if !p.IfKnown {
			*k = pokedKey{
				tenant: p.Tenant, kind: p.Kind, group: p.Group, due: due, backlog: backlog, touches: addTouch("", p.Touch), isChanged: true,
			}
		}
		return
	}
	due, backlog = min(due, k.due), min(backlog, k.backlog)
	if k.leased > 0 {
		due, backlog = k.due, k.backlog
	}
	touches := addTouch(k.touches, p.Touch)
	if due == k.due && backlog == k.backlog && touches == k.touches {
		return // a look is due that will see it: in a burst nothing is written again
	}
	k.due, k.backlog, k.touches, k.isChanged = due, backlog, touches, true
}

func writePoked(keys map[string]*pokedKey) (all []statement) {
	tenants := map[int64]bool{}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		k := keys[name]
		if !k.isChanged {
			continue
		}
		if k.id != 0 {
			all = append(all, newStatement(`UPDATE work SET due_at = $2, backlog_at = $3, touches = $4 WHERE id = $1`,
				k.id, k.due, k.backlog, k.touches))
			continue
		}
		tenants[k.tenant] = true
		all = append(all, newStatement(
			`INSERT INTO work (key, tenant, kind, grp, due_at, backlog_at, touches) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			name, k.tenant, k.kind, k.group, k.due, k.backlog, k.touches))
	}
	for _, tenant := range slices.Sorted(maps.Keys(tenants)) {
		all = append(all, newStatement(`INSERT INTO tenants (tenant) VALUES ($1) ON CONFLICT DO NOTHING`, tenant))
	}
	return all
}
