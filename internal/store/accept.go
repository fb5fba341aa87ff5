package store

// Accepting deliveries, and poking keys.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// An acceptance is a delivery that is accepted with its pokes, or pokes alone if it has no ID.
type acceptance struct {
	delivery AcceptedDelivery
	pokes    []Poke
	fresh    int // 1: it was not known before
}

// Accept makes a delivery and the pokes that it causes durable. An error may come after it happened: GitHub's
// delivery, sent again, is then no fresh one, and its pokes are there.
func (s *Database) Accept(ctx context.Context, d AcceptedDelivery, pokes ...Poke) (bool, error) {
	if d.ID == "" {
		return false, errors.New("accept delivery: it has no ID")
	}
	return s.submitAcceptance(ctx, "accept delivery", &acceptance{delivery: d, pokes: pokes})
}

// Poke asks for looks.
func (s *Database) Poke(ctx context.Context, pokes ...Poke) error {
	_, err := s.submitAcceptance(ctx, "poke", &acceptance{pokes: pokes})
	return err
}

func (s *Database) submitAcceptance(ctx context.Context, what string, a *acceptance) (bool, error) {
	a.delivery.ID = asText(a.delivery.ID)
	a.pokes = slices.Clone(a.pokes)
	o := &op{accepts: a}
	for i := range a.pokes {
		p := &a.pokes[i]
		switch {
		case p.Key == "":
			return false, fmt.Errorf("%s: a poke names no key", what)
		case p.Due.IsZero():
			return false, fmt.Errorf("%s: a poke of %q has no due time", what, p.Key)
		}
		p.Key, p.Kind, p.Group = asText(p.Key), asText(p.Kind), asText(p.Group)
		o.names = append(o.names, p.Key)
	}
	if a.delivery.ID != "" {
		o.names = append(o.names, "delivery "+a.delivery.ID)
	}
	if _, err := s.submitOp(ctx, what, o); err != nil {
		return false, err
	}
	return a.fresh > 0, nil
}

// A pokedKey is a key as it stands, and as pokes change it.
type pokedKey struct {
	id, tenant   int64 // id 0: it is not there
	kind, group  string
	due, backlog int64
	leased       int
	touches      string
	pokes        int // that change it
}

// acceptAll accepts what operations accept. A poke that changes nothing, as a look is due that will see it, locks
// nothing: whoever claims that key at this moment begins to look after the event.
func acceptAll(ctx context.Context, tx session, batch []*op, isShared bool) error {
	var all []statement
	names := map[string]bool{}
	for _, o := range batch {
		a := o.accepts
		if a == nil {
			continue
		}
		a.fresh = 0
		for _, p := range a.pokes {
			names[p.Key] = true
		}
		if d := a.delivery; d.ID == "" {
			a.fresh = 1
		} else {
			all = append(all, statement{
				query: `INSERT INTO deliveries (id, event, action, received_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
				args:  []any{d.ID, asText(d.Event), asText(d.Action), floorMicros(d.At)},
				wrote: &a.fresh,
			})
		}
	}
	locks := []string{""}
	if isShared {
		locks = []string{"", " FOR UPDATE"} // a claim may have come in between
	}
	keys, changed := map[string]*pokedKey{}, slices.Sorted(maps.Keys(names))
	for _, lock := range locks {
		if err := tx.runStatements(ctx, append(all, readPoked(keys, changed, lock)...)...); err != nil {
			return err
		}
		all, changed = nil, pokeKeys(batch, keys)
	}
	return tx.runStatements(ctx, writePoked(keys, changed)...)
}

// readPoked reads keys into a map. One that is not there is there with id 0.
func readPoked(keys map[string]*pokedKey, names []string, lock string) (all []statement) {
	for _, name := range names {
		k := &pokedKey{}
		keys[name] = k
		all = append(all, statement{
			query: `SELECT id, due_at, backlog_at, leased, touches FROM work WHERE key = $1` + lock,
			args:  []any{name},
			row:   scanInto(&k.id, &k.due, &k.backlog, &k.leased, &k.touches),
		})
	}
	return all
}

// pokeKeys applies the pokes of what is fresh to keys as they were read, and returns the names of those that change.
func pokeKeys(batch []*op, keys map[string]*pokedKey) []string {
	changed := map[string]bool{}
	for _, o := range batch {
		if o.accepts == nil || o.accepts.fresh == 0 {
			continue
		}
		for _, p := range o.accepts.pokes {
			if keys[p.Key].applyPoke(p) {
				changed[p.Key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

// applyPoke applies a poke, and reports whether it changes anything.
func (k *pokedKey) applyPoke(p Poke) bool {
	due, backlog := ceilMicros(p.Due), int64(neverDue)
	if p.Backlog {
		due, backlog = backlog, due
	}
	if k.id == 0 && k.pokes == 0 {
		if p.IfKnown {
			return false
		}
		*k = pokedKey{
			tenant: p.Tenant, kind: p.Kind, group: p.Group, due: due, backlog: backlog, touches: addTouch("", p.Touch), pokes: 1,
		}
		return true
	}
	due, backlog = min(due, k.due), min(backlog, k.backlog)
	if k.leased > 0 {
		due, backlog = k.due, k.backlog
	}
	touches := addTouch(k.touches, p.Touch)
	if due == k.due && backlog == k.backlog && touches == k.touches && k.leased == 0 {
		return false // a look is due that will see it: in a burst nothing is written again
	}
	k.due, k.backlog, k.touches = due, backlog, touches
	k.pokes++
	return true
}

func writePoked(keys map[string]*pokedKey, names []string) (all []statement) {
	tenants := map[int64]bool{}
	for _, name := range names {
		k := keys[name]
		if k.id != 0 {
			all = append(all, newStatement(`UPDATE work SET gen = gen + $2, due_at = $3, backlog_at = $4, touches = $5 WHERE id = $1`,
				k.id, k.pokes, k.due, k.backlog, k.touches))
			continue
		}
		tenants[k.tenant] = true
		all = append(all, newStatement(
			`INSERT INTO work (key, tenant, kind, grp, gen, due_at, backlog_at, touches) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			name, k.tenant, k.kind, k.group, k.pokes, k.due, k.backlog, k.touches))
	}
	for _, tenant := range slices.Sorted(maps.Keys(tenants)) {
		all = append(all, newStatement(`INSERT INTO tenants (tenant) VALUES ($1) ON CONFLICT DO NOTHING`, tenant))
	}
	return all
}
